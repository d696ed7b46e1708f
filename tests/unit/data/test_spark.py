"""What can be said of Spark without starting it."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from publicmoments.data import open_frame
from publicmoments.data.frame import Refusal, settled
from publicmoments.data.spark import _PartitionSum


def test_spark_connect_is_refused():
    connected = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})
    with pytest.raises(TypeError, match="classic Spark session"):
        open_frame(connected())


def batches(count):
    for number in range(count):
        yield pa.record_batch({"a": np.full(10, number)})


def test_a_partition_is_reduced_to_one_cell():
    (batch,) = _PartitionSum(lambda piece: np.array([piece.num_rows, 2]))(batches(4))
    assert batch.num_rows == batch.num_columns == 1
    assert pickle.loads(batch.column(0)[0].as_py()).tolist() == [40, 8]


def test_a_partition_without_rows_gives_nothing():
    assert list(_PartitionSum(lambda piece: np.ones(1))(batches(0))) == []


def test_errors_are_results():
    def work(piece):
        return settled(Refusal(ValueError, "y must hold counts"))

    (batch,) = _PartitionSum(work)(batches(2))
    assert pickle.loads(batch.column(0)[0].as_py()) == Refusal(ValueError, "y must hold counts")
