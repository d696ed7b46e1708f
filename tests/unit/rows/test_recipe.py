"""Rows times a factor: hand-computed cases, hostile numbers, and what a recipe refuses."""

import math

import numpy as np
import pytest

from publicmoments.privacy.laws import ENTRY_LIMIT
from publicmoments.rows import grid
from publicmoments.rows.grid import rounding_reach, scaled_down
from publicmoments.rows.kernel import multiplied_block, whitened_block
from publicmoments.rows.recipe import CoarseTotalRecipe, GramRecipe, TotalRecipe
from tests.helpers import integer_rows

KINDS = [TotalRecipe, CoarseTotalRecipe, GramRecipe]
BITS = {TotalRecipe: 26, CoarseTotalRecipe: 20, GramRecipe: 16}
LARGEST = np.finfo(float).max
UNIT = 2**23
"""Grid units in one, for totals with a bound of 8."""


def integers(X, Y, recipe) -> list[list[int]]:
    """Integer rows of one block as Python integers, leaving the input alone."""
    bounded = integer_rows(recipe, X, np.array(Y, dtype=float))
    assert not np.isnan(bounded).any()
    return [[int(entry) for entry in row] for row in bounded]


def residual(predictor, responses):
    return responses - predictor


def response(predictor, responses):
    return responses


def own_predictor(predictor, responses):
    return predictor


