"""The constant model and the spread about it, from a noisy histogram of the responses."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from publicmoments.arrays import Array
from publicmoments.evidence.standins import StandIns
from publicmoments.evidence.start import minimised
from publicmoments.families import Family

SIGNIFICANT = 4.0
"""Standard errors from which a count is taken to be one."""

LEAST_SEEN = 0.5
"""A histogram that shows fewer of the responses than this says nothing."""

PSEUDO_ROWS, RAREST = 1_000, 0.01
"""A histogram is turned into so many responses; a class is never rarer than one in a hundred."""


OFFSETS = np.arange(-12.0, 12.5, 0.5)
"""Lower edges of the cells that offsets are counted in."""


def response_edges(family: Family, rates: bool = False) -> Array:
    """
    Lower edges of the cells that responses are counted in, in units of their public scale.

    Classes have a cell each; zero has one; there are two to an octave, and where sizes have a
    public scale one to an octave far from it. Counts over an exposure are ``rates``, which may be
    anywhere between.
    """
    if math.isfinite(family.slope_limit):
        return np.arange(family.n_predictors + 1.0) - 0.5
    if family.allows(np.array([-1.0]))[0]:
        far = np.arange(7.0, 21.0)
        sizes = 2.0 ** np.concatenate([-far[::-1], np.arange(-6.0, 7.0, 0.5), far])
        return np.concatenate([[-np.inf], -sizes[::-1], sizes])
    if family.allows(np.array([0.5]))[0]:
        return np.asarray(2.0 ** np.arange(-20.0, 20.5, 0.5))
    if rates:
        return np.concatenate([[-0.5], 2.0 ** np.arange(-10.0, 20.5, 0.5)])
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
            if edges[0] == -0.5:
                # Nothing is between a count of zero and the first cell above it.
                middles[0] = 0.0
            shares = np.where(noisy_shares > SIGNIFICANT * noise_sd, noisy_shares, 0.0)
        total = float(shares.sum())
        if math.isfinite(family.slope_limit):
            shares = np.maximum(shares / max(total, 1e-300), RAREST)
            return cls(middles, shares / shares.sum())
        if total < LEAST_SEEN:
            # Too little budget to tell: responses of the public size, on both sides where allowed.
            allowed = np.array([-1.0, 0.0, 1.0, 2.0])
            allowed = allowed[family.allows(allowed)]
            middles = allowed[(allowed != 0.0) | (allowed.min() == 0.0)]
            return cls(middles, np.full(len(middles), 1.0 / len(middles)))
        return cls(middles, shares / total)

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


def typical_offset(noisy_shares: Array, noise_sd: float) -> float:
    """Mean offset, from the shares in the cells of `OFFSETS`; 0 where noise hides them."""
    shares = np.where(noisy_shares > SIGNIFICANT * noise_sd, noisy_shares, 0.0)
    total = float(shares.sum())
    return float(shares @ (OFFSETS + 0.25)) / total if total >= LEAST_SEEN else 0.0
