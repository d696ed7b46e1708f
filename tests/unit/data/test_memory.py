"""Arrow tables in memory read like any other frame."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from publicmoments.data import as_labels, as_responses, as_table, by_name, filled, no_columns

NUMBERS = pa.table(
    {
        "int": pa.array([1, None, 3], pa.int32()),
        "half": pa.array([np.float16(0.5), None, np.float16(2.0)], pa.float16()),
        "single": pa.array([0.5, None, 2.0], pa.float32()),
        "double": pa.array([0.1, None, 0.3]),
        "bool": pa.array([True, None, False]),
        "decimal": pa.array([Decimal("1.25"), None, Decimal("-3.50")], pa.decimal128(9, 2)),
        "code": pa.array([7, None, 9]).dictionary_encode(),
        "null": pa.nulls(3),
    }
)
VALUES = np.array(
    [
        [1.0, 0.5, 0.5, 0.1, 1.0, 1.25, 7.0, np.nan],
        [np.nan] * 8,
        [3.0, 2.0, 2.0, 0.3, 0.0, -3.5, 9.0, np.nan],
    ]
)


@pytest.mark.parametrize("wrap", [lambda t: t, lambda t: t.combine_chunks().to_batches()[0]])
def test_every_type_of_number_is_read_as_float64(wrap):
    table = as_table(wrap(NUMBERS))
    assert table.columns == tuple(NUMBERS.schema.names)
    np.testing.assert_array_equal(table.values(), VALUES)
    np.testing.assert_array_equal(table.block(1, 3), VALUES[1:])


def test_columns_in_several_chunks():
    table = as_table(pa.concat_tables([NUMBERS, NUMBERS.slice(1)]))
    np.testing.assert_array_equal(table.block(2, 5), VALUES[[2, 1, 2]])


def test_large_integers_are_rounded():
    table = as_table(pa.table({"a": [2**53 + 1, 2**63 - 1]}))
    np.testing.assert_array_equal(table.values().ravel(), [2.0**53, 2.0**63])


@pytest.mark.parametrize("column", [["Ulm"], [b"x"], [[1.0]], [pd.Timestamp("2020-01-01")]])
def test_other_types_are_refused(column):
    with pytest.raises(TypeError, match=r"X must hold numbers, got columns place \(") as caught:
        as_table(pa.table({"place": column, "a": [1.0]}))
    assert "Ulm" not in str(caught.value)


def test_duplicates_and_empty_tables_are_refused():
    with pytest.raises(ValueError, match="more than one of a"):
        as_table(pa.table([[1.0], [2.0]], names=["a", "a"]))
    with pytest.raises(ValueError, match="0 sample"):
        as_table(pa.table({"a": pa.array([], pa.float64())}))


@pytest.mark.parametrize(
    ("column", "classes", "positions"),
    [
        (["no", "yes", None], ("no", "yes"), [0, 1, np.nan]),
        (pa.array(["no", "yes", None]).dictionary_encode(), ("no", "yes"), [0, 1, np.nan]),
        ([3, 7, None], (7, 3), [1, 0, np.nan]),
        ([True, False, None], (False, True), [1, 0, np.nan]),
        ([0.0, 1.0, float("nan")], (0, 1), [0, 1, np.nan]),
        ([3, 7, 3], (7, 3), [1, 0, 1]),
        ([True, False, True], (False, True), [1, 0, 1]),
        (["no", "yes", "no"], ("no", "yes"), [0, 1, 0]),
        (pa.array(["no", "yes", None], pa.large_string()), ("no", "yes"), [0, 1, np.nan]),
        (pa.array(["no", "yes", None], pa.string_view()), ("no", "yes"), [0, 1, np.nan]),
        (pa.array([3, 7, None]).dictionary_encode(), (7, 3), [1, 0, np.nan]),
        (pa.array([3, 7, 3], pa.float16()), (7, 3), [1, 0, 1]),
        ([Decimal("3"), None, Decimal("7")], (7, 3), [1, np.nan, 0]),
        (pa.array(["no", "yes", "no"]).dictionary_encode(), ("no", "yes"), [0, 1, 0]),
    ],
)
def test_labels(column, classes, positions):
    table = pa.table({"label": column})
    for y in (table, table["label"]):
        np.testing.assert_array_equal(as_labels(y, classes).values().ravel(), positions)


def test_responses():
    assert as_responses(pa.table({"y": [1, 2]})).columns == ("y",)
    vector = as_responses(pa.chunked_array([[1.0, 2.0]]))
    assert vector.one_dimensional
    np.testing.assert_array_equal(vector.values(), [[1.0], [2.0]])


def test_filled_and_empty_columns_are_as_long_as_their_table():
    table = as_table(NUMBERS)
    np.testing.assert_array_equal(filled(table, 2.5).block(1, 3), [[2.5], [2.5]])
    assert filled(table, 2.5).one_dimensional
    assert no_columns(table).block(0, 3).shape == (3, 0)


class TestByName:
    """What is called by name, and what is not."""

    FRAME = pd.DataFrame({"a": [1.0], "b": [2.0], "c": [3.0], "y": [4.0], "z": [5.0]})

    @pytest.mark.parametrize("wrap", [lambda f: f, pl.from_pandas])
    def test_frames_in_memory(self, wrap):
        X, y, z = by_name(wrap(self.FRAME), None, y="y", offset="z")
        assert list(X.columns) == ["a", "b", "c"]
        assert (y.name, z.name) == ("y", "z")
        X, y, z = by_name(wrap(self.FRAME), ("c", "a"), several=True, y=["z", "y"], offset=None)
        assert list(X.columns) == ["c", "a"]
        assert list(y.columns) == ["z", "y"]
        assert z is None

    def test_data_passes_through(self):
        X, y = self.FRAME, np.ones(1)
        assert by_name(X, ("a",), y=y) == (X, y)
        assert by_name(X, ("a",)) == (X,)
        table = pa.Table.from_pandas(X)
        assert by_name(table, ("a",), y=y) == (table, y)

    def test_a_list_of_words_is_a_column_of_labels_for_a_classifier(self):
        labels = ["a", "b"]
        assert by_name(self.FRAME, None, y=labels)[1] is labels

    def test_a_path_comes_with_names(self):
        with pytest.raises(TypeError, match="name the column that is y"):
            by_name("rows.parquet", None, y=np.ones(1), offset=None)

    def test_the_same_column_twice(self):
        with pytest.raises(ValueError, match="more than one of y"):
            by_name(self.FRAME, None, several=True, y=["y", "y"])
        with pytest.raises(ValueError, match="more than one of y"):
            by_name(self.FRAME, None, y="y", offset="y")

    def test_columns_of_the_same_name(self):
        frame = self.FRAME.rename(columns={"b": "a"})
        with pytest.raises(ValueError, match="X must have distinct column names"):
            by_name(frame, None, y="y")
