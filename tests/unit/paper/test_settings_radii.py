"""Published radii against values worked out by hand."""

import math

import pytest

from publicmoments.paper import (
    oracle_radius,
    oracle_response_radius,
    predictor_reach,
    response_radius,
    truncation_radius,
)

# Chosen so that log(2n / eta) = 9 and 1 + 9 = 10 exactly.
N, ETA = 100, 200.0 * math.exp(-9.0)


def test_radii_of_algorithms_1_and_2():
    assert truncation_radius(4, N, ETA) == pytest.approx(6.324555320336759, rel=1e-12)
    assert response_radius(N, ETA) == pytest.approx(3.1622776601683795, rel=1e-12)


def test_radii_without_public_data_have_no_factor_2_in_the_logarithm():
    eta = 100.0 * math.exp(-6.0)
    assert oracle_radius(1.0, 4, 100, eta) == pytest.approx(5.0, rel=1e-12)
    assert oracle_response_radius(3.0, 100, eta) == pytest.approx(3.0, rel=1e-12)


def test_reach_is_the_longest_row_times_the_longest_coefficients():
    assert predictor_reach(3.0, 0.5) == 1.5


def test_radii_grow_with_rows_and_shrink_with_eta():
    assert truncation_radius(3, 1000, 0.1) > truncation_radius(3, 999, 0.1)
    assert truncation_radius(3, 1000, 0.1) < truncation_radius(3, 1000, 0.09)
    assert oracle_radius(2.0, 3, 1000, 0.1) > oracle_radius(1.9, 3, 1000, 0.1)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: truncation_radius(0, 10, 0.1), "d"),
        (lambda: truncation_radius(2, 0, 0.1), "n"),
        (lambda: truncation_radius(2, 10, 1.0), "eta"),
        (lambda: response_radius(10, math.nan), "eta"),
        (lambda: oracle_radius(0.0, 2, 10, 0.1), "trace"),
        (lambda: oracle_radius(1.0, 2, 10, 0.0), "eta"),
        (lambda: oracle_response_radius(math.inf, 10, 0.1), "second_moment"),
        (lambda: predictor_reach(-1.0, 1.0), "radius"),
        (lambda: predictor_reach(1.0, 0.0), "coef_bound"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=rf"^{name} must be "):
        call()
