"""Squared errors of two tables tell what a population makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments.planner.levels import Level, Spread


@pytest.mark.parametrize("shape", [0.5, 1.0, 4.0, 40.0])
def test_means_of_few_squares_are_brought_to_that_of_many(shape):
    rng = np.random.default_rng(0)
    predictions = rng.gamma(shape, 3.0 / shape, size=(20_000, 2))
    lengths = rng.gamma(shape, 9.0 / shape, size=(20_000, 2))
    level = Level.mean(predictions, lengths, predictions[:, :, None])
    assert level.sizes == pytest.approx((3.0, np.sqrt(3.0)), rel=0.01)
    assert level.prediction == pytest.approx(3.0, rel=0.02)
    assert level.coef == pytest.approx([level.prediction])


def test_populations_have_a_geometric_mean():
    predictions, lengths = np.array([[1.0, 1.0], [16.0, 16.0]]), np.array([[1.0, 1.0], [4.0, 4.0]])
    level = Level.mean(predictions, lengths, np.ones((2, 2, 1)))
    assert level.sizes == pytest.approx((np.sqrt(2.0), 2.0))
    # The only coefficient has all of the first error, and a sixteenth of the second.
    assert level.coef == pytest.approx([4.0 * (1.0 + 1.0 / 16.0) / 2.0])


def test_units_of_a_column_are_nothing_to_other_coefficients():
    rng = np.random.default_rng(0)
    predictions, coefs = rng.gamma(1.0, size=(6, 2)), rng.gamma(1.0, size=(6, 2, 3))
    units = np.array([1.0, 1e6, 1.0])
    one, other = (
        Level.mean(predictions, these.sum(axis=2), these) for these in (coefs, coefs * units)
    )
    assert other.coef == pytest.approx(one.coef * units)
    assert other.prediction == one.prediction


def test_errors_of_coefficients_are_multiplied_by_themselves():
    level = Level(np.array([1.0, 4.0, 2.0, 3.0])).with_coef(4.0)
    assert level.sizes == (4.0, 1.0)
    assert level.coef.tolist() == [8.0, 12.0]


def test_one_lucky_table_does_not_rule():
    # No law of squares that is a sum of normal ones has tables so far apart.
    level = Level.mean(np.array([[1.0, 1e-100]]), np.ones((1, 2)), np.ones((1, 2, 1)))
    assert 0.5 < level.prediction < 1.0


@pytest.mark.parametrize(("between", "within"), [(0.8, 0.1), (0.1, 0.8), (0.6, 0.6), (0.0, 1.0)])
@pytest.mark.parametrize("populations", [3, 6])
def test_four_of_five_new_errors_are_in_the_range(between, within, populations):
    rng, trials, below, above = np.random.default_rng(0), 1_500, 0, 0
    for _ in range(trials):
        level = rng.normal(0.0, between, size=(populations + 1, 1))
        logs = 3.0 + level + rng.normal(0.0, within, size=(populations + 1, 2))
        squares, new = np.exp(logs[:-1]), np.exp(logs[-1, 0])
        typical = Level.mean(squares, squares, squares[:, :, None]).prediction
        low, high = Spread.of(squares, squares).prediction
        below += new < low**2 * typical
        above += new > high**2 * typical
    # Normal quantiles instead of Student's leave too many outside where populations differ.
    assert (below + above) / trials == pytest.approx(0.2, abs=0.035)
    assert below / trials == pytest.approx(0.1, abs=0.03)


def test_ranges_of_lengths_and_predictions_are_each_their_own():
    squares = np.array([[1.0, 1.0], [16.0, 16.0]])
    spread = Spread.of(np.ones((2, 2)), squares)
    assert spread.prediction == (1.0, 1.0)
    assert spread.length[0] < 0.5
    assert spread.length[1] > 2.0
