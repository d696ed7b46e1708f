"""Names, types and shapes of tables: what can be said of them without quoting a cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from publicmoments.sources.kinds import ColumnType
from publicmoments.tables.table import Table

__all__ = [
    "listing",
    "match_columns",
    "refuse_duplicates",
    "refuse_types",
    "require_cells",
    "string_names",
]


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
    >>> from publicmoments.tables import as_table
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
