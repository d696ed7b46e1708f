"""Rows that also count themselves, in the cell that the size of their influence lies in."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from publicmoments.rows.grid import Block
from publicmoments.rows.scaled import CoarseTotalRecipe, TotalRecipe, WhitenedRows

__all__ = ["CountRecipe", "CountedRecipe", "cells_of"]

Array = NDArray[np.float64]

COUNT_BITS = 2
"""A row counts with 2^-2 of its bound: counts add 3 % to the noise of what they come with."""


@dataclass(frozen=True, eq=False)
class CountedRecipe(TotalRecipe):
    """
    A `TotalRecipe` whose rows also carry a mark in one of several cells, which sums to counts.

    The influence of a row is the length of z times that of its factor, before any bound; with one
    predictor it has the sign of the factor. Its mark is at the last edge that is not above it.

    Parameters
    ----------
    edges : ndarray of shape (cells,)
        Lower edges of the cells, ascending; public. Below the first a row has no mark.
    fine : bool
        Whether the grid is to be finer than single precision.

    Notes
    -----
    **Guarantee.** The squared norm of an integer row is at most 4^b + 4^(b - 2), with b the bits of
    the grid: that of the bounded vector and that of its one mark. `l2_bound_squared` is that sum.

    **Why.** The mark is one entry of 2^(b - 2) or none, whatever the row holds: also where the
    influence is infinite. A row of zeros, such as one that pads a block, and a row whose influence
    is not a number have no mark. Comparisons with edges are exact, so that the cell depends on the
    row alone.
    """

    edges: Array = field(kw_only=True, repr=False)
    fine: bool = field(kw_only=True, default=False)

    @property
    def grid_bits(self) -> int:
        """Those of a `TotalRecipe` if ``fine``, else those of a `CoarseTotalRecipe`."""
        return (TotalRecipe if self.fine else CoarseTotalRecipe).bits_for(self.n_rows)

    @property
    def dimension(self) -> int:
        """Length of an integer row: p k, and one for each cell."""
        return self.coef.size + len(self.edges)

    @property
    def mark(self) -> int:
        """What a row adds to its cell, in grid units."""
        return int(2 ** max(self.grid_bits - COUNT_BITS, 0))

    @property
    def l2_bound_squared(self) -> int:
        """Integer bound on the squared norm of a row and its mark."""
        return self.vector_bound_squared + self.mark**2

    def cells(self, factors: Array, rows: WhitenedRows) -> NDArray[np.int64]:
        """Cell of each row; -1 for none."""
        sizes = factors[0] if len(factors) == 1 else np.sqrt(np.sum(factors**2, axis=0))
        return cells_of(sizes * (rows.length * rows.whole), rows, self.edges)

    def _carry(self, out: Block, factors: Array, rows: WhitenedRows) -> None:
        """Write the mark of each row."""
        write_marks(out, self.cells(factors, rows), self.mark)


@dataclass(frozen=True, eq=False)
class CountRecipe(CoarseTotalRecipe):
    """
    Rows that do nothing but mark the cell of the first entry of their factor.

    The sum is a histogram of a function of the response. A mark is ``l2_bound``, and the squared
    norm of a row its square in grid units; all else is as with `CountedRecipe`.
    """

    edges: Array = field(kw_only=True, repr=False)

    @property
    def dimension(self) -> int:
        """One for each cell."""
        return len(self.edges)

    @property
    def mark(self) -> int:
        """What a row adds to its cell, in grid units."""
        return int(2**self.grid_bits)

    def multiplied(self, rows: WhitenedRows, responses: Array, out: Block | None = None) -> Block:
        """Write the mark of each row."""
        marks = np.empty((self.dimension, rows.z.shape[1]), rows.z.dtype) if out is None else out
        with np.errstate(over="ignore", invalid="ignore", under="ignore", divide="ignore"):
            factors, _ = self.factors(self._predictor(rows.z), rows, responses)
            write_marks(marks, cells_of(factors[0], rows, self.edges), self.mark)
        return marks


def cells_of(values: Array, rows: WhitenedRows, edges: Array) -> NDArray[np.int64]:
    """Cells of values, -1 for those below the first edge, no numbers, and those of empty rows."""
    found = np.searchsorted(edges, values, side="right") - 1
    found[~((rows.length > 0.0) & (values == values))] = -1
    return np.asarray(found)


def write_marks(out: Block, cells: NDArray[np.int64], mark: int) -> None:
    """Write the mark of each row to its column, zeros elsewhere."""
    counted = np.flatnonzero(cells >= 0)
    out[...] = 0.0
    out[cells[counted], counted] = mark
