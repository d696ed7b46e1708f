"""Choosing what to release of a generalised linear model, by predicted error."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from publicmoments.models.glm.stage import Stage
from publicmoments.models.solve import positive_solution
from publicmoments.release import CoarseTotalRecipe, TotalRecipe

__all__ = [
    "Curvature",
    "Radius",
    "choose_curvature",
    "choose_radius",
    "few_will_do",
    "gradient_recipe",
    "pass_budgets",
]

Array = NDArray[np.float64]

MISFIT_ROWS = 1000.0
"""How wrong models are taken to be: what weights leave out moves the target as it would by chance
in this many rows. A model that is right would have infinitely many."""

EARLY_MISFIT = 0.1
"""A pass that others follow need not mind the misfit much."""

NEGLIGIBLE = 0.05
"""Errors below this share of the sampling variance are as good as none: the radius is widened."""

SLACK = 1.05
"""The widest radius is taken whose predicted error is at most this much above the least."""

FACTORS = np.geomspace(0.5, 256.0, 20)
"""Candidates: squared radius over the mean square of what it bounds."""

MOST_AWAY = 9.0
"""Coefficients are taken to be off by at most this, squared, in units of the linear predictor."""

GROWTH = 1.6
"""A pass has so many times the squared budget of the one before it."""

CURVATURE_SHARE = 0.15
"""Share of the squared budget that a curvature gets, where one is worth releasing."""

WORTH = 0.25
"""A curvature is released if its squared relative error is below this share of the stage's."""

GOOD_FIT = 0.8
"""Squared error of linear predictors up to which a public fit is good, as it is expected."""

LITTLE_NOISE = 3000.0
"""Squared budget times rows, for each coefficient, from which noise is little beside sampling."""

COARSE_ROWS, COARSE_MU = 2**22, 16.0
"""Rows and budget up to which gradients are put on a coarse grid. Rounding moves their mean by less
than a unit, 2^-20 of the bound, even where rows have few different values. Beside the sampling
error of so many rows that vanishes; beside that of more it might not, nor beside less noise."""


@dataclass(frozen=True, eq=False)
class Radius:
    """
    Radius of a pass and what it is expected to do.

    Parameters
    ----------
    radius : float
        Bound on whitened rows times their spread.
    noise_sd : float
        Noise of each entry of the gradient.
    covariance : ndarray
        Of that noise and of what the weights change.
    predicted_error : float
        Root mean square of the linear predictor's error after the pass.
    """

    radius: float
    noise_sd: float
    covariance: Array = field(repr=False)
    predicted_error: float


@dataclass(frozen=True, eq=False)
class Curvature:
    """Radius of a released curvature, its expectation, its noise sd and relative error, squared."""

    radius: float
    expected: Array = field(repr=False)
    noise_sd: float
    error: float


def pass_budgets(passes: int) -> list[float]:
    """Shares of the squared budget: little first, most last."""
    return [GROWTH**k for k in range(passes)]


def gradient_recipe(n_rows: int, mu: float) -> type[TotalRecipe]:
    """Return the kind of recipe for gradients over a table, with a budget for all of them."""
    return CoarseTotalRecipe if n_rows <= COARSE_ROWS and mu <= COARSE_MU else TotalRecipe


