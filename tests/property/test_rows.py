"""Rows times a factor, whatever they are: bounded, each from its own row, moved no farther."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from threadpoolctl import threadpool_limits

from publicmoments.data.blocks import ROW_MULTIPLE
from publicmoments.engines.dispatch import exact_sum
from publicmoments.engines.host import block_shape
from publicmoments.privacy import GDP, Account
from publicmoments.privacy.unit import ONE_ROW
from publicmoments.rows.recipe import CoarseTotalRecipe, GramRecipe, TotalRecipe
from publicmoments.session.queries import EigenvalueQuery
from tests.helpers import integer_rows, query_of, released

BLOCK = ROW_MULTIPLE
TOTALS = [TotalRecipe, CoarseTotalRecipe]
KINDS = [*TOTALS, GramRecipe]
HOSTILE = st.one_of(
    st.sampled_from(
        [
            *[0.0, -0.0, 5e-324, 1e-310, -1e-160, 1.0, 1e16, 2.0**64, 1e154, -1e300, 1e308],
            *[np.finfo(float).max, math.nan, math.inf, -math.inf],
        ]
    ),
    st.floats(-10.0, 10.0),
    st.floats(),
)
SEEDS = st.integers(0, 2**32 - 1)
# Bounded, linear, exploding, undefined for half of the predictors, enormous.
FACTORS = {
    "one": lambda t, y: np.ones_like(t),
    "response": lambda t, y: y,
    "residual": lambda t, y: y - t,
    "logistic": lambda t, y: np.clip(y, 0.0, 1.0) - 0.5 * (1.0 + np.tanh(t / 2)),
    "exponential": lambda t, y: y - np.exp(t),
    "root": lambda t, y: np.sqrt(t),
    "enormous": lambda t, y: np.full_like(t, -1e300),
}


@st.composite
def recipes(draw, make_recipe, kinds, n_rows: int, dimension_at_most: int = 8):
    """Recipes of all sizes, some of them absurd."""
    k = draw(st.integers(1, 2))
    p = draw(st.integers(1, min(4, dimension_at_most // k)))
    rng = np.random.default_rng(draw(SEEDS))
    size = 10.0 ** draw(st.sampled_from([0, 0, 0, -9, 7, 150, -150]))
    return make_recipe(
        draw(st.sampled_from(kinds)),
        p,
        k,
        whitener=size * rng.normal(size=(p, p)),
        coef=draw(st.sampled_from([0.0, 1.0, 1e8])) * rng.normal(size=(p, k)),
        factor=FACTORS[draw(st.sampled_from(list(FACTORS)))],
        radius=draw(st.one_of(st.just(math.inf), st.floats(1e-3, 1e3))),
        l2_bound=draw(st.sampled_from([1.0, 1e-3, 7.3, 1e100, 1e-100])),
        n_rows=n_rows,
        whole_predictor=draw(st.booleans()),
    )


def width(recipe) -> int:
    """Columns of a row (x, y): one response for each predictor."""
    return sum(recipe.coef.shape)


def table(draw, recipe, n_rows: int) -> np.ndarray:
    """Rows (x, y) side by side, full of hostile numbers."""
    return draw(arrays(float, (n_rows, width(recipe)), elements=HOSTILE))


def block_of(rows: np.ndarray, recipe) -> np.ndarray:
    """Integer rows of one block."""
    p = len(recipe.coef)
    return integer_rows(recipe, rows[:, :p], rows[:, p:])


def summed(rows: np.ndarray, recipe, make_rows) -> np.ndarray:
    """Exact sum over a table, as Python integers."""
    p = len(recipe.coef)
    private = make_rows(rows[:, :p], rows[:, p:], ignore_invalid=True)
    return exact_sum(private, recipe, block_rows=BLOCK, threads=1).astype(object)


def squared_sensitivity(recipe) -> Fraction:
    """Square of the largest change that one row may make."""
    bound = recipe.l2_bound_squared
    if not recipe.products:
        return Fraction(4 * bound)
    return Fraction((2 if recipe.dimension > 1 else 1) * bound**2)


def neighbourhood(seed: int, recipe) -> np.ndarray:
    """A block of other rows, from ordinary to enormous."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.choice([0, 0, 1, 20, 200, 300, -300], size=(BLOCK, 1))
    rows = sizes * rng.normal(size=(BLOCK, width(recipe)))
    rows[rng.random(BLOCK) < 0.1, rng.integers(width(recipe))] = math.nan
    return rows


