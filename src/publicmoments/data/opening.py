"""Which source an object is. Nothing is imported that the user has not asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from publicmoments.data.frame import Frame


def library(data: Any) -> str:
    """Name the package that defines the type of ``data``, without importing it."""
    return type(data).__module__.partition(".")[0]


def open_frame(data: Any) -> Frame | None:
    """
    Open a source of named columns; None for what is not one.

    Parameters
    ----------
    data : path, pyarrow Dataset, Table or RecordBatchReader, DuckDB relation, polars LazyFrame, \
Dask DataFrame or Spark DataFrame
        The source.

    Returns
    -------
    Frame or None

    Examples
    --------
    >>> open_frame([[1.0, 2.0]]) is None
    True
    """
    kind = type(data).__name__
    match library(data):
        case "pyarrow" | "duckdb" | "_duckdb":
            from publicmoments.data.arrow import open_arrow

            return open_arrow(data)
        case "polars" if kind == "LazyFrame":
            from publicmoments.data.arrow import open_lazy

            return open_lazy(data)
        case "dask" | "dask_expr" if kind == "DataFrame":
            from publicmoments.data.dask import DaskFrame

            return DaskFrame(data, tuple(data.columns))
        case "pyspark" if kind == "DataFrame":
            from publicmoments.data.spark import open_spark

            return open_spark(data)
        case "publicmoments" if kind == "CsvFrame":
            opened: Frame = data
            return opened
    if isinstance(data, str | os.PathLike):
        from publicmoments.data.arrow import open_path

        return open_path(os.fspath(data))
    return None


def open_arrays(arrays: Mapping[str, Any]) -> Frame | None:
    """Open Dask arrays with the same rows as one frame; None where the first is not one."""
    first = next(iter(arrays.values()))
    if library(first) != "dask" or type(first).__name__ != "Array":
        return None
    from publicmoments.data.dask import DaskArrays

    return DaskArrays.of(arrays)


def pick(piece: Any, key: str | tuple[str, ...]) -> Any:
    """Take columns from a piece of a frame: a vector or array by its name, a table by several."""
    if isinstance(piece, Mapping):
        return piece[key]
    if library(piece) == "pyarrow":
        return piece.select([key] if isinstance(key, str) else list(key))
    return piece[key if isinstance(key, str) else list(key)]
