"""A table of numbers that is read on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NoReturn, TypeAlias

import numpy as np

from publicmoments.arrays import Array
from publicmoments.checks import raised_here
from publicmoments.data.frame import Columns, Frame, pick
from publicmoments.data.names import listing

# How rows of a source become float64: reader(source, start, stop, strict). Missing cells become
# NaN. Cells that are of no use are NaN too, unless strict: then they are refused by name. A row
# becomes the same numbers in whatever company it is read.
Reader: TypeAlias = Callable[[Any, int, int, bool], Array]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows that are read on demand.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of the table.
    columns : tuple of str or None
        Column names; None for plain arrays and for names that are not all strings.
    one_dimensional : bool
        True when the input was a vector; its block still has two dimensions.
    source : object
        What the user passed, tables that this one is made from, or columns that are read elsewhere.
        Never shown in the representation.
    reader : Reader
        Converts rows of the source.

    Examples
    --------
    >>> import numpy as np
    >>> from publicmoments.data import as_table
    >>> table = as_table(np.arange(6).reshape(3, 2))
    >>> table.n_rows, table.n_columns
    (3, 2)
    >>> table.block(1, 3)
    array([[2., 3.],
           [4., 5.]])
    """

    n_rows: int
    n_columns: int
    columns: tuple[str, ...] | None
    source: Any = field(repr=False)
    reader: Reader = field(repr=False)
    one_dimensional: bool = False

    def block(self, start: int, stop: int) -> Array:
        """Return rows ``start`` to ``stop`` as float64, refusing cells that are of no use."""
        return self.read(start, stop, strict=True)

    def read(self, start: int, stop: int, *, strict: bool) -> Array:
        """
        Return rows ``start`` to ``stop`` as float64; only those rows are converted.

        A float64 array is sliced, not copied: treat the result as read-only.

        Parameters
        ----------
        start, stop : int
            The rows.
        strict : bool
            What cells that are of no use bring about, such as text, numbers beyond all floats,
            labels that are no class and counts below zero. True raises, in words that depend on
            the columns alone. False makes them NaN.

        Notes
        -----
        **Guarantee.** Without ``strict`` no cell causes an error, a warning or a message, and what
        a row becomes does not depend on other rows. With it, no error quotes a cell.

        **Why.** Rows that cannot be converted together are converted in ever smaller numbers; one
        that cannot be converted alone is NaN throughout. A type that cannot be read at all is told
        by reading no row, which no cell can influence.
        """
        stop = min(stop, self.n_rows)
        if not 0 <= start <= stop:
            raise IndexError(
                f"a block needs 0 <= start <= stop, got start={start}, stop={stop} "
                f"in a table of {self.n_rows} rows"
            )
        with np.errstate(all="ignore"):
            if strict or isinstance(self.source, Elsewhere):
                return self._told(start, stop)
            return self._salvaged(start, stop)

    def _told(self, start: int, stop: int) -> Array:
        """Read rows, or refuse them in words of our own."""
        try:
            return self.reader(self.source, start, stop, True)
        except MemoryError:
            raise
        except Exception as error:
            if raised_here(error):
                raise
        # Raised outside the handler: what another library raised may quote a cell.
        names = "the table" if self.columns is None else f"column(s) {', '.join(self.columns)}"
        raise TypeError(f"cells of {names} do not convert to float; encode them as numbers")

    def _salvaged(self, start: int, stop: int) -> Array:
        """Read rows, those that cannot be read being NaN."""
        try:
            return self.reader(self.source, start, stop, False)
        except MemoryError:
            raise
        except Exception:
            if stop == start:
                return self._told(start, stop)
        if stop - start == 1:
            self._salvaged(start, start)
            return np.full((1, self.n_columns), np.nan)
        middle = (start + stop) // 2
        return np.concatenate([self._salvaged(start, middle), self._salvaged(middle, stop)])

    def values(self) -> Array:
        """Return all rows as float64; meant for the public side, where tables are small."""
        return self.block(0, self.n_rows)

    def finite_values(self) -> Array:
        """Return all rows of features to predict from, without NaN and infinity."""
        values = self.values()
        if not np.isfinite(values).all():
            raise ValueError("Input X contains NaN or infinity; drop or fill such rows")
        return values

    @property
    def frame(self) -> Frame | None:
        """Where the rows live, if not in memory."""
        if isinstance(self.source, Elsewhere):
            return self.source.columns.frame
        for part in self._parts:
            if part.frame is not None:
                return part.frame
        return None

    def on(self, piece: Any) -> Table:
        """Return the same table of the rows of one piece of its frame."""
        if isinstance(self.source, Elsewhere):
            return self.source.on(piece)
        parts = tuple(part.on(piece) for part in self._parts)
        return replace(self, n_rows=parts[0].n_rows, source=parts)

    @property
    def _parts(self) -> tuple[Table, ...]:
        """Tables that this one is made from."""
        made = isinstance(self.source, tuple)
        return tuple(part for part in self.source if isinstance(part, Table)) if made else ()


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """Columns of a frame, and how to read them from a piece of it."""

    columns: Columns
    read: Callable[[Any], Table]

    def on(self, piece: Any) -> Table:
        """Read the columns of a piece."""
        return replace(self.read(pick(piece, self.columns.key)), columns=self.columns.names)


