"""Reading the arguments of the constructors of public moments."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from publicmoments.arrays import Array
from publicmoments.data import Table, as_responses, as_table
from publicmoments.public.validation import checked_columns, checked_response_scale, label

MOST_ROWS = 2000

Names: TypeAlias = tuple[str, ...] | None
Which: TypeAlias = str | int | Sequence[str | int] | None


def table_names(table: Table, columns: Sequence[str] | None, what: str) -> Names:
    """Names of the columns: the table's own, or those given."""
    given = checked_columns(columns, table.n_columns)
    if given is not None and table.columns is not None and given != table.columns:
        raise ValueError(
            f"columns must be left out, or equal the names that {what} already has; "
            f"rename the columns of {what} instead"
        )
    return given if table.columns is None else table.columns


def _complete(table: Table, names: Names, what: str) -> Array:
    """Read a public table, refusing NaN and infinity."""
    values = table.values()
    bad = np.flatnonzero(~np.all(np.isfinite(values), axis=0))
    if bad.size:
        raise ValueError(
            f"{what} must be finite, got NaN or infinity in column(s) {label(bad, names)}; "
            "drop or impute these rows"
        )
    return values


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


def _are_names(response: Any) -> bool:
    """Tell column names from response values."""
    if isinstance(response, str):
        return True
    return (
        isinstance(response, list | tuple)
        and len(response) > 0
        and all(isinstance(name, str) for name in response)
    )


def ordered_rows(
    B: Any, response: Any, columns: Sequence[str] | None
) -> tuple[Array, Names, Names, int]:
    """Public rows with the responses last, names of features and responses, and how many these."""
    table = as_table(B, "B")
    names = table_names(table, columns, "B")
    values = _complete(table, names, "B")
    if _are_names(response):
        order, names, response_names, q = responses_last(response, names, values.shape[1])
        return values[:, order], names, response_names, q
    if response is None:
        return np.column_stack([values, np.empty((len(values), 0))]), names, None, 0
    given = as_responses(response, "response")
    if given.n_rows != len(values):
        raise ValueError(
            f"response must have one row per row of B, got {given.n_rows} for {len(values)}; "
            "align the two"
        )
    responses = _complete(given, given.columns, "response")
    return np.column_stack([values, responses]), names, given.columns, responses.shape[1]


def responses_last(
    response: Which, names: Names, width: int
) -> tuple[list[int], Names, Names, int]:
    """Order of the variables with the responses last, their names so told apart, and how many."""
    if response is None:
        return list(range(width)), names, None, 0
    listed = [response] if isinstance(response, str | int | np.integer) else list(response)
    chosen = [_position(item, names, width) for item in listed]
    if len(set(chosen)) != len(chosen) or not 0 < len(chosen) < width:
        raise ValueError(
            f"response must name distinct columns and leave a feature, got {len(chosen)} of "
            f"{width} columns; name each response once"
        )
    features = [i for i in range(width) if i not in set(chosen)]
    if names is None:
        return features + chosen, None, None, len(chosen)
    first, last = (tuple(names[i] for i in part) for part in (features, chosen))
    return features + chosen, first, last, len(chosen)


def _position(item: str | int, names: Names, width: int) -> int:
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


def thinned(rows: Array) -> Array:
    """Keep at most a fixed number of rows, evenly spaced."""
    if len(rows) <= MOST_ROWS:
        return rows
    kept = np.linspace(0, len(rows) - 1, MOST_ROWS).astype(int)
    return np.asarray(rows[kept])
