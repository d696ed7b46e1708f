"""What is known of the regression: from public moments at first, from releases as they come."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from publicmoments.models.agreement import fit_agreement, moment_agreement
from publicmoments.models.belief import CoefBelief
from publicmoments.planner import Bounds, BoundsRequest, Situation, choose_bounds
from publicmoments.public import PublicDesign
from publicmoments.release import NoisyGram, RowRecipe

__all__ = ["Knowledge", "PublicFit", "initial_knowledge", "plan_pass", "updated_knowledge"]

Array = NDArray[np.float64]

SPREADS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2)
"""Candidate shares of the response that the coefficients explain, for the beliefs without a fit."""

FLAT = 1e8
"""Prior variance, relative to the response, that stands for no opinion."""

MOST_INFLATION = 3.0

OUTGROWN = 9.0, 0.6
"""Residuals have outgrown their scale when their mean square is this many times the expected one,
or when it has come this share of the way to the squared bound, which is the most it can be."""

WIDENED = 30.0
"""Times the bound by which a scale that was outgrown is widened: too wide is soon mended."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """
    Current knowledge of a linear model with p design columns and q responses.

    Parameters
    ----------
    whitener, unwhitener : ndarray of shape (p, p)
        Z = X @ whitener has second moment near the identity.
    effective_n : float
        How well the second moment is known: as from this many rows; 0 when it is a guess.
    coef : ndarray of shape (p, q)
        Current coefficients.
    beliefs : tuple of CoefBelief
        For each response, the law of the true coefficients less the current ones.
    scale : ndarray of shape (q,)
        Root mean square of y - x @ coef that is expected of private rows.
    noise_scale : ndarray of shape (q,) or None
        Root mean square of the residuals about the true coefficients, where public rows told it.
    rows, responses : ndarray or None
        Public rows with their responses.
    response_scale : ndarray of shape (q,)
        Root mean square of the responses, public or assumed.
    """

    whitener: Array = field(repr=False)
    unwhitener: Array = field(repr=False)
    effective_n: float
    coef: Array
    beliefs: tuple[CoefBelief, ...] = field(repr=False)
    scale: Array
    noise_scale: Array | None
    rows: Array | None = field(repr=False)
    responses: Array | None = field(repr=False)
    response_scale: Array

    @property
    def second_moment(self) -> Array:
        """Second moment of a design row."""
        return np.asarray(self.unwhitener.T @ self.unwhitener)

    @property
    def inflation(self) -> float:
        """Expected mean of ||z||^2 / p, that of an inverted Wishart matrix."""
        p, n = len(self.coef), self.effective_n
        if n == 0:
            return 1.0
        return min(n / (n - p - 1), MOST_INFLATION) if n > p + 1 else MOST_INFLATION

    @property
    def moment_variance(self) -> float:
        """Variance of an off-diagonal entry of the true second moment of z, likewise."""
        p, n = len(self.coef), self.effective_n
        return FLAT if n == 0 else self.inflation**2 / max(n - p - 3, 2.0)

    def prediction_error(self, k: int) -> float:
        """Expected squared error of predictions for response k."""
        return float(np.trace(self.unwhitener @ self.beliefs[k].covariance @ self.unwhitener.T))


@dataclass(frozen=True)
class PublicFit:
    """
    How well a release agrees with what public data led to expect.

    Parameters
    ----------
    z_score : float
        Distance of the second moments, in standard errors; 0 without public moments.
    response_z : float
        Distance of the release from the public fit, likewise; 0 without one.
    outgrown : bool
        Whether residuals were far larger than expected, so that the bound cut most of them.
    """

    z_score: float
    response_z: float = 0.0
    outgrown: bool = False


def initial_knowledge(design: PublicDesign, n_responses: int, anchor: bool) -> Knowledge:
    """
    Turn public moments into knowledge.

    With public responses the start is the public fit, off by its own sampling error, of covariance
    residual variance x (n S)^{-1}. Without, it is zero, and the coefficients explain some share of
    the response, spread over directions alike after whitening, in raw units, or in units of the
    columns' sizes. ``anchor=False`` keeps the start but has no opinion on how far off it is.
    """
    p, q = design.n_columns, n_responses
    response_scale = (
        np.ones(q) if design.response_scale is None else np.asarray(design.response_scale)
    )
    inverse = design.whitener @ design.whitener.T
    coef, scale, noise_scale = np.zeros((p, q)), response_scale, None
    if design.coef is not None and design.n is not None and design.residual_scale is not None:
        coef, noise_scale = np.array(design.coef), np.asarray(design.residual_scale)
        beliefs = [CoefBelief.centred([inverse * s**2 / design.n], [0.0]) for s in noise_scale]
        scale = np.minimum(noise_scale * math.sqrt(1 + p / max(design.n - p - 1, 1)), scale)
    else:
        beliefs = [_belief_without_fit(design.second_moment, inverse, s) for s in response_scale]
    if not anchor:
        beliefs = [CoefBelief.centred([inverse * FLAT * s**2], [0.0]) for s in response_scale]
    return Knowledge(
        whitener=np.asarray(design.whitener),
        unwhitener=np.asarray(design.unwhitener),
        effective_n=float(design.n) if anchor and design.n is not None else 0.0,
        coef=coef,
        beliefs=tuple(beliefs),
        scale=scale,
        noise_scale=noise_scale,
        rows=design.rows if noise_scale is not None else None,
        responses=design.responses if noise_scale is not None else None,
        response_scale=response_scale,
    )


def _belief_without_fit(second_moment: Array, inverse: Array, scale: float) -> CoefBelief:
    """Mixture over directions and sizes; sizes far from the response's own are less likely."""
    p = len(second_moment)
    shapes = (inverse, np.eye(p), np.diag(1.0 / np.diag(second_moment)))
    covariances, log_weights = [], []
    for shape in shapes:
        explained = float(np.sum(shape * second_moment))
        for spread in SPREADS:
            covariances.append(shape * (spread * scale**2 / explained))
            log_weights.append(-0.5 * abs(math.log10(spread)))
    return CoefBelief.centred(covariances, log_weights)


