"""CSV files: every cell is text, and becomes a number or a word by itself."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.data.asking import SourceFailure, asked_each, needed
from publicmoments.data.frame import Work
from publicmoments.data.names import ColumnType
from publicmoments.data.pieces import Spool, add_pieces, piece_rows

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": ","}
"""Suffixes of files that are read as text, and how their cells are separated by default."""

BLOCK_BYTES = 2**22
"""Bytes that are parsed at a time; a line must fit in, or else all are parsed at once."""

MOST_BYTES = 2**31 - 1
"""Most bytes that can be parsed at once."""


def open_csv(path: str | Path, delimiter: str | None = None) -> CsvFrame:
    """
    Open a CSV file, of which the names of the columns alone are read.

    Parameters
    ----------
    path : str or Path
        A file in UTF-8 whose first line names the columns.
    delimiter : str, optional
        One character; by default that of the suffix.

    Returns
    -------
    CsvFrame
    """
    needed("pyarrow.csv", "arrow")
    found = Path(path)
    separator = delimiter or DELIMITERS.get(found.suffix.lower(), ",")
    return CsvFrame(found, separator, _header(found, separator))


@dataclass(frozen=True, eq=False)
class CsvFrame:
    """
    A CSV file, read once and kept as numbers where passes can read it again; see `Spool`.

    Parameters
    ----------
    path : Path
        The file.
    delimiter : str
        What stands between cells.
    names : tuple of str
        Columns that are wanted.
    words : frozenset of str
        Those of them that hold words, such as class labels. All others hold numbers.

    Notes
    -----
    **Guarantee.** What a cell becomes depends on that cell alone. In a column of numbers it is a
    number, one or zero for true or false, null where it is empty or stands for a missing value,
    and NaN where it is anything else.

    **Why.** No type is guessed from rows: types are those that a fit asks for, and cells are
    converted one by one where a whole piece cannot be.
    """

    path: Path
    delimiter: str
    names: tuple[str, ...]
    words: frozenset[str] = frozenset()
    threads: int | None = None

    def types(self, names: Sequence[str]) -> tuple[ColumnType, ...]:
        """Types of some columns, which are those that are asked for."""
        return tuple(
            ColumnType("other" if name in self.words else "number", f"{name} (text)")
            for name in names
        )

    def only(self, names: Sequence[str]) -> CsvFrame:
        """Return the same rows with those columns alone."""
        return replace(self, names=tuple(names))

    def as_words(self, names: Sequence[str]) -> CsvFrame:
        """Return the same rows, those columns being words."""
        return replace(self, words=self.words | frozenset(names))

    @property
    def n_rows(self) -> int:
        """Number of rows; asking for it reads the file."""
        return self._spool.n_rows

    def map_add(self, work: Work) -> NDArray[np.int64]:
        """Read what was kept of the file; see `Frame.map_add`."""
        return add_pieces(self.pieces(), work, self.n_rows)

    def pieces(self) -> Generator[Any]:
        """Record batches of the wanted columns, from what was kept of the file."""
        return self._spool.pieces()

    def _parsed(self, block_bytes: int, ragged: list[int]) -> Generator[Any]:
        """Record batches, parsed from so many bytes at a time; lines of another length are told."""
        pa, arrow_csv = needed("pyarrow", "arrow"), needed("pyarrow.csv", "arrow")

        def refuse(line: Any) -> str:
            ragged.append(line.actual_columns)
            return "error"

        def opened() -> Any:
            reading = arrow_csv.ReadOptions(block_size=block_bytes)
            parsing = arrow_csv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=refuse
            )
            converting = arrow_csv.ConvertOptions(
                # Bytes that are no text are no number and no label either.
                check_utf8=False,
                column_types=dict.fromkeys(self.names, pa.string()),
                include_columns=list(self.names),
                strings_can_be_null=True,
            )
            return iter(arrow_csv.open_csv(self.path, reading, parsing, converting))

        for batch in asked_each(opened, self.names):
            cells = zip(self.names, batch.columns, strict=True)
            columns = [text if name in self.words else _numbers(text) for name, text in cells]
            yield pa.RecordBatch.from_arrays(columns, names=list(self.names))

    @cached_property
    def _spool(self) -> Spool:
        """The rows, kept where they can be read again."""
        ragged: list[int] = []
        # A line may be longer than a block: then the file is one.
        whole = min(self.path.stat().st_size + 1, MOST_BYTES)
        for block_bytes in sorted({min(BLOCK_BYTES, whole), whole}):
            with suppress(SourceFailure):
                return Spool.of(self._parsed(block_bytes, ragged), piece_rows(len(self.names)))
            if ragged:
                raise ValueError(
                    f"{self.path} has lines with another number of cells than its header; check "
                    "the delimiter, and cells that hold it without quotation marks"
                )
        raise ValueError(f"{self.path} cannot be read as CSV; check the file")


def _numbers(cells: Any) -> Any:
    """Text as numbers, cell by cell: null stays null, and what is no number becomes NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.ascii_trim_whitespace(cells)
    true = pc.is_in(trimmed, value_set=pa.array(["true", "True", "TRUE"]))
    false = pc.is_in(trimmed, value_set=pa.array(["false", "False", "FALSE"]))
    return _cast(pc.if_else(true, "1", pc.if_else(false, "0", trimmed)))


def _cast(cells: Any) -> Any:
    """Cast text to numbers; where some cell cannot be, in ever shorter pieces."""
    import pyarrow as pa

    try:
        return cells.cast(pa.float64())
    except pa.ArrowInvalid:
        pass
    if len(cells) == 1:
        return pa.array([np.nan])
    half = len(cells) // 2
    return pa.concat_arrays([_cast(cells[:half]), _cast(cells[half:])])


def _header(path: Path, delimiter: str) -> tuple[str, ...]:
    """Read the names of the columns, and nothing behind them."""
    with path.open("rb") as file:
        start, line = file.readline(), ""
    with suppress(UnicodeDecodeError):
        line = start.decode("utf-8-sig")
    if start and not line:
        raise ValueError(f"{path} must have names of columns in UTF-8; convert it first")
    if not line.strip():
        raise ValueError(f"{path} must begin with a line of column names, and is empty there")
    names = tuple(next(csv.reader([line], delimiter=delimiter)))
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(
            f"{path} has more than one column named {', '.join(map(repr, repeated))}; rename them"
        )
    _suggest_delimiter(path, line, delimiter, len(names))
    return names


def _suggest_delimiter(path: Path, line: str, delimiter: str, columns: int) -> None:
    """Refuse a header that another delimiter would cut, and this one does not."""
    others = [mark for mark in ";,\t|" if len(next(csv.reader([line], delimiter=mark))) > 1]
    if columns == 1 and others:
        raise ValueError(
            f"{path} has one column when separated by {delimiter!r}, and several by "
            f"{others[0]!r}; pass delimiter={others[0]!r}"
        )
