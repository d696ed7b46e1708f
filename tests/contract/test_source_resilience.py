"""What sources do when workers fail, what they send around, and how much memory they take."""

import os
import pickle
import subprocess
import sys
import textwrap

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dask.callbacks import Callback

from publicmoments import GDP, Ridge
from publicmoments.data.frame import Refusal
from publicmoments.data.spark import _PartitionSum
from publicmoments.engines.dispatch import PieceSum, exact_sum
from publicmoments.rows.private_rows import InvalidRows
from tests.contract.sources import (
    FEATURES,
    FRAME,
    SourceKind,
    dask_arrays,
    private_rows,
    public_moments,
    with_gap,
)

pytestmark = pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")


def dies_once(part, marker):
    """End the process that computes this, the first time."""
    if len(part) and not os.path.exists(marker):
        open(marker, "w").close()
        os._exit(1)
    return part


class TestFailures:
    """Lost workers and failed tasks change nothing in the sum."""

    def test_a_dask_worker_dies(self, cluster, recipes, expected, tmp_path):
        marker = str(tmp_path / "died")
        frame = dd.from_pandas(FRAME, npartitions=4, sort=False)
        frame = frame.map_partitions(dies_once, marker, meta=frame._meta)
        with cluster.as_current():
            # Counting the rows must not be what kills it.
            open(marker, "w").close()
            rows = private_rows(frame, "price")
            os.remove(marker)
            found = exact_sum(rows, recipes[0])
        assert os.path.exists(marker)
        np.testing.assert_array_equal(found, expected[0])

    def test_dask_refusals_come_home(self, cluster):
        frame = dd.from_pandas(with_gap(FRAME), npartitions=4, sort=False)
        model = Ridge(privacy=GDP(1.0), public=public_moments(), random_state=0)
        with cluster.as_current(), pytest.raises(InvalidRows, match=r"X \(column age\)"):
            model.fit(frame, "price")

    def test_a_spark_task_fails(self, spark, make_source, recipes, expected, tmp_path):
        marker = str(tmp_path / "failed")

        def fails_once(batches):
            for batch in batches:
                if not os.path.exists(marker):
                    open(marker, "w").close()
                    raise OSError("a disk has gone")
                yield batch

        frame = make_source("spark-4")(FRAME).select(*FEATURES, "price")
        frame = frame.mapInArrow(fails_once, frame.schema)
        open(marker, "w").close()
        rows = private_rows(frame, "price")
        os.remove(marker)
        found = exact_sum(rows, recipes[0])
        assert os.path.exists(marker)
        np.testing.assert_array_equal(found, expected[0])