def plan_pass(
    knowledge: Knowledge,
    n_rows: int,
    mu: float,
    *,
    final: bool,
    fit_intercept: bool,
    request: BoundsRequest,
) -> tuple[RowRecipe, Bounds]:
    """Choose bounds for a pass and write them down as a recipe; nothing private is used."""
    p, q = knowledge.coef.shape
    error = max(knowledge.prediction_error(k) / knowledge.scale[k] ** 2 for k in range(q))
    rows = residuals = None
    if knowledge.rows is not None and knowledge.responses is not None:
        rows = knowledge.rows @ knowledge.whitener
        residuals = (knowledge.responses - knowledge.rows @ knowledge.coef) / knowledge.scale
    situation = Situation(p, q, n_rows, mu, knowledge.inflation, error / p, rows, residuals, final)
    bounds = choose_bounds(situation, request)
    recipe = RowRecipe(
        whitener=knowledge.whitener,
        coef=knowledge.coef,
        scale=knowledge.scale,
        x_radius=bounds.x_radius,
        response_bound=bounds.response_bound,
        weight=bounds.weight,
        fit_intercept=fit_intercept,
        n_rows=n_rows,
    )
    return recipe, bounds


def updated_knowledge(
    knowledge: Knowledge, released: NoisyGram, bounds: Bounds, *, final: bool
) -> tuple[Knowledge, PublicFit]:
    """
    Add a release to what is known; post-processing, free of privacy cost.

    In whitened coordinates the release holds H = E c^2 z z^T, h = E c z v and E v^2, v being what
    is left of c u. For the true deviation g, h is H g times the share of responses that are not cut
    off. H is averaged with its expectation, each by its precision, and the belief in g is
    conditioned on h. What is known then has a new start, a new whitener and a new residual scale.
    """
    p, q = knowledge.coef.shape
    gram, weight = released.noisy_gram, bounds.weight
    # Predicted bias makes a pass count for less against later ones. The last one has the widest
    # bounds: its bias is no reason to prefer those before it.
    carried_bias = 0.0 if final else bounds.bias
    moment, moment_variance, fit = _combined_moment(knowledge, released, bounds)
    beliefs, response_z = [], 0.0
    for k in range(q):
        scale = float(knowledge.scale[k])
        belief = knowledge.beliefs[k].transformed(knowledge.unwhitener)
        variance = (released.offdiagonal_sd / weight) ** 2 * scale**2
        variance += moment_variance * min(float(np.trace(belief.covariance)), FLAT * scale**2 / 1e4)
        variance += carried_bias / p * bounds.kept**2 * knowledge.inflation * scale**2
        observed = gram[:p, p + k] / weight * scale
        if knowledge.noise_scale is not None:
            surprise = belief.surprise(bounds.inside * moment, observed, variance)
            response_z = max(response_z, fit_agreement(surprise, p, knowledge.effective_n - p))
        beliefs.append(belief.updated(bounds.inside * moment, observed, variance))
    steps = np.array([belief.mean for belief in beliefs]).T
    whitener, unwhitener = _rewhitened(knowledge, moment / bounds.kept)
    later = replace(
        knowledge,
        whitener=whitener,
        unwhitener=unwhitener,
        effective_n=_effective_n(knowledge, moment_variance, bounds, released.n_rows),
        coef=knowledge.coef + knowledge.whitener @ steps,
        beliefs=tuple(b.moved(b.mean).transformed(knowledge.whitener) for b in beliefs),
    )
    later = replace(later, scale=_new_scale(knowledge, later, released, bounds, moment, steps))
    outgrown = _outgrown(knowledge, released, bounds)
    fit = replace(fit, response_z=response_z, outgrown=bool(outgrown.any()))
    if fit.outgrown and not final:
        later = _started_again(knowledge, later, outgrown, bounds)
    return later, fit


