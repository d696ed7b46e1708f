"""Integer grids: how fine one may be, and how a bounded row is put on it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.arrays import Array
from publicmoments.privacy.laws import ENTRY_LIMIT

Block = NDArray[np.float32] | NDArray[np.float64]
"""Rows of a block as columns, so that what is done to each row is done to long vectors."""

PRODUCT_BITS = 16
"""A radius of 2^16 grid units where products are summed: squared norms stay near 2^32."""

TOTAL_BITS = 26
"""A radius of 2^26 grid units where the rows themselves are summed: squared norms are exact."""

COARSE_TOTAL_BITS = 20
"""A radius of 2^20 grid units where that is enough: float32 holds such integers."""

EXACT_FLOAT_BITS = 53
"""Integers up to 2^53 are exact in float64, whatever the order of their sum."""

PULL_BACK = 1.0 - 2.0**-12
"""How much a row above the bound is shortened."""

LARGE = 2.0**64
"""Rows with a larger entry are scaled down before products are taken with care."""


def finest_grid(n_rows: int, dimension: int) -> int:
    """Most bits for which the sum of all products of integers stays within 64-bit integers."""
    for bits in range(PRODUCT_BITS, 0, -1):
        if n_rows * squared_bound(bits, dimension) < ENTRY_LIMIT:
            return bits
    raise ValueError(
        f"n_rows must leave room for a grid in 64-bit integers, got n_rows={n_rows} with "
        f"rows of {dimension} entries; sum fewer rows"
    )


def finest_total_grid(n_rows: int) -> int:
    """Most bits for which the sum of the integers themselves stays within 64-bit integers."""
    room = (ENTRY_LIMIT - 1) // n_rows
    if not room >= 2:
        raise ValueError(f"n_rows must be below 2**61, got n_rows={n_rows}; sum fewer rows")
    return min(TOTAL_BITS, room.bit_length() - 1)


def coarse_total_grid(n_rows: int) -> int:
    """Bits of a coarser grid for the same, where that is enough."""
    return min(COARSE_TOTAL_BITS, finest_total_grid(n_rows))


def squared_bound(bits: int, dimension: int) -> int:
    """Square of 2^bits grid units plus what rounding adds."""
    return math.ceil((2.0**bits + rounding_reach(dimension)) ** 2)


def rounding_reach(dimension: int) -> float:
    """Return how far rounding can move a vector, in grid units, with a margin for float errors."""
    return math.sqrt(dimension) / 2 + 1e-6


def certain_square(l2_bound_squared: int, dimension: int, dtype: Any) -> float:
    """
    Squared norm up to which integers are seen to be within the bound.

    In float64 sums of squares are exact; in float32 one of k squares is off by less than k 2^-23 of
    itself.
    """
    doubt = 0.0 if dtype == np.float64 else (dimension + 8) * 2.0**-23
    return l2_bound_squared * (1.0 - doubt)


def scaled_down(design: NDArray[np.float64], limit: float = LARGE) -> NDArray[np.float64]:
    """
    Divide rows with large entries by a power of two, in place; return the divisors.

    Parameters
    ----------
    design : ndarray of shape (p, rows)
        Rows are columns.
    limit : float
        Entries are large above it.

    Returns
    -------
    ndarray of shape (rows,)
        Entries of rows whose divisor is not 1 are at most 2 afterwards, so that their products
        cannot overflow.
    """
    largest = np.abs(design).max(axis=0)
    _, exponents = np.frexp(largest)
    power = np.ldexp(1.0, np.minimum(exponents, 1023))
    divisors: NDArray[np.float64] = np.where(largest > limit, power, 1.0)
    design /= divisors
    return divisors


def on_grid(rows: Block, l2_bound_squared: int) -> Block:
    """
    Round to integers and enforce the bound on their squared norms, in place.

    Parameters
    ----------
    rows : ndarray of float32 or float64, shape (dimension, rows)
        Rows are columns, in grid units; any floats, NaN included.
    l2_bound_squared : int
        At most 2^53, and at most 2^40 for float32.

    Returns
    -------
    ndarray of shape (dimension, rows)
        The same array: integers, of squared norm at most the bound.

    Notes
    -----
    **Releases.** Nothing.

    **Guarantee.** Each output row depends on its own input row only, and its squared norm, an
    exact integer, is at most the bound.

    **Why.** Sums of squares are exact in float64 up to 2^53, and beyond that the row is far above
    the bound in any case. In float32 only a row that `certain_square` vouches for is let pass; all
    others are looked at in float64. A row above the bound is shortened toward zero; one that would
    still be above it, or is not a number, becomes zero. The comparisons are written so that NaN
    counts as above.

    **Numerics.** Rounding is to the nearest integer: rounding toward zero would shrink the sums.
    """
    np.rint(rows, out=rows)
    squared = np.einsum("ij,ij->j", rows, rows)
    certain = certain_square(l2_bound_squared, len(rows), rows.dtype)
    # Where one of them is not a number, neither is the largest.
    if not squared.max() <= certain:
        suspects = np.flatnonzero(~(squared <= certain))
        rows[:, suspects] = _enforced(rows[:, suspects].astype(np.float64), l2_bound_squared)
    return rows


def _enforced(rows: NDArray[np.float64], l2_bound_squared: int) -> NDArray[np.float64]:
    """Shorten the integer rows that are above the bound, or set them to zero."""
    squared = np.einsum("ij,ij->j", rows, rows)
    above = ~(squared <= l2_bound_squared)
    nearly = squared * PULL_BACK**2 <= l2_bound_squared * (1 - 1e-9)
    rows[:, above & nearly] = np.trunc(rows[:, above & nearly] * PULL_BACK)
    rows[:, above & ~nearly] = 0.0
    return rows


ROUNDING = 2.0**-23
"""Relative error of an entry of a float32 product, with room for the order of its sum."""

COARSE_BITS = 20
"""Finer grids than this are left to float64."""

SHARE_OF_BOUND = 2.0**-18
"""Errors of whitening may reach this share of the bound on a row, spread over its entries: a
quarter of a unit where products are summed, and four where the rows themselves are."""

MODERATE = 2.0**40
"""Columns whose sizes are beyond this, or below one in it, are left to float64."""


def whitening_dtype(transform: Array, whitener: Array, bound: float, bits: int) -> Any:
    """
    Return float32 where its errors vanish beside the grid, and float64 elsewhere.

    Parameters
    ----------
    transform : ndarray of shape (m, p)
        What rows x are multiplied by from the left.
    whitener : ndarray of shape (p, p)
        Rows x are whitened by it from the right, to entries of about 1.
    bound : float
        Bound on the length of a row.
    bits : int
        It is 2^bits grid units.

    Returns
    -------
    type
        `numpy.float32` or `numpy.float64`.

    Notes
    -----
    An entry of x has a root mean square of |e_j whitener^-1|, so what float32 gets wrong in a
    typical row has the norm of these sizes times the transform, times the rounding error. All of
    this is public. The choice moves entries by about as little as the grid does; no bound rests on
    it.
    """
    if bits > COARSE_BITS:
        return np.float64
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            sizes = np.linalg.norm(np.linalg.inv(whitener), axis=0)
        except np.linalg.LinAlgError:
            return np.float64
        error = ROUNDING * float(np.linalg.norm(transform * sizes))
    moderate = (sizes < MODERATE).all() and (sizes > 1.0 / MODERATE).all()
    return np.float32 if moderate and error <= SHARE_OF_BOUND * bound else np.float64


def largest_square(dtype: Any) -> float:
    """
    Squared length from which a row is looked at again, with care.

    Where products are summed, grid units are no smaller than about 2^-21 in float32, so that
    squares of shorter rows in these units still are floats. Rows that are summed themselves are
    bounded before they are counted in units.
    """
    return 2.0**80 if dtype == np.float32 else 2.0**900


def largest_entry(dtype: Any) -> float:
    """Entry from which a row that is looked at with care is scaled down."""
    return 2.0**32 if dtype == np.float32 else 2.0**64
