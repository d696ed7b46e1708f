"""Files that the user names: tables, opened by Arrow or as text, and what commands have written."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import publicmoments
from publicmoments.checks import nearest
from publicmoments.cli.failures import CommandError

BATCH_ROWS = 65_536
"""Rows of Parquet that are read at a time."""


def existing(path: str) -> Path:
    """Return a path that exists and can be read."""
    found = Path(path).expanduser()
    if not found.exists():
        raise CommandError(f"{path} does not exist; check the path")
    if not os.access(found, os.R_OK):
        raise CommandError(f"{path} cannot be read by this user; check its permissions")
    return found


def open_moments(path: str) -> publicmoments.PublicMoments:
    """Load public moments."""
    return publicmoments.PublicMoments.load(_file(path, "a file of pmt public make"))


def open_release(path: str) -> publicmoments.MomentRelease:
    """Load a release of moments."""
    return publicmoments.MomentRelease.load(_file(path, "a file of pmt release"))


def open_artefact(path: str) -> Any:
    """Load a fitted model or a moment release, whichever the file holds."""
    found = _file(path, "a model or a release")
    with found.open("rb") as file:
        start = file.read(32)
    if start.startswith(b"publicmoments-release "):
        return open_release(path)
    return publicmoments.load_model(found)


def _file(path: str, wanted: str) -> Path:
    """Return a file that exists, where a folder would be of no use."""
    found = existing(path)
    if found.is_dir():
        raise CommandError(f"{path} is a folder; name {wanted}")
    return found


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

    def refuse_missing(self, wanted: Sequence[str | None], option: str) -> None:
        """Refuse names that are no columns, with a suggestion; None is no name."""
        for name in wanted:
            if name is not None and name not in self.names:
                raise CommandError(
                    f"{option} names {name!r}, which is no column of {self.path}"
                    f"{nearest(name, self.names)}"
                )

    def rows(self, numbers: Sequence[str], words: Sequence[str] = ()) -> Any:
        """
        Open some columns as a source that the estimators read piece by piece.

        Parameters
        ----------
        numbers, words : sequence of str
            Columns that must hold numbers, and columns of labels. In a CSV file types are those
            that are asked for here: none is guessed from rows.

        Returns
        -------
        pyarrow.dataset.Dataset or CsvFrame
        """
        wanted = [*numbers, *words]
        if self.delimiter is None:
            import pyarrow as pa

            opened = _parquet(self.path)
            return opened.replace_schema(pa.schema([opened.schema.field(one) for one in wanted]))
        from publicmoments.data.csv_file import open_csv

        return open_csv(self.path, self.delimiter).only(wanted).as_words(words)

    def batches(self, numbers: Sequence[str], words: Sequence[str] = ()) -> Iterator[Any]:
        """Arrow tables of some rows each, in order; for public rows and rows to predict from."""
        from publicmoments.data.asking import asked_each, needed

        pa, rows = needed("pyarrow", "arrow"), self.rows(numbers, words)
        parquet = self.delimiter is None
        parts = (
            asked_each(lambda: iter(rows.to_batches(batch_size=BATCH_ROWS)), [*numbers, *words])
            if parquet
            else rows.pieces()
        )
        for batch in parts:
            if batch.num_rows:
                if not parquet:
                    self._refuse_text(batch, numbers)
                yield pa.Table.from_batches([batch])

    def read(self, numbers: Sequence[str], words: Sequence[str] = ()) -> Any:
        """Read some columns into an Arrow table."""
        import pyarrow as pa

        tables = list(self.batches(numbers, words))
        if not tables:
            raise CommandError(f"{self.path} has no rows")
        return pa.concat_tables(tables)

    def _refuse_text(self, batch: Any, numbers: Sequence[str]) -> None:
        """Refuse text in the place of numbers, which a CSV file gives as NaN."""
        import pyarrow.compute as pc

        odd = [name for name in numbers if pc.any(pc.is_nan(batch.column(name))).as_py()]
        if odd:
            shown = ", ".join(f"column {name!r}" for name in odd)
            raise CommandError(
                f"{self.path}: numbers were expected in {shown}, and there is text; mend or --drop "
                "the columns"
            )


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
    from publicmoments.data.csv_file import DELIMITERS, open_csv

    found = existing(path)
    if found.is_dir() or found.suffix.lower() not in DELIMITERS:
        if delimiter is not None:
            raise CommandError(f"--delimiter is for CSV files, and {path} is read as Parquet")
        names = tuple(_parquet(found).schema.names)
        _refuse_duplicates(names, path)
        return TableFile(found, names, None)
    if delimiter is not None and len(delimiter) != 1:
        raise CommandError("--delimiter must be one character, such as ';'")
    opened = open_csv(found, delimiter)
    return TableFile(found, opened.names, opened.delimiter)


def _parquet(path: Path) -> Any:
    """Open Parquet; Arrow's own words may quote the file."""
    from publicmoments.data.asking import needed

    pa, ds = needed("pyarrow", "arrow"), needed("pyarrow.dataset", "arrow")
    if path.is_dir() and not any(path.rglob("*.parquet")):
        raise CommandError(f"{path} is a folder without Parquet files; check the path")
    try:
        return ds.dataset(str(path), format="parquet", partitioning="hive")
    except (pa.ArrowInvalid, pa.ArrowTypeError, OSError):
        pass
    raise CommandError(f"{path} cannot be read as Parquet; name a CSV file .csv, or check the file")


def _refuse_duplicates(names: Sequence[str], path: str) -> None:
    """Refuse a table whose columns cannot be told apart."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise CommandError(
            f"{path} has more than one column named {', '.join(map(repr, repeated))}; rename them"
        )
