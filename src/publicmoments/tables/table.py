"""A table of numbers that is read on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from publicmoments.sources import Columns, Frame, pick

__all__ = ["Elsewhere", "Reader", "Table", "read_elsewhere"]

Reader: TypeAlias = Callable[[Any, int, int], NDArray[np.float64]]


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
    reader : callable
        ``reader(source, start, stop)`` converts those rows to float64.

    Examples
    --------
    >>> import numpy as np
    >>> from publicmoments.tables import as_table
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

    def block(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return rows ``start`` to ``stop`` as float64; only those rows are converted.

        A float64 array is sliced, not copied: treat the result as read-only.
        """
        stop = min(stop, self.n_rows)
        if not 0 <= start <= stop:
            raise IndexError(
                f"a block needs 0 <= start <= stop, got start={start}, stop={stop} "
                f"in a table of {self.n_rows} rows"
            )
        return self.reader(self.source, start, stop)

    def values(self) -> NDArray[np.float64]:
        """Return all rows as float64; meant for the public side, where tables are small."""
        return self.block(0, self.n_rows)

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


def read_elsewhere(source: Elsewhere, start: int, stop: int) -> NoReturn:
    """Refuse to read rows that are not here: engines read them piece by piece."""
    raise TypeError(
        "rows of this table are read piece by piece, where they are; pass a table in memory"
    )
