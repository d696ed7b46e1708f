"""Whatever the rows are: bounded integers, each from its own row alone, summed exactly."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from threadpoolctl import threadpool_limits

from publicmoments.data.blocks import ROW_MULTIPLE
from publicmoments.engines import sum_gram
from publicmoments.engines.host import block_shape
from publicmoments.privacy import gram_sensitivity
from tests.helpers import integer_rows

BLOCK = ROW_MULTIPLE
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


@st.composite
def recipes(draw, make_recipe, n_rows: int):
    """Recipes of all sizes, some of them absurd."""
    p, q = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(SEEDS))
    size = 10.0 ** draw(st.sampled_from([0, 0, 0, -9, 7, 150, -150]))
    return make_recipe(
        p,
        q,
        whitener=size * rng.normal(size=(p, p)),
        coef=draw(st.sampled_from([0.0, 1.0, 1e8])) * rng.normal(size=(p, q)),
        scale=draw(st.sampled_from([1e-6, 1.0, 1e9])) * rng.uniform(0.5, 2.0, size=q),
        x_radius=draw(st.floats(1e-3, 1e3)),
        response_bound=draw(st.floats(1e-3, 1e3)),
        weight=draw(st.floats(1e-2, 1e2)),
        n_rows=n_rows,
    )


def table(draw, recipe, n_rows: int) -> np.ndarray:
    """Rows (x, y) side by side, full of hostile numbers."""
    return draw(arrays(float, (n_rows, recipe.dimension), elements=HOSTILE))


def block_of(rows: np.ndarray, recipe) -> np.ndarray:
    """Integer rows of one block."""
    p = recipe.n_design
    return integer_rows(recipe, rows[:, :p], rows[:, p:])


def python_rows(rows: np.ndarray) -> np.ndarray:
    """The same integers as Python integers; fails on NaN and infinity."""
    return np.array([[int(entry) for entry in row] for row in rows], dtype=object)


def neighbourhood(seed: int, recipe) -> np.ndarray:
    """A block of other rows, from ordinary to enormous."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.choice([0, 0, 1, 20, 200, 300, -300], size=(BLOCK, 1))
    rows = sizes * rng.normal(size=(BLOCK, recipe.dimension))
    rows[rng.random(BLOCK) < 0.1, rng.integers(recipe.dimension)] = math.nan
    return rows


@given(st.data())
@settings(max_examples=200)
def test_every_integer_row_is_within_the_bound(make_recipe, data):
    recipe = data.draw(recipes(make_recipe, 6))
    bounded = block_of(table(data.draw, recipe, 6), recipe)
    assert (bounded == np.rint(bounded)).all()
    integers = python_rows(bounded)
    assert max((integers * integers).sum(axis=1)) <= recipe.l2_bound_squared


@given(st.data())
@settings(max_examples=200)
def test_a_row_does_not_depend_on_the_rest_of_its_block(make_recipe, data):
    recipe = data.draw(recipes(make_recipe, 6))
    row = table(data.draw, recipe, 1)[0]
    results = set()
    for seed, position in data.draw(
        st.lists(st.tuples(SEEDS, st.integers(0, BLOCK - 1)), min_size=3, max_size=3)
    ):
        block = neighbourhood(seed, recipe)
        block[position] = row
        results.add(block_of(block, recipe)[position].tobytes())
    padded = np.zeros((BLOCK, recipe.dimension))
    padded[0] = row
    results.add(block_of(padded, recipe)[0].tobytes())
    assert len(results) == 1


def minds_places(transform: np.ndarray, n_columns: int) -> bool:
    """Whether the product of equal columns has columns that differ."""
    columns = np.ones((transform.shape[1], n_columns), dtype=transform.dtype)
    columns *= np.linspace(0.3, 1.7, transform.shape[1], dtype=transform.dtype)[:, None]
    product = transform @ columns
    return bool((product != product[:, :1]).any())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [1, 3, 10, 11, 13, 60, 300])
