"""Tables in memory, or in that of a device: arrays and data frames, converted cell by cell.

Blocks are converted by each library itself, and not by narwhals, which serves for labels. Its casts
would refuse whole numbers beyond 2^53 in Arrow, in words that quote them, and a block of ten
columns of pandas, polars or Arrow would take three to twenty times as long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.arrays import Array
from publicmoments.data.asking import needed
from publicmoments.data.names import (
    arrow_type,
    library,
    listing,
    pandas_type,
    polars_type,
    refuse_duplicates,
    refuse_types,
    require_cells,
    string_names,
)
from publicmoments.data.table import Reader, Table

NO_CLASS = -1.0
"""Position of a label that is none of the classes."""


def is_frame(data: Any) -> bool:
    """Whether something is a data frame of pandas, polars or Arrow, and no series."""
    return library(data) in ("pandas", "polars", "pyarrow") and hasattr(data, "columns")


def frame_table(frame: Any, what: str) -> Table:
    """Wrap a data frame of pandas, polars or Arrow."""
    reader: Reader
    match library(frame):
        case "pandas":
            types = [pandas_type(name, dtype) for name, dtype in frame.dtypes.items()]
            names, reader = tuple(frame.columns), _pandas_block
        case "polars":
            types = [polars_type(name, dtype) for name, dtype in frame.schema.items()]
            names, reader = tuple(frame.columns), _polars_block
        case _:
            types = [arrow_type(column.name, column.type) for column in frame.schema]
            names, reader = tuple(frame.schema.names), _arrow_block
    refuse_types(types, what)
    n_rows, n_columns = frame.shape
    require_cells(n_rows, n_columns, what)
    columns = string_names(names)
    if columns is not None:
        refuse_duplicates(columns, what)
    return Table(n_rows, n_columns, columns, frame, reader)


def array_table(
    array: Any, what: str, reader: Reader | None = None, *, one_dimensional: bool = False
) -> Table:
    """Wrap a two-dimensional array, NumPy's by default."""
    n_rows, n_columns = map(int, array.shape)
    require_cells(n_rows, n_columns, what)
    return Table(n_rows, n_columns, None, array, reader or _array_block, one_dimensional)


def _array_block(array: NDArray[Any], start: int, stop: int, strict: bool) -> Array:
    """Convert a slice of an array; a float64 array is only sliced."""
    part = array[start:stop]
    if part.dtype == np.float64:
        return part
    if part.dtype.kind == "O":
        return object_numbers(part, [str(index) for index in range(part.shape[1])], strict)
    return part.astype(np.float64)


def _pandas_block(frame: Any, start: int, stop: int, strict: bool) -> Array:
    """Convert a slice of rows of a pandas DataFrame, missing values to NaN."""
    part = frame.iloc[start:stop]
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in part.dtypes):
        return np.asarray(part.to_numpy(dtype=np.float64))
    block = np.empty(part.shape, order="F")
    for index, name in enumerate(part.columns):
        column = part.iloc[:, index]
        if column.dtype.kind == "O":
            cells = np.asarray(column.to_numpy(dtype=object))[:, None]
            block[:, index] = object_numbers(cells, [str(name)], strict)[:, 0]
        else:
            block[:, index] = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return block


def _polars_block(frame: Any, start: int, stop: int, strict: bool) -> Array:
    """Convert a slice of rows of a polars DataFrame, nulls to NaN."""
    part = frame.slice(start, stop - start)
    block = np.empty(part.shape, order="F")
    for index, column in enumerate(part.get_columns()):
        # Integers go through polars first: NumPy has no null.
        block[:, index] = column.cast(float, strict=False).to_numpy()
    return block


def _arrow_block(data: Any, start: int, stop: int, strict: bool) -> Array:
    """Convert a slice of rows of Arrow columns, nulls to NaN."""
    import pyarrow as pa

    part = data.slice(start, stop - start)
    block = np.empty(part.shape, order="F")
    for index, column in enumerate(part.columns):
        # Unsafe only in the sense that integers beyond 2^53 are rounded, as they are everywhere.
        floats = plain_arrow(column).cast(pa.float64(), safe=False)
        chunked = isinstance(floats, pa.ChunkedArray)
        block[:, index] = floats.to_numpy() if chunked else floats.to_numpy(False)
    return block


def plain_arrow(column: Any) -> Any:
    """Return an Arrow column without the types that Arrow itself hardly computes with."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_float16(column.type):
        return column.cast(pa.float32())
    return column


# Arrays on a device, or in any other library of the array API


def on_device(data: Any) -> bool:
    """Tell whether an array is none of NumPy's, and cannot be read as one in passing."""
    module = library(data)
    if module == "torch":
        return str(data.device) != "cpu"
    if module == "cupy":
        return True
    return module != "numpy" and module != "dask" and hasattr(data, "__array_namespace__")


def device_table(array: Any, what: str) -> Table:
    """Wrap an array of shape (n,) or (n, k), which stays where it is."""
    needed("array_api_compat", "gpu")
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{what} must be a table (n, k) or a vector (n,), got shape {tuple(array.shape)}; "
            f"reshape {what}"
        )
    if 0 in array.shape:
        shape = tuple(array.shape)
        raise ValueError(f"{what} must have rows and columns, got shape {shape}; pass both")
    vector = array.ndim == 1
    table = array[:, None] if vector else array
    return array_table(table, what, _host_block, one_dimensional=vector)


def device_array(table: Table) -> Any:
    """Return the array of a table that lives on a device, and None for other tables."""
    return table.source if table.reader is _host_block else None


def to_host(array: Any) -> NDArray[Any]:
    """Copy an array to NumPy."""
    if library(array) == "cupy":
        return np.asarray(array.get())
    if library(array) == "torch":
        # Short floats that NumPy does not know.
        short = str(array.dtype).endswith("bfloat16")
        return np.asarray((array.double() if short else array).detach().cpu().numpy())
    return np.from_dlpack(array)


def _host_block(source: Any, start: int, stop: int, strict: bool) -> Array:
    """Copy some rows to NumPy."""
    return np.asarray(to_host(source[start:stop, :]), dtype=np.float64)


# Cells that are Python objects: what each of them is, whatever stands beside it.


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
        if _missing(cell):
            return np.nan
        try:
            return positions.get(cell.item() if isinstance(cell, np.generic) else cell, NO_CLASS)
        except Exception:  # what has no hash, or does not compare, is no class
            return NO_CLASS

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


def _missing(cell: Any) -> bool:
    """Whether a cell is None, NaN, or what pandas has for either."""
    if isinstance(cell, float | np.floating):
        return bool(cell != cell)
    if isinstance(cell, Decimal):
        return cell.is_nan()
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")
