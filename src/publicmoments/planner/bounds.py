"""Choosing bounds by predicted error, from public quantities only.

A bound on rows trades noise, which grows with it, against what it cuts off. Both can be predicted
before any private row is read: the noise is known, and what a bound cuts off is estimated on public
rows, or on a model of heavy-tailed rows where only moments are public. All errors here are in the
prediction metric, squared, in units of the response's scale: E (x.b - x.b*)^2 / scale^2, the target
b* being the plain least-squares fit of the private rows themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from publicmoments.planner.cuts import Candidates, Cut, cut_by_model, cut_by_rows, tried

__all__ = [
    "MISFIT_ROWS",
    "NEGLIGIBLE_NOISE",
    "SHAPE_ROWS",
    "Bounds",
    "BoundsRequest",
    "Situation",
    "choose_bounds",
    "pass_shares",
]

Array = NDArray[np.float64]

MISFIT_ROWS = 300.0
"""How wrong linear models are taken to be: what bounds cut off is as correlated with the features
as it would be by chance in this many rows. Infinity would be a perfectly linear model; the value
lies between what the two real tables of the accuracy benchmark show."""

SHAPE_ROWS = 50.0
"""How many public rows tell as much about tails as the model rows that stand in for unseen ones."""

NOISE_ALLOWANCE = 0.14
"""Where it can be had, noise variance stays below this share of the sampling variance p / n."""

NEGLIGIBLE_NOISE = 0.02
"""Below this share of the sampling variance, less noise buys nothing and the bounds are widened."""

EARLY_MISFIT = 0.1
"""A pass that others follow need not mind the misfit much: they start again from the rows."""

MOST_SIGNAL = 4.0
"""Whitened coefficients explain at most all of the response, so their squared norm is about 1."""

X_FACTORS = np.geomspace(0.5, 64.0, 20)
RESPONSE_LIMITS = np.geomspace(1.5, 16.0, 11)
ROOM_SHARES = np.array([0.03, 0.1, 0.25, 0.5, 1.0])
"""Candidates: squared radius of the features over p; limit of the response in a row of average
length; squared room kept for the response in the longest rows, over that of the features."""


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

    def in_units_of(self, length: float) -> BoundsRequest:
        """Return the same request for features measured in another unit of length."""
        return BoundsRequest(
            x_radius=None if self.x_radius is None else self.x_radius / length,
            response_bound=self.response_bound,
            weight=None if self.weight is None else self.weight / length,
        )


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
    inside : float
        Expected share of rows whose response stays within its limit.
    """

    x_radius: float
    response_bound: float
    weight: float
    kept: float
    noise: float
    bias: float
    inside: float


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

    *Noise.* Rows lie in a ball of radius R, so each coefficient has noise variance
    (R^2 / (mu n))^2 (1/a^2 + s) / kept^2, with a the weight of the response and s the squared norm
    of what is left to estimate; knowing the coefficients to a variance t already, noise costs at
    most v t / (v + t).

    *Bias.* Where the model is not linear, weights and limits move the target, by the mean of
    q = z (u - c v), v being what is left of c u; its size is taken as |mean q|^2 where public rows
    can show it, and as E|q|^2 / ``MISFIT_ROWS`` where they cannot. Limits also hide a share of the
    response, which is allowed for where it is used, and counted here as if it were not.

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
    stretch = math.sqrt(situation.inflation)
    candidates = _candidates(
        situation.n_design, situation.n_responses, request.in_units_of(stretch)
    )
    cut = _cut_off(situation, candidates)
    noise = _noise(situation, candidates, cut)
    misfit = _misfit(situation, cut)
    bias = misfit + (1.0 - cut.inside) ** 2 * situation.signal
    sampling = situation.n_design / situation.n_rows
    inefficiency = np.maximum(cut.second / cut.kept**2 - 1.0, 0.0) * sampling
    total = np.maximum(noise, NEGLIGIBLE_NOISE * sampling) + inefficiency + bias
    if not situation.final:
        total = total - (1.0 - EARLY_MISFIT) * misfit
    affordable = noise <= NOISE_ALLOWANCE * sampling
    if affordable.any():
        total = np.where(affordable, total, np.inf)
    return _as_bounds(situation, candidates, cut, noise, bias, int(np.argmin(total)))


