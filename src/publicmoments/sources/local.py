"""Adding up pieces on this machine: the next one is read while one is summed."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from publicmoments.sources.frame import Work

__all__ = ["add_pieces"]

PATIENCE = 2.0
"""Seconds of a pass before it shows how far it is."""


def add_pieces(pieces: Generator[Any], work: Work, n_rows: int) -> NDArray[np.int64]:
    """
    Apply work to pieces, one after the other, and add the results.

    At most two pieces are in memory: the one at work and the one being read. Whatever happens, an
    interruption included, the reading thread ends before this function does.
    """
    total: NDArray[np.int64] | None = None
    with closing(pieces), _RowProgress(n_rows) as progress, closing(_ahead(pieces)) as ready:
        for piece in ready:
            part = work(piece)
            total = part if total is None else total + part
            progress.advance(piece.num_rows)
    return np.zeros((), dtype=np.int64) if total is None else total


def _ahead(pieces: Iterator[Any]) -> Generator[Any]:
    """Yield pieces, each while the next is read by another thread."""
    with ThreadPoolExecutor(1, thread_name_prefix="publicmoments-reader") as pool:
        coming = pool.submit(next, pieces, None)
        while (piece := coming.result()) is not None:
            coming = pool.submit(next, pieces, None)
            yield piece


class _RowProgress:
    """How far a pass is, on a terminal and only for those that take long."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows, self.done, self.began = n_rows, 0, time.monotonic()
        self.bar: Any = None

    def __enter__(self) -> Self:
        return self

    def advance(self, rows: int) -> None:
        """Count rows that have been summed."""
        self.done += rows
        if self.bar is None and self._worth_showing():
            self._show()
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done)

    def _worth_showing(self) -> bool:
        """Whether somebody is watching, and has waited."""
        return time.monotonic() - self.began > PATIENCE and sys.stderr.isatty()

    def _show(self) -> None:
        """Start the bar; it vanishes at the end."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self.bar = Progress(
            TextColumn("reading rows"),
            BarColumn(),
            MofNCompleteColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.bar.start()
        self.task = self.bar.add_task("rows", total=self.n_rows)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.bar is not None:
            self.bar.stop()