def read_elsewhere(source: Elsewhere, start: int, stop: int, strict: bool) -> NoReturn:
    """Refuse to read rows that are not here: engines read them piece by piece."""
    raise TypeError(
        "rows of this table are read piece by piece, where they are; pass a table in memory"
    )


Tables = tuple[Table, ...]


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
        if table.n_columns != len(expected):
            raise ValueError(
                f"{what} has {table.n_columns} features, but publicmoments is expecting "
                f"{len(expected)} features as input: {listing(expected)}"
            )
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


def within(table: Table, allows: Callable[[Array], Any], range_: str, what: str) -> Table:
    """
    Return a table without values outside a range: they are refused when read, or become NaN.

    Examples
    --------
    >>> from publicmoments.data import as_responses
    >>> counts = within(as_responses([0, 2]), lambda y: y >= 0, "counts", "y")
    >>> counts.values().ravel()
    array([0., 2.])
    """
    return replace(table, source=(table,), reader=partial(_read_within, allows, range_, what))


def beside(
    table: Table, other: Table, transform: Callable[[Array], Array], columns: tuple[str, ...]
) -> Table:
    """
    Return a table, under other names, with a transformed column of another one at its right.

    Examples
    --------
    >>> from publicmoments.data import as_responses
    >>> beside(as_responses([1, 2]), as_responses([0, 3]), lambda x: x + 1, ("y", "z")).values()
    array([[1., 1.],
           [2., 4.]])
    """
    if table.n_rows != other.n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {table.n_rows} and "
            f"{other.n_rows} rows; pass one number per row"
        )
    width, reader = table.n_columns + other.n_columns, partial(_read_beside, transform)
    return replace(table, n_columns=width, columns=columns, source=(table, other), reader=reader)


def filled(table: Table, value: float) -> Table:
    """
    Return a column of one value, as long as a table.

    Examples
    --------
    >>> from publicmoments.data import as_responses
    >>> filled(as_responses([1, 2]), 5.0).values().ravel()
    array([5., 5.])
    """
    return Table(table.n_rows, 1, None, (table,), partial(_read_nothing, 1, value), True)


def no_columns(table: Table) -> Table:
    """
    Return a table without columns, as long as another.

    Examples
    --------
    >>> from publicmoments.data import as_responses
    >>> no_columns(as_responses([1, 2])).values().shape
    (2, 0)
    """
    return replace(
        table, n_columns=0, columns=None, source=(table,), reader=partial(_read_nothing, 0, 0.0)
    )


# Readers are functions and their first arguments, no closures: they are sent to wherever rows are.


def _read_within(
    allows: Callable[[Array], Any],
    range_: str,
    what: str,
    source: Tables,
    start: int,
    stop: int,
    strict: bool,
) -> Array:
    """Read a table and check its values."""
    values = source[0].read(start, stop, strict=strict)
    good = np.asarray(allows(values) | ~np.isfinite(values))
    if good.all():
        return values
    if strict:
        raise ValueError(f"{what} must hold {range_} only; drop or mend other rows")
    return np.where(good, values, np.nan)


def _read_beside(
    transform: Callable[[Array], Array], source: Tables, start: int, stop: int, strict: bool
) -> Array:
    """Read two tables side by side, the right one transformed."""
    left, right = (table.read(start, stop, strict=strict) for table in source)
    return np.concatenate([left, transform(right)], axis=1)


def _read_nothing(
    n_columns: int, value: float, source: Tables, start: int, stop: int, strict: bool
) -> Array:
    """Return columns of one value."""
    return np.full((stop - start, n_columns), value)
