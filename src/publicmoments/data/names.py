"""Names, types and shapes of tables: what can be said of them without quoting a cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

Kind: TypeAlias = Literal["number", "complex", "other"]


def library(data: Any) -> str:
    """Name the package that defines the type of ``data``, without importing it."""
    return type(data).__module__.partition(".")[0]


class ColumnType(NamedTuple):
    """Whether a column holds numbers, and what to call it in a message."""

    kind: Kind
    label: str


# Each library tells its own types. The schema of narwhals takes a column of objects for words, or
# looks at its cells to tell, and does not know nulls, dictionaries of numbers and complex numbers.


def pandas_type(name: Any, dtype: Any) -> ColumnType:
    """Sort a pandas dtype; cells of plain objects are looked at when they are read."""
    objects = isinstance(dtype, np.dtype) and dtype.kind == "O"
    number = objects or dtype.kind in "biuf"
    kind: Kind = "complex" if dtype.kind == "c" else "number" if number else "other"
    return ColumnType(kind, f"{name} ({dtype.name})")


def polars_type(name: str, dtype: Any) -> ColumnType:
    """Sort a polars dtype; an all-null column reads as NaN."""
    number = dtype.is_numeric() or str(dtype) in ("Boolean", "Null")
    # The base type's name: an Enum would otherwise print its levels, which are cell contents.
    return ColumnType("number" if number else "other", f"{name} ({dtype.base_type().__name__})")


def arrow_type(name: str, dtype: Any) -> ColumnType:
    """Sort an Arrow type; an all-null column reads as NaN."""
    import pyarrow.types as types

    held = dtype.value_type if types.is_dictionary(dtype) else dtype
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    number = any(test(held) for test in tests)
    return ColumnType("number" if number else "other", f"{name} ({held})")


def spark_type(name: str, dtype: Any) -> ColumnType:
    """Sort a Spark type."""
    from pyspark.sql import types

    number = isinstance(dtype, types.NumericType | types.BooleanType | types.NullType)
    return ColumnType("number" if number else "other", f"{name} ({dtype.simpleString()})")


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