@given(st.data())
@settings(max_examples=200)
def test_every_integer_row_is_within_the_bound(make_recipe, data):
    recipe = data.draw(recipes(make_recipe, KINDS, 6))
    bounded = block_of(table(data.draw, recipe, 6), recipe)
    assert (bounded == np.rint(bounded)).all()
    assert bounded.shape == (6, recipe.dimension)
    squared = [sum(int(entry) ** 2 for entry in row) for row in bounded]
    assert max(squared) <= recipe.l2_bound_squared


@given(st.data())
@settings(max_examples=150)
def test_a_row_does_not_depend_on_the_rest_of_its_block(make_recipe, data):
    recipe = data.draw(recipes(make_recipe, KINDS, 6))
    row = table(data.draw, recipe, 1)[0]
    padded = np.zeros((BLOCK, width(recipe)))
    padded[0] = row
    results = {block_of(padded, recipe)[0].tobytes()}
    for seed, position in data.draw(
        st.lists(st.tuples(SEEDS, st.integers(0, BLOCK - 1)), min_size=3, max_size=3)
    ):
        block = neighbourhood(seed, recipe)
        block[position] = row
        results.add(block_of(block, recipe)[position].tobytes())
    assert len(results) == 1


def minds_places(transform: np.ndarray, n_columns: int) -> bool:
    """Whether the product of equal columns has columns that differ."""
    columns = np.ones((transform.shape[1], n_columns), dtype=transform.dtype)
    columns *= np.linspace(0.3, 1.7, transform.shape[1], dtype=transform.dtype)[:, None]
    product = transform @ columns
    return bool((product != product[:, :1]).any())


def wide(make_recipe, kind, p: int, k: int, n_rows: int) -> tuple[Any, np.ndarray]:
    """A recipe for long rows, and a block of them."""
    rng = np.random.default_rng(p)
    recipe = make_recipe(
        kind,
        p,
        k,
        whitener=rng.normal(size=(p, p)) / math.sqrt(p),
        coef=rng.normal(size=(p, k)),
        factor=FACTORS["residual"],
        radius=2.0,
        n_rows=n_rows,
    )
    return recipe, rng.normal(size=(block_shape(recipe), p + k))


WIDE = [
    pytest.mark.parametrize("p", [1, 3, 10, 11, 13, 60, 300]),
    pytest.mark.parametrize("k", [1, 2]),
    pytest.mark.parametrize("kind", KINDS),
    pytest.mark.parametrize("n_rows", [BLOCK, 10**6]),
]


def of_wide_rows(test):
    """Run a test for rows of all lengths, in all kinds of floats."""
    for mark in WIDE:
        test = mark(test)
    return test


@of_wide_rows
def test_wide_rows_do_not_depend_on_their_place(make_recipe, p, k, kind, n_rows):
    recipe, rows = wide(make_recipe, kind, p, k, n_rows)
    order = np.random.default_rng(1).permutation(len(rows))
    columns = rows[:, :p].T.astype(recipe.dtype)
    moved = np.ascontiguousarray(columns[:, order])
    # To the last bit before rounding to integers, which would hide all but the rarest differences.
    with threadpool_limits(limits=1, user_api="blas"):
        if minds_places(recipe.mixing, len(rows)):
            pytest.skip("this processor's kernel works on some columns in another order")
        product = recipe.mixing @ np.ascontiguousarray(columns)
        assert (recipe.mixing @ moved).tobytes() == product[:, order].tobytes()
        assert block_of(rows[order], recipe).tobytes() == block_of(rows, recipe)[order].tobytes()


