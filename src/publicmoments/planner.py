"""Choosing bounds by predicted error, from public quantities only.

A bound on rows trades noise, which grows with it, against what it cuts off. Both can be predicted
before any private row is read: the noise is known, and what a bound cuts off is estimated on public
rows, or on a model of heavy-tailed rows where only moments are public. All errors here are in the
prediction metric, squared, in units of the response's scale: E (x.b - x.b*)^2 / scale^2, the target
b* being the plain least-squares fit of the private rows themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["Bounds", "BoundsRequest", "Situation", "choose_bounds", "pass_shares"]

Array = NDArray[np.float64]

MISFIT_ROWS = 300.0
"""How wrong linear models are taken to be: what bounds cut off is as correlated with the features
as it would be by chance in this many rows. It was about 150 on wine data and 700 on power-plant
data; infinity would be a perfectly linear model."""

ROW_TAIL, RESPONSE_TAIL = 20.0, 8.0
"""Degrees of freedom of the Student laws that stand in for rows and residuals nobody has seen."""

NOISE_ALLOWANCE = 0.25
"""Where it can be had, noise variance stays below this share of the sampling variance p / n."""

NEGLIGIBLE_NOISE = 0.02
"""Below this share of the sampling variance, less noise buys nothing and the bounds are widened."""

EARLY_MISFIT = 0.1
"""A pass that others follow need not mind the misfit much: they start again from the rows."""

X_FACTORS = np.geomspace(0.5, 64.0, 22)
RESPONSE_BOUNDS = np.geomspace(1.5, 16.0, 12)
WEIGHT_SHARES = np.linspace(0.05, 1.0, 20)
MOST_SIGNAL = 4.0
"""Whitened coefficients explain at most all of the response, so their squared norm is about 1."""


@dataclass(frozen=True, eq=False)
class Situation:
    """
    What is known in public before a pass over the private rows.

    Parameters
    ----------
    n_design, n_responses, n_rows : int
        Columns p of the design, responses q, private rows n.
    mu : float
        Budget of the pass.
    inflation : float
        Expected mean of ||z||^2 / p: above 1 because the whitener was itself estimated.
    coef_variance : float
        Expected squared error of the current coefficients, whitened, in units of the response's
        scale, per coefficient.
    rows, residuals : ndarray or None
        Public rows, whitened, and their residuals in units of the scale.
    final : bool
        Whether this is the last pass.
    """

    n_design: int
    n_responses: int
    n_rows: int
    mu: float
    inflation: float
    coef_variance: float
    rows: Array | None = field(repr=False)
    residuals: Array | None = field(repr=False)
    final: bool

    @property
    def signal(self) -> float:
        """Expected squared norm of what is left to estimate."""
        return min(self.n_design * self.coef_variance, MOST_SIGNAL)


@dataclass(frozen=True)
class BoundsRequest:
    """Bounds a user insists on; None leaves the choice to the prediction."""

    x_radius: float | None = None
    response_bound: float | None = None
    weight: float | None = None


@dataclass(frozen=True)
class Bounds:
    """
    Bounds of a pass and what they are expected to do.

    Parameters
    ----------
    x_radius, response_bound, weight : float
        As in a row recipe.
    kept : float
        Expected share of the second moment of z that survives the weights.
    noise, bias : float
        Predicted squared errors, as the module says.
    """

    x_radius: float
    response_bound: float
    weight: float
    kept: float
    noise: float
    bias: float


@dataclass(frozen=True, eq=False)
class _Cut:
    """What candidate bounds cut off, on a grid of (radius, response bound)."""

    kept: Array
    second: Array
    lost: Array
    lost_mean: Array
    inside: Array


def pass_shares(passes: int) -> list[float]:
    """Shares of the squared budget: every pass alike, and the last one double."""
    return [1.0] * (passes - 1) + [2.0]


def choose_bounds(situation: Situation, request: BoundsRequest | None = None) -> Bounds:
    """
    Return the bounds with the least predicted error.

    Parameters
    ----------
    situation : Situation
        Public knowledge before the pass.
    request : BoundsRequest, optional
        Bounds fixed by the user.

    Returns
    -------
    Bounds

    Notes
    -----
    For each candidate the prediction is noise + bias + lost efficiency.

    *Noise.* With R^2 = Rx^2 + q (a Ru)^2 each coefficient has noise variance
    (R^2 / (mu n))^2 (1/a^2 + s) / kept^2, s being the squared norm of what is left to estimate;
    knowing the coefficients to a variance t already, noise costs at most v t / (v + t). The weight
    a comes from minimising R^4 (1/a^2 + s).

    *Bias.* Clipped responses pull the coefficients toward the start by the share of rows clipped.
    Where the model is not linear, weights and clips also move the target, by the mean of
    q = z (u - c clip(c u)); its size is taken as |mean q|^2 where public rows can show it, and as
    E|q|^2 / ``MISFIT_ROWS`` where they cannot.

    As mu n grows noise vanishes, and the least bias is that of the widest bounds: the estimate
    tends to the plain least-squares fit.

    Examples
    --------
    >>> few = Situation(10, 1, 10_000, 0.1, 1.0, 0.005, None, None, True)
    >>> many = Situation(10, 1, 10_000, 10.0, 1.0, 0.005, None, None, True)
    >>> choose_bounds(few).x_radius < choose_bounds(many).x_radius
    True
    """
    request = request or BoundsRequest()
    p, n = situation.n_design, situation.n_rows
    stretch = np.sqrt(p * situation.inflation)
    radii = np.sqrt(X_FACTORS) if request.x_radius is None else _fixed(request.x_radius / stretch)
    limits = RESPONSE_BOUNDS if request.response_bound is None else _fixed(request.response_bound)
    cut = _cut_off(situation, radii, limits)
    kept = cut.kept[:, None]
    x_radii = (radii * stretch)[:, None]
    weights, spread = _best_weights(situation, x_radii, limits, request.weight)
    variance = spread / (situation.mu * n * kept) ** 2 / situation.inflation
    noise = p * variance * situation.coef_variance / (variance + situation.coef_variance)
    misfit = _misfit(cut, situation) / kept**2
    bias = misfit + (1.0 - cut.inside) ** 2 * situation.signal
    sampling = p / n
    inefficiency = np.maximum(cut.second / cut.kept**2 - 1.0, 0.0)[:, None] * sampling
    weight_of_misfit = 1.0 if situation.final else EARLY_MISFIT
    total = np.maximum(noise, NEGLIGIBLE_NOISE * sampling) + inefficiency
    total = total + bias - (1.0 - weight_of_misfit) * misfit
    affordable = noise <= NOISE_ALLOWANCE * sampling
    if affordable.any():
        total = np.where(affordable, total, np.inf)
    i, j = np.unravel_index(np.argmin(total), total.shape)
    return Bounds(
        x_radius=float(x_radii[i, 0]),
        response_bound=float(limits[j]),
        weight=float(weights[i, j]),
        kept=float(cut.kept[i]),
        noise=float(noise[i, j]),
        bias=float(bias[i, j]),
    )


def _fixed(value: float) -> Array:
    """Return a grid of one candidate."""
    return np.array([value], dtype=np.float64)


def _best_weights(
    situation: Situation, x_radii: Array, limits: Array, weight: float | None
) -> tuple[Array, Array]:
    """Weight a for each candidate and R^4 (1/a^2 + s) at it."""
    q = situation.n_responses
    if weight is None:
        shares = WEIGHT_SHARES[:, None, None]
        squared = shares * x_radii**2 / (q * limits**2)
    else:
        squared = np.full((1, len(x_radii), len(limits)), weight**2)
    radius = x_radii**2 + squared * q * limits**2
    spread = radius**2 * (1.0 / squared + situation.signal)
    best = np.argmin(spread, axis=0)[None]
    return (
        np.sqrt(np.take_along_axis(squared, best, axis=0)[0]),
        np.take_along_axis(spread, best, axis=0)[0],
    )


def _misfit(cut: _Cut, situation: Situation) -> Array:
    """Expected squared shift of the target when the model is not linear."""
    seen = _trust_in_rows(situation)
    return seen**2 * cut.lost_mean + (1.0 - seen) * cut.lost / MISFIT_ROWS


def _trust_in_rows(situation: Situation) -> float:
    """Weight of what public rows show against what is assumed."""
    return (
        0.0 if situation.rows is None else len(situation.rows) / (len(situation.rows) + MISFIT_ROWS)
    )


def _cut_off(situation: Situation, radii: Array, limits: Array) -> _Cut:
    """Blend what the model and the public rows say of each candidate."""
    model = _cut_by_model(situation.n_design, radii, limits)
    if situation.rows is None or situation.residuals is None:
        return model
    seen, w = (
        _cut_by_rows(situation.rows, situation.residuals, radii, limits),
        (_trust_in_rows(situation)),
    )
    return _Cut(
        kept=w * seen.kept + (1 - w) * model.kept,
        second=w * seen.second + (1 - w) * model.second,
        lost=w * seen.lost + (1 - w) * model.lost,
        lost_mean=seen.lost_mean,
        inside=np.minimum(seen.inside, model.inside),
    )


def _cut_by_model(p: int, radii: Array, limits: Array) -> _Cut:
    """Student rows of mean square p and independent Student residuals of mean square 1."""
    norms, residuals, chances = _student_points(p)
    c = np.minimum(1.0, radii[:, None] * np.sqrt(p) / norms)
    scaled = (c[:, :, None] * residuals)[:, None]
    clipped = np.minimum(scaled, limits[:, None, None])
    lost = residuals - c[:, None, :, None] * clipped
    return _Cut(
        kept=(c * norms) ** 2 @ chances / p,
        second=(c**2 * norms) ** 2 @ chances / p,
        lost=lost**2 @ chances @ (chances * norms**2),
        lost_mean=np.zeros((len(radii), len(limits))),
        inside=(scaled <= limits[:, None, None]) @ chances @ chances,
    )


def _cut_by_rows(rows: Array, residuals: Array, radii: Array, limits: Array) -> _Cut:
    """What the candidates do to public rows, brought to the mean square the whitener intends."""
    count, p = rows.shape
    rows = rows * np.sqrt(p / np.mean(np.sum(rows**2, axis=1)))
    norms = np.sqrt(np.sum(rows**2, axis=1))
    c = np.minimum(1.0, radii[:, None] * np.sqrt(p) / np.maximum(norms, 1e-300))
    kept = np.mean((c * norms) ** 2, axis=1) / p
    second = np.mean((c**2 * norms) ** 2, axis=1) / p
    shape = len(radii), len(limits), residuals.shape[1]
    lost, lost_mean, inside = np.empty(shape), np.empty(shape), np.empty(shape)
    for k, u in enumerate(residuals.T):
        for j, limit in enumerate(limits):
            gone = u - c * np.clip(c * u, -limit, limit)
            lost[:, j, k] = np.mean((gone * norms) ** 2, axis=1)
            lost_mean[:, j, k] = np.sum((gone @ rows / count) ** 2, axis=1)
            inside[:, j, k] = np.mean(np.abs(c * u) <= limit, axis=1)
    return _Cut(kept, second, lost.mean(axis=2), lost_mean.mean(axis=2), inside.min(axis=2))


@lru_cache(maxsize=32)
def _student_points(p: int) -> tuple[Array, Array, Array]:
    """Quadrature of the norm of a row and of the size of a residual, fine in the tail."""
    edges = np.concatenate([np.linspace(1.0, 0.1, 41)[:-1], np.geomspace(0.1, 1e-8, 41)])
    middles, chances = (edges[:-1] + edges[1:]) / 2, edges[:-1] - edges[1:]
    norms = np.sqrt(stats.f.isf(middles, p, ROW_TAIL))
    residuals = stats.t.isf(middles / 2, RESPONSE_TAIL)
    norms = norms * np.sqrt(p / (chances @ norms**2))
    residuals = residuals / np.sqrt(chances @ residuals**2)
    return norms, residuals, chances / chances.sum()
