"""Which types of columns hold numbers, in the words of each library."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

Kind: TypeAlias = Literal["number", "complex", "other"]


class ColumnType(NamedTuple):
    """Whether a column holds numbers, and what to call it in a message."""

    kind: Kind
    label: str


def pandas_type(name: Any, dtype: Any) -> ColumnType:
    """Sort a pandas dtype; cells of plain objects are looked at when they are read."""
    kind: Kind
    if dtype.kind == "c":
        kind = "complex"
    else:
        plain_object = isinstance(dtype, np.dtype) and dtype.kind == "O"
        kind = "number" if plain_object or dtype.kind in "biuf" else "other"
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
