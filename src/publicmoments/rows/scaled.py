"""Rows times a bounded function of the linear predictor: gradients, curvatures, cross moments."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

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
)
from publicmoments.rows.precision import largest_square, whitening_dtype

__all__ = [
    "CoarseTotalRecipe",
    "Factor",
    "GramRecipe",
    "ScaledRecipe",
    "TotalRecipe",
    "WhitenedRows",
    "whitened_rows",
]

Array = NDArray[np.float64]


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
class ScaledRecipe(ABC):
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

    @property
    @abstractmethod
    def grid_bits(self) -> int:
        """The bound is 2^grid_bits grid units."""

    @property
    @abstractmethod
    def max_block_rows(self) -> int:
        """Most rows whose sum in float64 is still exact."""

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

    @cached_property
    def dtype(self) -> Any:
        """Float32 where that is precise enough, by public numbers."""
        bound = min(self.radius, self.l2_bound)
        return whitening_dtype(self.whitener.T, self.whitener, bound, self.grid_bits)

    @cached_property
    def _most(self) -> float:
        """Length within the bound, in grid units, despite two errors of single precision."""
        squared = self.l2_bound_squared
        doubt = squared - certain_square(squared, self.dimension, self.dtype)
        return math.sqrt(squared - 2.0 * doubt)

    @cached_property
    def _mixing(self) -> Block:
        """The whitener in the floats of the blocks."""
        return np.ascontiguousarray(self.whitener.T, dtype=self.dtype)

    def ordinary(self, design: Block, responses: Array) -> NDArray[np.bool_]:
        """Tell which rows of a block are neither enormous nor without a number."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            return self._sound(whitened_rows(self._mixing @ design, self.radius), responses)

    def integers(
        self,
        design: Block,
        responses: Array,
        divisors: Array | None = None,
        out: Block | None = None,
    ) -> Block | None:
        """Return the bounded integer rows of a block; see `Recipe.integers`."""
        whitened = self.whitened(design, responses, divisors)
        return None if whitened is None else self.multiplied(whitened, responses, out)

    def whitened(
        self, design: Block, responses: Array, divisors: Array | None = None
    ) -> WhitenedRows | None:
        """Whiten a block: what does not depend on the coefficients and can be kept."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            whitened = whitened_rows(self._mixing @ design, self.radius, divisors)
        if divisors is None and not self._sound(whitened, responses).all():
            return None
        return whitened

    def _sound(self, rows: WhitenedRows, responses: Array) -> NDArray[np.bool_]:
        """Rows of ordinary length, with numbers for responses."""
        most = math.sqrt(largest_square(self.dtype))
        return np.asarray((rows.length < most) & np.isfinite(responses).all(axis=0))

    def multiplied(self, rows: WhitenedRows, responses: Array, out: Block | None = None) -> Block:
        """Multiply whitened rows by their factors and put them on the grid; nothing is changed."""
        z = rows.z
        with np.errstate(over="ignore", invalid="ignore", under="ignore", divide="ignore"):
            factors, kept = self.factors(self._predictor(z), rows, responses)
            scaled = self.shortened(factors, kept, rows).astype(self.dtype, copy=False)
            products = np.empty((self.dimension, z.shape[1]), z.dtype) if out is None else out
            shape = (*self.coef.shape, z.shape[1])
            np.multiply(z[:, None, :], scaled[None, :, :], out=products.reshape(shape))
            return on_grid(products, self.l2_bound_squared)

    def _predictor(self, z: Block) -> Array:
        """Linear predictors of whitened rows, of shape (k, rows)."""
        coef = self.coef.astype(self.dtype)
        # A matrix times a vector is another sum in long blocks than in short ones.
        single = coef.shape[1] == 1
        predictor = np.einsum("ik,ij->kj", coef, z) if single else coef.T @ z
        return np.asarray(predictor, dtype=np.float64)

    def factors(
        self, predictor: Array, rows: WhitenedRows, responses: Array
    ) -> tuple[Array, Array]:
        """
        Return the factors of whitened rows, and what brings these to their radius.

        Parameters
        ----------
        predictor : ndarray of shape (k, rows)
            Linear predictors of ``rows.z``, overwritten by those of the rows themselves.
        rows : WhitenedRows
            Of which only the lengths are looked at.
        responses : ndarray of shape (q, rows)
            The responses.

        Returns
        -------
        factors : ndarray of shape (k, rows)
        kept : ndarray of shape (rows,)
        """
        predictor *= rows.whole if self.whole_predictor else rows.kept
        factors = np.ascontiguousarray(self.factor(predictor.T, responses.T).T)
        return factors, rows.kept

    def shortened(self, factors: Array, kept: Array, rows: WhitenedRows) -> Array:
        """Return what whitened rows are multiplied by, in grid units, of shape (k, rows)."""
        # Sizes apart from directions: the square of an enormous factor would overflow.
        largest = np.abs(factors).max(axis=0)
        directions = factors / largest
        size = np.sqrt(np.einsum("ij,ij->j", directions, directions)) * rows.length
        most = self._most - rounding_reach(self.dimension)
        directions *= np.minimum(largest * (kept / self.grid_unit), most / size)
        return np.asarray(directions)


class TotalRecipe(ScaledRecipe):
    """Rows whose sum is wanted: a gradient, or a cross moment."""

    @staticmethod
    def bits_for(n_rows: int) -> int:
        """26 bits, and less beyond about 2^36 rows."""
        return finest_total_grid(n_rows)

    @property
    def grid_bits(self) -> int:
        """The bound is 2^grid_bits grid units."""
        return self.bits_for(self.n_rows)

    @property
    def max_block_rows(self) -> int:
        """Most rows whose sum in float64 is still exact."""
        return int(2 ** (EXACT_FLOAT_BITS - self.grid_bits))


class CoarseTotalRecipe(TotalRecipe):
    """Rows whose sum is wanted about as precisely as it is known of their population."""

    @staticmethod
    def bits_for(n_rows: int) -> int:
        """20 bits, and less beyond about 2^42 rows."""
        return coarse_total_grid(n_rows)


class GramRecipe(ScaledRecipe):
    """Rows whose Gram matrix is wanted: a second moment, or a Hessian."""

    @property
    def grid_bits(self) -> int:
        """The bound is 2^grid_bits grid units: 16, and less beyond about 2^30 rows."""
        return finest_grid(self.n_rows, self.dimension)

    @property
    def max_block_rows(self) -> int:
        """Most rows whose Gram matrix in float64 is still exact."""
        return int(2**EXACT_FLOAT_BITS // self.l2_bound_squared)


def whitened_rows(z: Block, radius: float, divisors: Array | None = None) -> WhitenedRows:
    """
    Say what brings whitened rows to their lengths, and to at most the radius.

    Parameters
    ----------
    z : ndarray of shape (p, rows)
        Whitened rows as columns.
    radius : float
        May be infinite.
    divisors : ndarray of shape (rows,), optional
        What the rows have been divided by; 1 by default.

    Returns
    -------
    WhitenedRows
    """
    length = np.sqrt(np.einsum("ij,ij->j", z, z).astype(np.float64))
    whole = np.ones(z.shape[1]) if divisors is None else divisors
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = np.minimum(whole, radius / length)
    return WhitenedRows(z, length, kept, whole)
