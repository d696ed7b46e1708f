"""One pass of `Ridge.fit` over the same Parquet file: by this process, by Dask, by Spark."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import speed_work

REPEATS = 3


def rates() -> Iterator[tuple[str, str]]:
    """Source, and rows a second and core; what starts a cluster and its workers is not counted."""
    cores = os.cpu_count() or 1
    if not speed_work.PARQUET.exists():
        speed_work.write_parquet(speed_work.PARQUET, speed_work.PARQUET_ROWS)
    sources = {"one process": in_process, "Dask": dask}
    if shutil.which("java"):
        sources["Spark"] = spark
    for name, source in sources.items():
        with source(cores) as opened:
            rate = speed_work.PARQUET_ROWS / fastest(opened) / cores
        what = f"one pass over Parquet with {speed_work.PARQUET_COLUMNS} columns"
        yield f"rows a second and core, {name}, {what}", f"{rate:,.0f}"


def fastest(source: Callable[[], Any]) -> float:
    """Seconds of the fastest of some fits, the first of which only wakes the workers."""
    model, times = speed_work.parquet_model(), []
    for _ in range(1 + REPEATS):
        start = time.perf_counter()
        model.fit(source(), "y")
        times.append(time.perf_counter() - start)
    return min(times[1:])


@contextmanager
def in_process(cores: int) -> Iterator[Callable[[], Any]]:
    """The file, read and summed here."""
    yield lambda: str(speed_work.PARQUET)


@contextmanager
def dask(cores: int) -> Iterator[Callable[[], Any]]:
    """As many workers as cores, in processes of their own."""
    import dask.dataframe as dd
    from distributed import Client

    with Client(n_workers=cores, threads_per_worker=1, dashboard_address=None):
        yield lambda: dd.read_parquet(str(speed_work.PARQUET), split_row_groups=True)


@contextmanager
def spark(cores: int) -> Iterator[Callable[[], Any]]:
    """A local session with as many cores."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "2g")
        .getOrCreate()
    )
    try:
        yield lambda: session.read.parquet(str(speed_work.PARQUET))
    finally:
        session.stop()
