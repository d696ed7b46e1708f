"""Reading the arguments of the constructors of public moments."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from publicmoments.arrays import Array
from publicmoments.data import Table, as_responses
from publicmoments.public.validation import checked_columns, checked_response_scale, label

MOST_ROWS = 2000

Which: TypeAlias = str | int | Sequence[str | int] | None


def table_names(table: Table, columns: Sequence[str] | None, what: str) -> tuple[str, ...] | None:
    """Names of the columns: the table's own, or those given."""
    given = checked_columns(columns, table.n_columns)
    if given is not None and table.columns is not None and given != table.columns:
        raise ValueError(
            f"columns must be left out, or equal the names that {what} already has; "
            f"rename the columns of {what} instead"
        )
    return given if table.columns is None else table.columns


def complete(table: Table, names: tuple[str, ...] | None, what: str) -> Array:
    """Read a public table, refusing NaN and infinity."""
    values = table.values()
    bad = np.flatnonzero(~np.all(np.isfinite(values), axis=0))
    if bad.size:
        raise ValueError(
            f"{what} must be finite, got NaN or infinity in column(s) {label(bad, names)}; "
            "drop or impute these rows"
        )
    return values


def response_values(response: Any, n: int) -> tuple[Array, tuple[str, ...] | None]:
    """Read public responses as a table, empty when there are none."""
    if response is None:
        return np.empty((n, 0)), None
    table = as_responses(response, "response")
    if table.n_rows != n:
        raise ValueError(
            f"response must have one row per row of B, got {table.n_rows} for {n}; align the two"
        )
    return complete(table, table.columns, "response"), table.columns


def given_scale(response: object, response_scale: ArrayLike | None) -> Array | None:
    """Check a response scale that stands in for public responses."""
    if response_scale is None:
        return None
    if response is not None:
        raise ValueError(
            "response and response_scale must not both be given: the scale follows from the "
            "response; drop one of them"
        )
    return checked_response_scale(response_scale)


def are_names(response: Any) -> bool:
    """Tell column names from response values."""
    if isinstance(response, str):
        return True
    return (
        isinstance(response, list | tuple)
        and len(response) > 0
        and all(isinstance(name, str) for name in response)
    )


def responses_last(
    response: Which, names: tuple[str, ...] | None, width: int
) -> tuple[list[int], int]:
    """Order the variables with the responses last, and count these."""
    if response is None:
        return list(range(width)), 0
    listed = [response] if isinstance(response, str | int | np.integer) else list(response)
    chosen = [_position(item, names, width) for item in listed]
    if len(set(chosen)) != len(chosen) or not 0 < len(chosen) < width:
        raise ValueError(
            f"response must name distinct columns and leave a feature, got {len(chosen)} of "
            f"{width} columns; name each response once"
        )
    return [i for i in range(width) if i not in set(chosen)] + chosen, len(chosen)


def _position(item: str | int, names: tuple[str, ...] | None, width: int) -> int:
    """Find one response among the variables."""
    if isinstance(item, str):
        if names is None or item not in names:
            known = "no column names" if names is None else label(range(width), names)
            raise ValueError(
                f"response must name a column, got {item!r} among {known}; "
                "check the spelling, or pass columns"
            )
        return names.index(item)
    index = operator.index(item)
    if not -width <= index < width:
        raise ValueError(
            f"response must be a position below {width}, got {index}; count columns from zero"
        )
    return index % width


def picked(names: tuple[str, ...] | None, order: list[int]) -> tuple[str, ...] | None:
    """Select names by position."""
    return None if names is None else tuple(names[i] for i in order)


def thinned(rows: Array) -> Array:
    """Keep at most a fixed number of rows, evenly spaced."""
    if len(rows) <= MOST_ROWS:
        return rows
    kept = np.linspace(0, len(rows) - 1, MOST_ROWS).astype(int)
    return np.asarray(rows[kept])