def choose_radius(
    stage: Stage,
    coef: Array,
    covariance: Array,
    *,
    n_rows: int,
    mu: float,
    final: bool,
    wanted: float | None,
    residuals: Array | None,
) -> Radius:
    """
    Return the radius with the least predicted error.

    Parameters
    ----------
    stage : Stage
        Where errors are predicted.
    coef : ndarray of shape (p k,)
        Where the gradient will be taken.
    covariance : ndarray of shape (p k, p k)
        Of the coefficients, as they are believed now.
    n_rows : int
        Private rows.
    mu : float
        Budget of the pass.
    final : bool
        Whether it is the last one.
    wanted : float, optional
        Radius that the user insists on.
    residuals : ndarray of shape (public rows,), optional
        Slopes of public responses at ``coef``.

    Returns
    -------
    Radius

    Notes
    -----
    With weights c, a row adds c s to the gradient, s being its own part; without, s. The two
    estimates differ by the mean of (c - H_c H^-1) s, of variance E |(c - H_c H^-1) s|^2 / n on the
    private rows, and where the model is wrong by more, which ``MISFIT_ROWS`` stands for. Noise has
    sd 2 radius limit / (mu n).
    """
    predictors, lengths = stage.predictors(coef), stage.lengths
    spread = stage.family.spread(predictors)[:, 0]
    information = stage.family.information(predictors)
    scores = information
    if residuals is not None:
        scores = information.copy()
        scores[: len(residuals), 0, 0] = residuals**2
    everything = np.ones(len(lengths))
    hessian = stage.squares(everything, information, moving=False)
    whole = stage.squares(everything, scores, moving=False)
    inverse = np.linalg.pinv(hessian, hermitian=True)
    penalised = np.linalg.pinv(hessian + stage.full_penalty, hermitian=True)
    sampling = float(np.trace(penalised @ hessian @ penalised)) / n_rows
    misfit = 1.0 / MISFIT_ROWS
    early = misfit if final else EARLY_MISFIT * misfit
    typical = math.sqrt(float(stage.weights @ (spread * lengths) ** 2))
    radii = [wanted] if wanted is not None else list(typical * np.sqrt(FACTORS))
    before = float(np.trace(covariance))
    doubt = stage.untruth_at(coef) * min(before, MOST_AWAY) / stage.size

    choices: list[Radius] = []
    for kept, alike in _weights_of(radii, spread * lengths):
        bent = _less(stage, hessian, kept, information)
        mixed = bent if residuals is None else _less(stage, whole, kept, scores)
        ratio = bent @ inverse
        crossed = ratio @ mixed
        lost = _less(stage, whole, kept**2, scores) - crossed - crossed.T
        lost = lost + ratio @ whole @ ratio.T
        jacobian = stage.moved(bent) + stage.full_penalty
        gain = covariance @ jacobian
        observed = jacobian @ gain + doubt * jacobian @ jacobian + lost * (1.0 / n_rows + early)
        for radius in alike:
            noise_sd = 2.0 * radius * stage.family.slope_limit / (mu * n_rows)
            noise = noise_sd**2 * np.eye(stage.size)
            learned = float(np.sum(gain.T * positive_solution(observed + noise, gain.T)))
            error = math.sqrt(max(before - learned, 0.0))
            choices.append(Radius(radius, noise_sd, noise + lost * (1.0 / n_rows + misfit), error))
    floor = NEGLIGIBLE * sampling
    least = min(choice.predicted_error**2 for choice in choices) + floor
    return [c for c in choices if c.predicted_error**2 + floor <= SLACK * least][-1]


def _weights_of(radii: list[float], sizes: Array) -> Iterator[tuple[Array, list[float]]]:
    """Weights of rows of some sizes, and the radii that have them: all that cut nothing alike."""
    longest = float(sizes.max())
    for radius in radii:
        if radius < longest:
            yield np.minimum(1.0, radius / np.maximum(sizes, 1e-300)), [radius]
    if wide := [radius for radius in radii if radius >= longest]:
        yield np.ones(len(sizes)), wide


def _less(stage: Stage, whole: Array, kept: Array, matrices: Array) -> Array:
    """Squares of what is kept of each row: by what is lost, where most rows are kept whole."""
    cut = np.flatnonzero(kept < 1.0)
    if 2 * len(cut) > len(kept):
        return stage.squares(kept, matrices, moving=False)
    few = replace(stage, rows=stage.rows[cut], weights=stage.weights[cut])
    return whole - few.squares(1.0 - kept[cut], matrices[cut], moving=False)


def few_will_do(stage: Stage, coef: Array, covariance: Array, *, n_rows: int, mu: float) -> bool:
    """
    Tell whether three gradients and a curvature are about as good as more gradients.

    From a good public fit, the first gradient comes within the reach of a curvature taken there;
    where noise is little beside the sampling error, others have nothing left to improve.
    """
    good = float(np.trace(covariance)) < GOOD_FIT and mu**2 * n_rows >= LITTLE_NOISE * stage.size
    share = math.sqrt(CURVATURE_SHARE) * mu
    return good and choose_curvature(stage, coef, n_rows=n_rows, mu=share) is not None


def choose_curvature(stage: Stage, coef: Array, *, n_rows: int, mu: float) -> Curvature | None:
    """
    Return how to release the curvature, or None where the stage knows it better.

    Rows times the root of their curvature are shortened to a radius, times which the root of the
    largest curvature bounds them. The relative error of the noisy matrix H + G, as a move of the
    coefficients feels it, is the mean of |H^-1 G d|^2 / |d|^2.
    """
    if stage.family.n_predictors != 1:
        return None
    predictors = stage.predictors(coef)
    spread, information = (
        stage.family.spread(predictors)[:, 0],
        stage.family.information(predictors),
    )
    size = spread * stage.lengths
    typical = math.sqrt(float(stage.weights @ size**2))
    whole = stage.squares(np.ones(len(size)), information, moving=False)
    choices = []
    for kept, alike in _weights_of(list(typical * np.sqrt(FACTORS)), size):
        expected = _less(stage, whole, kept**2, information)
        values = np.maximum(np.linalg.eigvalsh(expected), 1e-12)
        missing = max(0.0, 1.0 - float(np.trace(expected) / np.trace(whole)))
        for radius in alike:
            bound = radius**2 * stage.family.curvature_limit
            noise_sd = math.sqrt(2.0) * bound / (mu * n_rows)
            error = noise_sd**2 / 2.0 * float(np.sum(1.0 / values**2)) + 0.1 * missing
            choices.append(Curvature(radius, expected, noise_sd, error))
    best = min(choices, key=lambda choice: choice.error)
    return best if best.error < WORTH * stage.untruth else None
