"""The bound on one row's influence: wide enough to cut little off, with little noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from publicmoments.arrays import Array
from publicmoments.evidence.standins import StandIns
from publicmoments.evidence.tails import TAIL, Tails

ROW_COHERENCE = 0.03
"""The same share for weights that know nothing of the response, which move only wrong models."""


@dataclass(frozen=True, eq=False)
class Bound:
    """
    A bound and what it is expected to do to a gradient.

    Parameters
    ----------
    bound : float
        Longest influence.
    bias : float
        What it moves an entry by.
    kept : float or ndarray
        Share of the curvature that it leaves.
    error : float
        Root mean square error of a coefficient that noise and bias together make.
    """

    bound: float
    bias: float
    kept: float | Array
    error: float


class LengthBounds:
    """
    Bounds on rows of a family whose slopes are bounded anyway.

    A weight that depends on the row alone leaves the equations of a right model right, so that
    little is lost; a bound on influences would silence rare classes first.
    """

    def __init__(self, stand_ins: StandIns) -> None:
        self.lengths, self.limit = stand_ins.lengths, stand_ins.family.slope_limit

    def bounds(self) -> Array:
        """Bounds to choose from."""
        typical = math.sqrt(float(np.mean(self.lengths**2))) * self.limit
        return np.asarray(typical * 2.0 ** np.arange(-5, 13, 0.25))

    def bias(self, bound: float) -> float:
        """Length of the mean of what a bound cuts off."""
        radius, longest = bound / self.limit, float(self.lengths.max())
        inside = float(np.mean(np.maximum(self.lengths - radius, 0.0)))
        share = 1.0 / len(self.lengths)
        beyond = share * longest * max(radius / longest, 1.0) ** (1.0 - TAIL) / (TAIL - 1.0)
        return float(ROW_COHERENCE * self.limit * (inside + beyond))

    def kept(self, bound: float) -> Array:
        """Weight of each stand-in."""
        return np.minimum(1.0, bound / self.limit / np.maximum(self.lengths, 1e-300))


def choose_bound(
    known: Tails | LengthBounds, size: int, noise_per_bound: float, solved: float
) -> Bound:
    """
    Return the bound with the least squared error of noise and bias together.

    Parameters
    ----------
    known : Tails or LengthBounds
        What bounds are expected to cut off.
    size : int
        Entries of a gradient.
    noise_per_bound : float
        Noise of an entry over the bound.
    solved : float
        Trace of the squared inverse curvature, which turns errors of entries into those of
        coefficients.

    Returns
    -------
    Bound
    """
    best: Bound | None = None
    for bound in known.bounds():
        kept = known.inside(bound) if isinstance(known, Tails) else known.kept(bound)
        bias = known.bias(float(bound)) / math.sqrt(size)
        spread = math.hypot(noise_per_bound * float(bound), bias) / float(np.mean(kept))
        if best is None or spread * math.sqrt(solved / size) < best.error:
            best = Bound(float(bound), bias, kept, spread * math.sqrt(solved / size))
    assert best is not None, "there are bounds to choose from"
    return best
