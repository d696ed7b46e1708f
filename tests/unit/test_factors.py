"""Factors: what a whitened row is multiplied by, from its predictor and its response alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from publicmoments.factors import (
    ClippedResponse,
    Ones,
    Residual,
    RootCurvature,
    Slope,
    Spread,
)
from publicmoments.families import Bernoulli, Gaussian, Multinomial, Poisson

LOG3 = math.log(3.0)


def column(*values):
    return np.array(values, dtype=float)[:, None]


def test_ones():
    np.testing.assert_array_equal(Ones()(column(2.0, -1e9), column(5.0, np.inf)), column(1.0, 1.0))


def test_responses_are_scaled_and_clipped_on_both_sides():
    factor = ClippedResponse(scale=2.0, bound=1.5)
    responses = column(1.0, -2.0, 4.0, -4.0, np.inf, -1e300)
    expected = column(0.5, -1.0, 1.5, -1.5, 1.5, -1.5)
    np.testing.assert_array_equal(factor(column(*[9.0] * 6), responses), expected)


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        (Gaussian(), column(LOG3 - 1.0, -2.0)),
        (Bernoulli(), column(-0.25, -1.5)),
        (Poisson(), column(2.0, -1.0)),
    ],
    ids=repr,
)
def test_residuals_are_the_mean_less_the_response(family, expected):
    slopes = Residual(family)(column(LOG3, 0.0), column(1.0, 2.0))
    np.testing.assert_allclose(slopes, expected, rtol=1e-12)


def test_residuals_in_other_units():
    # t - y / 4 for predictors in units of 4.
    slopes = Residual(Gaussian(), scale=4.0)(column(1.0, 0.0), column(2.0, -8.0))
    np.testing.assert_array_equal(slopes, column(0.5, 2.0))


def test_responses_are_clipped_before_and_slopes_after():
    predictor, responses = column(0.0, 0.0, 5.0, -5.0), column(100.0, -100.0, 0.0, 0.0)
    before = Residual(Gaussian(), response_bound=3.0)(predictor, responses)
    np.testing.assert_array_equal(before, column(-3.0, 3.0, 5.0, -5.0))
    after = Residual(Gaussian(), bound=2.0)(predictor, responses)
    np.testing.assert_array_equal(after, column(-2.0, 2.0, 2.0, -2.0))
    both = Residual(Gaussian(), scale=2.0, response_bound=3.0, bound=4.0)
    np.testing.assert_array_equal(both(predictor, responses), column(-3.0, 3.0, 4.0, -4.0))


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        (Gaussian(), column(1.0, 1.0)),
        (Bernoulli(), column(math.sqrt(3.0) / 4.0, 0.5)),
        (Poisson(), column(math.sqrt(3.0), 1.0)),
    ],
    ids=repr,
)
def test_roots_of_the_curvature(family, expected):
    roots = RootCurvature(family)(column(LOG3, 0.0), column(np.nan, 1e9))
    np.testing.assert_allclose(roots, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        (Gaussian(), column(LOG3 - 1.0, -2.0)),
        (Bernoulli(), column(-0.25, -1.5)),
        (Poisson(), column(2.0, -1.0)),
    ],
    ids=repr,
)
def test_slopes_are_the_mean_less_the_response(family, expected):
    slopes = Slope(family)(column(LOG3, 0.0), column(1.0, 2.0))
    np.testing.assert_allclose(slopes, expected, rtol=1e-12)


def test_slopes_are_clipped_in_units_of_their_spread():
    # exp(log 3) - 1e9, clipped at 4 sqrt(1 + 3), and likewise from above.
    slopes = Slope(Poisson())(column(LOG3, 30.0), column(1e9, 0.0))
    limit = 4.0 * math.sqrt(1.0 + math.exp(30.0))
    np.testing.assert_allclose(slopes, column(-8.0, limit), rtol=1e-12)


def test_a_second_column_is_added_to_the_predictor():
    with_offset = np.array([[1.0, LOG3], [2.0, -1.0]])
    slopes = Slope(Poisson())(column(0.0, 1.0), with_offset)
    np.testing.assert_allclose(slopes, column(2.0, -1.0), rtol=1e-12)
    spreads = Spread(Poisson())(column(0.0, 1.0), with_offset)
    np.testing.assert_allclose(spreads, column(2.0, math.sqrt(2.0)), rtol=1e-12)
    roots = RootCurvature(Poisson())(column(0.0, 1.0), with_offset)
    np.testing.assert_allclose(roots, column(math.sqrt(3.0), 1.0), rtol=1e-12)


def test_both_columns_are_in_units_of_the_scale():
    # (t + o / 4) - y / 4.
    slopes = Slope(Gaussian(), scale=4.0)(column(1.0, 0.0), np.array([[2.0, 4.0], [-4.0, -2.0]]))
    np.testing.assert_allclose(slopes, column(1.5, 0.5), rtol=1e-12)
    both = np.array([[0.0, 4.0 * LOG3]])
    np.testing.assert_allclose(Spread(Poisson(), 4.0)(column(0.0), both), column(2.0))
    roots = RootCurvature(Poisson(), 4.0)(column(0.0), both)
    np.testing.assert_allclose(roots, column(math.sqrt(3.0)))


def test_slopes_of_classes():
    family = Multinomial(3)
    slopes = Slope(family)(np.zeros((3, 2)), column(0.0, 1.0, 2.0))
    expected = np.full((3, 3), 1.0 / 3.0) - np.eye(3)
    np.testing.assert_allclose(slopes @ family.basis, expected, atol=1e-12)


@pytest.mark.parametrize(
    "factor",
    [
        Ones(),
        ClippedResponse(2.0, 1.0),
        Residual(Poisson(), response_bound=2.0),
        RootCurvature(Bernoulli()),
        RootCurvature(Poisson(), 3.0),
        Slope(Poisson(), 2.0),
    ],
    ids=repr,
)
def test_a_factor_is_a_function_of_one_row_and_a_value(factor):
    rng = np.random.default_rng(0)
    predictor, responses = rng.normal(size=(6, 2)), rng.normal(size=(6, 2))
    whole = factor(predictor, responses)
    assert whole.shape == (6, 2)
    for i in range(6):
        alone = factor(predictor[i : i + 1], responses[i : i + 1])
        np.testing.assert_array_equal(whole[i : i + 1], alone)
    assert hash(factor) is not None
