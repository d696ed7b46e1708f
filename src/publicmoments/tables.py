"""Reading a user's table or vector, one block of rows at a time.

Every input of the library passes through :func:`as_table` or :func:`as_responses`. They look at
shapes, dtypes and names once; cells are converted later, block by block, so that memory stays
bounded by the block and not by the table. Error messages name parameters, columns, shapes and
dtypes, never the contents of a cell: the table may be private.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Table", "as_labels", "as_responses", "as_table", "match_columns"]

Reader: TypeAlias = Callable[[Any, int, int], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows that are read on demand.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of the table.
    columns : tuple of str or None
        Column names; None for plain arrays and for names that are not all strings.
    one_dimensional : bool
        True when the input was a vector; its block still has two dimensions.
    source : object
        What the user passed. Never shown in the representation.
    reader : callable
        ``reader(source, start, stop)`` converts those rows to float64.

    Examples
    --------
    >>> import numpy as np
    >>> table = as_table(np.arange(6).reshape(3, 2))
    >>> table.n_rows, table.n_columns
    (3, 2)
    >>> table.block(1, 3)
    array([[2., 3.],
           [4., 5.]])
    """

    n_rows: int
    n_columns: int
    columns: tuple[str, ...] | None
    source: Any = field(repr=False)
    reader: Reader = field(repr=False)
    one_dimensional: bool = False

    def block(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return rows ``start`` to ``stop`` as float64; only those rows are converted.

        A float64 array is sliced, not copied: treat the result as read-only.
        """
        stop = min(stop, self.n_rows)
        if not 0 <= start <= stop:
            raise IndexError(
                f"a block needs 0 <= start <= stop, got start={start}, stop={stop} "
                f"in a table of {self.n_rows} rows"
            )
        return self.reader(self.source, start, stop)

    def values(self) -> NDArray[np.float64]:
        """Return all rows as float64; meant for the public side, where tables are small."""
        return self.block(0, self.n_rows)


def as_table(data: Any, what: str = "X") -> Table:
    """Read a two-dimensional input without converting it yet.

    Parameters
    ----------
    data : array-like, pandas DataFrame or polars DataFrame
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
    _refuse_unreadable(data, what)
    library = _library(data)
    if library == "pandas" and hasattr(data, "columns"):
        return _pandas_table(data, what)
    if library == "polars" and hasattr(data, "columns"):
        return _polars_table(data, what)
    array = _as_array(data, what)
    _require_two_dimensions(array, what)
    return _array_table(array, None, what)


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
    if y is None:
        raise ValueError(
            f"the fit requires y to be passed, but the target {what} is None; "
            "pass one response per row"
        )
    _refuse_unreadable(y, what)
    if _library(y) in ("pandas", "polars") and hasattr(y, "to_frame"):
        return _series_table(y, what)
    if _library(y) in ("pandas", "polars") and hasattr(y, "columns"):
        return as_table(y, what)
    array = _as_array(y, what)
    if array.ndim == 1:
        return _array_table(array.reshape(-1, 1), None, what, one_dimensional=True)
    if array.ndim != 2:
        raise ValueError(
            f"{what} must be a vector (n,) or a table (n, q), got shape {array.shape}; "
            f"reshape {what}"
        )
    return _array_table(array, None, what)


def as_labels(y: Any, classes: Sequence[Any], what: str = "y") -> Table:
    """Read a vector of class labels as the positions of the labels among the stated classes.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, 1), or Series
        Labels. Missing ones are read as NaN.
    classes : sequence
        The labels there may be, which are public.
    what : str
        Name of the parameter, used in error messages.

    Returns
    -------
    Table
        Of one column. A block that holds any other label raises ValueError.

    Examples
    --------
    >>> as_labels(["no", "yes", "no"], classes=("no", "yes")).values().ravel()
    array([0., 1., 0.])
    """
    if y is None:
        raise ValueError(
            f"the fit requires y to be passed, but the target {what} is None; "
            "pass one label per row"
        )
    _refuse_unreadable(y, what)
    # Without a common type: NumPy would turn a list of words and NaN into words throughout.
    labels = np.asarray(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    one_dimensional = labels.ndim == 1
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"{what} must be a vector of labels (n,), got shape {labels.shape}")
    _require_cells(len(labels), 1, what)
    name = getattr(y, "name", None)
    return Table(
        n_rows=len(labels),
        n_columns=1,
        columns=(name,) if isinstance(name, str) and name != "" else None,
        source=(labels, tuple(classes), what),
        reader=_label_block,
        one_dimensional=one_dimensional,
    )


def _label_block(source: Any, start: int, stop: int) -> NDArray[np.float64]:
    """Positions of the labels among the classes; NaN where a label is missing."""
    labels, classes, what = source
    part = labels[start:stop]
    missing = _missing(part)
    codes = np.where(missing, np.nan, -1.0)
    present = part[~missing]
    found = np.full(len(present), -1.0)
    for code, label in enumerate(classes):
        found[np.asarray(present == label, dtype=bool)] = code
    if (found < 0.0).any():
        raise ValueError(
            f"{what} holds labels that are not among classes={classes!r}; state every class "
            "in classes=, or drop such rows"
        )
    codes[~missing] = found
    return codes.reshape(-1, 1)


def _missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell where a label is None, NaN, or what pandas has for either."""
    if labels.dtype.kind != "O":
        return np.asarray(labels != labels)
    # What is missing in pandas has no truth value to ask for.
    odd = ("NAType", "NaTType")
    return np.array([cell is None or type(cell).__name__ in odd or cell != cell for cell in labels])


def within(
    table: Table, allows: Callable[[NDArray[np.float64]], Any], range_: str, what: str
) -> Table:
    """Return a table that refuses values outside a range when they are read; NaN may pass.

    Examples
    --------
    >>> counts = within(as_responses([0, 2]), lambda y: y >= 0, "counts", "y")
    >>> counts.values().ravel()
    array([0., 2.])
    """

    def read(source: Table, start: int, stop: int) -> NDArray[np.float64]:
        values = source.block(start, stop)
        if not np.all(allows(values) | ~np.isfinite(values)):
            raise ValueError(f"{what} must hold {range_} only; drop or mend other rows")
        return values

    return replace(table, source=table, reader=read)


def beside(
    table: Table,
    other: Table,
    transform: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    columns: tuple[str, ...],
) -> Table:
    """Return a table, under other names, with a transformed column of another one at its right.

    Examples
    --------
    >>> beside(as_responses([1, 2]), as_responses([0, 3]), lambda x: x + 1, ("y", "z")).values()
    array([[1., 1.],
           [2., 4.]])
    """
    if table.n_rows != other.n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {table.n_rows} and "
            f"{other.n_rows} rows; pass one number per row"
        )

    def read(source: Table, start: int, stop: int) -> NDArray[np.float64]:
        return np.concatenate(
            [source.block(start, stop), transform(other.block(start, stop))], axis=1
        )

    width = table.n_columns + other.n_columns
    return replace(table, n_columns=width, columns=columns, source=table, reader=read)


def match_columns(table: Table, expected: tuple[str, ...] | None, what: str = "X") -> None:
    """Check that a table has the expected columns, in the expected order.

    Parameters
    ----------
    table : Table
        The table to check.
    expected : tuple of str or None
        Expected names; None skips the check. A table without names is checked by its width.
    what : str
        Name of the parameter, used in error messages.

    Examples
    --------
    >>> match_columns(as_table([[1, 2]]), ("age", "height"))
    >>> match_columns(as_table([[1]]), ("age", "height"))
    Traceback (most recent call last):
    ...
    ValueError: X has 1 features, but publicmoments is expecting 2 features as input: age, height
    """
    if expected is None:
        return
    if table.columns is None:
        _match_width(table, expected, what)
        return
    missing = [name for name in expected if name not in set(table.columns)]
    unexpected = [name for name in table.columns if name not in set(expected)]
    if missing or unexpected:
        raise ValueError(
            f"{what} must have the columns {listing(expected)}; "
            f"missing: {listing(missing)}; unexpected: {listing(unexpected)}; "
            "rename, add or drop columns so that the names agree"
        )
    if table.columns != expected:
        raise ValueError(
            f"the columns of {what} are the same but in another order: expected "
            f"{listing(expected)}, got {listing(table.columns)}; reorder the columns"
        )


def _match_width(table: Table, expected: tuple[str, ...], what: str) -> None:
    """Check a nameless table by its number of columns."""
    if table.n_columns != len(expected):
        raise ValueError(
            f"{what} has {table.n_columns} features, but publicmoments is expecting "
            f"{len(expected)} features as input: {listing(expected)}"
        )


# What came in


def _library(data: Any) -> str:
    """Name the package that defines the type of ``data``, without importing it."""
    return type(data).__module__.partition(".")[0]


def _refuse_unreadable(data: Any, what: str) -> None:
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
    if _library(data) == "polars" and type(data).__name__ == "LazyFrame":
        raise TypeError(
            f"{what} must be an evaluated table, got a polars LazyFrame; pass {what}.collect()"
        )


def _as_array(data: Any, what: str) -> NDArray[Any]:
    """View the input as an array of numbers, its cells not yet converted."""
    array = None
    with suppress(Exception):
        array = np.asarray(data)
    if array is None:
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


def _require_cells(n_rows: int, n_columns: int, what: str) -> None:
    """Refuse a table without rows or without columns."""
    shape = f"(shape=({n_rows}, {n_columns})) while a minimum of 1 is required"
    if n_rows == 0:
        raise ValueError(f"Found array with 0 sample(s) {shape}; {what} needs at least one row")
    if n_columns == 0:
        raise ValueError(f"Found array with 0 feature(s) {shape}; {what} needs at least one column")


# Tables, one kind after the other


def _array_table(
    array: NDArray[Any], columns: tuple[str, ...] | None, what: str, one_dimensional: bool = False
) -> Table:
    """Wrap a two-dimensional array."""
    _require_cells(array.shape[0], array.shape[1], what)
    return Table(
        n_rows=array.shape[0],
        n_columns=array.shape[1],
        columns=columns,
        source=array,
        reader=_array_block,
        one_dimensional=one_dimensional,
    )


def _array_block(array: NDArray[Any], start: int, stop: int) -> NDArray[np.float64]:
    """Convert a slice of an array; a float64 array is only sliced."""
    part = array[start:stop]
    if part.dtype == np.float64:
        return part
    return _converted(lambda: part.astype(np.float64), lambda: _bad_array_columns(part))


def _pandas_table(frame: Any, what: str) -> Table:
    """Wrap a pandas DataFrame."""
    labels = [f"{name} ({dtype.name})" for name, dtype in frame.dtypes.items()]
    _refuse_dtypes(labels, [_pandas_kind(dtype) for dtype in frame.dtypes], what)
    return _frame_table(frame, _pandas_block, what)


def _pandas_kind(dtype: Any) -> str:
    """Sort a pandas dtype into number, complex or other."""
    if dtype.kind == "c":
        return "complex"
    plain_object = isinstance(dtype, np.dtype) and dtype.kind == "O"
    return "number" if plain_object or dtype.kind in "biuf" else "other"


def _pandas_block(frame: Any, start: int, stop: int) -> NDArray[np.float64]:
    """Convert a slice of rows of a pandas DataFrame, missing values to NaN."""
    part = frame.iloc[start:stop]
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in part.dtypes):
        return np.asarray(part.to_numpy(dtype=np.float64))
    block = np.empty(part.shape, order="F")
    for index in range(part.shape[1]):
        block[:, index] = _pandas_column(part, index)
    return block


def _pandas_column(part: Any, index: int) -> NDArray[np.float64]:
    """Convert one column of a slice of a pandas DataFrame."""
    column = part.iloc[:, index]
    return _converted(
        lambda: np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan)),
        lambda: [str(part.columns[index])],
    )


def _polars_table(frame: Any, what: str) -> Table:
    """Wrap a polars DataFrame."""
    # The base type's name: an Enum would otherwise print its levels, which are cell contents.
    labels = [f"{name} ({dtype.base_type().__name__})" for name, dtype in frame.schema.items()]
    _refuse_dtypes(labels, [_polars_kind(dtype) for dtype in frame.dtypes], what)
    return _frame_table(frame, _polars_block, what)


def _polars_kind(dtype: Any) -> str:
    """Sort a polars dtype into number or other; an all-null column reads as NaN."""
    return "number" if dtype.is_numeric() or str(dtype) in ("Boolean", "Null") else "other"


def _polars_block(frame: Any, start: int, stop: int) -> NDArray[np.float64]:
    """Convert a slice of rows of a polars DataFrame, nulls to NaN."""
    part = frame.slice(start, stop - start)
    block = np.empty(part.shape, order="F")
    for index, column in enumerate(part.get_columns()):
        # Integers go through polars first: NumPy has no null.
        block[:, index] = column.cast(float).to_numpy()
    return block


def _frame_table(frame: Any, reader: Reader, what: str) -> Table:
    """Wrap a data frame of either library whose dtypes were accepted."""
    n_rows, n_columns = frame.shape
    _require_cells(n_rows, n_columns, what)
    columns = _string_names(frame.columns)
    if columns is not None:
        refuse_duplicates(columns, what)
    return Table(n_rows=n_rows, n_columns=n_columns, columns=columns, source=frame, reader=reader)


def _series_table(series: Any, what: str) -> Table:
    """Wrap a Series of either library as one column that keeps its name."""
    named = isinstance(series.name, str) and series.name != ""
    frame = series.to_frame(series.name if named else what)
    table = as_table(frame, what)
    return Table(
        n_rows=table.n_rows,
        n_columns=1,
        columns=table.columns if named else None,
        source=frame,
        reader=table.reader,
        one_dimensional=True,
    )


# Names and messages


def refuse_duplicates(columns: Sequence[str], what: str) -> None:
    """Raise ValueError when a column name occurs twice."""
    repeated = [name for name, count in Counter(columns).items() if count > 1]
    if repeated:
        raise ValueError(
            f"{what} must have distinct column names, got more than one of {listing(repeated)}; "
            "rename or drop them"
        )


def _string_names(names: Iterable[Any]) -> tuple[str, ...] | None:
    """Return the names when all of them are strings."""
    listed = tuple(names)
    return listed if all(isinstance(name, str) for name in listed) else None


def _refuse_dtypes(labels: list[str], kinds: list[str], what: str) -> None:
    """Refuse a frame with complex or non-numeric columns, naming them."""
    odd = [label for label, kind in zip(labels, kinds, strict=True) if kind == "complex"]
    if odd:
        raise ValueError(
            f"Complex data not supported: columns {listing(odd)} of {what}; pass real numbers"
        )
    odd = [label for label, kind in zip(labels, kinds, strict=True) if kind == "other"]
    if odd:
        raise TypeError(
            f"{what} must hold numbers, got columns {listing(odd)}; "
            "encode them as numbers or drop them"
        )


def _converted(
    convert: Callable[[], NDArray[np.float64]], culprits: Callable[[], list[str]]
) -> NDArray[np.float64]:
    """Convert cells to float64; on failure say where, without quoting a cell."""
    with suppress(TypeError, ValueError, OverflowError):
        return convert()
    # Raised outside the handler: NumPy's own exception quotes the cell, so it is not even context.
    raise TypeError(
        "float() argument must be a string or a real number: cells of column(s) "
        f"{listing(culprits())} do not convert to float; encode them as numbers"
    )


def _bad_array_columns(part: NDArray[Any]) -> list[str]:
    """Find the columns of an object array that do not convert."""
    bad = []
    for index in range(part.shape[1]):
        try:
            part[:, index].astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            bad.append(str(index))
    return bad


def listing(names: Sequence[str], most: int = 8) -> str:
    """Join names for a message, leaving off what is too long to read."""
    shown = ", ".join(names[:most]) or "none"
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
