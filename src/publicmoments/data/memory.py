"""Tables in memory: arrays, pandas, polars and Arrow, one kind after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.arrays import Array
from publicmoments.data.cells import object_numbers
from publicmoments.data.kinds import arrow_type, pandas_type, polars_type
from publicmoments.data.names import refuse_duplicates, refuse_types, require_cells, string_names
from publicmoments.data.table import Reader, Table


def array_table(
    array: NDArray[Any], columns: tuple[str, ...] | None, what: str, one_dimensional: bool = False
) -> Table:
    """Wrap a two-dimensional array."""
    require_cells(array.shape[0], array.shape[1], what)
    return Table(
        n_rows=array.shape[0],
        n_columns=array.shape[1],
        columns=columns,
        source=array,
        reader=_array_block,
        one_dimensional=one_dimensional,
    )


def _array_block(array: NDArray[Any], start: int, stop: int, strict: bool) -> Array:
    """Convert a slice of an array; a float64 array is only sliced."""
    part = array[start:stop]
    if part.dtype == np.float64:
        return part
    if part.dtype.kind == "O":
        return object_numbers(part, [str(index) for index in range(part.shape[1])], strict)
    return part.astype(np.float64)


def pandas_table(frame: Any, what: str) -> Table:
    """Wrap a pandas DataFrame."""
    refuse_types([pandas_type(name, dtype) for name, dtype in frame.dtypes.items()], what)
    return _frame_table(frame, tuple(frame.columns), _pandas_block, what)


def _pandas_block(frame: Any, start: int, stop: int, strict: bool) -> Array:
    """Convert a slice of rows of a pandas DataFrame, missing values to NaN."""
    part = frame.iloc[start:stop]
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in part.dtypes):
        return np.asarray(part.to_numpy(dtype=np.float64))
    block = np.empty(part.shape, order="F")
    for index in range(part.shape[1]):
        block[:, index] = _pandas_column(part, index, strict)
    return block


def _pandas_column(part: Any, index: int, strict: bool) -> Array:
    """Convert one column of a slice of a pandas DataFrame."""
    column = part.iloc[:, index]
    if column.dtype.kind == "O":
        cells = np.asarray(column.to_numpy(dtype=object))[:, None]
        return object_numbers(cells, [str(part.columns[index])], strict)[:, 0]
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def polars_table(frame: Any, what: str) -> Table:
    """Wrap a polars DataFrame."""
    refuse_types([polars_type(name, dtype) for name, dtype in frame.schema.items()], what)
    return _frame_table(frame, tuple(frame.columns), _polars_block, what)


def _polars_block(frame: Any, start: int, stop: int, strict: bool) -> Array:
    """Convert a slice of rows of a polars DataFrame, nulls to NaN."""
    part = frame.slice(start, stop - start)
    block = np.empty(part.shape, order="F")
    for index, column in enumerate(part.get_columns()):
        # Integers go through polars first: NumPy has no null.
        block[:, index] = column.cast(float, strict=False).to_numpy()
    return block


def arrow_table(data: Any, what: str) -> Table:
    """Wrap an Arrow Table or RecordBatch."""
    refuse_types([arrow_type(column.name, column.type) for column in data.schema], what)
    return _frame_table(data, tuple(data.schema.names), _arrow_block, what)


def _arrow_block(data: Any, start: int, stop: int, strict: bool) -> Array:
    """Convert a slice of rows of Arrow columns, nulls to NaN."""
    part = data.slice(start, stop - start)
    block = np.empty((part.num_rows, part.num_columns), order="F")
    for index in range(part.num_columns):
        block[:, index] = _arrow_column(part, index)
    return block


def _arrow_column(part: Any, index: int) -> Array:
    """Convert one column of a slice of Arrow columns."""
    import pyarrow as pa

    column = part.column(index)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    # Unsafe only in the sense that integers beyond 2^53 are rounded, as they are everywhere.
    floats = column.cast(pa.float64(), safe=False)
    return np.asarray(
        floats.to_numpy() if isinstance(floats, pa.ChunkedArray) else floats.to_numpy(False)
    )


def _frame_table(frame: Any, names: tuple[Any, ...], reader: Reader, what: str) -> Table:
    """Wrap a data frame of any library whose types were accepted."""
    n_rows, n_columns = frame.shape
    require_cells(n_rows, n_columns, what)
    columns = string_names(names)
    if columns is not None:
        refuse_duplicates(columns, what)
    return Table(n_rows=n_rows, n_columns=n_columns, columns=columns, source=frame, reader=reader)
