"""Factors: what a whitened row is multiplied by, from its predictor and its response alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from publicmoments.families import Bernoulli, Gamma, Gaussian, Multinomial, Poisson
from publicmoments.families.factors import (
    ClippedResponse,
    Ones,
    Residual,
    RootCurvature,
    RootWeight,
    ScaledResponse,
    Slope,
)

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


def test_a_second_column_is_added_to_the_predictor():
    with_offset = np.array([[1.0, LOG3], [2.0, -1.0]])
    slopes = Slope(Poisson(), offset=True)(column(0.0, 1.0), with_offset)
    np.testing.assert_allclose(slopes, column(2.0, -1.0), rtol=1e-12)


def test_both_columns_are_in_units_of_the_scale():
    # (t + o / 4) - y / 4.
    factor = Slope(Gaussian(), scale=4.0, offset=True)
    slopes = factor(column(1.0, 0.0), np.array([[2.0, 4.0], [-4.0, -2.0]]))
    np.testing.assert_allclose(slopes, column(1.5, 0.5), rtol=1e-12)


def test_slopes_have_no_bound_of_their_own():
    slopes = Slope(Poisson())(column(LOG3, 30.0), column(1e9, 0.0))
    np.testing.assert_allclose(slopes, column(3.0 - 1e9, math.exp(30.0)), rtol=1e-12)


def test_several_responses_have_a_scale_each():
    slopes = Slope(Gaussian(2), scale=(2.0, 4.0))(np.array([[1.0, 0.0]]), np.array([[2.0, -8.0]]))
    np.testing.assert_array_equal(slopes, [[0.0, 2.0]])


def test_scaled_responses_are_one_column_in_its_unit():
    responses = np.array([[2.0, -8.0], [1.0, 0.0]])
    factor = ScaledResponse(Gaussian(), (2.0, 4.0), column=1)
    np.testing.assert_array_equal(factor(np.zeros((2, 1)), responses), column(-2.0, 0.0))


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        # exp(-log 3) a unit of exposure; the response less its offset; classes as they are.
        (Poisson(), 2.0),
        (Gamma(), 2.0),
        (Gaussian(), 6.0 - LOG3),
        (Bernoulli(), 6.0),
    ],
    ids=repr,
)
def test_scaled_responses_leave_out_the_offset(family, expected):
    found = ScaledResponse(family, offset=True)(column(9.0), np.array([[6.0, LOG3]]))
    np.testing.assert_allclose(found, column(expected), rtol=1e-12)


def test_roots_of_weights_are_clipped():
    weights = column(-1.0, 0.0, 0.25, 9.0, np.inf)
    roots = RootWeight(4.0)(column(*[1.0] * 5), weights)
    np.testing.assert_array_equal(roots, column(0.0, 0.0, 0.5, 2.0, 2.0))


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
        RootCurvature(Poisson()),
        RootWeight(0.5),
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
