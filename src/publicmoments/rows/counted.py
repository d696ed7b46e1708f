"""Rows that are counted in the cell that a public function of theirs lies in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.arrays import Array
from publicmoments.rows.grid import Block
from publicmoments.rows.recipe import CERTAINTY, CoarseTotalRecipe, WhitenedRows


@dataclass(frozen=True, eq=False)
class CountRecipe(CoarseTotalRecipe):
    """
    Rows whose sum is a histogram: each is a mark in one of several cells, or nothing.

    The value of a row is the first entry of its factor or, if ``influence``, the length of z times
    that of the factor, before any bound, and with one predictor with the factor's sign. Its mark,
    of length ``l2_bound``, is at the last edge that is not above its value.

    Parameters
    ----------
    edges : ndarray of shape (cells,)
        Lower edges of the cells, ascending; public. Below the first a row has no mark.
    influence : bool
        Whether influences are counted.

    Notes
    -----
    **Guarantee.** Two integer rows differ by at most two marks, one taken away and one added, of
    squared length 2 m^2 with m = 2^b grid units and b the bits of the grid: what
    `publicmoments.session.CountQuery` rests on.

    **Why.** A row has one mark or none, whatever it holds: also where its value is infinite. A row
    of zeros, such as one that pads a block, and a row whose value is not a number have none.
    Comparisons with edges are exact, so that the cell depends on the row alone.
    """

    edges: Array = field(kw_only=True, repr=False)
    influence: bool = field(kw_only=True, default=False)

    @property
    def dimension(self) -> int:
        """One for each cell."""
        return len(self.edges)

    @property
    def mark(self) -> int:
        """What a row adds to its cell, in grid units."""
        return int(2**self.grid_bits)

    @property
    def surely_bounded(self) -> float:
        """A mark, and no more."""
        return self.mark**2 * (1.0 + CERTAINTY)

    def values(self, factors: Array, rows: WhitenedRows) -> NDArray[np.int64]:
        """Cell of each row, of shape (1, rows); -1 for none."""
        values = factors[0]
        if self.influence:
            sizes = values if len(factors) == 1 else np.sqrt(np.sum(factors**2, axis=0))
            values = sizes * (rows.length * rows.whole)
        found = np.searchsorted(self.edges, values, side="right") - 1
        found[~((rows.length > 0.0) & (values == values))] = -1
        return np.asarray(found)[None, :]

    def placed(self, values: NDArray[np.int64], z: Block, out: Block) -> Block:
        """Write the mark of each row."""
        cells = values[0]
        counted = np.flatnonzero(cells >= 0)
        out[...] = 0.0
        out[cells[counted], counted] = self.mark
        return out

    def assembled(self, values: Any, z: Any, xp: Any) -> Any:
        """Write the marks in another array library."""
        from array_api_compat import device

        places = xp.arange(self.dimension, device=device(values))
        return xp.astype(values == places[None, :], xp.float64) * float(self.mark)
