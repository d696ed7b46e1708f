"""Tables that the user names: found, opened by Arrow, and explained where they cannot be read."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from publicmoments.cli.failures import CommandError
from publicmoments.cli.files import existing
from publicmoments.cli.parsing import nearest

__all__ = ["TableFile", "open_table"]

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": ","}
"""Suffixes of files that are read as text, and how their cells are separated by default."""


@dataclass(frozen=True)
class TableFile:
    """
    A table in files, of which nothing but names and types has been read.

    Parameters
    ----------
    path : Path
        A CSV file, a Parquet file or a folder of Parquet files.
    names : tuple of str
        Its columns.
    delimiter : str or None
        Of a CSV file; None for Parquet.
    """

    path: Path
    names: tuple[str, ...]
    delimiter: str | None

    def refuse_missing(self, wanted: Sequence[str], option: str) -> None:
        """Refuse names that are no columns, with a suggestion."""
        for name in wanted:
            if name not in self.names:
                raise CommandError(
                    f"{option} names {name!r}, which is no column of {self.path}"
                    f"{nearest(name, self.names)}"
                )

    def dataset(self, numbers: Sequence[str], words: Sequence[str] = ()) -> Any:
        """
        Open some columns as an Arrow dataset, which the estimators read piece by piece.

        Parameters
        ----------
        numbers, words : sequence of str
            Columns that must hold numbers, and columns of labels. In a CSV file types are those
            that are asked for here: none is guessed from private rows.

        Returns
        -------
        pyarrow.dataset.Dataset
        """
        pa, arrow_csv, ds = _arrow("pyarrow", "pyarrow.csv", "pyarrow.dataset")
        if self.delimiter is None:
            opened = _parquet(self.path)
            fields = [opened.schema.field(name) for name in (*numbers, *words)]
            return opened.replace_schema(pa.schema(fields))
        types = dict.fromkeys(numbers, pa.float64()) | dict.fromkeys(words, pa.string())
        format_ = ds.CsvFileFormat(
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.delimiter,
                # Columns of free text, which are not read, may hold line breaks.
                newlines_in_values=True,
            ),
            convert_options=arrow_csv.ConvertOptions(column_types=types, strings_can_be_null=True),
        )
        return ds.dataset(str(self.path), format=format_, schema=pa.schema(list(types.items())))

    def read(self, numbers: Sequence[str], words: Sequence[str] = ()) -> Any:
        """Read some columns into an Arrow table; for public rows and rows to predict from."""
        (pa,) = _arrow("pyarrow")
        with self.explaining(numbers):
            try:
                return self.dataset(numbers, words).to_table()
            except pa.ArrowInvalid:
                pass
            raise CommandError(f"{self.path} cannot be read as a table; check the file")

    @contextmanager
    def explaining(self, numbers: Sequence[str]) -> Iterator[None]:
        """
        Explain why numbers could not be read from a CSV file, if they could not.

        Names of columns and counts of lines are told, never what a cell holds.
        """
        try:
            yield
            return
        except (CommandError, TypeError, ValueError) as error:
            trouble = self._trouble(numbers)
            if trouble is None:
                raise
            # Another error may quote cells: it is not even context of the one that is raised.
            del error
        raise CommandError(f"{self.path}: {trouble}")

    def _trouble(self, numbers: Sequence[str]) -> str | None:
        """Describe what a CSV file holds in the place of numbers."""
        if self.delimiter is None:
            return None
        text, ragged = Counter[str](), 0
        places = [(name, self.names.index(name)) for name in numbers]
        nulls = _null_texts()
        with self.path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
            lines = csv.reader(file, delimiter=self.delimiter)
            next(lines, None)
            for cells in lines:
                if not cells:
                    continue
                if len(cells) != len(self.names):
                    ragged += 1
                    continue
                text.update(
                    name for name, k in places if cells[k] not in nulls and not _number(cells[k])
                )
        if ragged:
            return (
                f"{_lines(ragged)} another number of cells than the header, which has "
                f"{len(self.names)}; mend them, or check --delimiter"
            )
        if not text:
            return None
        columns = ", ".join(f"column {name!r} ({_lines(n)} text)" for name, n in text.items())
        return f"numbers were expected in {columns}; mend or --drop the columns"


def open_table(path: str, delimiter: str | None = None) -> TableFile:
    """
    Find a table and read the names of its columns.

    Parameters
    ----------
    path : str
        A CSV file (.csv, .tsv, .txt), a Parquet file or a folder of Parquet files.
    delimiter : str, optional
        Of a CSV file.

    Returns
    -------
    TableFile
    """
    found = existing(path)
    suffix = found.suffix.lower()
    if found.is_dir() or suffix not in DELIMITERS:
        if delimiter is not None:
            raise CommandError(f"--delimiter is for CSV files, and {path} is read as Parquet")
        names = tuple(_parquet(found).schema.names)
        _refuse_duplicates(names, path)
        return TableFile(found, names, None)
    if delimiter is not None and len(delimiter) != 1:
        raise CommandError("--delimiter must be one character, such as ';'")
    separator = delimiter or DELIMITERS[suffix]
    return TableFile(found, _header(found, separator), separator)


def _arrow(*modules: str) -> list[Any]:
    """Import parts of Arrow, or say how to install it."""
    from publicmoments.sources.extras import needed

    return [needed(module, "arrow") for module in modules]


def _parquet(path: Path) -> Any:
    """Open Parquet; Arrow's own words may quote the file."""
    pa, ds = _arrow("pyarrow", "pyarrow.dataset")
    if path.is_dir() and not any(path.rglob("*.parquet")):
        raise CommandError(f"{path} is a folder without Parquet files; check the path")
    try:
        return ds.dataset(str(path), format="parquet", partitioning="hive")
    except (pa.ArrowInvalid, pa.ArrowTypeError, OSError):
        pass
    raise CommandError(f"{path} cannot be read as Parquet; name a CSV file .csv, or check the file")


def _header(path: Path, delimiter: str) -> tuple[str, ...]:
    """Read the names of the columns of a CSV file."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            line = file.readline()
    except UnicodeDecodeError:
        raise CommandError(f"{path} must be text in UTF-8; convert it first") from None
    if not line.strip():
        raise CommandError(f"{path} must begin with a line of column names, and is empty there")
    names = tuple(next(csv.reader([line], delimiter=delimiter)))
    if len(names) == 1:
        for other in ";,\t|":
            if len(next(csv.reader([line], delimiter=other))) > 1:
                raise CommandError(
                    f"{path} has one column when separated by {delimiter!r}, and several by "
                    f"{other!r}; pass --delimiter {other!r}"
                )
    _refuse_duplicates(names, str(path))
    return names


def _refuse_duplicates(names: Sequence[str], path: str) -> None:
    """Refuse a table whose columns cannot be told apart."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise CommandError(
            f"{path} has more than one column named {', '.join(map(repr, repeated))}; rename them"
        )


def _null_texts() -> frozenset[str]:
    """Cells that Arrow reads as missing."""
    (arrow_csv,) = _arrow("pyarrow.csv")
    return frozenset(arrow_csv.ConvertOptions().null_values)


def _number(cell: str) -> bool:
    """Whether a cell holds a number, as Arrow reads them."""
    if "_" in cell:
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _lines(count: int) -> str:
    """Count lines that have something."""
    return "1 line has" if count == 1 else f"{count} lines have"
