"""Rows that are counted in the cell that a public function of theirs lies in."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from publicmoments.rows.grid import Block
from publicmoments.rows.scaled import CoarseTotalRecipe, WhitenedRows

__all__ = ["CountRecipe"]

Array = NDArray[np.float64]


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
    squared length 2 m^2 with m = 2^b grid units and b the bits of the grid. `l2_bound_squared` is
    half of m^2, so that four times it bounds the squared change that replacing a row makes: what
    `publicmoments.release.release_total` rests on.

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
    def l2_bound_squared(self) -> int:
        """A quarter of the squared change that replacing a row makes at most."""
        return -(-(self.mark**2) // 2)

    def multiplied(self, rows: WhitenedRows, responses: Array, out: Block | None = None) -> Block:
        """Write the mark of each row."""
        marks = np.empty((self.dimension, rows.z.shape[1]), rows.z.dtype) if out is None else out
        with np.errstate(over="ignore", invalid="ignore", under="ignore", divide="ignore"):
            factors, _ = self.factors(self._predictor(rows.z), rows, responses)
            cells = self.cells(factors, rows)
        counted = np.flatnonzero(cells >= 0)
        marks[...] = 0.0
        marks[cells[counted], counted] = self.mark
        return marks

    def cells(self, factors: Array, rows: WhitenedRows) -> NDArray[np.int64]:
        """Cell of each row; -1 for none."""
        values = factors[0]
        if self.influence:
            sizes = values if len(factors) == 1 else np.sqrt(np.sum(factors**2, axis=0))
            values = sizes * (rows.length * rows.whole)
        found = np.searchsorted(self.edges, values, side="right") - 1
        found[~((rows.length > 0.0) & (values == values))] = -1
        return np.asarray(found)
