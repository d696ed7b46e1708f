"""Summing block by block: the right sum, in little memory, of as many rows as were promised."""

import gc
import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from publicmoments.data.blocks import ROW_MULTIPLE
from publicmoments.engines import ExactGram, numpy_engine, sum_gram
from publicmoments.engines.host import block_shape
from publicmoments.rows import InvalidRows
from tests.helpers import block_rows

MEBIBYTE = 2**20
N_ROWS, N_COLUMNS = 400_000, 20


def reference(rows, recipe) -> list[list[int]]:
    """Sum over single rows, in Python integers."""
    total = np.zeros((recipe.dimension, recipe.dimension), dtype=object)
    for start in range(rows.n_rows):
        row = block_rows(recipe, rows, start, start + 1, 1)[0].astype(int)
        total += np.outer(row, row).astype(object)
    return total.tolist()


def test_hand_computed_sum(make_rows, make_recipe):
    # R = 5: the rows are (19661, 26214, 13107) and (0, 39322, -52429), see the tests of the rows.
    rows = make_rows([[1.5, 2.0], [0.0, 3.0]], [1.0, -9.0])
    total = sum_gram(rows, make_recipe(n_rows=2))
    assert total.n_rows == 2
    assert total.exact_gram.dtype == np.int64
    assert total.exact_gram.tolist() == [
        [19661**2, 19661 * 26214, 19661 * 13107],
        [19661 * 26214, 26214**2 + 39322**2, 26214 * 13107 - 39322 * 52429],
        [19661 * 13107, 26214 * 13107 - 39322 * 52429, 13107**2 + 52429**2],
    ]


@pytest.mark.parametrize("n_rows", [1, 191, 192, 193, 1000])
@pytest.mark.parametrize("block_rows", [None, 1, 100, 192, 250])
def test_any_number_of_rows_and_blocks(make_rows, make_recipe, n_rows, block_rows):
    rng = np.random.default_rng(n_rows)
    rows = make_rows(rng.normal(size=(n_rows, 2)), rng.normal(size=n_rows), fit_intercept=True)
    recipe = make_recipe(3, fit_intercept=True, n_rows=n_rows)
    total = sum_gram(rows, recipe, block_rows=block_rows)
    assert total.exact_gram.tolist() == reference(rows, recipe)


def test_more_rows_than_a_default_block(make_rows, make_recipe):
    recipe = make_recipe(n_rows=100_001)
    assert 2 * block_shape(recipe) < 100_001
    # Rows in turn (3, 0 | 0) and (0, 3 | 4): sums known in closed form.
    X, y = np.zeros((100_001, 2)), np.zeros(100_001)
    X[::2, 0], X[1::2, 1], y[1::2] = 3.0, 3.0, 4.0
    total = sum_gram(make_rows(X, y), recipe)
    even, odd = 50_001, 50_000
    assert total.exact_gram.tolist() == [
        [even * 39322**2, 0, 0],
        [0, odd * 39322**2, odd * 39322 * 52429],
        [0, odd * 39322 * 52429, odd * 52429**2],
    ]


@pytest.mark.parametrize("wanted", [1, 191, 192, 193, 5000, 2**21 - 1, 10**9])
def test_blocks_are_whole_multiples_and_exact(make_recipe, wanted):
    recipe = make_recipe()
    size = block_shape(recipe, wanted)
    assert size % ROW_MULTIPLE == 0
    assert size * recipe.l2_bound_squared <= 2**53
    assert size >= min(wanted, 10**6)


def test_a_block_of_rows_at_the_bound_is_exact(make_rows, make_recipe):
    recipe = make_recipe(p=1, x_radius=4.0, n_rows=1)
    n_rows = recipe.max_block_rows
    recipe = make_recipe(p=1, x_radius=4.0, n_rows=n_rows)
    column = np.broadcast_to(np.array([[1e6]]), (n_rows, 1))
    total = sum_gram(make_rows(column, column[:, 0]), recipe, block_rows=n_rows)
    assert total.exact_gram.tolist() == [[46341**2 * n_rows] * 2] * 2


