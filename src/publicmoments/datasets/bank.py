"""The bank table as numbers, by a rule that is public: it never looks at the rows.

- Numeric columns are kept as they are.
- yes and no become 1 and 0.
- A categorical column becomes one column of zeros and ones for each level but the first, named
  ``column=level``. The levels are those of the table's public documentation, in calendar or
  alphabetical order with ``unknown``, a level like the others, last.

Three columns need care. ``duration``, the seconds of the last call, is known only once the response
is, so it may explain but not predict. ``pdays``, the days since the client was called in an earlier
campaign, is -1 for clients who never were; it is kept so. For these ``previous``, the number of
earlier calls, is 0 and ``poutcome`` is ``unknown``, so the three are nearly collinear.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np

from publicmoments.arrays import Array
from publicmoments.data import listing

Columns = dict[str, tuple[str, ...]]

RESPONSE = "y"
NUMERIC = ("age", "balance", "day", "duration", "campaign", "pdays", "previous")
YES_NO = ("default", "housing", "loan")
LEVELS = {
    name: tuple(levels.split())
    for name, levels in {
        "job": "admin. blue-collar entrepreneur housemaid management retired self-employed "
        "services student technician unemployed unknown",
        "marital": "divorced married single",
        "education": "primary secondary tertiary unknown",
        "contact": "cellular telephone unknown",
        "month": "jan feb mar apr may jun jul aug sep oct nov dec",
        "poutcome": "failure other success unknown",
    }.items()
}


def bank_table(text: str, numeric_only: bool = False) -> tuple[Array, Array, tuple[str, ...]]:
    """Turn the file into features, responses and names of features.

    Parameters
    ----------
    text : str
        A header and rows, separated by semicolons.
    numeric_only : bool
        Whether to leave out all but the seven numeric columns.

    Returns
    -------
    tuple of ndarray, ndarray and tuple of str
        Features, responses, names.

    Raises
    ------
    ValueError
        If a category is not among the levels of its column.
    """
    columns = _columns(text)
    features: dict[str, Array] = {}
    for name in columns:
        if name in NUMERIC:
            features[name] = np.array(columns[name], dtype=np.float64)
        elif name != RESPONSE and not numeric_only:
            features.update(_encoded(name, columns[name]))
    y = _encoded(RESPONSE, columns[RESPONSE])[RESPONSE]
    return np.column_stack(list(features.values())), y, tuple(features)


def _columns(text: str) -> Columns:
    """Read the file column by column."""
    header, *rows = csv.reader(io.StringIO(text), delimiter=";")
    return dict(zip(header, zip(*rows, strict=True), strict=True))


def _encoded(name: str, values: Sequence[str]) -> dict[str, Array]:
    """Encode a column of words."""
    if name in YES_NO or name == RESPONSE:
        return {name: _indicator(_known(name, values, ("no", "yes")), "yes")}
    known = _known(name, values, LEVELS[name])
    return {f"{name}={level}": _indicator(known, level) for level in LEVELS[name][1:]}


def _known(name: str, values: Sequence[str], levels: Sequence[str]) -> Sequence[str]:
    """Return the values, or name the column that holds something else than its levels."""
    others = sorted(set(values) - set(levels))
    if others:
        raise ValueError(
            f"column {name!r} must hold one of {listing(levels, len(levels))}, got "
            f"{listing(others)}; use the original file"
        )
    return values


def _indicator(values: Sequence[str], level: str) -> Array:
    """Ones where the level is met."""
    return np.asarray(np.array(values) == level, dtype=np.float64)
