"""Names, types and shapes of tables: what can be said of them without quoting a cell."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from publicmoments.data.csv_file import CsvFrame
from publicmoments.data.frame import Columns, Frame
from publicmoments.data.kinds import ColumnType
from publicmoments.data.opening import library, open_arrays, open_frame
from publicmoments.data.table import Table


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
    >>> from publicmoments.data import as_table
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


def require_cells(n_rows: int, n_columns: int, what: str) -> None:
    """Refuse a table without rows or without columns."""
    shape = f"(shape=({n_rows}, {n_columns})) while a minimum of 1 is required"
    if n_rows == 0:
        raise ValueError(f"Found array with 0 sample(s) {shape}; {what} needs at least one row")
    if n_columns == 0:
        raise ValueError(f"Found array with 0 feature(s) {shape}; {what} needs at least one column")


def refuse_duplicates(columns: Sequence[str], what: str) -> None:
    """Raise ValueError when a column name occurs twice."""
    repeated = [name for name, count in Counter(columns).items() if count > 1]
    if repeated:
        raise ValueError(
            f"{what} must have distinct column names, got more than one of {listing(repeated)}; "
            "rename or drop them"
        )


def string_names(names: Iterable[Any]) -> tuple[str, ...] | None:
    """Return the names when all of them are strings."""
    listed = tuple(names)
    return listed if all(isinstance(name, str) for name in listed) else None


def refuse_types(types: Sequence[ColumnType], what: str) -> None:
    """Refuse complex or non-numeric columns, naming them."""
    odd = [label for kind, label in types if kind == "complex"]
    if odd:
        raise ValueError(
            f"Complex data not supported: columns {listing(odd)} of {what}; pass real numbers"
        )
    odd = [label for kind, label in types if kind == "other"]
    if odd:
        raise TypeError(
            f"{what} must hold numbers, got columns {listing(odd)}; "
            "encode them as numbers or drop them"
        )


def listing(names: Sequence[str], most: int = 8) -> str:
    """Join names for a message, leaving off what is too long to read."""
    shown = ", ".join(names[:most]) or "none"
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def by_name(
    X: Any,
    wanted: Sequence[str] | None,
    *,
    several: bool = False,
    what: str = "X",
    words: Collection[str] = (),
    **given: Any,
) -> tuple[Any, ...]:
    """
    Split a table into features and the columns that are called by name.

    Parameters
    ----------
    X : array, data frame or source
        What the user passed.
    wanted : sequence of str or None
        Features that the public moments name; None for all columns that are not called otherwise.
    several : bool
        Whether a list of names stands for several columns.
    what : str
        Name of the table's parameter, used in error messages.
    words : collection of str
        Parameters whose columns hold words, in files that have no types.
    **given : object
        The other arguments with one entry per row, by parameter: columns of ``X`` by name, or data
        of their own; None where there are none.

    Returns
    -------
    tuple
        Features, then the others in their order, each for `as_table` and its relatives. Arrays and
        frames whose columns are not called by name are returned as they are.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"area": [1.0, 2.0], "rooms": [2, 3], "price": [5.0, 6.0]})
    >>> features, price = by_name(frame, None, y="price")
    >>> list(features.columns), price.name
    (['area', 'rooms'], 'price')
    """
    called = {key: _name(value, several) for key, value in given.items()}
    lazy = type(X).__name__ == "LazyFrame"
    if library(X) in ("pandas", "polars") and not lazy and hasattr(X, "columns"):
        # As many words as rows are data, whatever they are: no cell decides what the others mean.
        called |= {key: None for key, name in called.items() if _as_long(name, given[key], X)}
        return _from_memory(X, wanted, given, called, what)
    if library(X) == "pyarrow" and hasattr(X, "slice") and not any(called.values()):
        return (X, *given.values())
    arrays = open_arrays({what: X} | {k: v for k, v in given.items() if v is not None})
    if arrays is not None:
        return _from_arrays(arrays, (what, *given), given)
    if isinstance(X, str | os.PathLike) and given and not any(called.values()):
        raise TypeError(
            f"{what} must hold numbers, or be the path of a table that has {listing(list(given))} "
            f"as well; name the column that is {next(iter(given))}"
        )
    frame = open_frame(X)
    if frame is not None:
        return _from_frame(_with_words(frame, words, called), wanted, given, called, what)
    _refuse_names(X, called, what)
    return (X, *given.values())


def _name(value: Any, several: bool) -> str | tuple[str, ...] | None:
    """Name or names of columns; None for data."""
    if isinstance(value, str):
        return value
    listed = several and isinstance(value, list | tuple) and len(value) > 0
    return tuple(value) if listed and all(isinstance(name, str) for name in value) else None


def _as_long(name: Any, value: Any, X: Any) -> bool:
    """Whether a list that could be names has one entry for each row."""
    return isinstance(name, tuple) and len(value) == len(X)


def _from_memory(
    X: Any,
    wanted: Sequence[str] | None,
    given: Mapping[str, Any],
    called: Mapping[str, Any],
    what: str,
) -> tuple[Any, ...]:
    """Split a frame in memory."""
    if not any(called.values()):
        return (X, *given.values())
    features = _features(tuple(X.columns), wanted, called, what)
    others = [
        data if name is None else X[name if isinstance(name, str) else list(name)]
        for name, data in zip(called.values(), given.values(), strict=True)
    ]
    return (X[features], *others)


def _from_frame(
    frame: Frame,
    wanted: Sequence[str] | None,
    given: Mapping[str, Any],
    called: Mapping[str, Any],
    what: str,
) -> tuple[Any, ...]:
    """Split a frame that is read elsewhere."""
    for key, value in given.items():
        if value is not None and called[key] is None:
            raise TypeError(
                f"{key} must be the name of a column of {what}, which is read where it lies, got "
                f"{type(value).__name__}; put {key} into the same table, or collect {what} first"
            )
    features = _features(frame.names, wanted, called, what)
    keys = [name for name in called.values() if name is not None]
    needed = [*features, *(n for key in keys for n in ((key,) if isinstance(key, str) else key))]
    frame = frame.only(list(dict.fromkeys(needed)))
    others = [None if key is None else _columns(frame, key) for key in called.values()]
    return (_columns(frame, tuple(features)), *others)


def _with_words(frame: Frame, words: Collection[str], called: Mapping[str, Any]) -> Frame:
    """Tell a file without types which columns hold words; others know it themselves."""
    if not isinstance(frame, CsvFrame):
        return frame
    return frame.as_words([called[key] for key in words if isinstance(called[key], str)])


def _columns(frame: Frame, key: str | tuple[str, ...]) -> Columns:
    """Columns of a frame by name."""
    one = isinstance(key, str)
    names = (key,) if isinstance(key, str) else key
    return Columns(key, frame.types(names), names, one, frame)


def _from_arrays(
    frame: Frame, keys: Sequence[str], given: Mapping[str, Any]
) -> tuple[Columns | None, ...]:
    """Stand for arrays that are read elsewhere."""
    return tuple(
        Columns(key, frame.types((key,)), None, getattr(given.get(key), "ndim", 2) == 1, frame)
        if key in frame.names
        else None
        for key in keys
    )


def _features(
    names: Sequence[str], wanted: Sequence[str] | None, called: Mapping[str, Any], what: str
) -> list[str]:
    """Names of the features, once all names have been found."""
    if string_names(names) is None:
        raise ValueError(f"the columns of {what} must all have names that are strings")
    refuse_duplicates(names, what)
    known, used = set(names), []
    for key, name in called.items():
        for one in () if name is None else (name,) if isinstance(name, str) else name:
            if one not in known:
                # A list of words, none of them a column, may be private responses taken for names.
                meant = isinstance(name, str) or not known.isdisjoint(name)
                got = f", got {key}={one!r}" if meant else ", got a list of others"
                raise ValueError(
                    f"{key} must be a column of {what}{got}; its columns are {listing(names)}"
                )
            used.append(one)
    refuse_duplicates(used, "the responses and other columns called by name")
    if wanted is None:
        return [name for name in names if name not in used]
    missing = [name for name in wanted if name not in known]
    if missing:
        raise ValueError(
            f"{what} must have the columns {listing(wanted)}; missing: {listing(missing)}; "
            "rename or add columns so that the names agree"
        )
    both = [name for name in wanted if name in used]
    if both:
        raise ValueError(
            f"the public moments count {listing(both)} among the features; make them without, "
            "or name another response"
        )
    return list(wanted)


def _refuse_names(X: Any, called: Mapping[str, Any], what: str) -> None:
    """Refuse names of columns where there are none."""
    for key, name in called.items():
        if isinstance(name, str):
            raise TypeError(
                f"{key}={name!r} names a column, but {what} is a {type(X).__name__}, whose columns "
                f"have no names; pass {key} as an array, or {what} as a data frame"
            )
