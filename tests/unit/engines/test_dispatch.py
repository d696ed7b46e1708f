"""Sums of rows: the exact integers, whatever the blocks and threads."""

import math

import numpy as np
import pytest

from publicmoments.engines.dispatch import exact_sum
from publicmoments.engines.host import KeptBlock
from publicmoments.rows.private_rows import InvalidRows
from publicmoments.rows.recipe import CoarseTotalRecipe, GramRecipe, TotalRecipe
from tests.helpers import block_rows

UNIT = 2**23
"""Grid units in one, for totals with a bound of 8."""


def residual(predictor, responses):
    return responses - predictor


def reference(rows, recipe) -> list[int]:
    """Sum over rows that are each alone in a block, in Python integers."""
    total = [0] * recipe.dimension
    size = 1 if recipe.dtype == np.float64 else 192
    for start in range(rows.n_rows):
        row = block_rows(recipe, rows, start, start + 1, size)[0]
        total = [so_far + int(entry) for so_far, entry in zip(total, row, strict=True)]
    return total


@pytest.fixture
def crowd(make_rows, make_recipe):
    """A table of several blocks, and a recipe with all its parts in use."""

    def make(n_rows: int, k: int = 1, kind=TotalRecipe):
        rng = np.random.default_rng(n_rows)
        rows = make_rows(
            rng.normal(size=(n_rows, 2)), rng.normal(size=(n_rows, k)), fit_intercept=True
        )
        recipe = make_recipe(
            kind,
            p=3,
            k=k,
            whitener=rng.normal(size=(3, 3)),
            coef=rng.normal(size=(3, k)),
            factor=residual,
            radius=2.0,
            l2_bound=3.0,
            n_rows=n_rows,
        )
        return rows, recipe

    return make


def test_hand_computed_sum(make_rows, make_recipe):
    # Rows (1.5, 2) and (6, 8), the second shortened to (3, 4), times 2 and -1.
    rows = make_rows([[1.5, 2.0], [6.0, 8.0]], [2.0, -1.0])
    recipe = make_recipe(TotalRecipe, factor=residual, radius=5.0, n_rows=2)
    total = exact_sum(rows, recipe)
    assert total.dtype == np.int64
    assert total.tolist() == [3 * UNIT - 3 * UNIT, 4 * UNIT - 4 * UNIT]
    gram_recipe = make_recipe(GramRecipe, factor=residual, radius=5.0, n_rows=2)
    gram = exact_sum(rows, gram_recipe) / 8192**2
    assert gram.tolist() == [[18.0, 24.0], [24.0, 32.0]]


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("n_rows", [1, 7, 192, 600])
@pytest.mark.parametrize("kind", [TotalRecipe, CoarseTotalRecipe])
def test_the_sum_is_that_of_python_integers(crowd, n_rows, k, kind):
    rows, recipe = crowd(n_rows, k, kind)
    assert recipe.dtype == (np.float64 if kind is TotalRecipe else np.float32)
    assert exact_sum(rows, recipe, block_rows=192).tolist() == reference(rows, recipe)


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("block_rows", [1, 192, 384, 500, 100_000, None])
@pytest.mark.parametrize("kind", [TotalRecipe, CoarseTotalRecipe])
def test_blocks_and_threads_do_not_change_the_sum(crowd, block_rows, threads, kind):
    rows, recipe = crowd(1000, kind=kind)
    total = exact_sum(rows, recipe, block_rows=block_rows, threads=threads)
    assert total.tolist() == reference(rows, recipe)


def test_more_rows_than_a_default_block_at_the_bound(make_rows, make_recipe):
    # All rows come to the bound of 2^26 units, less one for rounding; no sum of them is rounded.
    n_rows = 300_001
    column = np.broadcast_to(np.array([[1e6]]), (n_rows, 1))
    recipe = make_recipe(TotalRecipe, p=1, radius=math.inf, n_rows=n_rows)
    total = exact_sum(make_rows(column, column[:, 0]), recipe)
    assert total.tolist() == [n_rows * (2**26 - 1)]


@pytest.mark.parametrize("n_rows", [9, 11])
@pytest.mark.parametrize("kind", [TotalRecipe, GramRecipe])
def test_a_recipe_for_other_rows_is_refused(make_rows, make_recipe, kind, n_rows):
    rows = make_rows(np.ones((10, 2)), np.ones(10))
    with pytest.raises(ValueError, match=f"n_rows={n_rows} in the recipe and 10 rows"):
        exact_sum(rows, make_recipe(kind, n_rows=n_rows))


def test_invalid_rows_are_refused_or_count_as_zeros(make_rows, make_recipe):
    X, y = np.ones((600, 2)), np.ones(600)
    X[599, 1] = np.nan
    recipe = make_recipe(TotalRecipe, factor=residual, n_rows=600)
    with pytest.raises(InvalidRows, match=r"X \(column 1\)"):
        exact_sum(make_rows(X, y), recipe, block_rows=192)
    ignoring = exact_sum(make_rows(X, y, ignore_invalid=True), recipe, block_rows=192)
    assert ignoring.tolist() == [599 * UNIT, 599 * UNIT]


@pytest.fixture
def sums(make_rows, make_recipe):
    """Sums over a table that fits in one block, whose whitened rows may be kept between sums."""
    rng = np.random.default_rng(9)
    rows, kept = make_rows(rng.normal(size=(50, 2)), rng.normal(size=50)), KeptBlock()

    def both(**changes) -> tuple[list[int], list[int]]:
        """Sum with what was kept of earlier sums, and without."""
        recipe = make_recipe(TotalRecipe, **({"factor": residual, "n_rows": 50} | changes))
        used, fresh = (exact_sum(rows, recipe, kept=one) for one in (kept, None))
        return used.tolist(), fresh.tolist()

    return both


def test_what_is_kept_between_sums_does_not_change_them(sums):
    whitener, other = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[0.5, 0.0], [0.1, 3.0]])
    steps = [
        {"whitener": whitener},
        {"whitener": whitener},
        {"whitener": whitener, "coef": np.array([[1.0], [-2.0]])},
        {"whitener": whitener, "factor": lambda predictor, responses: responses**2},
        {"whitener": whitener, "coef": np.ones((2, 1)), "whole_predictor": True},
        {"whitener": whitener, "radius": 0.5},
        {"whitener": whitener, "radius": math.inf},
        {"whitener": other},
        {"whitener": whitener, "l2_bound": 0.3},
    ]
    results = [sums(**step) for step in steps]
    assert all(used == fresh for used, fresh in results)
    # All steps but the second, which repeats the first, give a sum of their own.
    assert len({tuple(used) for used, _ in results}) == len(steps) - 1


def test_what_is_kept_serves_sums_and_products(make_rows, make_recipe):
    whitener, X = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[1.0, 0.5], [0.25, -1.0]])
    rows, kept = make_rows(X, np.ones(2)), KeptBlock()
    for kind in (TotalRecipe, GramRecipe, CoarseTotalRecipe, TotalRecipe):
        recipe = make_recipe(kind, whitener=whitener, factor=residual, n_rows=2)
        for size in (None, 384):
            first, second = (
                exact_sum(rows, recipe, block_rows=size, kept=one) for one in (kept, None)
            )
            assert first.tolist() == second.tolist()


def test_refused_rows_are_refused_again(make_rows, make_recipe):
    rows = make_rows([[1.0, np.inf]], [1.0])
    recipe, kept = make_recipe(TotalRecipe, n_rows=1), KeptBlock()
    for _ in range(2):
        with pytest.raises(InvalidRows):
            exact_sum(rows, recipe, kept=kept)
