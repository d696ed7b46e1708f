"""The constant model and the spread about it, from a noisy histogram of the responses."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from publicmoments.evidence.standins import StandIns
from publicmoments.evidence.start import minimised
from publicmoments.families import Family

__all__ = ["Histogram", "response_edges"]

Array = NDArray[np.float64]

SIGNIFICANT = 4.0
"""Standard errors from which a count is taken to be one."""

PSEUDO_ROWS = 1_000
"""A histogram is turned into so many responses; a class is never rarer than one in a hundred."""


def response_edges(family: Family) -> Array:
    """
    Lower edges of the cells that responses are counted in, in units of their public scale.

    Classes have a cell each; zero has one; there are two to an octave, and where sizes have a
    public scale one to an octave far from it.
    """
    if math.isfinite(family.slope_limit):
        return np.arange(_classes(family)) - 0.5
    if family.allows(np.array([-1.0]))[0]:
        far = np.arange(7.0, 21.0)
        sizes = 2.0 ** np.concatenate([-far[::-1], np.arange(-6.0, 7.0, 0.5), far])
        return np.concatenate([[-np.inf], -sizes[::-1], sizes])
    if family.allows(np.array([0.5]))[0]:
        return np.asarray(2.0 ** np.arange(-20.0, 20.5, 0.5))
    return np.concatenate([[-0.5, 0.5], 1.5 * 2.0 ** np.arange(0.0, 20.0, 0.5)])


@dataclass(frozen=True, eq=False)
class Histogram:
    """
    Shares of responses in cells, without those that noise alone could have made.

    Parameters
    ----------
    middles, shares : ndarray of shape (cells,)
        A response for each cell, and how common it is.
    """

    middles: Array = field(repr=False)
    shares: Array = field(repr=False)

    @classmethod
    def of(cls, family: Family, edges: Array, noisy_shares: Array, noise_sd: float) -> Histogram:
        """Clean a released histogram."""
        if math.isfinite(family.slope_limit):
            middles = np.arange(len(edges), dtype=float)
            shares = np.maximum(noisy_shares, 0.0)
        else:
            ends = np.append(edges, 2.0 * edges[-1])
            ends[0] = ends[0] if np.isfinite(ends[0]) else 2.0 * ends[1]
            middles = (ends[:-1] + ends[1:]) / 2.0
            if family.allows(np.array([0.0]))[0] and not family.allows(np.array([0.5]))[0]:
                middles = np.rint(middles)
            shares = np.where(noisy_shares > SIGNIFICANT * noise_sd, noisy_shares, 0.0)
        total = float(shares.sum())
        even = np.full(len(shares), 1.0 / len(shares))
        shares = shares / total if total > 0.0 else even
        if math.isfinite(family.slope_limit):
            shares = np.maximum(shares, 0.01)
            shares = shares / shares.sum()
        return cls(middles, shares)

    def constants(self, family: Family) -> Array:
        """Linear predictors of the constant model, of shape (k,)."""
        rows = np.maximum(np.rint(PSEUDO_ROWS * self.shares), self.shares > 0.0).astype(int)
        responses = np.repeat(self.middles, rows)[:, None]
        alike = StandIns(family, np.ones((len(responses), 1)))
        k = family.n_predictors
        return minimised(alike, responses, 1e-9 * np.eye(k), np.zeros(k))

    def slopes(self, family: Family, constants: Array) -> Array:
        """Slope of the loss of each cell's response under the constant model; (cells, k)."""
        predictors = np.tile(constants, (len(self.middles), 1))
        return family.slope(predictors, self.middles[:, None])


def _classes(family: Family) -> int:
    """Classes of a family with bounded slopes."""
    return family.n_predictors + 1
