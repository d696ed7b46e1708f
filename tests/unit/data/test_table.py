"""Reading tables: what is accepted, what is refused, and what messages may say."""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from publicmoments.data import (
    as_labels,
    as_responses,
    as_table,
    beside,
    match_columns,
    within,
)

VALUES = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize(
    "data",
    [
        VALUES,
        np.asfortranarray(VALUES),
        VALUES.astype(np.float32),
        VALUES.astype(int),
        VALUES.astype(object),
        VALUES.astype(">f8"),
        VALUES.tolist(),
        pd.DataFrame(VALUES),
        pd.DataFrame(VALUES, columns=list("abc")).convert_dtypes(),
        pd.DataFrame({"a": VALUES[:, 0].astype(int), "b": VALUES[:, 1], "c": VALUES[:, 2]}),
        pl.DataFrame(VALUES),
        pl.DataFrame(VALUES.astype(int)),
    ],
    ids=lambda data: type(data).__name__,
)
def test_every_container_reads_the_same(data):
    table = as_table(data)
    assert (table.n_rows, table.n_columns) == (4, 3)
    block = table.block(1, 3)
    assert block.dtype == np.float64
    np.testing.assert_array_equal(block, VALUES[1:3])
    np.testing.assert_array_equal(table.values(), VALUES)


def test_anything_with_an_array_method_reads():
    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return VALUES

    np.testing.assert_array_equal(as_table(Wrapped()).values(), VALUES)


def test_float64_array_is_sliced_not_copied():
    assert np.shares_memory(as_table(VALUES).block(1, 3), VALUES)


def test_read_only_array_and_memmap(tmp_path):
    frozen = VALUES.copy()
    frozen.setflags(write=False)
    np.testing.assert_array_equal(as_table(frozen).block(0, 2), VALUES[:2])
    mapped = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=VALUES.shape)
    mapped[:] = VALUES
    np.testing.assert_array_equal(as_table(mapped).block(2, 4), VALUES[2:])


def test_booleans_read_as_zero_and_one():
    np.testing.assert_array_equal(as_table([[True, False]]).values(), [[1.0, 0.0]])
    frame = pl.DataFrame({"a": [True, None]})
    np.testing.assert_array_equal(as_table(frame).values(), [[1.0], [np.nan]])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1.5, 2.5]}),
        pd.DataFrame({"a": np.array([1, pd.NA], dtype=object), "b": [1.5, 2.5]}),
        pd.DataFrame({"a": np.array([1, None], dtype=object), "b": [1.5, 2.5]}),
        pl.DataFrame({"a": [1, None], "b": [1.5, 2.5]}),
    ],
)
def test_missing_values_become_nan(frame):
    np.testing.assert_array_equal(as_table(frame).values(), [[1.0, 1.5], [np.nan, 2.5]])


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak resident size in kilobytes")
def test_only_the_block_of_a_polars_frame_is_converted():
    resource = pytest.importorskip("resource")
    # Polars allocates outside Python, so look at the process: converting all would take 240 MB.
    table = as_table(pl.DataFrame({"a": pl.zeros(30_000_000, dtype=pl.Int8, eager=True)}))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    table.block(100, 200)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


