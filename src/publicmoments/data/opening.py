"""Which source an object is, and its columns by name; no library is imported that is not used."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from publicmoments.data.arrow import open_arrow, open_lazy, open_path
from publicmoments.data.csv_file import CsvFrame
from publicmoments.data.dask import DaskArrays, DaskFrame
from publicmoments.data.frame import Columns, Frame, pick
from publicmoments.data.names import library, listing, refuse_duplicates, string_names
from publicmoments.data.spark import open_spark

Called: TypeAlias = Mapping[str, str | tuple[str, ...] | None]
"""By parameter, the column or columns that it is called; None for data of its own, or none."""


def open_frame(data: Any) -> Frame | None:
    """
    Open a source of named columns; None for what is not one.

    Parameters
    ----------
    data : path, pyarrow Dataset, Table or RecordBatchReader, DuckDB relation, polars LazyFrame, \
Dask DataFrame or Spark DataFrame
        The source.

    Returns
    -------
    Frame or None

    Examples
    --------
    >>> open_frame([[1.0, 2.0]]) is None
    True
    """
    kind = type(data).__name__
    match library(data):
        case "pyarrow" | "duckdb" | "_duckdb":
            return open_arrow(data)
        case "polars" if kind == "LazyFrame":
            return open_lazy(data)
        case "dask" | "dask_expr" if kind == "DataFrame":
            return DaskFrame(data, tuple(data.columns))
        case "pyspark" if kind == "DataFrame":
            return open_spark(data)
    if isinstance(data, CsvFrame):
        return data
    return open_path(os.fspath(data)) if isinstance(data, str | os.PathLike) else None


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
    kind = type(X).__name__
    if library(X) in ("pandas", "polars") and kind != "LazyFrame" and hasattr(X, "columns"):
        # As many words as rows are data, whatever they are: no cell decides what the others mean.
        called |= {
            key: None
            for key, name in called.items()
            if isinstance(name, tuple) and len(given[key]) == len(X)
        }
        return _from_memory(X, wanted, given, called, what)
    named = any(called.values())
    if library(X) == "pyarrow" and hasattr(X, "slice") and not named:
        return (X, *given.values())
    if library(X) == "dask" and kind == "Array":
        return _from_arrays({what: X} | given)
    if isinstance(X, str | os.PathLike) and given and not named:
        raise TypeError(
            f"{what} must hold numbers, or be the path of a table that has {listing(list(given))} "
            f"as well; name the column that is {next(iter(given))}"
        )
    frame = open_frame(X)
    if frame is None:
        _refuse_names(X, called, what)
        return (X, *given.values())
    if isinstance(frame, CsvFrame):
        texts = (called[key] for key in words)
        frame = frame.as_words([name for name in texts if isinstance(name, str)])
    return _from_frame(frame, wanted, given, called, what)


def _name(value: Any, several: bool) -> str | tuple[str, ...] | None:
    """Name or names of columns; None for data."""
    if isinstance(value, str):
        return value
    listed = several and isinstance(value, list | tuple) and len(value) > 0
    return tuple(value) if listed and all(isinstance(name, str) for name in value) else None


def _each(name: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Names, however many there are."""
    return (name,) if isinstance(name, str) else name or ()


def _from_memory(
    X: Any, wanted: Sequence[str] | None, given: Mapping[str, Any], called: Called, what: str
) -> tuple[Any, ...]:
    """Split a frame in memory."""
    if not any(called.values()):
        return (X, *given.values())
    features = _features(tuple(X.columns), wanted, called, what)
    others = [given[key] if name is None else pick(X, name) for key, name in called.items()]
    return (X[features], *others)


def _from_frame(
    frame: Frame, wanted: Sequence[str] | None, given: Mapping[str, Any], called: Called, what: str
) -> tuple[Columns | None, ...]:
    """Split a frame that is read elsewhere."""
    for key, value in given.items():
        if value is not None and called[key] is None:
            raise TypeError(
                f"{key} must be the name of a column of {what}, which is read where it lies, got "
                f"{type(value).__name__}; put {key} into the same table, or collect {what} first"
            )
    keys = [tuple(_features(frame.names, wanted, called, what)), *called.values()]
    frame = frame.only(list(dict.fromkeys(name for key in keys for name in _each(key))))
    return tuple(
        key
        if key is None
        else Columns(key, frame.types(_each(key)), _each(key), isinstance(key, str), frame)
        for key in keys
    )


def _from_arrays(arrays: Mapping[str, Any]) -> tuple[Columns | None, ...]:
    """Stand for arrays that are read elsewhere."""
    frame = DaskArrays.of({key: array for key, array in arrays.items() if array is not None})
    return tuple(
        array if array is None else Columns(key, frame.types((key,)), None, array.ndim == 1, frame)
        for key, array in arrays.items()
    )


def _features(
    names: Sequence[str], wanted: Sequence[str] | None, called: Called, what: str
) -> list[str]:
    """Names of the features, once all names have been found."""
    if string_names(names) is None:
        raise ValueError(f"the columns of {what} must all have names that are strings")
    refuse_duplicates(names, what)
    known = set(names)
    for key, name in called.items():
        for one in _each(name):
            if one not in known:
                # A list of words, none of them a column, may be private responses taken for names.
                meant = isinstance(name, str) or not known.isdisjoint(_each(name))
                got = f", got {key}={one!r}" if meant else ", got a list of others"
                raise ValueError(
                    f"{key} must be a column of {what}{got}; its columns are {listing(names)}"
                )
    used = [one for name in called.values() for one in _each(name)]
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


def _refuse_names(X: Any, called: Called, what: str) -> None:
    """Refuse names of columns where there are none."""
    for key, name in called.items():
        if isinstance(name, str):
            raise TypeError(
                f"{key}={name!r} names a column, but {what} is a {type(X).__name__}, whose columns "
                f"have no names; pass {key} as an array, or {what} as a data frame"
            )
