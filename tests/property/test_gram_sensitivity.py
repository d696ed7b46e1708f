"""No neighbours exceed the declared sensitivity, and a constructed pair reaches it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from publicmoments.privacy import gram_noise_law, gram_sensitivity
from publicmoments.privacy.rounding import exact

COORDINATES = st.one_of(st.integers(-4, 4), st.integers(-(2**31), 2**31))


@st.composite
def neighbours(draw):
    """A data set of integer rows and its neighbour, as Python integers."""
    dimension = draw(st.integers(1, 6))
    row = st.lists(COORDINATES, min_size=dimension, max_size=dimension)
    rows = draw(st.lists(row, min_size=1, max_size=4))
    other = [*rows]
    other[draw(st.integers(0, len(rows) - 1))] = draw(row)
    return rows, other


def gram(rows: list[list[int]]) -> np.ndarray:
    """Gram matrix in unbounded integers."""
    table = np.array(rows, dtype=object)
    return table.T @ table


def worst_pair(l2_bound_squared: int, dimension: int) -> tuple[list[list[int]], list[list[int]]]:
    """Two full-length rows at right angles; in one dimension a full-length row and zero."""
    length = math.isqrt(l2_bound_squared)
    first, second = [0] * dimension, [0] * dimension
    first[0] = length
    if dimension >= 2:
        second[1] = length
    return [first], [second]


@given(neighbours())
def test_neighbours_stay_within_the_sensitivity(pair):
    rows, other = pair
    bound = max(1, *(sum(c * c for c in row) for row in [*rows, *other]))
    change = gram(rows) - gram(other)
    measured_squared = int((change * change).sum())
    assert measured_squared <= exact(gram_sensitivity(bound, len(rows[0]))) ** 2


@pytest.mark.parametrize("dimension", [1, 2, 3, 10])
@pytest.mark.parametrize("bound", [10**4, 123_456_789, 2**45])
def test_worst_pair_reaches_the_sensitivity(bound, dimension):
    rows, other = worst_pair(bound, dimension)
    change = gram(rows) - gram(other)
    measured = math.sqrt(int((change * change).sum()))
    declared = gram_sensitivity(bound, dimension)
    assert 0.99 * declared <= measured <= declared


@given(neighbours(), st.floats(1e-3, 1e2))
def test_cost_of_any_neighbours_is_within_the_budget(pair, mu):
    rows, other = pair
    bound = max(1, *(sum(c * c for c in row) for row in [*rows, *other]))
    if not 1e-9 < bound / mu < 2**55 or bound >= 2**62:
        return
    law = gram_noise_law(bound, len(rows[0]), mu)
    change = gram(rows) - gram(other)
    diagonal = sum(int(c) ** 2 for c in np.diag(change))
    off_diagonal = (int((change * change).sum()) - diagonal) // 2
    cost = diagonal / (2 * exact(law.diagonal_sd) ** 2)
    cost += off_diagonal / (2 * exact(law.offdiagonal_sd) ** 2)
    assert cost <= exact(mu) ** 2 / 2
