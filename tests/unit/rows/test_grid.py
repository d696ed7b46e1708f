"""Grids: as fine as 64-bit integers allow, and no row beyond its bound."""

import math

import numpy as np
import pytest

from publicmoments.privacy.laws import ENTRY_LIMIT
from publicmoments.rows.grid import (
    coarse_total_grid,
    finest_grid,
    finest_total_grid,
    on_grid,
    rounding_reach,
    scaled_down,
    squared_bound,
)

LARGEST = np.finfo(float).max
# The bound where products of three entries are summed, and those of totals.
BOUNDS = [squared_bound(16, 3), 4**20, 4**26]


def integers(rows: np.ndarray, l2_bound_squared: int) -> list[list[int]]:
    """Rows on the grid as Python integers; fails on NaN and infinity."""
    on_its_grid = on_grid(np.ascontiguousarray(rows.T), l2_bound_squared)
    return [[int(entry) for entry in row] for row in on_its_grid.T]


def norm_squared(row: list[int]) -> int:
    """Squared norm without any rounding."""
    return sum(entry * entry for entry in row)


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_bound_holds_on_the_grid_whatever_came_before(bound):
    length = math.isqrt(bound)
    faulty = np.array(
        [
            [length, 0.0, 0.0],  # at the bound: kept
            [length + 1, 0.0, 0.0],  # just above it: shortened
            [0.0, -length - 10.4, 0.0],
            [length + 3, 300.0, -40.0],
            [length * 1.01, 0.0, 0.0],  # farther than any float error: zero
            [2.0**31, 2.0**31, 2.0**31],
            [1e300, 0.0, 1.0],
            [math.nan, 1.0, 1.0],
            [math.inf, 1.0, -math.inf],
            [1.0, 2.0, 3.0],
        ]
    )
    rows = integers(faulty, bound)
    assert all(norm_squared(row) <= bound for row in rows)
    assert rows[0] == [length, 0, 0]
    for row, wanted in zip(rows[1:4], faulty[1:4], strict=True):
        assert row == [math.trunc(entry * (1 - 2**-12)) for entry in np.rint(wanted)]
    assert rows[4:9] == [[0, 0, 0]] * 5
    assert rows[9] == [1, 2, 3]


@pytest.mark.parametrize("bound", BOUNDS)
def test_every_row_near_the_bound_ends_below_it(bound):
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(4000, 6))
    rows *= (
        math.sqrt(bound)
        * rng.uniform(0.9999, 1.0002, size=(4000, 1))
        / np.linalg.norm(rows, axis=1, keepdims=True)
    )
    before = [norm_squared([int(entry) for entry in row]) for row in np.rint(rows)]
    after = [norm_squared(row) for row in integers(rows, bound)]
    assert sum(value > bound for value in before) > 1000
    assert max(after) <= bound
    assert min(after) > 0.999 * bound


def test_the_array_itself_is_rounded_to_nearest():
    rows = np.array([[0.5, 1.5, -2.5], [0.49, -0.51, 7.2]])
    assert on_grid(rows, 100) is rows
    assert rows.tolist() == [[0.0, 2.0, -2.0], [0.0, -1.0, 7.0]]


@pytest.mark.parametrize("dimension", [1, 2, 11, 1001])
def test_rounding_cannot_reach_farther_than_is_said(dimension):
    farthest = math.sqrt(dimension * 0.5**2)
    assert farthest < rounding_reach(dimension) < farthest + 1e-5


def test_the_squared_bound_is_that_of_the_radius_and_its_rounding():
    # (2^16 + sqrt(5) / 2 + 1e-6)^2 = 2^32 + 2^16 sqrt(5) + 5/4 + 0.131...
    assert squared_bound(16, 5) == math.ceil(2**32 + 2**16 * math.sqrt(5) + 1.25 + 0.1311)
    # (2 + 1/2)^2 = 6.25
    assert squared_bound(1, 1) == 7


@pytest.mark.parametrize("dimension", [1, 2, 11, 1001])
@pytest.mark.parametrize("n_rows", [1, 1000, 2**29, 2**30, 2**31 + 1, 2**40, 2**50])
def test_the_grid_of_products_is_the_finest_that_fits(dimension, n_rows):
    bits = finest_grid(n_rows, dimension)
    assert 1 <= bits <= 16
    assert n_rows * squared_bound(bits, dimension) < ENTRY_LIMIT
    assert bits == 16 or n_rows * squared_bound(bits + 1, dimension) >= ENTRY_LIMIT


@pytest.mark.parametrize("n_rows", [1, 1000, 2**36 - 1, 2**36, 2**36 + 1, 2**44 + 3, 2**61 - 1])
def test_the_grid_of_totals_is_the_finest_that_fits(n_rows):
    bits = finest_total_grid(n_rows)
    assert 1 <= bits <= 26
    assert n_rows * 2**bits < ENTRY_LIMIT
    assert bits == 26 or n_rows * 2 ** (bits + 1) >= ENTRY_LIMIT


def test_grids_by_hand():
    assert [finest_grid(2**k, 3) for k in (0, 29, 30, 32, 40)] == [16, 16, 15, 14, 10]
    assert [finest_total_grid(2**k) for k in (0, 35, 36, 37, 60)] == [26, 26, 25, 24, 1]
    assert [coarse_total_grid(2**k) for k in (0, 41, 42, 60)] == [20, 20, 19, 1]


@pytest.mark.parametrize("n_rows", [2**61, 2**62, 2**70])
def test_more_rows_than_any_grid_can_hold_are_refused(n_rows):
    with pytest.raises(ValueError, match=f"n_rows={n_rows}; sum fewer rows"):
        finest_total_grid(n_rows)
    with pytest.raises(ValueError, match=f"n_rows={n_rows} with rows of 3 entries"):
        finest_grid(n_rows, 3)


def test_rows_of_ordinary_size_are_left_alone():
    rows = np.array([[2.0**64, -1.0], [5e-324, -(2.0**64)]])
    before = rows.copy()
    assert scaled_down(rows.T).tolist() == [1.0, 1.0]
    np.testing.assert_array_equal(rows, before)


@pytest.mark.parametrize("value", [np.nextafter(2.0**64, np.inf), 1e100, 1e300, LARGEST])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_large_rows_are_divided_by_powers_of_two_and_others_by_one(value, sign):
    rows = np.array([[sign * value, value / 3, 1.0], [3.0, -4.0, 2.0**64]])
    before = rows.copy()
    divisors = scaled_down(rows.T)
    assert np.frexp(divisors)[0].tolist() == [0.5, 0.5]
    assert divisors[1] == 1.0
    assert 0.5 <= np.abs(rows[0]).max() <= 2.0
    np.testing.assert_array_equal(rows[:, :2] * divisors[:, None], before[:, :2])
    np.testing.assert_array_equal(rows[1], before[1])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_invalid_rows_do_not_touch_their_neighbours(value):
    rows = np.array([[value, 1.0], [3.0, -4.0], [1e300, 0.0]])
    divisors = scaled_down(rows.T)
    assert divisors[1] == 1.0
    assert rows[1].tolist() == [3.0, -4.0]
    assert 0.5 <= rows[2, 0] <= 1.0
    assert not np.isfinite(rows[0]).all()