@pytest.mark.parametrize("p", [1, 2, 5, 11, 15, 16, 17])
@pytest.mark.parametrize("block_rows", [None, 192 * 73, 192 * 90])
def test_blocks_of_short_rows_are_multiplied_in_parts(make_rows, make_recipe, p, block_rows):
    # Rows are units in turn, with a response of the same size: whatever the parts, sums are counts.
    n_rows = 50_003
    recipe = make_recipe(p=p, n_rows=n_rows, x_radius=3.0)
    X = np.zeros((n_rows, p))
    X[np.arange(n_rows), np.arange(n_rows) % p] = 3.0
    gram = sum_gram(make_rows(X, np.full(n_rows, 4.0)), recipe, block_rows=block_rows).exact_gram
    counts = [len(range(k, n_rows, p)) for k in range(p)]
    x, y = 39322, 52429
    expected = np.diag([x * x * count for count in counts] + [y * y * n_rows])
    expected[p, :p] = expected[:p, p] = [x * y * count for count in counts]
    assert gram.tolist() == expected.tolist()


def test_an_error_in_one_thread_ends_the_work_of_the_others(make_rows, make_recipe, monkeypatch):
    begun = []

    def failing(desk, start, stop):
        begun.append(start)
        if start == 0:
            raise InvalidRows("bad")
        time.sleep(0.01)
        return np.zeros((3, ROW_MULTIPLE))

    monkeypatch.setattr(numpy_engine._Desk, "integers", failing)
    n_rows = 200 * ROW_MULTIPLE
    rows, recipe = make_rows(np.ones((n_rows, 2)), np.ones(n_rows)), make_recipe(n_rows=n_rows)
    with pytest.raises(InvalidRows, match="bad"):
        sum_gram(rows, recipe, block_rows=ROW_MULTIPLE, threads=4)
    assert len(begun) < 20


@pytest.mark.parametrize("n_rows", [9, 11])
def test_a_recipe_for_other_rows_is_refused(make_rows, make_recipe, n_rows):
    with pytest.raises(ValueError, match=f"n_rows={n_rows} in the recipe and 10 rows"):
        sum_gram(make_rows(np.ones((10, 2)), np.ones(10)), make_recipe(n_rows=n_rows))


def test_invalid_rows_are_refused_or_count_as_zeros(make_rows, make_recipe):
    X, y = np.ones((600, 2)), np.ones(600)
    X[599, 1] = np.nan
    recipe = make_recipe(n_rows=600)
    with pytest.raises(InvalidRows, match=r"X \(column 1\)"):
        sum_gram(make_rows(X, y), recipe, block_rows=192)
    ignoring = sum_gram(make_rows(X, y, ignore_invalid=True), recipe, block_rows=192)
    without = sum_gram(make_rows(X[:599], y[:599]), make_recipe(n_rows=599))
    assert ignoring.exact_gram.tolist() == without.exact_gram.tolist()


def test_representation_hides_the_sum():
    secret = np.array([[123_456_789]])
    assert repr(ExactGram(secret, 7)) == "ExactGram(n_rows=7)"


def frame(X: np.ndarray) -> pd.DataFrame:
    """A frame of many blocks, as made by assembling columns."""
    return pd.DataFrame({f"x{j}": X[:, j].copy() for j in range(X.shape[1])})


@pytest.mark.parametrize(
    "make_input",
    [lambda X: X, lambda X: X.astype(np.float32), lambda X: X.astype(np.int16), frame],
    ids=["float64", "float32", "int16", "pandas"],
)
def test_memory_beyond_the_input_is_small(make_rows, make_recipe, make_input):
    X = np.random.default_rng(0).normal(size=(N_ROWS, N_COLUMNS))
    X = make_input(X)
    recipe = make_recipe(N_COLUMNS + 1, fit_intercept=True, n_rows=N_ROWS)
    rows = make_rows(X, np.ones(N_ROWS, dtype=np.float32), fit_intercept=True)
    sum_gram(make_rows(X[:5], np.ones(5), fit_intercept=True), make_recipe(21, n_rows=5))
    gc.collect()
    tracemalloc.start()
    try:
        sum_gram(rows, recipe, threads=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The table in float64 is 61 MiB; two threads hold a few blocks of 1 MiB each.
    assert peak < 24 * MEBIBYTE