def test_hand_computed_rows(make_recipe):
    rows = integers(
        [[1.5, 2.0], [6.0, 8.0], [-3.0, 4.0], [0.0, 0.0]],
        [[2.0], [1.0], [-1.5], [9.0]],
        make_recipe(TotalRecipe, factor=response, radius=5.0),
    )
    assert rows == [
        [3 * UNIT, 4 * UNIT],  # as it is
        [3 * UNIT, 4 * UNIT],  # norm 10: z times 0.5
        [9 * UNIT // 2, -6 * UNIT],  # norm 7.5 after multiplication: as it is
        [0, 0],
    ]


def test_hand_computed_gram_rows(make_recipe):
    # A bound of 8 is 2^16 grid units: one is 8192 of them.
    rows = integers(
        [[1.5, 2.0], [6.0, 8.0]],
        [[2.0], [0.3]],
        make_recipe(GramRecipe, factor=response, radius=5.0),
    )
    assert rows == [[3 * 8192, 4 * 8192], [round(0.9 * 8192), round(1.2 * 8192)]]


@pytest.mark.parametrize(
    ("kind", "most"),
    [
        (TotalRecipe, 2**26),
        # In single precision the square of a length is taken to be off by (2 + 8) x 2^-23, twice.
        (CoarseTotalRecipe, 2**20 * (1 - 10 * 2**-23)),
        (GramRecipe, 2**16 * (1 - 10 * 2**-23)),
    ],
)
@pytest.mark.parametrize("size", [1.7, 3.0, -1e6, 1e150, -1e300, LARGEST])
def test_long_products_come_to_the_bound_less_what_rounding_adds(make_recipe, kind, most, size):
    recipe = make_recipe(kind, factor=response, radius=math.inf)
    sign = math.copysign(1.0, size)
    most = most - math.sqrt(2) / 2 - 1e-6
    assert integers([[3.0, 4.0]], [[size]], recipe) == [
        [round(0.6 * sign * most), round(0.8 * sign * most)]
    ]


def test_an_infinite_radius_shortens_nothing(make_recipe):
    recipe = make_recipe(TotalRecipe, radius=math.inf)
    assert integers([[3.0, 7.0]], [[0.0]], recipe) == [[3 * UNIT, 7 * UNIT]]
    bounded = make_recipe(TotalRecipe, radius=1.0)
    assert integers([[0.0, 7.0]], [[0.0]], bounded) == [[0, UNIT]]


def test_rows_are_whitened_from_the_right(make_recipe):
    # (1, 2) W = (1, 4); the predictor is 0.5 + 1 and the residual 2 - 1.5 = 0.5.
    recipe = make_recipe(
        TotalRecipe,
        whitener=np.array([[1.0, 2.0], [0.0, 1.0]]),
        coef=np.array([[0.5], [0.25]]),
        factor=residual,
        radius=math.inf,
    )
    assert integers([[1.0, 2.0]], [[2.0]], recipe) == [[UNIT // 2, 2 * UNIT]]


@pytest.mark.parametrize(("whole", "predictor"), [(False, 0.5), (True, 1.0)])
def test_the_predictor_of_the_shortened_row_or_of_the_whole_one(make_recipe, whole, predictor):
    # z = (6, 8) is shortened to (3, 4); its predictor is 1 before and 0.5 after.
    recipe = make_recipe(
        TotalRecipe,
        coef=np.array([[1 / 2], [-1 / 4]]),
        factor=own_predictor,
        radius=5.0,
        whole_predictor=whole,
    )
    assert integers([[6.0, 8.0]], [[0.0]], recipe) == [
        [round(3 * predictor * UNIT), round(4 * predictor * UNIT)]
    ]


@pytest.mark.parametrize("whole", [False, True])
def test_short_rows_have_one_predictor(make_recipe, whole):
    recipe = make_recipe(
        TotalRecipe, coef=np.array([[1.0], [2.0]]), factor=own_predictor, whole_predictor=whole
    )
    assert integers([[0.5, 0.25]], [[0.0]], recipe) == [[UNIT // 2, UNIT // 4]]


def test_two_predictors_give_an_outer_product(make_recipe):
    # Factors 3 - 2 = 1 and -1 - (-0.5) = -0.5; entries in the order z1 f1, z1 f2, z2 f1, z2 f2.
    recipe = make_recipe(
        TotalRecipe, k=2, coef=np.array([[1.0, -0.5], [0.5, 0.0]]), factor=residual, radius=5.0
    )
    assert integers([[1.0, 2.0]], [[3.0, -1.0]], recipe) == [
        [UNIT, -UNIT // 2, 2 * UNIT, -UNIT],
    ]


def test_two_factors_share_one_bound(make_recipe):
    # ||z|| = 5 and ||f|| = 13: the product of norms 65 comes to 8, direction kept.
    recipe = make_recipe(TotalRecipe, k=2, factor=response, radius=5.0)
    most = 2**26 - rounding_reach(4)
    expected = [round(z * f / 65 * most) for z in (3, 4) for f in (5, -12)]
    assert integers([[3.0, 4.0]], [[5.0, -12.0]], recipe) == [expected]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_factor_that_is_not_a_number_gives_a_zero_row(make_recipe, kind, k, bad):
    def factor(predictor, responses):
        factors = np.ones_like(predictor)
        factors[responses[:, 0] > 0, 0] = bad
        return factors

    recipe = make_recipe(kind, k=k, factor=factor)
    rows = integers([[1.0, 2.0]] * 3, [[0.0] * k, [1.0] * k, [0.0] * k], recipe)
    one = round(1 / recipe.grid_unit)
    assert rows == [[one] * k + [2 * one] * k, [0] * 2 * k, [one] * k + [2 * one] * k]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_invalid_rows_become_zero_and_spare_their_neighbours(make_recipe, kind, bad):
    recipe = make_recipe(kind, coef=np.ones((2, 1)), factor=residual)
    X = [[1.0, 2.0], [bad, 2.0], [2.0, bad], [bad, bad], [1.0, 2.0]]
    one = round(1 / recipe.grid_unit)
    good = [-2 * one, -4 * one]
    assert integers(X, [[1.0]] * 5, recipe) == [good, [0, 0], [0, 0], [0, 0], good]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [1e18, 1e20, 1e154, 1e300, -1e300, 1e308, LARGEST, -LARGEST])
def test_enormous_rows_come_to_the_radius(make_recipe, kind, value):
    recipe = make_recipe(kind, radius=4.0)
    half = round(2.0 / recipe.grid_unit)
    direction = math.copysign(1.0, value) * np.array([2.0, 2.0]) * math.sqrt(2)
    assert integers([[value, 0.0]], [[0.0]], recipe) == [[math.copysign(2 * half, value), 0]]
    row = np.array(integers([[value, value]], [[0.0]], recipe)[0])
    np.testing.assert_allclose(row * recipe.grid_unit, direction, atol=recipe.grid_unit)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [1e300, -LARGEST])
def test_enormous_rows_without_a_radius_come_to_the_bound(make_recipe, kind, value):
    recipe = make_recipe(kind, radius=math.inf, whole_predictor=True)
    row = integers([[value, 0.0]], [[0.0]], recipe)[0]
    doubt = 0.0 if kind is TotalRecipe else 10 * 2**-23
    most = 2**recipe.grid_bits * (1 - doubt) - rounding_reach(2)
    assert row == [math.copysign(round(most), value), 0]


def test_an_enormous_row_has_an_enormous_predictor_only_if_whole(make_recipe):
    def saturated(predictor, responses):
        return np.where(np.abs(predictor) > 1e299, 1.0, 0.5)

    for whole, factor in ((True, 1.0), (False, 0.5)):
        recipe = make_recipe(
            TotalRecipe, coef=np.ones((2, 1)), factor=saturated, whole_predictor=whole
        )
        assert integers([[1e300, 0.0]], [[0.0]], recipe) == [[round(4 * factor * UNIT), 0]]


@pytest.mark.parametrize("whole", [False, True])
def test_an_infinite_predictor_counts_where_its_factor_is_finite(make_recipe, whole):
    def sign(predictor, responses):
        return np.sign(predictor)

    recipe = make_recipe(
        TotalRecipe,
        coef=np.array([[-1e10], [0.0]]),
        factor=sign,
        radius=math.inf,
        whole_predictor=whole,
    )
    row = integers([[1e300, 0.0]], [[0.0]], recipe)[0]
    assert row == [-round(2**26 - rounding_reach(2)), 0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 2])
def test_a_factor_of_zero_gives_a_zero_row(make_recipe, kind, k):
    recipe = make_recipe(kind, k=k, factor=response)
    assert integers([[1.0, 2.0]], [[0.0] * k], recipe) == [[0] * 2 * k]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [5e-324, -1e-310, 1e-170, 0.0, -0.0])
def test_tiny_rows_become_zero(make_recipe, kind, value):
    assert integers([[value, value]], [[value]], make_recipe(kind, factor=response)) == [[0, 0]]


@pytest.mark.parametrize("k", [1, 2])
def test_whitened_rows_can_be_multiplied_again(make_recipe, k):
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(5, 2)), rng.normal(size=(5, k))
    X[0] *= 1e300
    recipe = make_recipe(TotalRecipe, k=k, whitener=rng.normal(size=(2, 2)), factor=response)
    columns = X.T.copy()
    divisors, given = scaled_down(columns), Y.T.copy()
    rows = whitened_block(recipe, columns, given, divisors)
    before = [part.copy() for part in rows]
    first, second = (multiplied_block(recipe, rows, given).T.tolist() for _ in range(2))
    assert first == second == integers(X, Y, recipe)
    assert all((part == kept).all() for part, kept in zip(rows, before, strict=True))
    assert (given == Y.T).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 3])