def _outgrown(knowledge: Knowledge, released: NoisyGram, bounds: Bounds) -> NDArray[np.bool_]:
    """Tell which responses have residuals far above their scale, beyond what noise explains."""
    p, q = knowledge.coef.shape
    times, share = OUTGROWN
    unit = bounds.weight**2 * bounds.kept
    squares = np.diag(released.noisy_gram)
    least = (squares[p:] - 4.0 * released.diagonal_sd) / unit
    # What features leave of the radius is the most that responses can fill.
    most = max(released.recipe.radius**2 - float(squares[:p].sum()), 0.0) / unit / q
    return np.asarray(least > min(times, (1 - share) * _clipped_square(most) + share * most))


def _clipped_square(most: float) -> float:
    """Mean of min(u^2, most) for a standard normal u."""
    bound = math.sqrt(most)
    return float(1.0 - 2.0 * bound * norm.pdf(bound) - 2.0 * (1.0 - most) * norm.sf(bound))


def _started_again(
    before: Knowledge, after: Knowledge, outgrown: NDArray[np.bool_], bounds: Bounds
) -> Knowledge:
    """
    Forget the public fit of responses that it does not fit, and widen scales that were too small.

    A clipped residual tells little but its sign: no later pass could find its way back.
    """
    inverse = after.whitener @ after.whitener.T
    coef, scale, beliefs = after.coef.copy(), after.scale.copy(), list(after.beliefs)
    for k in np.flatnonzero(outgrown):
        scale[k] = WIDENED * bounds.response_bound * before.scale[k]
        if before.noise_scale is not None:
            scale[k] = max(scale[k], before.response_scale[k])
            coef[:, k] = 0.0
        beliefs[k] = _belief_without_fit(after.second_moment, inverse, float(scale[k]))
    return replace(
        after,
        coef=coef,
        scale=scale,
        beliefs=tuple(beliefs),
        noise_scale=None,
        rows=None,
        responses=None,
    )