@pytest.mark.parametrize("n_rows", [BLOCK, 10**6])
def test_wide_rows_do_not_depend_on_their_place(make_recipe, p, n_rows, dtype):
    rng = np.random.default_rng(p)
    whitener = rng.normal(size=(p, p)) / math.sqrt(p)
    recipe = make_recipe(p, whitener=whitener, coef=rng.normal(size=(p, 1)), n_rows=n_rows)
    rows = rng.normal(size=(block_shape(recipe), p + 1))
    order = rng.permutation(len(rows))
    columns = rows[:, :p].T.astype(dtype)
    moved = np.ascontiguousarray(columns[:, order])
    # To the last bit before rounding to integers, which would hide all but the rarest differences.
    with threadpool_limits(limits=1, user_api="blas"):
        transform = recipe.transform.astype(dtype)
        if any(minds_places(transform.astype(t), len(rows)) for t in (dtype, recipe.dtype)):
            pytest.skip("this processor's kernel works on some columns in another order")
        product = transform @ np.ascontiguousarray(columns)
        assert (transform @ moved).tobytes() == product[:, order].tobytes()
        assert block_of(rows[order], recipe).tobytes() == block_of(rows, recipe)[order].tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [1, 3, 10, 11, 13, 60, 300])
@pytest.mark.parametrize("n_rows", [BLOCK, 10**6])
def test_wide_rows_do_not_depend_on_others_whatever_the_kernel(make_recipe, p, n_rows, dtype):
    rng = np.random.default_rng(p)
    whitener = rng.normal(size=(p, p)) / math.sqrt(p)
    recipe = make_recipe(p, whitener=whitener, coef=rng.normal(size=(p, 1)), n_rows=n_rows)
    rows, others = rng.normal(size=(2, block_shape(recipe), p + 1))
    kept = rng.random(len(rows)) < 0.5
    others[kept] = rows[kept]
    with threadpool_limits(limits=1, user_api="blas"):
        transform = recipe.transform.astype(dtype)
        both = [
            transform @ np.ascontiguousarray(table[:, :p].T.astype(dtype))
            for table in (rows, others)
        ]
        assert both[0][:, kept].tobytes() == both[1][:, kept].tobytes()
        blocks = [block_of(table, recipe)[kept] for table in (rows, others)]
    assert blocks[0].tobytes() == blocks[1].tobytes()


@given(st.data())
@settings(max_examples=50)
def test_the_sum_is_the_sum_of_python_integers(make_recipe, make_rows, data):
    n_rows = data.draw(st.integers(1, 12))
    recipe = data.draw(recipes(make_recipe, n_rows))
    rows = table(data.draw, recipe, n_rows)
    p = recipe.n_design
    private = make_rows(rows[:, :p], rows[:, p:], ignore_invalid=True)
    rows[~np.isfinite(rows).all(axis=1)] = 0.0
    padded = np.pad(rows, ((0, BLOCK - n_rows), (0, 0)))
    integers = python_rows(block_of(padded, recipe))
    total = sum_gram(private, recipe, block_rows=BLOCK, threads=1)
    assert total.exact_gram.tolist() == (integers.T @ integers).tolist()


@given(st.data())
@settings(max_examples=50)
def test_replacing_a_row_moves_the_sum_within_the_sensitivity(make_recipe, make_rows, data):
    n_rows = data.draw(st.integers(1, 8))
    recipe = data.draw(recipes(make_recipe, n_rows))
    rows = table(data.draw, recipe, n_rows)
    other = rows.copy()
    other[data.draw(st.integers(0, n_rows - 1))] = table(data.draw, recipe, 1)[0]
    p = recipe.n_design
    first, second = (
        sum_gram(make_rows(t[:, :p], t[:, p:], ignore_invalid=True), recipe, threads=1)
        for t in (rows, other)
    )
    change = first.exact_gram.astype(object) - second.exact_gram.astype(object)
    allowed = Fraction(gram_sensitivity(recipe.l2_bound_squared, recipe.dimension)) ** 2
    assert (change * change).sum() <= allowed