@of_wide_rows
def test_wide_rows_do_not_depend_on_others_whatever_the_kernel(make_recipe, p, k, kind, n_rows):
    recipe, rows = wide(make_recipe, kind, p, k, n_rows)
    rng = np.random.default_rng(2)
    others, kept = rng.normal(size=rows.shape), rng.random(len(rows)) < 0.5
    others[kept] = rows[kept]
    with threadpool_limits(limits=1, user_api="blas"):
        blocks = [block_of(table, recipe)[kept] for table in (rows, others)]
    assert blocks[0].tobytes() == blocks[1].tobytes()


@given(st.data())
@settings(max_examples=50)
def test_the_total_is_the_sum_of_python_integers(make_recipe, make_rows, data):
    n_rows = data.draw(st.integers(1, 12))
    recipe = data.draw(recipes(make_recipe, TOTALS, n_rows))
    rows = table(data.draw, recipe, n_rows)
    total = summed(rows, recipe, make_rows)
    rows[~np.isfinite(rows).all(axis=1)] = 0.0
    padded = np.pad(rows, ((0, BLOCK - n_rows), (0, 0)))
    integers = block_of(padded, recipe)[:n_rows]
    assert total.tolist() == [sum(int(entry) for entry in column) for column in integers.T]


@given(st.data())
@settings(max_examples=80)
def test_replacing_a_row_moves_the_sum_within_the_sensitivity(make_recipe, make_rows, data):
    n_rows = data.draw(st.integers(1, 8))
    recipe = data.draw(recipes(make_recipe, KINDS, n_rows))
    rows = table(data.draw, recipe, n_rows)
    other = rows.copy()
    other[data.draw(st.integers(0, n_rows - 1))] = table(data.draw, recipe, 1)[0]
    change = summed(rows, recipe, make_rows) - summed(other, recipe, make_rows)
    assert (change * change).sum() <= squared_sensitivity(recipe)
    assert query_of(recipe).squared_change(ONE_ROW) == squared_sensitivity(recipe)
    if not recipe.products:
        mu = data.draw(st.floats(1e-3, 1e2))
        law = query_of(recipe).law(mu, ONE_ROW)
        cost = Fraction((change * change).sum()) / (2 * Fraction(law.noise_sd) ** 2)
        assert cost <= Fraction(mu) ** 2 / 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("p", "k"), [(1, 1), (1, 2), (2, 1), (4, 1), (3, 2)])
@pytest.mark.parametrize("radius", [2.0, math.inf])
def test_worst_neighbours_reach_the_sensitivity(make_recipe, make_rows, kind, p, k, radius):
    rng = np.random.default_rng(p)
    recipe = make_recipe(
        kind,
        p,
        k,
        whitener=rng.normal(size=(p, p)),
        coef=rng.normal(size=(p, k)),
        factor=FACTORS["response"],
        radius=radius,
        l2_bound=3.0,
        n_rows=3,
    )
    # Both far beyond the bound: opposite for totals, at right angles for products.
    z, y = np.zeros((2, p)), np.zeros((2, k))
    z[:, 0], y[:, 0] = 1e3, [1e3, -1e3]
    if kind is GramRecipe and p > 1:
        z[1] = np.roll(z[0], 1)
    elif kind is GramRecipe:
        y[1] = np.roll(y[0], 1) if k > 1 else 0.0
    X = z @ np.linalg.inv(recipe.whitener)
    others = np.full((2, p + k), 0.25)
    tables = (np.vstack([others, np.append(X[i], y[i])]) for i in range(2))
    first, second = (summed(rows, recipe, make_rows) for rows in tables)
    moved = ((first - second) ** 2).sum()
    declared = squared_sensitivity(recipe)
    assert Fraction(99, 100) ** 2 * declared <= moved <= declared