def _combined_moment(
    knowledge: Knowledge, released: NoisyGram, bounds: Bounds
) -> tuple[Array, float, PublicFit]:
    """Average the released H with its expectation; return it, its variance and their distance."""
    p = len(knowledge.coef)
    noisy = released.noisy_gram[:p, :p]
    noise_variance = released.offdiagonal_sd**2
    expected = bounds.kept * knowledge.inflation * np.eye(p)
    expected_variance = bounds.kept**2 * knowledge.moment_variance
    # In isometric coordinates an entry's variance is that of an off-diagonal one.
    entries = p * (p + 1) / 2
    distance = float(np.sum((noisy - expected) ** 2)) / (2 * entries)
    z_score = 0.0
    if knowledge.effective_n > 0:
        sd = released.offdiagonal_sd
        z_score = moment_agreement(noisy, bounds.kept, sd, knowledge.effective_n)
    fit = PublicFit(z_score)
    # A distance that neither noise nor sampling explains says that the populations differ: then
    # the expectation is trusted as little as the distance asks for.
    expected_variance = max(expected_variance, distance - noise_variance)
    trust = expected_variance / (expected_variance + noise_variance)
    variance = trust * noise_variance
    values, vectors = np.linalg.eigh((1.0 - trust) * expected + trust * noisy)
    floor = min(0.1 * bounds.kept * knowledge.inflation, 2.0 * math.sqrt(p * variance))
    values = np.maximum(values, max(floor, 1e-12 * values[-1], 1e-300))
    return np.asarray((vectors * values) @ vectors.T), variance, fit


def _rewhitened(knowledge: Knowledge, moment: Array) -> tuple[Array, Array]:
    """Whitener and inverse for rows whose z have the given second moment."""
    values, vectors = np.linalg.eigh(moment)
    roots = np.sqrt(values)
    return (
        knowledge.whitener @ (vectors / roots) @ vectors.T,
        (vectors * roots) @ vectors.T @ knowledge.unwhitener,
    )


def _effective_n(knowledge: Knowledge, variance: float, bounds: Bounds, n_rows: int) -> float:
    """Rows that would tell the second moment as well as it is known now."""
    p = len(knowledge.coef)
    if variance <= 0.0:
        return float(n_rows)
    return min((bounds.kept * knowledge.inflation) ** 2 / variance + p + 3, float(n_rows))


def _new_scale(
    before: Knowledge,
    after: Knowledge,
    released: NoisyGram,
    bounds: Bounds,
    moment: Array,
    steps: Array,
) -> Array:
    """
    Scale of the next residuals: an upper estimate, for a scale too small would clip.

    Public residuals tell it unless the release contradicts them; without, the released E u^2 does.
    """
    p, q = before.coef.shape
    scales = np.empty(q)
    for k in range(q):
        step = steps[:, k] / before.scale[k]
        cross = released.noisy_gram[:p, p + k] / bounds.weight
        square = released.noisy_gram[p + k, p + k] / bounds.weight**2
        left = (square - 2.0 * cross @ step + step @ moment @ step) / bounds.kept
        unsure = released.diagonal_sd / bounds.weight**2 / bounds.kept
        left, unsure = left * before.scale[k] ** 2, unsure * before.scale[k] ** 2
        error = after.prediction_error(k)
        expected = left + unsure
        if before.noise_scale is not None:
            expected = np.clip(before.noise_scale[k] ** 2, left - 3 * unsure, left + 3 * unsure)
        scales[k] = math.sqrt(min(max(expected, 0.0) + error, before.scale[k] ** 2))
    return np.maximum(scales, 1e-9 * before.scale)