@pytest.mark.parametrize(
    "make", [np.asarray, pd.DataFrame, lambda rows: pd.DataFrame(rows).astype("Int32")]
)
def test_only_the_block_is_converted(make):
    table = as_table(make(np.zeros((200_000, 5), dtype=np.int32)))
    table.block(0, 10)
    tracemalloc.start()
    table.block(100, 200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000  # the whole table would take 8 MB


def test_blocks_stop_at_the_end_and_refuse_bad_ranges():
    table = as_table(VALUES)
    assert table.block(3, 10).shape == (1, 3)
    assert table.block(2, 2).shape == (0, 3)
    with pytest.raises(IndexError, match="0 <= start <= stop"):
        table.block(3, 1)
    with pytest.raises(IndexError, match="0 <= start <= stop"):
        table.block(-1, 2)


def test_names_are_kept_when_all_are_strings():
    assert as_table(pd.DataFrame(VALUES, columns=list("abc"))).columns == ("a", "b", "c")
    assert as_table(pl.DataFrame({"u": [1]})).columns == ("u",)
    assert as_table(pd.DataFrame(VALUES, columns=["a", 1, 2])).columns is None
    assert as_table(VALUES).columns is None


def test_the_representation_hides_rows():
    assert "31337" not in repr(as_table([[31337]]))


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (sparse.csr_matrix(VALUES), TypeError, ["sparse", "toarray"]),
        (sparse.csr_array(VALUES), TypeError, ["sparse", "toarray"]),
        (np.ma.masked_array(VALUES), TypeError, ["masked", "filled"]),
        (pl.LazyFrame({"a": [1]}), TypeError, ["LazyFrame", "collect"]),
        (VALUES + 1j, ValueError, ["Complex data not supported"]),
        (pd.DataFrame({"c": [1j]}), ValueError, ["Complex data not supported", "c "]),
        (VALUES[0], ValueError, ["Expected 2D array, got 1D array instead", "Reshape your data"]),
        (pd.Series([1.0]), ValueError, ["Expected 2D array, got 1D array instead"]),
        (pl.Series([1.0]), ValueError, ["Expected 2D array, got 1D array instead"]),
        (3.0, ValueError, ["Expected 2D array, got scalar"]),
        (VALUES.reshape(2, 2, 3), ValueError, ["dim 3", "(2, 2, 3)"]),
        (
            VALUES[:0],
            ValueError,
            ["Found array with 0 sample(s) (shape=(0, 3)) while a minimum of 1 is required"],
        ),
        (np.empty((12, 0)), ValueError, ["0 feature(s) (shape=(12, 0)) while a minimum of 1"]),
        (pd.DataFrame({"a": []}, dtype=float), ValueError, ["0 sample(s)"]),
        (pl.DataFrame({"a": []}, schema={"a": pl.Float64}), ValueError, ["0 sample(s)"]),
        ([[1, 2], [3]], ValueError, ["same length"]),
        (np.array([["SECRET"]]), TypeError, ["X must hold numbers"]),
        (pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}), TypeError, ["when (datetime64"]),
        (pd.DataFrame({"kind": pd.Categorical(["SECRET"])}), TypeError, ["kind (category)"]),
        (pd.DataFrame({"word": pd.array(["SECRET"], "string")}), TypeError, ["word (string)"]),
        (pl.DataFrame({"word": ["SECRET"]}), TypeError, ["word (String)"]),
        (
            pl.DataFrame({"k": pl.Series(["SECRET"], dtype=pl.Enum(["SECRET"]))}),
            TypeError,
            ["k (Enum)"],
        ),
        (pd.DataFrame(VALUES, columns=["a", "b", "a"]), ValueError, ["distinct", "a"]),
    ],
)
def test_refusals_say_what_to_do_and_never_quote_cells(data, error, words):
    with pytest.raises(error) as caught:
        as_table(data)
    message = str(caught.value)
    assert all(word in message for word in words), message
    assert "SECRET" not in message


@pytest.mark.parametrize("cell", [{"SECRET": 1}, "SECRET", object(), 1 + 2j])
@pytest.mark.parametrize("wrap", [np.array, pd.DataFrame])
def test_cells_that_are_not_numbers(cell, wrap):
    table = as_table(wrap(np.array([[1.0, 2.0], [3.0, cell]], dtype=object)))
    np.testing.assert_array_equal(table.block(0, 1), [[1.0, 2.0]])
    with pytest.raises(TypeError, match="argument must be a string or a real number") as caught:
        table.block(1, 2)
    assert "column(s) 1 " in str(caught.value)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__context__ is None  # a chained exception would quote the cell


@pytest.mark.parametrize(
    ("y", "columns"),
    [
        (np.arange(4), None),
        ([0, 1, 2, 3], None),
        (pd.Series(range(4), name="price"), ("price",)),
        (pd.Series(range(4)), None),
        (pl.Series("price", range(4)), ("price",)),
        (pl.Series(range(4)), None),
    ],
)
def test_vectors_of_responses(y, columns):
    table = as_responses(y)
    assert table.one_dimensional
    assert table.columns == columns
    np.testing.assert_array_equal(table.block(1, 3), [[1.0], [2.0]])


@pytest.mark.parametrize("y", [VALUES, pd.DataFrame(VALUES), pl.DataFrame(VALUES)])
def test_tables_of_responses(y):
    table = as_responses(y)
    assert not table.one_dimensional
    assert table.n_columns == 3
    assert not as_responses(VALUES[:, :1]).one_dimensional


def test_vector_response_is_a_view():
    y = np.arange(4.0)
    assert np.shares_memory(as_responses(y).block(0, 4), y)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (VALUES.reshape(2, 2, 3), "y must be a vector"),
        (3.0, "y must be a vector"),
        ([], "0 sample"),
        (np.array([1j]), "Complex data not supported"),
    ],
)
def test_refused_responses(y, words):
    with pytest.raises(ValueError, match=words):
        as_responses(y)


