"""Squared errors of two tables tell what a population makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments.planner.levels import Level


@pytest.mark.parametrize("shape", [0.5, 1.0, 4.0, 40.0])
def test_means_of_few_squares_are_brought_to_that_of_many(shape):
    squares = np.random.default_rng(0).gamma(shape, 3.0 / shape, size=(20_000, 2))
    level = Level.mean(squares, squares[:, :, None])
    assert level.prediction == pytest.approx(3.0, rel=0.02)
    assert level.coef == pytest.approx([level.prediction])


def test_populations_have_a_geometric_mean():
    level = Level.mean(np.array([[1.0, 1.0], [16.0, 16.0]]), np.ones((2, 2, 1)))
    assert level.prediction == pytest.approx(4.0)
    # The only coefficient has all of the first error, and a sixteenth of the second.
    assert level.coef == pytest.approx([4.0 * (1.0 + 1.0 / 16.0) / 2.0])


def test_one_lucky_table_does_not_rule():
    # No law of squares that is a sum of normal ones has tables so far apart.
    level = Level.mean(np.array([[1.0, 1e-100]]), np.ones((1, 2, 1)))
    assert 0.5 < level.prediction < 1.0
