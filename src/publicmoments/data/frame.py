"""What every source of private rows can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from publicmoments.checks import raised_here
from publicmoments.data.names import ColumnType, library

Work: TypeAlias = Callable[[Any], NDArray[np.int64]]


class Frame(Protocol):
    """
    A table that is read in pieces.

    Attributes
    ----------
    names : tuple of str
        The columns.
    n_rows : int
        Number of rows, which is public; finding it may take a look at all of them.
    threads : int or None
        How many threads may work on a piece; None for one per processor.
    """

    @property
    def names(self) -> tuple[str, ...]: ...  # noqa: D102

    @property
    def n_rows(self) -> int: ...  # noqa: D102

    @property
    def threads(self) -> int | None: ...  # noqa: D102

    def types(self, names: Sequence[str]) -> tuple[ColumnType, ...]:
        """Types of some columns."""
        ...

    def only(self, names: Sequence[str]) -> Frame:
        """Return the same rows with those columns alone; no others will be read."""
        ...

    def map_add(self, work: Work) -> NDArray[np.int64]:
        """
        Apply work to every piece and add the results.

        A piece is an ordinary table in memory. Pieces together hold every row once. Work can be
        sent to other machines, and does not mind how rows are cut into pieces.
        """
        ...


@dataclass(frozen=True, eq=False)
class Columns:
    """
    Some columns of a frame, to be read from each of its pieces.

    Parameters
    ----------
    key : str or tuple of str
        What `pick` takes from a piece: one vector or array, or a table.
    types : tuple of ColumnType
        One for each column.
    names : tuple of str or None
        Names of the columns, where they have any.
    one_dimensional : bool
        Whether they are one column that was asked for as a vector.
    frame : Frame or None
        Where they come from. It stays at home: a copy sent to another machine has None.
    """

    key: str | tuple[str, ...]
    types: tuple[ColumnType, ...]
    names: tuple[str, ...] | None
    one_dimensional: bool
    frame: Frame | None = field(repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the frame behind: only its pieces are where the work is done."""
        return self.__dict__ | {"frame": None}


def pick(piece: Any, key: str | tuple[str, ...]) -> Any:
    """Take columns from a piece of a frame: a vector or array by its name, a table by several."""
    if isinstance(piece, Mapping):
        return piece[key]
    if library(piece) == "pyarrow":
        return piece.select([key] if isinstance(key, str) else list(key))
    return piece[key if isinstance(key, str) else list(key)]


@dataclass(frozen=True)
class Refusal:
    """
    An error on another machine, brought home as a result.

    A task that fails there is tried again elsewhere, and its arguments, which are private rows, are
    written to logs. Bad input is no reason for either.
    """

    kind: type[Exception]
    message: str


Result: TypeAlias = NDArray[np.int64] | Refusal

UNEXPECTED = (
    "summing a piece of the table failed; look at the source, and at the versions of publicmoments "
    "and NumPy on the workers"
)
"""What is told of an error that is none of ours: the same whatever the rows."""


def guarded(work: Work, piece: Any) -> Result:
    """Work on a piece, and return what goes wrong in place of raising it."""
    try:
        return work(piece)
    except Exception as error:
        if raised_here(error) and isinstance(error, TypeError | ValueError):
            return Refusal(type(error), str(error))
        # Whatever it is, its message was not written with care.
        return Refusal(RuntimeError, UNEXPECTED)


def added(results: Sequence[Result]) -> Result:
    """Add results; a refusal among them is the result."""
    for result in results:
        if isinstance(result, Refusal):
            return result
    return np.asarray(np.sum(np.stack([np.asarray(part) for part in results]), axis=0))


def settled(result: Result) -> NDArray[np.int64]:
    """Return a sum, or raise what was brought home."""
    if isinstance(result, Refusal):
        raise result.kind(result.message)
    return result