class TestTravel:
    """Integers travel, rows do not."""

    def test_no_dask_task_returns_rows(self, make_source, recipes):
        rows = private_rows(make_source("dask-7")(FRAME), "price")
        returned = []
        watch = Callback(posttask=lambda key, value, *_: returned.append(value))
        with watch, dask.config.set(scheduler="synchronous"):
            exact_sum(rows, recipes[0])
        sums = [value for value in returned if isinstance(value, np.ndarray)]
        assert {value.shape for value in sums} == {(17,)}
        assert len(sums) >= 8
        assert not any(isinstance(value, pd.DataFrame | pd.Series) for value in returned)
        assert len(pickle.dumps(returned)) < 20_000 < FRAME.memory_usage(deep=True).sum()

    @pytest.mark.parametrize("arrays", [True, False])
    def test_bad_rows_are_no_failure_of_a_task(self, arrays):
        """Schedulers write the arguments of a task that fails to their logs."""
        frame = with_gap(FRAME)
        data = dask_arrays(frame, "price", 3) if arrays else (dd.from_pandas(frame), "price")
        model = Ridge(privacy=GDP(1.0), public=public_moments(), random_state=0)
        returned = []
        watch = Callback(posttask=lambda key, value, *_: returned.append(value))
        with watch, dask.config.set(scheduler="synchronous"), pytest.raises(InvalidRows):
            model.fit(*data)
        assert any(isinstance(value, Refusal) for value in returned)

    def test_an_array_of_features_is_not_cut_again(self, recipes):
        X, y = dask_arrays(FRAME, "price", 7)
        assert y.numblocks[0] > X.numblocks[0] == 7
        rows, keys = private_rows(X, y), []
        watch = Callback(posttask=lambda key, *_: keys.append(str(key)))
        with watch, dask.config.set(scheduler="synchronous"):
            exact_sum(rows, recipes[0])
        assert sum("block_sum" in key for key in keys) == 7

    def test_work_takes_no_frame_along(self, recipes, tmp_path):
        rows = private_rows(SourceKind("parquet", tmp_path, None)(FRAME), "price")
        sent = pickle.loads(pickle.dumps(PieceSum(rows, recipes[0], 1)))
        assert rows.frame is not None
        assert sent.rows.frame is None
        piece = pa.Table.from_pandas(FRAME)
        np.testing.assert_array_equal(sent(piece), PieceSum(rows, recipes[0], 1)(piece))

    def test_a_spark_pass_is_one_job_that_returns_integers(self, spark, make_source, recipes):
        rows = private_rows(make_source("spark-4")(FRAME).cache(), "price")
        rows.frame.frame.count()
        spark.sparkContext.setJobGroup("one-pass", "one pass")
        exact_sum(rows, recipes[0])
        tracker = spark.sparkContext.statusTracker()
        assert len(tracker.getJobIdsForGroup("one-pass")) == 1
        spark.sparkContext.setJobGroup("others", "others")
        sums = rows.frame.frame.mapInArrow(
            _PartitionSum(lambda batch: np.arange(17)), "result binary"
        ).collect()
        assert len(sums) == 4
        assert all(len(row[0]) < 17 * 8 + 200 for row in sums)


WITHOUT_PANDAS = """
    import sys

    # Other libraries import pandas where they find it, and pandas imports more.
    class Without:
        def find_spec(self, name, *_):
            if name == "pandas":
                raise ImportError(name)

    sys.meta_path.insert(0, Without())
"""

MEMORY = """
    import resource
    from pathlib import Path
    from publicmoments import GDP, PublicMoments, Ridge

    public = PublicMoments.identity(20, response_scale=[1.0])
    Ridge(privacy=GDP(1.0), public=public, passes=2).fit(sys.argv[1], "y")
    status = Path("/proc/self/status")
    if status.exists():  # the other figure is inherited from the parent there
        line = next(line for line in status.read_text().splitlines() if line[:6] == "VmHWM:")
        print(int(line.split()[1]) / 1024)
    else:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def in_a_child(code, *arguments):
    """Run code in a Python that finds no pandas, and return what it prints."""
    whole = textwrap.dedent(WITHOUT_PANDAS) + textwrap.dedent(code)
    command = [sys.executable, "-c", whole, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path):
    rng = np.random.default_rng(0)
    names = [*(f"x{i}" for i in range(20)), "y"]
    piece = pa.table({name: rng.normal(size=200_000) for name in names})
    peaks = []
    for pieces in (1, 10):
        path = tmp_path / f"{pieces}.parquet"
        # One row group, as large as the file: what is easy to write and hard to read.
        pq.write_table(pa.concat_tables([piece] * pieces), path, row_group_size=2**21)
        peaks.append(float(in_a_child(MEMORY, str(path))))
    assert (tmp_path / "10.parquet").stat().st_size > 300e6
    # Two thirds of it are libraries, and the rest is a few megabytes of pages for each column.
    assert max(peaks) < 350.0
    assert peaks[1] < 1.1 * peaks[0]


def test_nothing_optional_is_imported():
    code = """
    import publicmoments
    from publicmoments import LogisticRegression, Ridge, release_moments
    print({"pyarrow", "dask", "distributed", "pyspark", "duckdb", "polars"} & set(sys.modules))
    """
    assert in_a_child(code) == "set()"
