"""Parquet, CSV and everything else that speaks Arrow, larger than memory or not."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.data.asking import asked, asked_each, needed
from publicmoments.data.csv_file import open_csv
from publicmoments.data.frame import Frame, Work
from publicmoments.data.names import ColumnType, arrow_type, polars_type
from publicmoments.data.pieces import Spool, add_pieces, piece_rows

READ_BYTES = 2**16
"""Bytes of a column that are read from a file at a time."""

Batches = Callable[[Sequence[str]], Iterable[Any]]


def open_path(path: str) -> Frame:
    """Open a Parquet file, a folder of such files, partitioned or not, or a CSV file."""
    dataset = needed("pyarrow.dataset", "arrow").dataset
    if path.lower().endswith(".csv"):
        return open_csv(path)
    if "://" not in path and not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    opened = asked(lambda: dataset(path, format="parquet", partitioning="hive"), [path])
    return DatasetFrame(opened, tuple(opened.schema.names))


def open_arrow(data: Any) -> Frame | None:
    """Open an Arrow dataset, table or stream, or a DuckDB relation; None for anything else."""
    pa, ds = needed("pyarrow", "arrow"), needed("pyarrow.dataset", "arrow")
    if isinstance(data, pa.Table | pa.RecordBatch):
        data = ds.dataset(data)
    if isinstance(data, ds.Dataset):
        return DatasetFrame(data, tuple(data.schema.names))
    if isinstance(data, pa.RecordBatchReader):
        types = _arrow_types(data.schema)
        return StreamFrame(types, lambda names: (batch.select(names) for batch in data))
    if hasattr(data, "__arrow_c_stream__") and hasattr(data, "project"):
        schema = asked(lambda: pa.RecordBatchReader.from_stream(data.limit(0)).schema, ["*"])
        return StreamFrame(_arrow_types(schema), lambda names: _relation_batches(data, names))
    return None


def open_lazy(data: Any) -> Frame:
    """Open a polars LazyFrame."""
    needed("pyarrow", "arrow")
    schema = asked(data.collect_schema, ["*"])
    types = tuple((name, polars_type(name, dtype)) for name, dtype in schema.items())
    return StreamFrame(types, lambda names: _lazy_batches(data, names))


@dataclass(frozen=True, eq=False)
class DatasetFrame:
    """
    An Arrow dataset, read again in every pass.

    Memory holds two pieces of a few MiB and what Arrow needs to decode one, whatever the size of
    the files and of their row groups.
    """

    dataset: Any = field(repr=False)
    names: tuple[str, ...]
    threads: int | None = None

    def types(self, names: Sequence[str]) -> tuple[ColumnType, ...]:
        """Types of some columns."""
        return tuple(arrow_type(name, self.dataset.schema.field(name).type) for name in names)

    def only(self, names: Sequence[str]) -> DatasetFrame:
        """Return the same rows with those columns alone."""
        return replace(self, names=tuple(names))

    @cached_property
    def n_rows(self) -> int:
        """Number of rows, of which Parquet files keep a record."""
        return int(asked(self._counted, self.names))

    def map_add(self, work: Work) -> NDArray[np.int64]:
        """Read the dataset once; see `Frame.map_add`."""
        return add_pieces(_released(asked_each(self._batches, self.names)), work, self.n_rows)

    def _counted(self) -> int:
        """Rows, counted from what files say of themselves if they do."""
        files = _parquet_files(self.dataset)
        if files is None:
            return int(self.dataset.count_rows())
        return sum(group.num_rows for file in files for group in file.row_groups)

    def _batches(self) -> Iterator[Any]:
        """Record batches of the wanted columns, by a road that does not hold whole row groups."""
        files = _parquet_files(self.dataset)
        if files is None:
            size, few = piece_rows(len(self.names)), {"batch_readahead": 1, "fragment_readahead": 1}
            scanner = self.dataset.scanner(columns=list(self.names), batch_size=size, **few)
            yield from scanner.to_batches()
        for file in files or ():
            yield from _file_batches(file, self.dataset.schema, self.names)


@dataclass(frozen=True, eq=False)
class StreamFrame:
    """
    A stream of Arrow batches, which can be read once.

    A fit needs several passes and the number of rows, so the wanted columns are written to a
    temporary file without a name; see `Spool`.
    """

    column_types: tuple[tuple[str, ColumnType], ...]
    batches: Batches = field(repr=False)
    threads: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(name for name, _ in self.column_types)

    def types(self, names: Sequence[str]) -> tuple[ColumnType, ...]:
        """Types of some columns."""
        known = dict(self.column_types)
        return tuple(known[name] for name in names)

    def only(self, names: Sequence[str]) -> StreamFrame:
        """Return the same rows with those columns alone."""
        return replace(self, column_types=tuple(zip(names, self.types(names), strict=True)))

    @property
    def n_rows(self) -> int:
        """Number of rows; asking for it reads the stream."""
        return self._spool.n_rows

    def map_add(self, work: Work) -> NDArray[np.int64]:
        """Read what was kept of the stream; see `Frame.map_add`."""
        return add_pieces(self._spool.pieces(), work, self.n_rows)

    @cached_property
    def _spool(self) -> Spool:
        """The rows, kept where they can be read again."""
        stream = asked_each(lambda: iter(self.batches(list(self.names))), self.names)
        return Spool.of(_released(stream), piece_rows(len(self.names)))


def _arrow_types(schema: Any) -> tuple[tuple[str, ColumnType], ...]:
    """Names and types of an Arrow schema."""
    return tuple((column.name, arrow_type(column.name, column.type)) for column in schema)


def _relation_batches(relation: Any, names: Sequence[str]) -> Iterator[Any]:
    """Record batches of a DuckDB relation."""
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    chosen = relation.project(quoted)
    # The older name of the same thing, in versions that do not have the newer one.
    read = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_record_batch
    yield from read(piece_rows(len(names)))


def _lazy_batches(lazy: Any, names: Sequence[str]) -> Iterator[Any]:
    """Record batches of a polars LazyFrame; versions before 1.34 collect it first."""
    chosen, rows = lazy.select(names), piece_rows(len(names))
    if hasattr(chosen, "collect_batches"):
        frames = chosen.collect_batches(chunk_size=rows, maintain_order=False)
    else:
        frames = chosen.collect().iter_slices(rows)
    for frame in frames:
        yield from frame.to_arrow().to_batches()


# Parquet


def _parquet_files(dataset: Any) -> list[Any] | None:
    """Files of a Parquet dataset; None for other datasets and for those with a filter."""
    ds = needed("pyarrow.dataset", "arrow")
    in_files = isinstance(dataset, ds.FileSystemDataset)
    if in_files and isinstance(dataset.format, ds.ParquetFileFormat):
        with suppress(ValueError):
            return list(dataset.get_fragments())
    return None


def _file_batches(fragment: Any, schema: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """
    Record batches of one file.

    A dataset's own scanner decodes whole row groups, which may be gigabytes; this reader decodes
    page by page.
    """
    ds, pq = needed("pyarrow.dataset", "arrow"), needed("pyarrow.parquet", "arrow")
    folders = ds.get_partition_keys(fragment.partition_expression)
    with fragment.filesystem.open_input_file(fragment.path) as file:
        reader = pq.ParquetFile(file, buffer_size=READ_BYTES, pre_buffer=False)
        held = set(reader.schema_arrow.names) - set(folders)
        groups = [group.id for group in fragment.row_groups]
        wanted, rows = [name for name in names if name in held], piece_rows(len(names))
        for batch in reader.iter_batches(rows, groups, wanted, use_threads=False):
            yield _completed(batch, schema, names, folders)


def _completed(batch: Any, schema: Any, names: tuple[str, ...], folders: dict[str, Any]) -> Any:
    """Add columns that the file does not hold: those that folders are named after, or nulls."""
    import pyarrow as pa

    def same(name: str) -> Any:
        cell = pa.scalar(folders.get(name)).cast(schema.field(name).type)
        return pa.repeat(cell, batch.num_rows)

    held = set(batch.schema.names)
    arrays = [batch.column(name) if name in held else same(name) for name in names]
    return pa.RecordBatch.from_arrays(arrays, names=list(names))


def _released(batches: Generator[Any]) -> Generator[Any]:
    """Yield batches, and give memory back that Arrow holds for others."""
    import pyarrow as pa

    pool = pa.default_memory_pool()
    try:
        for batch in batches:
            yield batch
            # Or else pages that were decoded long ago would fill more memory than pieces do.
            pool.release_unused()
    finally:
        # The next pass reads in another thread, which would not use what this one leaves behind.
        pool.release_unused()