def test_matching_columns():
    table = as_table(pd.DataFrame(VALUES, columns=["a", "b", "c"]))
    match_columns(table, None)
    match_columns(table, ("a", "b", "c"))
    match_columns(as_table(VALUES), ("a", "b", "c"))
    with pytest.raises(ValueError, match="Z are the same but in another order"):
        match_columns(table, ("a", "c", "b"), "Z")
    with pytest.raises(ValueError, match="missing: d; unexpected: c"):
        match_columns(table, ("a", "b", "d"))
    with pytest.raises(ValueError, match="missing: none; unexpected: b, c"):
        match_columns(table, ("a",))
    with pytest.raises(ValueError, match=r"X has 3 features, but \w+ is expecting 2 features"):
        match_columns(as_table(VALUES), ("a", "b"))


def test_long_lists_of_names_are_cut():
    table = as_table(pd.DataFrame(np.zeros((1, 30)), columns=[f"c{i}" for i in range(30)]))
    with pytest.raises(ValueError, match="and 22 more"):
        match_columns(table, ("a",))


# Labels


@pytest.mark.parametrize(
    "y",
    [
        np.array([3, 7, 3, 3]),
        np.array([3.0, 7.0, 3.0, 3.0]),
        np.array([3, 7, 3, 3], dtype=np.uint8),
        np.array([3, 7, 3, 3], dtype=object),
        [3, 7, 3, 3],
        np.array([[3], [7], [3], [3]]),
        pd.Series([3, 7, 3, 3]),
        pd.Series([3, 7, 3, 3], dtype="Int64"),
        pd.Series([3, 7, 3, 3]).astype("category"),
        pd.DataFrame({"label": [3, 7, 3, 3]}),
        pl.Series([3, 7, 3, 3]),
        pl.DataFrame({"label": [3, 7, 3, 3]}),
    ],
    ids=lambda y: type(y).__name__,
)
def test_labels_read_as_positions_among_the_classes(y):
    table = as_labels(y, classes=(7, 3))
    assert (table.n_rows, table.n_columns) == (4, 1)
    assert table.values().dtype == np.float64
    np.testing.assert_array_equal(table.values(), [[1.0], [0.0], [1.0], [1.0]])
    np.testing.assert_array_equal(table.block(1, 3), [[0.0], [1.0]])
    assert table.one_dimensional == (np.asarray(y).ndim == 1)


@pytest.mark.parametrize("wrap", [list, np.array, pd.Series, pl.Series])
@pytest.mark.parametrize(
    ("labels", "classes", "positions"),
    [
        (["b", "a", "b"], ("a", "b"), [1.0, 0.0, 1.0]),
        ([True, False, True], (False, True), [1.0, 0.0, 1.0]),
        ([True, False, True], (0, 1), [1.0, 0.0, 1.0]),
        ([2, 0, 1], (0, 1, 2), [2.0, 0.0, 1.0]),
        ([-1, 1, 1], (-1, 1), [0.0, 1.0, 1.0]),
    ],
)
def test_words_booleans_and_numbers(wrap, labels, classes, positions):
    np.testing.assert_array_equal(as_labels(wrap(labels), classes).values().ravel(), positions)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (np.array([1.0, np.nan]), (0, 1)),
        (np.array([1, None], dtype=object), (0, 1)),
        (np.array([1, np.nan], dtype=object), (0, 1)),
        (["b", None], ("a", "b")),
        (pd.Series([1.0, None]), (0, 1)),
        (pd.Series([1, None], dtype="Int64"), (0, 1)),
        (pd.Series([True, None], dtype="boolean"), (False, True)),
        (pd.Series(["b", None]), ("a", "b")),
        (pd.Series(["b", None], dtype="string"), ("a", "b")),
        (np.array(["b", pd.NA], dtype=object), ("a", "b")),
        (["b", float("nan")], ("a", "b")),
        (pd.Series(["b", None]).astype("category"), ("a", "b")),
        (pl.Series([1, None]), (0, 1)),
        (pl.Series([True, None]), (False, True)),
        (pl.Series(["b", None]), ("a", "b")),
    ],
)
def test_missing_labels_read_as_nan(y, classes):
    np.testing.assert_array_equal(as_labels(y, classes).values().ravel(), [1.0, np.nan])


def test_labels_keep_a_name():
    assert as_labels(pd.Series([0, 1], name="sick"), (0, 1)).columns == ("sick",)
    assert as_labels(pl.Series("sick", [0, 1]), (0, 1)).columns == ("sick",)
    assert as_labels(pd.Series([0, 1]), (0, 1)).columns is None
    assert as_labels(pl.Series([0, 1]), (0, 1)).columns is None
    assert as_labels([0, 1], (0, 1)).columns is None