def test_dimension_and_bounds(make_recipe, kind, k):
    recipe = make_recipe(kind, p=4, k=k, l2_bound=5.0)
    bits = BITS[kind]
    assert (recipe.dimension, recipe.grid_bits) == (4 * k, bits)
    assert recipe.grid_unit == 5.0 / 2**bits
    assert recipe.l2_bound_squared == 4**bits
    # Noise for the bound is noise for the integers, exactly.
    assert recipe.l2_bound_squared * recipe.grid_unit**2 == 25.0


def test_blocks_as_long_as_sums_in_floats_are_exact(make_recipe):
    assert make_recipe(TotalRecipe).max_block_rows == 2**27
    assert make_recipe(CoarseTotalRecipe).max_block_rows == 2**33
    assert make_recipe(GramRecipe).max_block_rows == 2**21
    assert make_recipe(TotalRecipe, n_rows=2**40).max_block_rows == 2**32


@pytest.mark.parametrize("n_rows", [1, 2**29, 2**36 - 1, 2**36, 2**40, 2**50])
def test_sums_fit_whatever_the_rows_are(make_recipe, n_rows):
    *totals, gram = (make_recipe(kind, n_rows=n_rows) for kind in KINDS)
    for total in totals:
        assert n_rows * math.isqrt(total.l2_bound_squared) < ENTRY_LIMIT
        assert total.max_block_rows * math.isqrt(total.l2_bound_squared) <= 2**53
    assert n_rows * gram.l2_bound_squared < ENTRY_LIMIT
    assert gram.max_block_rows * gram.l2_bound_squared <= 2**53


def test_grids_are_coarsened_only_for_huge_tables(make_recipe):
    totals = [make_recipe(TotalRecipe, n_rows=2**k).grid_bits for k in (0, 35, 36, 40, 55)]
    assert totals == [26, 26, 25, 21, 6]
    coarse = [make_recipe(CoarseTotalRecipe, n_rows=2**k).grid_bits for k in (0, 41, 42, 55)]
    assert coarse == [20, 20, 19, 6]
    grams = [make_recipe(GramRecipe, n_rows=2**k).grid_bits for k in (0, 29, 30, 40)]
    assert grams == [16, 16, 15, 10]
    assert make_recipe(TotalRecipe, n_rows=2**40).grid_unit == 8.0 / 2**21


