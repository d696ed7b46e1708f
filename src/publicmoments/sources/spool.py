"""Keeping a stream on disk, in a file that has no name."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import IO, Any

__all__ = ["Spool"]


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
        return cls(file, n_rows)

    def pieces(self) -> Generator[Any]:
        """Read the rows from the beginning."""
        import pyarrow as pa

        self.file.seek(0)
        with pa.ipc.open_stream(pa.PythonFile(self.file, "r")) as reader:
            yield from reader
