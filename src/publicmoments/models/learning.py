"""What a release teaches: from a noisy Gram matrix to more knowledge, at no privacy cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from publicmoments.models.belief import CoefBelief
from publicmoments.models.knowledge import FLAT, Knowledge, belief_without_fit
from publicmoments.planner.bounds import Bounds
from publicmoments.release import NoisyGram

__all__ = ["Lesson", "learned", "read_release", "residual_variances"]

Array = NDArray[np.float64]

OUTGROWN = 9.0, 0.6
"""Residuals have outgrown their scale when their mean square is this many times the expected one,
or when it has come this share of the way to the squared bound, which is the most it can be."""

WIDENED = 30.0
"""Times the bound by which a scale that was outgrown is widened: too wide is soon mended."""


MOST_SPREAD = 100.0
"""Mean square, relative to the expected one, beyond which it is not asked how much larger."""


LEAST_INSIDE = 0.01
"""Limits that cut nearly all residuals say no more of their variance than ones that cut so many."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """
    A release, read in the whitened coordinates of what was known before it.

    Parameters
    ----------
    moment : ndarray of shape (p, p)
        Second moment of the bounded features: released and expected, averaged by precision.
    moment_variance : float
        Variance of its off-diagonal entries.
    beliefs : tuple of CoefBelief
        For each response, what is now believed of the coefficients less the start.
    surprises : tuple of float
        For each response, the squared distance of what was released from what was believed.
    spreads : tuple of float
        For each response, the mean square of its residuals before they were cut, in units of the
        squared scale; 1 where the release does not say that it is more.
    outgrown : ndarray of shape (q,)
        Which responses have residuals so much larger than expected that most were cut.
    """

    moment: Array = field(repr=False)
    moment_variance: float
    beliefs: tuple[CoefBelief, ...] = field(repr=False)
    surprises: tuple[float, ...]
    spreads: tuple[float, ...]
    outgrown: NDArray[np.bool_]


def read_release(
    knowledge: Knowledge, released: NoisyGram, bounds: Bounds, *, final: bool
) -> Lesson:
    """
    Read a release in the light of what was known before it.

    In whitened coordinates the release holds H = E c^2 z z^T, h = E c z v and E v^2, v being what
    is left of c u. For the true deviation g, h is H g times the share of responses that are not cut
    off. H is averaged with its expectation, each by its precision, and the belief in g is
    conditioned on h.
    """
    p, q = knowledge.coef.shape
    moment, moment_variance = _combined_moment(knowledge, released, bounds)
    # Predicted bias makes a pass count for less against later ones. The last one has the widest
    # bounds: its bias is no reason to prefer those before it.
    bias = 0.0 if final else bounds.bias / p * bounds.kept**2 * knowledge.inflation
    noise = (released.offdiagonal_sd / bounds.weight) ** 2
    spreads = _spreads(knowledge, released, bounds)
    beliefs, surprises = [], []
    for k in range(q):
        scale = float(knowledge.scale[k])
        belief = knowledge.beliefs[k].transformed(knowledge.unwhitener)
        unknown = min(float(np.trace(belief.covariance)), FLAT * scale**2 / 1e4)
        variance = (noise + bias) * scale**2 + moment_variance * unknown
        observed = released.noisy_gram[:p, p + k] / bounds.weight * scale
        inside = bounds.inside
        if spreads[k] > 1.0:
            inside = min(inside, _share_inside(_room(released, bounds, q) / spreads[k]))
        surprises.append(belief.surprise(inside * moment, observed, variance))
        beliefs.append(belief.updated(inside * moment, observed, variance))
    outgrown = _outgrown(knowledge, released, bounds)
    return Lesson(moment, moment_variance, tuple(beliefs), tuple(surprises), spreads, outgrown)


def learned(
    knowledge: Knowledge, lesson: Lesson, released: NoisyGram, bounds: Bounds, *, final: bool
) -> Knowledge:
    """Add a lesson to what is known: a new start, a new whitener and a new residual scale."""
    steps = np.array([belief.mean for belief in lesson.beliefs]).T
    whitener, unwhitener = _rewhitened(knowledge, lesson.moment / bounds.kept)
    later = replace(
        knowledge,
        whitener=whitener,
        unwhitener=unwhitener,
        effective_n=_effective_n(knowledge, lesson.moment_variance, bounds, released.n_rows),
        coef=knowledge.coef + knowledge.whitener @ steps,
        beliefs=tuple(b.moved(b.mean).transformed(knowledge.whitener) for b in lesson.beliefs),
    )
    later = replace(later, scale=_new_scale(knowledge, later, lesson, released, bounds))
    if lesson.outgrown.any() and not final:
        later = _started_again(knowledge, later, lesson.outgrown, bounds)
    return later


def _outgrown(knowledge: Knowledge, released: NoisyGram, bounds: Bounds) -> NDArray[np.bool_]:
    """Tell which responses have residuals far above their scale, beyond what noise explains."""
    p, q = knowledge.coef.shape
    times, share = OUTGROWN
    squares = np.diag(released.noisy_gram)[p:] - 4.0 * released.diagonal_sd
    least, most = squares / (bounds.weight**2 * bounds.kept), _room(released, bounds, q)
    return np.asarray(least > min(times, (1 - share) * _clipped_square(most) + share * most))


def _room(released: NoisyGram, bounds: Bounds, q: int) -> float:
    """Squared limit of a response, in units of the scale: what the features leave of the radius."""
    p = released.recipe.n_design
    used = float(np.diag(released.noisy_gram)[:p].sum())
    radius = float(released.recipe.radius)
    return max(radius**2 - used, 0.0) / (bounds.weight**2 * bounds.kept) / q


def _spreads(knowledge: Knowledge, released: NoisyGram, bounds: Bounds) -> tuple[float, ...]:
    """
    Mean squares of the residuals before they were cut, where they are larger than expected.

    Residuals of a normal law with mean square t leave t E min(x^2, room / t) within the limit, x
    being standard normal; t is where that meets what was released, less two sd of its noise.
    """
    p, q = knowledge.coef.shape
    room, unit = _room(released, bounds, q), bounds.weight**2 * bounds.kept
    if room == 0.0:  # So much noise that the release says nothing of the limit.
        return tuple(1.0 for _ in range(q))
    spreads = []
    for k in range(q):
        left = (released.noisy_gram[p + k, p + k] - 2.0 * released.diagonal_sd) / unit
        spread = 1.0
        while spread < MOST_SPREAD and spread * _clipped_square(room / spread) < left:
            spread *= 1.05
        spreads.append(spread)
    return tuple(spreads)


def _clipped_square(most: float) -> float:
    """Mean of min(u^2, most) for a standard normal u."""
    bound = math.sqrt(most)
    density = math.exp(-most / 2.0) / math.sqrt(2.0 * math.pi)
    return 1.0 - 2.0 * bound * density - (1.0 - most) * math.erfc(bound / math.sqrt(2.0))


def _share_inside(most: float) -> float:
    """Chance that u^2 <= most for a standard normal u."""
    return 1.0 - math.erfc(math.sqrt(most / 2.0))


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
        beliefs[k] = belief_without_fit(after.second_moment, inverse, float(scale[k]))
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
) -> tuple[Array, float]:
    """Average the released H with its expectation by precision; return also its variance."""
    p = len(knowledge.coef)
    noisy = released.noisy_gram[:p, :p]
    noise_variance = released.offdiagonal_sd**2
    expected = bounds.kept * knowledge.inflation * np.eye(p)
    expected_variance = bounds.kept**2 * knowledge.moment_variance
    # In isometric coordinates an entry's variance is that of an off-diagonal one.
    entries = p * (p + 1) / 2
    distance = float(np.sum((noisy - expected) ** 2)) / (2 * entries)
    # A distance that neither noise nor sampling explains says that the populations differ: then
    # the expectation is trusted as little as the distance asks for.
    expected_variance = max(expected_variance, distance - noise_variance)
    trust = expected_variance / (expected_variance + noise_variance)
    variance = trust * noise_variance
    values, vectors = np.linalg.eigh((1.0 - trust) * expected + trust * noisy)
    floor = min(0.1 * bounds.kept * knowledge.inflation, 2.0 * math.sqrt(p * variance))
    values = np.maximum(values, max(floor, 1e-12 * values[-1], 1e-300))
    return np.asarray((vectors * values) @ vectors.T), variance


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
    before: Knowledge, after: Knowledge, lesson: Lesson, released: NoisyGram, bounds: Bounds
) -> Array:
    """
    Scale of the next residuals: an upper estimate, for a scale too small would clip.

    Public residuals tell it unless the release contradicts them; without, the released E u^2 does.
    Where many residuals were cut, what is left of them understates it: then their spread before
    the cut, less what the step explains, does.
    """
    q = before.coef.shape[1]
    scales = np.empty(q)
    for k in range(q):
        step = lesson.beliefs[k].mean / before.scale[k]
        left, unsure = _left_over(step, k, lesson, released, bounds)
        if lesson.spreads[k] > 1.0:
            left = max(left, lesson.spreads[k] - step @ lesson.moment @ step / bounds.kept)
        left, unsure = left * before.scale[k] ** 2, unsure * before.scale[k] ** 2
        error = after.prediction_error(k)
        expected = left + unsure
        if before.noise_scale is not None:
            expected = np.clip(before.noise_scale[k] ** 2, left - 3 * unsure, left + 3 * unsure)
        scales[k] = math.sqrt(
            min(max(expected, 0.0) + error, lesson.spreads[k] * before.scale[k] ** 2)
        )
    return np.maximum(scales, 1e-9 * before.scale)


def _left_over(
    step: Array, k: int, lesson: Lesson, released: NoisyGram, bounds: Bounds
) -> tuple[float, float]:
    """Mean square that a step leaves of response k, and its noise sd, in units of the scale."""
    p = len(step)
    cross = released.noisy_gram[:p, p + k] / bounds.weight
    square = released.noisy_gram[p + k, p + k] / bounds.weight**2
    left = (square - 2.0 * cross @ step + step @ lesson.moment @ step) / bounds.kept
    return float(left), released.diagonal_sd / bounds.weight**2 / bounds.kept


def residual_variances(
    before: Knowledge, lesson: Lesson, released: NoisyGram, bounds: Bounds, freedom: float
) -> Array:
    """
    Variances of the responses about the fit, for standard errors.

    What a release shows is less, because limits cut residuals: a normal law tells by how much, from
    the share that is expected inside. Public residuals, of the given degrees of freedom, tell the
    same variance, and both are averaged by precision; without any, one sd of noise is added, for
    variances that are too small would make intervals too short.
    """
    q = before.coef.shape[1]
    inside = min(max(bounds.inside, LEAST_INSIDE), 1.0 - 1e-12)
    share = _clipped_square(float(norm.isf((1.0 - inside) / 2.0)) ** 2)
    variances = np.empty(q)
    for k in range(q):
        unit = float(before.scale[k]) ** 2 / share
        left, unsure = _left_over(
            lesson.beliefs[k].mean / before.scale[k], k, lesson, released, bounds
        )
        told, doubt = left * unit, unsure * unit
        if before.noise_scale is None or not freedom > 0.0:
            variances[k] = told + doubt
            continue
        public = float(before.noise_scale[k]) ** 2
        trust = doubt**2 / (doubt**2 + 2.0 * public**2 / freedom) if doubt > 0.0 else 0.0
        variances[k] = (1.0 - trust) * told + trust * public
    return np.maximum(variances, 1e-18 * before.scale**2)
