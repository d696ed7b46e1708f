"""Tables made from other tables, cell by cell or column by column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.tables.table import Table

__all__ = ["beside", "filled", "no_columns", "within"]

Array = NDArray[np.float64]
Tables = tuple[Table, ...]


def within(table: Table, allows: Callable[[Array], Any], range_: str, what: str) -> Table:
    """
    Return a table without values outside a range: they are refused when read, or become NaN.

    Examples
    --------
    >>> from publicmoments.tables import as_responses
    >>> counts = within(as_responses([0, 2]), lambda y: y >= 0, "counts", "y")
    >>> counts.values().ravel()
    array([0., 2.])
    """
    return replace(table, source=(table,), reader=_Within(allows, range_, what))


def beside(
    table: Table, other: Table, transform: Callable[[Array], Array], columns: tuple[str, ...]
) -> Table:
    """
    Return a table, under other names, with a transformed column of another one at its right.

    Examples
    --------
    >>> from publicmoments.tables import as_responses
    >>> beside(as_responses([1, 2]), as_responses([0, 3]), lambda x: x + 1, ("y", "z")).values()
    array([[1., 1.],
           [2., 4.]])
    """
    if table.n_rows != other.n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {table.n_rows} and "
            f"{other.n_rows} rows; pass one number per row"
        )
    width = table.n_columns + other.n_columns
    return replace(
        table,
        n_columns=width,
        columns=columns,
        source=(table, other),
        reader=_Beside(transform),
    )


def filled(table: Table, value: float) -> Table:
    """
    Return a column of one value, as long as a table.

    Examples
    --------
    >>> from publicmoments.tables import as_responses
    >>> filled(as_responses([1, 2]), 5.0).values().ravel()
    array([5., 5.])
    """
    return replace(
        table,
        n_columns=1,
        columns=None,
        source=(table,),
        reader=_Filled(1, value),
        one_dimensional=True,
    )


def no_columns(table: Table) -> Table:
    """
    Return a table without columns, as long as another.

    Examples
    --------
    >>> from publicmoments.tables import as_responses
    >>> no_columns(as_responses([1, 2])).values().shape
    (2, 0)
    """
    return replace(table, n_columns=0, columns=None, source=(table,), reader=_Filled(0, 0.0))


# Readers are records, not closures: they are sent to wherever the rows are.


@dataclass(frozen=True)
class _Within:
    """Read a table and check its values."""

    allows: Callable[[Array], Any]
    range: str
    what: str

    def __call__(self, source: Tables, start: int, stop: int, strict: bool) -> Array:
        """Read rows."""
        values = source[0].read(start, stop, strict=strict)
        within = np.asarray(self.allows(values) | ~np.isfinite(values))
        if within.all():
            return values
        if strict:
            raise ValueError(f"{self.what} must hold {self.range} only; drop or mend other rows")
        return np.where(within, values, np.nan)


@dataclass(frozen=True)
class _Beside:
    """Read two tables side by side, the right one transformed."""

    transform: Callable[[Array], Array]

    def __call__(self, source: Tables, start: int, stop: int, strict: bool) -> Array:
        """Read rows."""
        left, right = (table.read(start, stop, strict=strict) for table in source)
        return np.concatenate([left, self.transform(right)], axis=1)


@dataclass(frozen=True)
class _Filled:
    """Columns of one value."""

    n_columns: int
    value: float

    def __call__(self, source: Tables, start: int, stop: int, strict: bool) -> Array:
        """Read rows."""
        return np.full((stop - start, self.n_columns), self.value)