@lru_cache(maxsize=32)
def _candidates(p: int, q: int, request: BoundsRequest) -> Candidates:
    """Every combination of the grids, less what the user fixed."""
    x_radii = np.sqrt(X_FACTORS * p)
    if request.x_radius is not None:
        x_radii = np.array([request.x_radius])
    if request.weight is not None and request.response_bound is not None:
        room = q * (request.weight * request.response_bound) ** 2
        return Candidates(
            x_radii, np.full_like(x_radii, request.weight), np.sqrt(x_radii**2 + room)
        )
    x_radius, limit, share = (
        grid.ravel() for grid in np.meshgrid(x_radii, RESPONSE_LIMITS, ROOM_SHARES)
    )
    squared = x_radius**2 * (1.0 + share)
    weight = np.sqrt((squared - np.minimum(p, x_radius**2)) / q) / limit
    if request.weight is not None:
        weight = np.full_like(weight, request.weight)
    if request.response_bound is not None:
        weight = x_radius * np.sqrt(share / q) / request.response_bound
    return Candidates(x_radius, weight, np.sqrt(squared))


def _noise(situation: Situation, candidates: Candidates, cut: Cut) -> Array:
    """Squared error that noise adds to what is known already."""
    spread = candidates.radius**4 * (1.0 / candidates.weight**2 + situation.signal)
    variance = spread / (situation.mu * situation.n_rows * cut.kept) ** 2
    known = situation.coef_variance
    return np.asarray(situation.n_design * variance * known / (variance + known))


def _as_bounds(
    situation: Situation,
    candidates: Candidates,
    cut: Cut,
    noise: Array,
    bias: Array,
    best: int,
) -> Bounds:
    """Write the best candidate down in the units of the whitened rows."""
    stretch = math.sqrt(situation.inflation)
    x_radius, weight = float(candidates.x_radius[best]), float(candidates.weight[best])
    room = math.sqrt(float(candidates.radius[best]) ** 2 - x_radius**2)
    return Bounds(
        x_radius=x_radius * stretch,
        response_bound=room / weight / math.sqrt(situation.n_responses),
        weight=weight * stretch,
        kept=float(cut.kept[best]),
        inside=float(cut.inside[best]),
        noise=float(noise[best]),
        bias=float(bias[best]),
    )


def _misfit(situation: Situation, cut: Cut) -> Array:
    """Expected squared shift of the target when the model is not linear."""
    seen = _trust_in_rows(situation, MISFIT_ROWS)
    shift = seen**2 * cut.lost_mean + (1.0 - seen) * cut.lost / MISFIT_ROWS
    return np.asarray(shift / cut.kept**2)


def _trust_in_rows(situation: Situation, assumed: float) -> float:
    """Weight of what public rows show against an assumption worth so many rows."""
    count = 0 if situation.rows is None else len(tried(situation.rows))
    return count / (count + assumed)


def _cut_off(situation: Situation, candidates: Candidates) -> Cut:
    """Blend what the model and the public rows say of each candidate."""
    model = cut_by_model(situation.n_design, situation.n_responses, candidates)
    if situation.rows is None or situation.residuals is None:
        return model
    seen = cut_by_rows(situation.rows, situation.residuals, candidates)
    w = _trust_in_rows(situation, SHAPE_ROWS)
    return Cut(
        kept=w * seen.kept + (1 - w) * model.kept,
        second=w * seen.second + (1 - w) * model.second,
        lost=w * seen.lost + (1 - w) * model.lost,
        lost_mean=seen.lost_mean,
        inside=np.minimum(seen.inside, model.inside),
    )