def smallest_eigenvalue(rows: np.ndarray, recipe, make_rows, silence) -> tuple[int, Fraction]:
    """The integer at the door, and the change that its noise is made for."""
    p = len(recipe.coef)
    private = make_rows(rows[:, :p], rows[:, p:], ignore_invalid=True)
    query = EigenvalueQuery("an eigenvalue", recipe)
    answer = released(query, private, GDP(1.0), Account(GDP(1.0)), silence)
    in_grid_units = answer.values[0] * recipe.n_rows / recipe.grid_unit**2
    assert in_grid_units == pytest.approx(round(in_grid_units), abs=1e-3)
    return round(in_grid_units), Fraction(answer.law.noise_sd)


@given(st.data())
@settings(max_examples=80)
def test_replacing_a_row_moves_the_eigenvalue_within_its_noise(
    make_recipe, make_rows, silence, data
):
    n_rows = data.draw(st.integers(1, 8))
    recipe = data.draw(recipes(make_recipe, [GramRecipe], n_rows, dimension_at_most=3))
    rows = table(data.draw, recipe, n_rows)
    other = rows.copy()
    other[data.draw(st.integers(0, n_rows - 1))] = table(data.draw, recipe, 1)[0]
    first, declared = smallest_eigenvalue(rows, recipe, make_rows, silence)
    second, _ = smallest_eigenvalue(other, recipe, make_rows, silence)
    assert abs(first - second) <= declared
    assert recipe.l2_bound_squared < declared < recipe.l2_bound_squared * (1 + 1e-6) + 4


@pytest.mark.parametrize("p", [1, 2, 3])
def test_worst_neighbours_move_the_eigenvalue_as_far_as_declared(
    make_recipe, make_rows, silence, p
):
    # Full-length rows along the axes; without the last of them the matrix is singular.
    recipe = make_recipe(GramRecipe, p, radius=math.inf, n_rows=p)
    rows = np.column_stack([1e3 * np.eye(p), np.zeros(p)])
    other = rows.copy()
    other[-1] = 0.0
    first, declared = smallest_eigenvalue(rows, recipe, make_rows, silence)
    second, _ = smallest_eigenvalue(other, recipe, make_rows, silence)
    assert Fraction(99, 100) * declared <= first - second <= declared


@pytest.fixture(scope="module", params=KINDS)
def crowd(request, make_recipe, make_rows):
    """More rows than several blocks, a recipe, and their sum."""
    rng = np.random.default_rng(5)
    X, y = rng.integers(-9, 10, size=(1000, 3)).astype(float), rng.integers(-9, 10, size=1000)
    recipe = make_recipe(
        request.param,
        4,
        whitener=rng.normal(size=(4, 4)) / 5,
        coef=rng.normal(size=(4, 1)),
        factor=FACTORS["residual"],
        n_rows=1000,
    )
    return X, y, recipe, exact_sum(make_rows(X, y, fit_intercept=True), recipe).tolist()


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("block_rows", [1, 192, 384, 500, 100_000])
def test_blocks_and_threads_do_not_change_the_sum(crowd, make_rows, block_rows, threads):
    X, y, recipe, wanted = crowd
    rows = make_rows(X, y, fit_intercept=True)
    assert exact_sum(rows, recipe, block_rows=block_rows, threads=threads).tolist() == wanted


@given(SEEDS)
@settings(max_examples=20)
def test_the_order_of_the_rows_does_not_change_the_sum(crowd, make_rows, seed):
    X, y, recipe, wanted = crowd
    order = np.random.default_rng(seed).permutation(1000)
    rows = make_rows(X[order], y[order], fit_intercept=True)
    assert exact_sum(rows, recipe, block_rows=192).tolist() == wanted


def test_a_memory_map_does_not_change_the_sum(crowd, make_rows, tmp_path):
    X, y, recipe, wanted = crowd
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert exact_sum(make_rows(mapped, y, fit_intercept=True), recipe).tolist() == wanted