@pytest.mark.parametrize(("p", "q"), [(1, 1), (2, 1), (4, 1), (3, 2)])
def test_worst_neighbours_reach_the_sensitivity(make_recipe, make_rows, worst_neighbours, p, q):
    rng = np.random.default_rng(p)
    radius = 4.0 if p == 1 else 5.0 * math.sqrt(q)
    recipe = make_recipe(
        p,
        q,
        whitener=rng.normal(size=(p, p)),
        coef=rng.normal(size=(p, q)),
        x_radius=radius,
        n_rows=3,
    )
    sums = []
    for x, y in worst_neighbours(recipe):
        others = np.full((2, p + q), 0.25)
        rows = np.vstack([others, np.concatenate([x, y])])
        sums.append(sum_gram(make_rows(rows[:, :p], rows[:, p:]), recipe).exact_gram)
    measured = math.sqrt(int(((sums[0] - sums[1]).astype(object) ** 2).sum()))
    declared = gram_sensitivity(recipe.l2_bound_squared, recipe.dimension)
    assert 0.99 * declared <= measured <= declared


@pytest.fixture(scope="module")
def crowd() -> tuple[np.ndarray, np.ndarray]:
    """More rows than several blocks, integers so that every dtype can hold them."""
    rng = np.random.default_rng(5)
    return rng.integers(-9, 10, size=(1000, 3)), rng.integers(-9, 10, size=1000)


@pytest.fixture(scope="module")
def crowd_recipe(make_recipe):
    rng = np.random.default_rng(6)
    return make_recipe(
        4,
        whitener=rng.normal(size=(4, 4)) / 5,
        coef=rng.normal(size=(4, 1)),
        fit_intercept=True,
        n_rows=1000,
    )


@pytest.fixture(scope="module")
def crowd_sum(crowd, crowd_recipe, make_rows) -> list[list[int]]:
    X, y = crowd
    rows = make_rows(X.astype(float), y.astype(float), fit_intercept=True)
    return sum_gram(rows, crowd_recipe).exact_gram.tolist()


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("block_rows", [1, 192, 384, 500, 100_000])
def test_blocks_and_threads_do_not_change_the_sum(
    crowd, crowd_recipe, crowd_sum, make_rows, block_rows, threads
):
    rows = make_rows(*crowd, fit_intercept=True)
    total = sum_gram(rows, crowd_recipe, block_rows=block_rows, threads=threads)
    assert total.exact_gram.tolist() == crowd_sum


@given(SEEDS)
@settings(max_examples=20)
def test_the_order_of_the_rows_does_not_change_the_sum(
    crowd, crowd_recipe, crowd_sum, make_rows, seed
):
    order = np.random.default_rng(seed).permutation(1000)
    rows = make_rows(crowd[0][order], crowd[1][order], fit_intercept=True)
    total = sum_gram(rows, crowd_recipe, block_rows=192)
    assert total.exact_gram.tolist() == crowd_sum


def strided(X: np.ndarray) -> np.ndarray:
    """The same table as a view with gaps between rows and columns."""
    roomy = np.full((2 * X.shape[0], 3 * X.shape[1]), 1e300)
    roomy[::2, ::3] = X
    return roomy[::2, ::3]


def reversed_view(X: np.ndarray) -> np.ndarray:
    """The same table as a view with negative strides."""
    return X[::-1, ::-1].astype(float)[::-1, ::-1]


def read_only(X: np.ndarray) -> np.ndarray:
    """The same table, not writeable."""
    X = X.astype(float)
    X.flags.writeable = False
    return X


LAYOUTS = {
    "C": lambda X: np.ascontiguousarray(X, dtype=float),
    "F": lambda X: np.asfortranarray(X, dtype=float),
    "strided": strided,
    "reversed": reversed_view,
    "read-only": read_only,
    "float32": lambda X: X.astype(np.float32),
    "int8": lambda X: X.astype(np.int8),
    "int64": lambda X: X.astype(np.int64),
    "big-endian": lambda X: X.astype(">f8"),
    "list": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X.astype(float)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_of_the_table_does_not_change_the_sum(
    crowd, crowd_recipe, crowd_sum, make_rows, layout
):
    rows = make_rows(LAYOUTS[layout](crowd[0]), crowd[1], fit_intercept=True)
    assert sum_gram(rows, crowd_recipe).exact_gram.tolist() == crowd_sum


def test_a_memory_map_does_not_change_the_sum(crowd, crowd_recipe, crowd_sum, make_rows, tmp_path):
    np.save(tmp_path / "rows.npy", crowd[0].astype(float))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    rows = make_rows(mapped, crowd[1], fit_intercept=True)
    assert sum_gram(rows, crowd_recipe).exact_gram.tolist() == crowd_sum
