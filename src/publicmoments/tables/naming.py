"""Responses and other columns that are called by their names."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from publicmoments.sources import Columns, Frame, open_arrays, open_frame
from publicmoments.sources.csv import CsvFrame
from publicmoments.sources.opening import library
from publicmoments.tables.names import listing, refuse_duplicates, string_names

__all__ = ["by_name"]


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