@pytest.mark.parametrize("p", [2, 60, 1000])
@pytest.mark.parametrize("kind", [CoarseTotalRecipe, GramRecipe])
def test_rows_at_the_bound_need_no_second_look(make_recipe, monkeypatch, kind, p):
    # Or else a table of many long rows would take longer than others.
    def second_look(rows, bound):
        pytest.fail("rows at the bound are looked at again")

    monkeypatch.setattr(grid, "_enforced", second_look)
    recipe = make_recipe(kind, p, radius=math.inf)
    assert recipe.dtype == np.float32
    X = 1e3 * np.random.default_rng(5).normal(size=(500, p))
    squared = np.sum(integer_rows(recipe, X, np.zeros((500, 1))) ** 2, axis=1)
    assert squared.max() <= recipe.l2_bound_squared
    # Short of the bound by two errors of single precision, and twice by what rounding can move.
    short = 2 * (p + 8) * 2**-23 + 2 * math.sqrt(p) / 2**recipe.grid_bits
    assert squared.min() >= recipe.l2_bound_squared * (1 - 1.5 * short)


@pytest.mark.parametrize(
    ("kind", "whitener", "dtype"),
    [
        (CoarseTotalRecipe, np.eye(2), np.float32),
        (TotalRecipe, np.eye(2), np.float64),
        # Columns that are nearly the same: single precision would show in the sums.
        (CoarseTotalRecipe, np.linalg.inv([[1.0, 1.0], [0.0, 1e-5]]), np.float64),
    ],
)
def test_single_precision_only_where_the_grid_and_the_whitener_allow(
    make_recipe, kind, whitener, dtype
):
    assert make_recipe(kind, whitener=whitener).dtype == dtype


def test_a_coarse_grid_moves_no_mean_by_more_than_a_unit(make_recipe):
    # Rows of few different values, whose rounding errors do not cancel.
    rng = np.random.default_rng(6)
    X, Y = rng.integers(0, 2, size=(4000, 3)) / 3.0, rng.integers(0, 2, size=(4000, 1)) / 7.0
    coarse, fine = (
        make_recipe(kind, 3, coef=np.full((3, 1), 0.1), factor=residual, n_rows=4000)
        for kind in (CoarseTotalRecipe, TotalRecipe)
    )
    means = [integer_rows(one, X, Y).mean(axis=0) * one.grid_unit for one in (coarse, fine)]
    moved = np.abs(means[0] - means[1])
    assert 0.0 < moved.max() < coarse.grid_unit


NOT_POSITIVE = [0.0, -1.0, math.nan, -math.inf]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "value"),
    [*(("radius", value) for value in NOT_POSITIVE), ("l2_bound", math.inf)]
    + [("l2_bound", value) for value in NOT_POSITIVE],
)
def test_bounds_are_positive_and_only_the_radius_may_be_infinite(make_recipe, kind, name, value):
    with pytest.raises(ValueError, match=rf"{name} must be in \(0, inf\)"):
        make_recipe(kind, **{name: value})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"whitener": np.eye(3)}, r"whitener must be \(2, 2\), got \(3, 3\)"),
        ({"whitener": np.ones((2, 1))}, r"whitener must be \(2, 2\)"),
        ({"coef": np.zeros(2)}, r"coef must have shape \(p, k\) with entries, got \(2,\)"),
        ({"coef": np.zeros((2, 0))}, r"coef must have shape"),
        ({"coef": np.zeros((3, 1))}, r"whitener must be \(3, 3\)"),
        ({"whitener": np.full((2, 2), math.nan)}, "must be finite"),
        ({"coef": np.full((2, 1), math.inf)}, "must be finite"),
        ({"n_rows": 0}, "n_rows must be an integer"),
        ({"n_rows": 2**61}, r"n_rows must (be below 2\*\*61|leave room for a grid)"),
        ({"l2_bound": 1e200}, "l2_bound must have a square within floats"),
        ({"l2_bound": 1e-200}, "l2_bound must have a square within floats"),
    ],
)
def test_recipes_are_checked(make_recipe, kind, changes, message):
    with pytest.raises(ValueError, match=message):
        make_recipe(kind, **changes)


@pytest.mark.parametrize("kind", KINDS)
def test_representation_is_short(make_recipe, kind):
    text = repr(make_recipe(kind))
    assert text.startswith(kind.__name__)
    assert not any(word in text for word in ("whitener", "coef"))
