"""Which kind of table an input is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.data.asking import located
from publicmoments.data.frame import Columns
from publicmoments.data.memory import array_table, device_table, frame_table, is_frame, on_device
from publicmoments.data.names import library, refuse_types, require_cells
from publicmoments.data.table import Elsewhere, Table, read_elsewhere


def as_table(data: Any, what: str = "X") -> Table:
    """Read a two-dimensional input without converting it yet.

    Parameters
    ----------
    data : array-like, pandas DataFrame, polars DataFrame, Arrow Table or Columns
        Numbers only. Missing values are kept and read as NaN.
    what : str
        Name of the parameter, used in error messages.

    Returns
    -------
    Table

    Raises
    ------
    TypeError
        Sparse matrices, masked arrays, lazy frames, and columns that do not hold numbers.
    ValueError
        Complex numbers, an input that is not two-dimensional, no rows or no columns.

    Examples
    --------
    >>> as_table([[1, 2], [3, 4]]).values()
    array([[1., 2.],
           [3., 4.]])
    """
    if isinstance(data, Columns):
        return _columns_table(data, as_table, what)
    if on_device(data):
        return device_table(data, what)
    refuse_unreadable(data, what)
    if is_frame(data):
        return frame_table(data, what)
    array = _as_array(data, what)
    _require_two_dimensions(array, what)
    return array_table(array, what)


def as_responses(y: Any, what: str = "y") -> Table:
    """Read a response vector, or a table of several responses.

    Parameters
    ----------
    y : array-like of shape (n,), (n, 1) or (n, q), Series or DataFrame
        The name of a Series becomes the column name.
    what : str
        Name of the parameter, used in error messages.

    Returns
    -------
    Table
        With ``one_dimensional`` set when ``y`` was a vector.

    Examples
    --------
    >>> responses = as_responses([1, 2, 3])
    >>> responses.one_dimensional, responses.block(0, 2).shape
    (True, (2, 1))
    """
    require_given(y, what, "response")
    if isinstance(y, Columns):
        return _columns_table(y, as_responses, what)
    if on_device(y):
        return device_table(y, what)
    refuse_unreadable(y, what)
    if is_frame(y):
        return frame_table(y, what)
    if library(y) in ("pandas", "polars") and hasattr(y, "to_frame"):
        named = isinstance(y.name, str) and y.name != ""
        table = frame_table(y.to_frame(y.name if named else what), what)
        return replace(table, columns=table.columns if named else None, one_dimensional=True)
    array = _as_array(y, what)
    if array.ndim == 1:
        return array_table(array.reshape(-1, 1), what, one_dimensional=True)
    if array.ndim != 2:
        raise ValueError(
            f"{what} must be a vector (n,) or a table (n, q), got shape {array.shape}; "
            f"reshape {what}"
        )
    return array_table(array, what)


def _columns_table(columns: Columns, read: Callable[..., Table], what: str) -> Table:
    """Stand for columns that are read elsewhere, after a look at their types."""
    refuse_types(columns.types, what)
    return elsewhere(columns, partial(read, what=what), what)


def elsewhere(columns: Columns, read: Callable[[Any], Table], what: str) -> Table:
    """Stand for columns that are read from the pieces of a frame."""
    assert columns.frame is not None, "a frame is at home where tables are made"
    frame, n_columns = columns.frame, len(columns.types)
    n_rows = located(lambda: frame.n_rows, frame)
    require_cells(n_rows, n_columns, what)
    source = Elsewhere(columns, read)
    return Table(n_rows, n_columns, columns.names, source, read_elsewhere, columns.one_dimensional)


def require_given(y: Any, what: str, one: str) -> None:
    """Refuse to do without what a fit needs of each row."""
    if y is None:
        raise ValueError(
            f"the fit requires y to be passed, but the target {what} is None; "
            f"pass one {one} per row"
        )


def refuse_unreadable(data: Any, what: str) -> None:
    """Refuse containers whose conversion would be wrong or unbounded."""
    if type(data).__module__.startswith("scipy.sparse"):
        raise TypeError(
            f"{what} must be dense, got a sparse {type(data).__name__}; "
            f"pass {what}.toarray() if it fits in memory"
        )
    if isinstance(data, np.ma.MaskedArray):
        raise TypeError(
            f"{what} must be a plain array, got a masked array; pass {what}.filled(np.nan)"
        )
    if library(data) == "polars" and type(data).__name__ == "LazyFrame":
        raise TypeError(
            f"{what} must be an evaluated table, got a polars LazyFrame; pass {what}.collect()"
        )


def _as_array(data: Any, what: str) -> NDArray[Any]:
    """View the input as an array of numbers, its cells not yet converted."""
    array = None
    listed = isinstance(data, list | tuple)
    with suppress(Exception):
        # A list has no type, and none is guessed: a word among numbers would change them all.
        array = np.asarray(data, dtype=object) if listed else np.asarray(data)
    ragged = (
        listed
        and array is not None
        and array.ndim == 1
        and any(isinstance(item, list | tuple | np.ndarray) for item in data)
    )
    if array is None or ragged:
        # Raised outside the handler: the original exception may quote cells.
        raise ValueError(
            f"{what} must be a rectangular array of numbers, got a {type(data).__name__} that "
            "NumPy cannot read; make all rows the same length"
        )
    if array.dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: {what} has dtype {array.dtype}; pass real numbers"
        )
    if array.dtype.kind not in "biufO":
        raise TypeError(
            f"{what} must hold numbers, got dtype {array.dtype}; encode it as numbers first"
        )
    return array


def _require_two_dimensions(array: NDArray[Any], what: str) -> None:
    """Refuse anything but two dimensions, in the words scikit-learn users know."""
    if array.ndim == 2:
        return
    if array.ndim > 2:
        raise ValueError(
            f"Found array with dim {array.ndim} for {what} (shape={array.shape}), while dim 2 is "
            "required; pass one row per record"
        )
    kind = "1D" if array.ndim else "scalar"
    raise ValueError(
        f"Expected 2D array, got {kind} array instead: {what} has shape {array.shape}. "
        "Reshape your data using array.reshape(-1, 1) for a single feature or "
        "array.reshape(1, -1) for a single row"
    )
