"""Cells that are Python objects: what each of them is, whatever stands beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.arrays import Array
from publicmoments.data.names import listing

NO_CLASS = -1.0
"""Position of a label that is none of the classes."""


def object_numbers(cells: NDArray[Any], names: Sequence[str], strict: bool) -> Array:
    """
    Convert objects to float64, one by one; missing ones to NaN.

    Parameters
    ----------
    cells : ndarray of objects, shape (rows, columns)
        Numbers, text that spells numbers, or anything else.
    names : sequence of str
        What to call the columns in a message.
    strict : bool
        Whether cells that are neither numbers nor missing are refused; they are NaN otherwise.

    Returns
    -------
    ndarray of shape (rows, columns)

    Examples
    --------
    >>> object_numbers(np.array([[1, "2.5", None, {}]], dtype=object), list("abcd"), strict=False)
    array([[1. , 2.5, nan, nan]])
    """
    numbers, odd = (np.asarray(part) for part in np.frompyfunc(_number, 1, 2)(cells))
    if strict and odd.any():
        culprits = [name for name, column in zip(names, odd.T, strict=True) if column.any()]
        raise TypeError(
            "float() argument must be a string or a real number: cells of column(s) "
            f"{listing(culprits)} do not convert to float; encode them as numbers"
        )
    return numbers.astype(np.float64)


def object_codes(cells: NDArray[Any], positions: Mapping[Any, float]) -> Array:
    """
    Positions of labels among the classes: NaN for a missing label, `NO_CLASS` for any other.

    Examples
    --------
    >>> object_codes(np.array(["no", None, "perhaps"], dtype=object), {"no": 0.0, "yes": 1.0})
    array([ 0., nan, -1.])
    """

    def position(cell: Any) -> float:
        return _position(cell, positions)

    return np.asarray(np.frompyfunc(position, 1, 1)(cells)).astype(np.float64)


def _number(cell: Any) -> tuple[float, bool]:
    """A number, or NaN; and whether the cell is neither a number nor missing."""
    if _missing(cell):
        return np.nan, False
    # Other objects would run code of their own, or warn.
    if not isinstance(cell, Real | Decimal | str | bytes | np.bool_):
        return np.nan, True
    try:
        return float(cell), False
    except (TypeError, ValueError, OverflowError):
        return np.nan, True


def _position(cell: Any, positions: Mapping[Any, float]) -> float:
    """Position of one label."""
    if _missing(cell):
        return np.nan
    try:
        return positions.get(cell.item() if isinstance(cell, np.generic) else cell, NO_CLASS)
    except Exception:  # what has no hash, or does not compare, is no class
        return NO_CLASS


def _missing(cell: Any) -> bool:
    """Whether a cell is None, NaN, or what pandas has for either."""
    if isinstance(cell, float | np.floating):
        return bool(cell != cell)
    if isinstance(cell, Decimal):
        return cell.is_nan()
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")