@pytest.mark.parametrize("wrap", [list, pd.Series, pl.Series, pa.array])
def test_a_class_that_no_column_of_text_can_hold(wrap):
    half = "\ud800"
    table = as_labels(wrap(["a", "b", "a"]), classes=(half, "a", "b"))
    np.testing.assert_array_equal(table.values().ravel(), [1.0, 2.0, 1.0])


@pytest.mark.parametrize("first", ["a", 7])
def test_the_type_of_objects_is_not_guessed_from_the_first_of_them(first):
    cells = pd.Series(np.array([first] * 150 + ["a", 7, None], dtype=object))
    table = as_labels(cells, classes=("a", 7))
    np.testing.assert_array_equal(table.block(150, 153).ravel(), [0.0, 1.0, np.nan])
    numbers = as_table(pd.DataFrame({"x": cells.replace("a", "2.5")}))
    np.testing.assert_array_equal(numbers.block(150, 153).ravel(), [2.5, 7.0, np.nan])


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["no", "yes", "perhaps"])])
def test_categories_of_polars(dtype):
    y = pl.Series(["no", None, "yes"], dtype=dtype)
    np.testing.assert_array_equal(as_labels(y, ("no", "yes")).values().ravel(), [0.0, np.nan, 1.0])


def test_labels_of_several_types():
    np.testing.assert_array_equal(as_labels(["a", 0, "a"], ("a", 0)).values().ravel(), [0, 1, 0])


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([0, 1, 31337], (0, 1)),
        ([0.0, 1.0, 0.31337], (0, 1)),
        ([0.0, 1.0, np.inf], (0, 1)),
        (["a", "b", "31337"], ("a", "b")),
        (np.array(["a", None, "31337"], dtype=object), ("a", "b")),
        (["0", "1"], (0, 1)),
        ([0, 1], ("0", "1")),
        (pd.Series(["a", "31337"]).astype("category"), ("a", "b")),
        (pl.Series(["a", "31337"]), ("a", "b")),
    ],
)
def test_other_labels_are_refused_when_read_and_not_quoted(y, classes):
    table = as_labels(y, classes)
    with pytest.raises(ValueError, match="y holds labels that are not among classes") as caught:
        table.values()
    assert "31337" not in str(caught.value)
    assert caught.value.__context__ is None
    assert "31337" not in repr(table)


def test_only_the_block_of_labels_is_looked_at():
    table = as_labels([0, 1, 5], (0, 1))
    np.testing.assert_array_equal(table.block(0, 2), [[0.0], [1.0]])
    with pytest.raises(ValueError, match="not among classes"):
        table.block(2, 3)


@pytest.mark.parametrize(
    ("y", "error", "words"),
    [
        (None, ValueError, "requires y to be passed, but the target y is None"),
        ([], ValueError, "0 sample"),
        (1, ValueError, "vector of labels"),
        (np.zeros((3, 2)), ValueError, r"vector of labels \(n,\), got shape \(3, 2\)"),
        (np.zeros((3, 1, 1)), ValueError, "vector of labels"),
        (sparse.csr_matrix(np.ones((3, 1))), TypeError, "sparse"),
        (np.ma.masked_array([0, 1]), TypeError, "masked"),
        (pl.LazyFrame({"a": [1]}), TypeError, "LazyFrame"),
    ],
)
def test_refused_labels(y, error, words):
    with pytest.raises(error, match=words):
        as_labels(y, (0, 1))


def test_values_out_of_range_are_refused_when_read_and_not_quoted():
    table = within(as_responses([1.0, 31337.0, np.nan]), lambda y: y < 10, "small numbers", "y")
    np.testing.assert_array_equal(table.block(0, 1), [[1.0]])
    np.testing.assert_array_equal(table.block(2, 3), [[np.nan]])
    with pytest.raises(ValueError, match="y must hold small numbers only") as info:
        table.values()
    assert "31337" not in str(info.value)


def test_a_column_beside_another():
    table = beside(as_responses([1, 2]), as_responses([10, 20]), np.sqrt, ("y", "exposure"))
    assert (table.n_rows, table.n_columns, table.columns) == (2, 2, ("y", "exposure"))
    np.testing.assert_allclose(table.block(1, 2), [[2.0, np.sqrt(20.0)]])
    with pytest.raises(ValueError, match="2 and 3 rows; pass one number per row"):
        beside(as_responses([1, 2]), as_responses([1, 2, 3]), np.sqrt, ("y", "exposure"))
