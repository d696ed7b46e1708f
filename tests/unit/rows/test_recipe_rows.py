"""From rows to bounded integers: hand-computed cases, hostile numbers, the bound itself."""

import math

import numpy as np
import pytest

from publicmoments.rows import precision
from tests.helpers import integer_rows

LARGEST = np.finfo(float).max


def integers(X, Y, recipe) -> list[list[int]]:
    """Integer rows of one block as Python integers, leaving the input alone."""
    bounded = integer_rows(recipe, X, np.array(Y, dtype=float))
    assert not np.isnan(bounded).any()
    return [[int(entry) for entry in row] for row in bounded]


def norm_squared(row: list[int]) -> int:
    """Squared norm without any rounding."""
    return sum(entry * entry for entry in row)


def test_hand_computed_rows(make_recipe):
    # R = 5, so one unit of the row is 65536 / 5 = 13107.2 grid units.
    rows = integers(
        [[1.5, 2.0], [6.0, 8.0], [0.0, 3.0], [-6.0, -8.0]],
        [[1.0], [2.0], [100.0], [-1000.0]],
        make_recipe(),
    )
    assert rows == [
        [19661, 26214, 13107],  # inside both bounds: as it is
        [23593, 31457, 7864],  # norm 10: x and y both times 0.3
        [0, 39322, 52429],  # response cut at 4
        [-23593, -31457, -52429],  # scaled by 0.3, then cut
    ]


def test_hand_computed_whitening_and_residual(make_recipe):
    # z = (1, 4), u = (9 - 2) / 2 = 3.5, weight 0.5; R^2 = 12^2 + (0.5 * 10)^2 = 13^2.
    recipe = make_recipe(
        whitener=np.array([[1.0, 2.0], [0.0, 1.0]]),
        coef=np.array([[1.0], [0.5]]),
        scale=np.array([2.0]),
        x_radius=12.0,
        response_bound=10.0,
        weight=0.5,
    )
    unit = 65536 / 13
    expected = [round(value * unit) for value in (1.0, 4.0, 0.5 * 3.5)]
    assert integers([[1.0, 2.0]], [[9.0]], recipe) == [expected]


def test_several_responses_have_their_own_scales_and_one_factor(make_recipe):
    recipe = make_recipe(
        p=1, q=2, scale=np.array([1.0, 10.0]), response_bound=math.sqrt(8.0), x_radius=3.0
    )
    # x = 6 is scaled by c = 1/2, and with it the responses 2 and -30.
    unit = 65536 / 5
    row = integers([[6.0]], [[2.0, -30.0]], recipe)[0]
    assert row == [round(3.0 * unit), round(1.0 * unit), round(-1.5 * unit)]


@pytest.mark.parametrize("size", [1.0, 1e3, 1e18, 1e20, 1e100, 1e300])
def test_direction_is_kept_and_both_parts_share_one_factor(make_recipe, size):
    recipe = make_recipe(p=3, x_radius=2.0, response_bound=4.0)
    x, y = np.array([2.0, -6.0, 3.0]), 7.0
    row = np.array(integers([size * x], [[size * y]], recipe)[0])
    np.testing.assert_allclose(row * recipe.grid_unit, [4 / 7, -12 / 7, 6 / 7, 2.0], atol=1e-4)


@pytest.mark.parametrize(("coarse_bits", "slack"), [(0, 1e-6), (16, 0.01)])
def test_rounding_is_to_nearest(make_recipe, monkeypatch, coarse_bits, slack):
    monkeypatch.setattr(precision, "COARSE_BITS", coarse_bits)
    recipe = make_recipe(x_radius=3.0)
    assert recipe.dtype == (np.float32 if coarse_bits else np.float64)
    rng = np.random.default_rng(4)
    X, Y = rng.uniform(-2, 2, size=(20_000, 2)), rng.uniform(-3, 3, size=(20_000, 1))
    exact = np.concatenate([X, Y], axis=1) / recipe.grid_unit
    rounded = np.array(integers(X, Y, recipe), dtype=float)
    # Half a unit, and what the floats add.
    assert np.abs(rounded - exact).max() <= 0.5 + slack
    # Rounding toward zero would shrink each squared entry by about its size.
    excess = np.mean(rounded**2 - exact**2, axis=0)
    assert np.all(np.abs(excess) < 0.05 * np.mean(np.abs(exact), axis=0))


@pytest.mark.parametrize("value", [5e-324, -5e-324, 1e-310, 1e-30, 0.0, -0.0])
def test_tiny_rows_become_zero(make_recipe, value):
    assert integers([[value, value]], [[value]], make_recipe()) == [[0, 0, 0]]


@pytest.mark.parametrize("value", [1e300, -1e300, 1e308, LARGEST, -LARGEST])
def test_enormous_rows_come_to_the_radius(make_recipe, value):
    row = integers([[value, 0.0]], [[0.0]], make_recipe())[0]
    assert row == [math.copysign(39322, value), 0, 0]
    spread = integers([[value, value]], [[value]], make_recipe())[0]
    assert [abs(entry) for entry in spread] == [27805, 27805, 27805]


def test_short_features_leave_their_room_to_the_responses(make_recipe):
    # sqrt(5^2 - 1^2) = 4.89898 beside features of length 1, all 5 beside none.
    rows = integers([[0.0, 1.0], [0.0, 0.0]], [[100.0], [-1e308]], make_recipe())
    assert rows == [[0, 13107, 64212], [0, 0, -65536]]


@pytest.mark.parametrize("size", [10.0, 1e9, 1e140])
def test_several_responses_keep_their_direction(make_recipe, size):
    recipe = make_recipe(p=1, q=2, x_radius=3.0, response_bound=math.sqrt(8.0))
    assert integers([[0.0]], [[3.0 * size, -4.0 * size]], recipe) == [[0, 39322, -52429]]


def test_enormous_responses_are_shortened(make_recipe):
    rows = integers([[4.0, 0.0]] * 2, [[1e308], [-LARGEST]], make_recipe())
    assert rows == [[39322, 0, 52429], [39322, 0, -52429]]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_invalid_design_gives_a_zero_row_and_spares_its_neighbours(make_recipe, value):
    good = [[19661, 26214, 13107]]
    X = [[1.5, 2.0], [value, 2.0], [2.0, value], [value, value], [1.5, 2.0]]
    rows = integers(X, [[1.0]] * 5, make_recipe())
    assert rows == [*good, *[[0, 0, 0]] * 3, *good]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_invalid_response_gives_a_zero_row(make_recipe, value):
    rows = integers([[1.5, 2.0]] * 2, [[value], [1.0]], make_recipe())
    assert rows == [[0, 0, 0], [19661, 26214, 13107]]


def test_a_whitener_that_overflows_gives_bounded_rows(make_recipe):
    recipe = make_recipe(whitener=np.diag([1e308, 1e-308]), coef=np.array([[1e308], [-1e308]]))
    for x in ([1.0, 1.0], [1e10, 1.0], [1e300, 1e300], [1e-308, 1e308]):
        for y in (0.0, 1e308, -1e300):
            row = integers([x], [[y]], recipe)[0]
            assert norm_squared(row) <= recipe.l2_bound_squared
