"""What happens to a row before it is summed, stated entirely in public numbers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from publicmoments.arrays import Array
from publicmoments.checks import positive, positive_integer
from publicmoments.rows.grid import (
    EXACT_FLOAT_BITS,
    Block,
    certain_square,
    coarse_total_grid,
    finest_grid,
    finest_total_grid,
    on_grid,
    rounding_reach,
    whitening_dtype,
)


class Factor(Protocol):
    """What a row is multiplied by, from its linear predictors and its responses."""

    def __call__(self, predictor: Array, responses: Array) -> Array:
        """Return factors of shape (rows, k) for predictors of shape (rows, k)."""
        ...


class WhitenedRows(NamedTuple):
    """
    Whitened rows of a block, as columns; those with huge entries divided by a power of two.

    Parameters
    ----------
    z : ndarray of shape (p, rows)
        The rows.
    length : ndarray of shape (rows,)
        Their lengths.
    kept : ndarray of shape (rows,)
        ``z * kept`` are the rows, shortened to the radius where they are longer.
    whole : ndarray of shape (rows,)
        ``z * whole`` are the rows in full.
    """

    z: Block
    length: Array
    kept: Array
    whole: Array


@dataclass(frozen=True, eq=False)
class Recipe(ABC):
    """
    Map from a private row (x, y) to the integers of z times a factor.

    With z = x @ whitener, shortened to ``radius`` where it is longer, and t = z @ coef its linear
    predictors, the row is the outer product of z and factor(t, y), shortened to ``l2_bound``. It is
    divided by the grid unit and rounded to integers.

    Parameters
    ----------
    whitener : ndarray of shape (p, p)
        Rows are whitened from the right.
    coef : ndarray of shape (p, k)
        Whitened coefficients of the linear predictors.
    factor : Factor
        Public function; it must be one of each row alone.
    radius : float
        Longest z; may be infinite.
    l2_bound : float
        Longest row after multiplication.
    n_rows : int
        Number of rows to be summed, which is public.
    whole_predictor : bool
        Whether t is taken from the row before it is shortened: the weighted equations then hold for
        the same coefficients as the unweighted ones.

    Notes
    -----
    **Releases.** Nothing.

    **Assumes.** Checked here: bounds are positive, shapes agree, arrays are finite. Owed by the
    caller: every number here is public or the output of a paid release.

    **Guarantee.** The squared norm of every integer row is at most `l2_bound_squared`, which is the
    square of ``l2_bound`` in grid units: noise for ``l2_bound`` is noise for the integers, exactly.

    **Why.** Rows are shortened to l2_bound less what rounding can add, a few millionths of it, so
    that none needs a second look, and `on_grid` enforces the bound on the integers whatever
    happened before.

    **Numerics.** A row whose factor is not a finite number becomes zero. The predictor of an
    enormous row may be infinite where the factor still is finite: such a row counts.
    """

    whitener: Array = field(repr=False)
    coef: Array = field(repr=False)
    factor: Factor
    radius: float
    l2_bound: float
    n_rows: int
    whole_predictor: bool = False

    def __post_init__(self) -> None:
        """Validate what the guarantee rests on."""
        positive_integer("n_rows", self.n_rows)
        object.__setattr__(self, "l2_bound", positive("l2_bound", self.l2_bound))
        if self.radius != math.inf:
            object.__setattr__(self, "radius", positive("radius", self.radius))
        if self.coef.ndim != 2 or 0 in self.coef.shape:
            raise ValueError(f"coef must have shape (p, k) with entries, got {self.coef.shape}")
        p = len(self.coef)
        if self.whitener.shape != (p, p):
            raise ValueError(f"whitener must be {(p, p)}, got {self.whitener.shape}")
        if not (np.isfinite(self.whitener).all() and np.isfinite(self.coef).all()):
            raise ValueError("whitener and coef must be finite")
        if not 0.0 < self.grid_unit * self.grid_unit < math.inf:
            raise ValueError(
                f"l2_bound must have a square within floats, got l2_bound={self.l2_bound!r}"
            )

    products: ClassVar[bool] = False
    """Whether r r^T is summed over the integer rows r, or r itself."""

    @staticmethod
    @abstractmethod
    def bits_for(n_rows: int, dimension: int) -> int:
        """Bits of the grid for so many rows of some length: the bound is 2^bits grid units."""

    @property
    def grid_bits(self) -> int:
        """The bound is 2^grid_bits grid units."""
        return self.bits_for(self.n_rows, self.dimension)

    @property
    def max_block_rows(self) -> int:
        """Most rows whose sum in float64 is still exact."""
        return int(2 ** (EXACT_FLOAT_BITS - self.grid_bits * (2 if self.products else 1)))

    @property
    def dimension(self) -> int:
        """Length p k of an integer row."""
        return self.coef.size

    @property
    def grid_unit(self) -> float:
        """Size of one grid unit."""
        return self.l2_bound / 2.0**self.grid_bits

    @property
    def l2_bound_squared(self) -> int:
        """Integer bound on the squared norm of an integer row."""
        return int(4**self.grid_bits)

    @property
    def surely_bounded(self) -> float:
        """Squared norm up to which integers computed elsewhere are seen to be within the bound."""
        return self.l2_bound_squared * (1.0 - CERTAINTY)

    @cached_property
    def dtype(self) -> Any:
        """Float32 where that is precise enough, by public numbers."""
        bound = min(self.radius, self.l2_bound)
        return whitening_dtype(self.whitener.T, self.whitener, bound, self.grid_bits)

    @cached_property
    def mixing(self) -> Block:
        """The whitener in the floats of the blocks."""
        return np.ascontiguousarray(self.whitener.T, dtype=self.dtype)

    @cached_property
    def _most(self) -> float:
        """Length within the bound, in grid units, despite two errors of single precision."""
        squared = self.l2_bound_squared
        doubt = squared - certain_square(squared, self.dimension, self.dtype)
        return math.sqrt(squared - 2.0 * doubt)

    def values(self, factors: Array, rows: WhitenedRows) -> Any:
        """
        Return what whitened rows are multiplied by, in grid units, of shape (k, rows).

        Parameters
        ----------
        factors : ndarray of shape (k, rows)
            Factors of the rows.
        rows : WhitenedRows
            Of which only the lengths are looked at.
        """
        # Sizes apart from directions: the square of an enormous factor would overflow.
        largest = np.abs(factors).max(axis=0)
        directions = factors / largest
        size = np.sqrt(np.einsum("ij,ij->j", directions, directions)) * rows.length
        most = self._most - rounding_reach(self.dimension)
        directions *= np.minimum(largest * (rows.kept / self.grid_unit), most / size)
        return np.asarray(directions)

    def placed(self, values: Any, z: Block, out: Block) -> Block:
        """Multiply whitened rows and put them on the grid; ``z`` is not changed."""
        scaled = values.astype(self.dtype, copy=False)
        shape = (*self.coef.shape, z.shape[1])
        np.multiply(z[:, None, :], scaled[None, :, :], out=out.reshape(shape))
        return on_grid(out, self.l2_bound_squared)

    def assembled(self, values: Any, z: Any, xp: Any) -> Any:
        """
        Multiply whitened rows in another array library, where rows are rows; nothing is rounded.

        Parameters
        ----------
        values : array of shape (rows, k)
            What `values` returns, transposed.
        z : array of shape (rows, p)
            Whitened rows.
        xp : namespace
            The library.
        """
        return xp.reshape(z[:, :, None] * values[:, None, :], (z.shape[0], self.dimension))


CERTAINTY = 1e-9
"""Integers computed elsewhere are trusted if they are below the bound by this share of it."""


class TotalRecipe(Recipe):
    """Rows whose sum is wanted: a gradient, or a cross moment."""

    @staticmethod
    def bits_for(n_rows: int, dimension: int) -> int:
        """26 bits, and less beyond about 2^36 rows."""
        return finest_total_grid(n_rows)


class CoarseTotalRecipe(TotalRecipe):
    """Rows whose sum is wanted about as precisely as it is known of their population."""

    @staticmethod
    def bits_for(n_rows: int, dimension: int) -> int:
        """20 bits, and less beyond about 2^42 rows."""
        return coarse_total_grid(n_rows)


class GramRecipe(Recipe):
    """Rows whose Gram matrix is wanted: a second moment, or a Hessian."""

    products = True

    @staticmethod
    def bits_for(n_rows: int, dimension: int) -> int:
        """16 bits, and less beyond about 2^30 rows."""
        return finest_grid(n_rows, dimension)


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
