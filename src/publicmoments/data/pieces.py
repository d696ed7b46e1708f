"""Keeping a stream on disk, in a file that has no name."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import IO, Any, Self
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from publicmoments.data.blocks import rows_at_once
from publicmoments.data.frame import Work

MOST_CELLS = 2**21
"""Cells that a piece has at most: 16 MiB in float64."""

LEAST_ROWS = 2**10
"""Rows that a piece has in any case."""


def piece_rows(n_columns: int) -> int:
    """Rows of a piece with so many columns: a block for each processor, an intercept included."""
    blocks = rows_at_once(n_columns + 1) * (os.cpu_count() or 1)
    return max(min(blocks, MOST_CELLS // max(n_columns, 1)), LEAST_ROWS)


@dataclass(frozen=True, eq=False)
class Spool:
    """
    Rows of a stream in a temporary Arrow file.

    The file is made in the folder that Python's `tempfile` chooses, with access for its owner only,
    and loses its name before the first byte is written: no other process can open it, and the
    operating system frees its space when this process closes it or ends, however that comes
    about.
    """

    file: IO[bytes] = field(repr=False)
    n_rows: int

    @classmethod
    def of(cls, batches: Iterable[Any], piece_rows: int) -> Spool:
        """Write the batches of a stream, in pieces of at most so many rows."""
        import pyarrow as pa

        # Open as long as the spool lives: closing it is what removes it.
        file = tempfile.TemporaryFile(prefix="publicmoments-")  # noqa: SIM115
        writer, n_rows = None, 0
        try:
            for batch in batches:
                writer = writer or pa.ipc.new_stream(pa.PythonFile(file, "w"), batch.schema)
                for start in range(0, batch.num_rows, piece_rows):
                    writer.write_batch(batch.slice(start, piece_rows))
                n_rows += batch.num_rows
            if writer is not None:
                writer.close()
        except BaseException:
            file.close()
            raise
        spool = cls(file, n_rows)
        # Or else Python would complain of a file that nobody closed.
        finalize(spool, file.close)
        return spool

    def pieces(self) -> Generator[Any]:
        """Read the rows from the beginning."""
        import pyarrow as pa

        self.file.seek(0)
        with pa.ipc.open_stream(pa.PythonFile(self.file, "r")) as reader:
            yield from reader


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
        waited = time.monotonic() - self.began > PATIENCE
        if self.bar is None and waited and sys.stderr.isatty():
            self._show()
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done)

    def _show(self) -> None:
        """Start the bar; it vanishes at the end."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = TextColumn("reading rows"), BarColumn(), MofNCompleteColumn()
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.bar.start()
        self.task = self.bar.add_task("rows", total=self.n_rows)

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.stop()
