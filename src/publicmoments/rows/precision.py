"""How precise whitening has to be, and what is too large for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["largest_entry", "largest_square", "whitening_dtype"]

Array = NDArray[np.float64]

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
