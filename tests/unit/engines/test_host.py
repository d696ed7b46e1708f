"""Summing block by block: the right sum, in little memory, of as many rows as were promised."""

import gc
import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from publicmoments.data.blocks import ROW_MULTIPLE
from publicmoments.engines import host
from publicmoments.engines.dispatch import exact_sum
from publicmoments.engines.host import block_shape
from publicmoments.rows.private_rows import InvalidRows
from publicmoments.rows.recipe import GramRecipe
from tests.helpers import block_rows

MEBIBYTE = 2**20
N_ROWS, N_COLUMNS = 400_000, 20


def response(predictor, responses):
    return responses


def reference(rows, recipe) -> list[list[int]]:
    """Sum over single rows, in Python integers."""
    total = np.zeros((recipe.dimension, recipe.dimension), dtype=object)
    for start in range(rows.n_rows):
        row = block_rows(recipe, rows, start, start + 1, ROW_MULTIPLE)[0].astype(int)
        total += np.outer(row, row).astype(object)
    return total.tolist()


@pytest.mark.parametrize("n_rows", [1, 191, 192, 193, 1000])
@pytest.mark.parametrize("block_rows", [None, 1, 100, 192, 250])
def test_any_number_of_rows_and_blocks(make_rows, make_recipe, n_rows, block_rows):
    rng = np.random.default_rng(n_rows)
    rows = make_rows(rng.normal(size=(n_rows, 2)), rng.normal(size=n_rows), fit_intercept=True)
    recipe = make_recipe(GramRecipe, 3, factor=response, n_rows=n_rows)
    total = exact_sum(rows, recipe, block_rows=block_rows)
    assert total.tolist() == reference(rows, recipe)


def test_more_rows_than_a_default_block(make_rows, make_recipe):
    recipe = make_recipe(GramRecipe, n_rows=200_001)
    assert 2 * block_shape(recipe) < 200_001
    # Rows in turn (3, 0) and (1, 2), in units of which there are 8192 in one: sums in closed form.
    X = np.zeros((200_001, 2))
    X[::2, 0], X[1::2] = 3.0, (1.0, 2.0)
    even, odd = 100_001, 100_000
    gram = exact_sum(make_rows(X, np.zeros(200_001)), recipe) / 8192**2
    assert gram.tolist() == [[9 * even + odd, 2 * odd], [2 * odd, 4 * odd]]


@pytest.mark.parametrize("wanted", [1, 191, 192, 193, 5000, 2**21 - 1, 10**9])
def test_blocks_are_whole_multiples_and_exact(make_recipe, wanted):
    recipe = make_recipe(GramRecipe)
    size = block_shape(recipe, wanted)
    assert size % ROW_MULTIPLE == 0
    assert size * recipe.l2_bound_squared <= 2**53
    assert size >= min(wanted, 10**6)


def test_a_block_of_rows_at_the_bound_is_exact(make_rows, make_recipe):
    n_rows = make_recipe(GramRecipe, 1).max_block_rows
    recipe = make_recipe(GramRecipe, 1, radius=np.inf, n_rows=n_rows)
    column = np.broadcast_to(np.array([[1e6]]), (n_rows, 1))
    total = exact_sum(make_rows(column, column[:, 0]), recipe, block_rows=n_rows)
    # The bound is 2^16 units, less one for rounding.
    assert total.tolist() == [[(2**16 - 1) ** 2 * n_rows]]


@pytest.mark.parametrize("p", [1, 2, 5, 11, 15, 16, 17])
@pytest.mark.parametrize("block_rows", [None, 192 * 73, 192 * 90])
def test_blocks_of_short_rows_are_multiplied_in_parts(make_rows, make_recipe, p, block_rows):
    # Rows are units in turn: whatever the parts, sums are counts.
    n_rows = 50_003
    recipe = make_recipe(GramRecipe, p, n_rows=n_rows)
    X = np.zeros((n_rows, p))
    X[np.arange(n_rows), np.arange(n_rows) % p] = 3.0
    gram = exact_sum(make_rows(X, np.zeros(n_rows)), recipe, block_rows=block_rows)
    counts = [len(range(k, n_rows, p)) for k in range(p)]
    assert gram.tolist() == np.diag([(3 * 8192) ** 2 * count for count in counts]).tolist()


def test_an_error_in_one_thread_ends_the_work_of_the_others(make_rows, make_recipe, monkeypatch):
    begun = []

    def failing(desk, start, stop):
        begun.append(start)
        if start == 0:
            raise InvalidRows("bad")
        time.sleep(0.01)
        return np.zeros((2, ROW_MULTIPLE))

    monkeypatch.setattr(host._Desk, "integers", failing)
    n_rows = 200 * ROW_MULTIPLE
    rows, recipe = (
        make_rows(np.ones((n_rows, 2)), np.ones(n_rows)),
        make_recipe(GramRecipe, n_rows=n_rows),
    )
    with pytest.raises(InvalidRows, match="bad"):
        exact_sum(rows, recipe, block_rows=ROW_MULTIPLE, threads=4)
    assert len(begun) < 20


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
    recipe = make_recipe(GramRecipe, N_COLUMNS + 1, n_rows=N_ROWS)
    few = make_recipe(GramRecipe, N_COLUMNS + 1, n_rows=5)
    rows = make_rows(X, np.ones(N_ROWS, dtype=np.float32), fit_intercept=True)
    exact_sum(make_rows(X[:5], np.ones(5), fit_intercept=True), few)
    gc.collect()
    tracemalloc.start()
    try:
        exact_sum(rows, recipe, threads=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The table in float64 is 61 MiB; two threads hold a few blocks of 1 MiB each.
    assert peak < 24 * MEBIBYTE
