"""Optional libraries: imported when they are needed, and asked without repeating their words."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from publicmoments.checks import raised_here
from publicmoments.data.frame import Frame
from publicmoments.data.names import listing


def needed(module: str, extra: str) -> ModuleType:
    """
    Import a module of an optional library, or say how to install it.

    Examples
    --------
    >>> needed("no_such_library", "arrow")
    Traceback (most recent call last):
    ...
    ImportError: this source needs no_such_library; pip install "publicmoments[arrow]"
    """
    try:
        return import_module(module)
    except ImportError as error:
        root = module.partition(".")[0]
        raise ImportError(
            f'this source needs {root}; pip install "publicmoments[{extra}]"'
        ) from error


Answer = TypeVar("Answer")


class SourceFailure(ValueError):
    """A source of private rows failed; nothing has been released or spent."""


def asked(ask: Callable[[], Answer], names: Sequence[str]) -> Answer:
    """
    Ask a source, by calling a function of another library.

    Parameters
    ----------
    ask : callable
        The call.
    names : sequence of str
        Columns that it is about.

    Returns
    -------
    object
        What the call returns.

    Raises
    ------
    SourceFailure
        Whatever the library raised: always the same words for the same columns.
    OSError
        Where the operating system refused, with its own words alone.

    Notes
    -----
    **Guarantee.** Neither the message nor an exception chained to it depends on a cell.

    **Why.** Libraries quote the cell that they stumble over. Their exception is dropped before
    another is raised, outside the handler, so that it is not even context. Errors of this package
    pass: their words are written with care.

    Examples
    --------
    >>> asked(lambda: 1 + 1, ["age"])
    2
    >>> asked(lambda: float("a private cell"), ["age"])
    Traceback (most recent call last):
    ...
    publicmoments.data.asking.SourceFailure: the source of column(s) age could not be read: ...
    """
    try:
        return ask()
    except MemoryError:
        raise
    except Exception as error:
        if raised_here(error):
            raise
        failure: Exception = _unreadable(names)
        if isinstance(error, OSError) and error.errno is not None:
            failure = OSError(error.errno, error.strerror, error.filename)
    raise failure


def asked_each(ask: Callable[[], Iterator[Any]], names: Sequence[str]) -> Generator[Any]:
    """Ask a source for pieces, one after the other; see `asked`."""
    pieces = asked(ask, names)
    while (piece := asked(lambda: next(pieces, None), names)) is not None:
        yield piece


def located(ask: Callable[[], Answer], frame: Frame) -> Answer:
    """
    Ask a frame, and if it fails, ask it for each column alone, to name those that cannot be read.

    A stream that can be read once is not there any more by then: all its columns are named.
    """
    with suppress(SourceFailure):
        return ask()
    culprits = [name for name in frame.names if _fails(frame.only([name]))]
    raise _unreadable(culprits or frame.names)


def _fails(column: Frame) -> bool:
    """Whether a frame of one column cannot be read."""
    with suppress(SourceFailure):
        column.map_add(_nothing)
        return False
    return True


def _nothing(piece: Any) -> NDArray[np.int64]:
    """Look at no cell of a piece."""
    return np.zeros(1, dtype=np.int64)


def _unreadable(names: Sequence[str]) -> SourceFailure:
    """Always the same words for the same columns."""
    return SourceFailure(
        f"the source of column(s) {listing(names)} could not be read: a cell does not fit the type "
        "of its column, or the source is damaged or has failed. Its own words are not repeated, "
        "for they may quote private cells; ask it for these columns without publicmoments to see "
        "them"
    )
