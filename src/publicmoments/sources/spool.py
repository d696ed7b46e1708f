"""Keeping a stream on disk, in a file that has no name."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import IO, Any
from weakref import finalize

from publicmoments.blocks import rows_at_once

__all__ = ["Spool", "piece_rows"]

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
