"""Spark data frames, summed where their partitions are."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.data.asking import asked, needed
from publicmoments.data.frame import Frame, Result, Work, added, guarded, settled
from publicmoments.data.names import ColumnType, spark_type

TELLING = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Loggers by which PySpark tells what the server says of an error."""

OVERHEARING = ("py4j.clientserver", "py4j.java_gateway")
"""Loggers that write down every answer of the server where somebody looks for a defect."""


def open_spark(data: Any) -> Frame:
    """Open a Spark DataFrame."""
    needed("pyarrow", "spark")
    if ".connect." in type(data).__module__:
        raise TypeError(
            "X must be a DataFrame of a classic Spark session, got one of Spark Connect, which "
            "cannot add sums in a tree; run the fit where the driver is"
        )
    return SparkFrame(data, tuple(data.columns))


@dataclass(frozen=True, eq=False)
class SparkFrame:
    """
    A Spark DataFrame.

    A pass is one job: executors sum their partitions batch by batch, integers are added in a tree,
    8 bytes for each entry of the sum, and no row leaves its executor. Executors need publicmoments,
    what it depends on, and PyArrow, best in the versions of the driver. Tasks that fail are run
    again by Spark, and have to see the same rows then: write down what a query with random numbers
    or a sample returns before fitting it.
    """

    frame: Any = field(repr=False)
    names: tuple[str, ...]
    threads: int | None = 1

    def types(self, names: Sequence[str]) -> tuple[ColumnType, ...]:
        """Types of some columns."""
        schema = _asked(lambda: self.frame.schema, names)
        return tuple(spark_type(name, schema[name].dataType) for name in names)

    def only(self, names: Sequence[str]) -> SparkFrame:
        """Return the same rows with those columns alone."""
        quoted = ["`" + name.replace("`", "``") + "`" for name in names]
        return replace(self, frame=self.frame.select(*quoted), names=tuple(names))

    @cached_property
    def n_rows(self) -> int:
        """Number of rows; one job."""
        return int(_asked(self.frame.count, self.names))

    def map_add(self, work: Work) -> NDArray[np.int64]:
        """Sum partitions where they are; see `Frame.map_add`."""
        sums = self.frame.mapInArrow(_PartitionSum(work), "result binary")
        results = sums.rdd.map(lambda row: pickle.loads(row[0]))
        return settled(_asked(lambda: results.treeReduce(lambda *two: added(two)), self.names))


def _asked(ask: Callable[[], Any], names: Sequence[str]) -> Any:
    """Ask Spark, which would write an error that quotes a cell to its log here as well."""
    from pyspark.logger import PySparkLogger

    loggers = [*map(PySparkLogger.getLogger, TELLING), *map(logging.getLogger, OVERHEARING)]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        return asked(ask, names)
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


@dataclass(frozen=True, eq=False)
class _PartitionSum:
    """What a task does: add up the batches of a partition."""

    work: Work

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Return the sum as a batch of one cell; nothing for a partition without rows."""
        import pyarrow as pa

        total: Result | None = None
        for batch in batches:
            part = guarded(self.work, batch)
            total = part if total is None else added([total, part])
        if total is not None:
            yield pa.RecordBatch.from_pydict({"result": [pickle.dumps(total)]})
