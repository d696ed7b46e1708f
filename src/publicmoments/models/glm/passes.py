"""A generalised linear model fitted by a fixed number of noisy gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from publicmoments.factors import RootCurvature, Slope, Spread
from publicmoments.models.agreement import fit_agreement, moment_agreement
from publicmoments.models.belief import CoefBelief
from publicmoments.models.glm.explain import Explanation, Observation, explain
from publicmoments.models.glm.penalty import penalised
from publicmoments.models.glm.plan import (
    CURVATURE_SHARE,
    MOST_AWAY,
    Radius,
    choose_curvature,
    choose_radius,
    gradient_recipe,
    pass_budgets,
)
from publicmoments.models.glm.stage import Lesson, Stage, believed_root
from publicmoments.privacy.account import Account
from publicmoments.privacy.budgets import GDP
from publicmoments.privacy.noise_law import (
    NoiseLaw,
    VectorNoiseLaw,
    gram_noise_law,
    vector_noise_law,
)
from publicmoments.release import (
    GramRecipe,
    NoiseSource,
    NoisyGram,
    NoisyTotal,
    PrivateRows,
    gram_grid_bound,
    measure_gram,
    measure_total,
    total_grid_bound,
)

__all__ = ["Fitted", "Start", "fit_laws", "fit_passes"]

Array = NDArray[np.float64]

FEW_ROWS = 40.0
"""Fits of few public rows are off by more than their standard errors say: by this many times the
coefficients per row, in variance."""

LONGEST_MOVE = 3.0
"""Longest move between two gradients, as a root mean square of the linear predictor."""

CURVATURE_DOUBT = 4.0
"""Curvatures vary from sample to sample by this much more variance than second moments do."""


@dataclass(frozen=True, eq=False)
class Start:
    """
    Where a fit starts.

    Parameters
    ----------
    stage : Stage
        Public rows, or made-up ones.
    belief : CoefBelief
        About the whitened coefficients.
    public_responses : ndarray of shape (public rows, 1) or None
        Responses of the first rows of the stage.
    freedom : float
        Public rows beyond the coefficients; 0 without public responses.
    """

    stage: Stage
    belief: CoefBelief = field(repr=False)
    public_responses: Array | None = field(repr=False)
    freedom: float


@dataclass(frozen=True, eq=False)
class Fitted:
    """Whitened coefficients of shape (p, k), what is believed of them and why, every release."""

    coef: Array
    belief: CoefBelief = field(repr=False)
    stage: Stage = field(repr=False)
    observations: tuple[Observation, ...] = field(repr=False)
    releases: tuple[NoisyGram | NoisyTotal, ...]
    radii: tuple[Radius | None, ...]
    curvature_z: float | None
    response_z: float | None
    private: bool


def fit_laws(
    total: GDP, n_rows: int, p: int, k: int, passes: int
) -> list[NoiseLaw | VectorNoiseLaw]:
    """
    Noise laws of the longest path of a fit, further from Gaussian than those of any other.

    A curvature may be released, which leaves less for the gradients. Distances go with the squared
    budgets: those of gradients that have the whole total are no less than those of gradients that
    have what is left of it, however it is split, and that of the curvature comes on top.
    """
    bound = total_grid_bound(n_rows, gradient_recipe(n_rows, total.mu))
    vector = [
        vector_noise_law(bound, p * k, cost.mu) for cost in total.split(*pass_budgets(passes))
    ]
    share = math.sqrt(CURVATURE_SHARE) * total.mu
    return [*vector, gram_noise_law(gram_grid_bound(n_rows, p), p, share)]


class _Fit:
    """The state of a fit between its releases."""

    def __init__(
        self,
        start: Start,
        rows: PrivateRows,
        whitener: Array,
        account: Account,
        source: NoiseSource,
    ) -> None:
        self.stage, self.prior = start.stage, start.belief
        self.start, self.rows, self.whitener, self.source = start, rows, whitener, source
        self.account = account
        self.belief = start.belief
        self.coef = self.prior.mean
        self.seen: list[Observation] = []
        self.releases: list[NoisyGram | NoisyTotal] = []
        self.radii: list[Radius | None] = []
        self.explanation: Explanation | None = None

    def gradient(self, cost: GDP, scale: float, wanted: float | None, final: bool) -> None:
        """Release a gradient and explain all of them."""
        covariance = self.belief.covariance
        radius = choose_radius(
            self.stage,
            self.coef,
            covariance,
            n_rows=self.rows.n_rows,
            mu=cost.mu,
            final=final,
            wanted=wanted,
            residuals=self._public_residuals(),
        )
        family = self.stage.family
        recipe = gradient_recipe(self.rows.n_rows, self.account.total.mu)(
            self.whitener,
            self.coef.reshape(-1, family.n_predictors),
            Slope(family, scale),
            radius.radius,
            radius.radius * family.slope_limit,
            self.rows.n_rows,
            whole_predictor=True,
            spread=Spread(family, scale),
        )
        released = measure_total(self.rows, recipe, cost, self.account, self.source)
        self.releases.append(released)
        self.radii.append(radius)
        self.seen.append(
            Observation(
                coef=self.coef,
                gradient=released.noisy_mean,
                kept=self.stage.kept(self.coef, radius.radius),
                covariance=radius.covariance,
                far=min(float(np.trace(covariance)), MOST_AWAY),
                late=self.stage.lesson is not None,
            )
        )
        self.explanation = explain(self.prior, self.seen, self.stage, self.belief.mean)
        self.belief = self.explanation.belief

    def curvature(self, share: float, scale: float) -> float | None:
        """Release the curvature, where that is worth its price; return how well it agrees."""
        cost = GDP(math.sqrt(share) * self.account.total.mu)
        choice = choose_curvature(self.stage, self.coef, n_rows=self.rows.n_rows, mu=cost.mu)
        if choice is None:
            return None
        family = self.stage.family
        recipe = GramRecipe(
            self.whitener,
            self.coef[:, None],
            RootCurvature(family, scale),
            choice.radius,
            choice.radius * math.sqrt(family.curvature_limit),
            self.rows.n_rows,
            whole_predictor=True,
            spread=Spread(family, scale),
        )
        released = measure_gram(self.rows, recipe, cost, self.account, self.source)
        self.releases.append(released)
        self.radii.append(None)
        inverse_root, root = _roots(choice.expected)
        relative = inverse_root @ released.noisy_gram @ inverse_root
        noise = released.offdiagonal_sd * float(np.mean(np.diag(inverse_root @ inverse_root)))
        stretch = root @ believed_root(relative, noise) @ inverse_root
        self.stage = self.stage.taught(Lesson(stretch, self.coef, choice.error))
        known = (len(self.coef) + 1) / (CURVATURE_DOUBT * self.start.stage.untruth)
        return moment_agreement(relative, 1.0, noise, known)

    def _public_residuals(self) -> Array | None:
        """Slopes of the public responses at the present coefficients."""
        responses = self.start.public_responses
        if responses is None or self.stage.family.n_predictors != 1:
            return None
        predictors = self.stage.predictors(self.coef)[: len(responses)]
        return self.stage.family.slope(predictors, responses)[:, 0]


def fit_passes(
    start: Start,
    rows: PrivateRows,
    whitener: Array,
    account: Account,
    passes: int,
    source: NoiseSource,
    *,
    scale: float = 1.0,
    radius: float | None = None,
    l1: float = 0.0,
    ridge: float = 0.0,
) -> Fitted:
    """
    Release gradients at coefficients that get better, and return what explains them all.

    Parameters
    ----------
    start : Start
        From public inputs.
    rows : PrivateRows
        The private side.
    whitener : ndarray of shape (p, p)
        Rows are whitened from the right.
    total : GDP
        Budget of all releases together.
    passes : int
        Number of gradients; public.
    source : NoiseSource
        Where noise comes from.
    scale : float
        Responses and offsets are divided by it.
    radius : float, optional
        Radius that the user insists on.
    l1 : float
        Absolute penalty on the features' coefficients in raw units.
    ridge : float
        Squared penalty on them, which the stage has too.

    Returns
    -------
    Fitted

    Notes
    -----
    **Releases.** A noisy gradient a pass, at most one noisy curvature, and what follows from them.

    **Guarantee.** They compose to at most ``total``, with the neighbours and the exactness that
    `publicmoments.release.release_total` states for each.

    **Why.** Every recipe depends on public inputs and on earlier releases only, which adaptive
    composition covers; the account refuses an overdraft. The number of passes is fixed before.
    """
    fit = _Fit(start, rows, whitener, account, source)
    shares = pass_budgets(passes)
    curvature_z = response_z = None
    for k in range(passes):
        if k == passes - 2:
            curvature_z = fit.curvature(CURVATURE_SHARE, scale)
        left = GDP(fit.account.remaining)
        cost = left.split(*shares[k:])[0] if k < passes - 1 else left
        fit.gradient(cost, scale, radius, final=k == passes - 1)
        best = penalised(
            fit.stage,
            fit.belief.mean,
            whitener,
            l1,
            kept=fit.seen[-1].kept,
            fit_intercept=rows.fit_intercept,
            ridge=ridge,
            at=fit.coef,
            unexplained=None if fit.explanation is None else fit.explanation.unexplained,
        )
        fit.coef = _damped(fit.coef, best)
        if k == 0 and start.freedom > 0 and fit.explanation is not None:
            surprise = fit.explanation.surprise / (1.0 + FEW_ROWS * fit.stage.size / start.freedom)
            response_z = fit_agreement(surprise, fit.stage.size, start.freedom)
    k_ = fit.stage.family.n_predictors
    return Fitted(
        coef=fit.coef.reshape(-1, k_),
        belief=fit.belief,
        stage=fit.stage,
        observations=tuple(fit.seen),
        releases=tuple(fit.releases),
        radii=tuple(fit.radii),
        curvature_z=curvature_z,
        response_z=response_z,
        private=source.private,
    )


def _damped(coef: Array, wanted: Array) -> Array:
    """Move toward what is wanted, but no further than the stage can be trusted."""
    length = float(np.linalg.norm(wanted - coef))
    return coef + (wanted - coef) * min(1.0, LONGEST_MOVE / max(length, 1e-300))


def _roots(matrix: Array) -> tuple[Array, Array]:
    """Inverse and direct root of a positive matrix."""
    values, vectors = np.linalg.eigh(matrix)
    roots = np.sqrt(np.maximum(values, 1e-12 * values[-1]))
    return (vectors / roots) @ vectors.T, (vectors * roots) @ vectors.T
