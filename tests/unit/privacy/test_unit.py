"""What replacing one row does to a sum, by hand and by trying."""

from fractions import Fraction

import numpy as np
import pytest

from publicmoments.privacy.unit import ONE_ROW, PrivacyUnit

B = 50


def rows_within(rng, count, dimension):
    """Integer rows of squared length at most B."""
    rows = rng.integers(-7, 8, size=(20 * count, dimension))
    return rows[(rows**2).sum(axis=1) <= B][:count]


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_no_pair_of_rows_moves_a_sum_further(dimension):
    rng = np.random.default_rng(dimension)
    one, other = rows_within(rng, 200, dimension), rows_within(rng, 200, dimension)[::-1]
    count = min(len(one), len(other))
    sums = ((one[:count] - other[:count]) ** 2).sum(axis=1)
    assert 0 < sums.max() <= ONE_ROW.sum_square(B)
    grams = [
        ((np.outer(r, r) - np.outer(q, q)) ** 2).sum()
        for r, q in zip(one[:count], other[:count], strict=True)
    ]
    assert 0 < max(grams) <= ONE_ROW.gram_square(B, dimension)


def test_the_worst_pairs_reach_the_bounds():
    row, across = np.array([5, 5]), np.array([5, -5])
    assert ((row + row) ** 2).sum() == ONE_ROW.sum_square(B)
    assert ((np.outer(row, row) - np.outer(across, across)) ** 2).sum() == ONE_ROW.gram_square(B, 2)
    assert ONE_ROW.gram_square(49, 1) == (7**2 - 0) ** 2
    before, after = np.array([9, 0, 0]), np.array([0, 0, 9])
    assert ((before - after) ** 2).sum() == ONE_ROW.count_square(9)


def test_no_row_moves_the_smallest_eigenvalue_further():
    rng = np.random.default_rng(0)
    for _ in range(50):
        rows = rows_within(rng, 12, 3)
        other = rows.copy()
        other[0] = rows_within(rng, 1, 3)[0]
        moved = [np.rint(np.linalg.eigvalsh(r.T @ r)[0]) for r in (rows, other)]
        change = Fraction(int(abs(moved[0] - moved[1])))
        assert change**2 <= ONE_ROW.eigenvalue_square(B, 3, len(rows))


def test_bounds_must_be_positive():
    with pytest.raises(ValueError, match="l2_bound_squared"):
        ONE_ROW.sum_square(0)
    with pytest.raises(ValueError, match="dimension"):
        ONE_ROW.gram_square(1, 0)


def test_the_unit_is_said_in_words():
    assert "one row" in PrivacyUnit().neighbours
    assert PrivacyUnit() == ONE_ROW
