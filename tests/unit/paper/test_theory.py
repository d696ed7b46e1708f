"""Theorems 3.2 to 3.4, 4.2 and 4.3 against values worked out by hand."""

import math

import pytest

from publicmoments.paper import (
    GuidedSetting,
    OracleSetting,
    explicit_ridge_error_bound,
    inverse_error_bound,
    is_robust,
    noise_norm_bound,
    required_rows,
    ridge_error_bound,
    robustness_condition,
    simplified_inverse_error,
)

# d = 4, eta = e^-4 and constant 1: the spread of singular values is 2 + 2 = 4.
GUIDED = GuidedSetting(
    d=4, eta=math.exp(-4.0), n_public=144, penalty=0.2, public_norm=2.0, constant=1.0
)
ORACLE = OracleSetting(
    d=4, eta=math.exp(-4.0), trace=8.0, min_eigenvalue=0.5, penalty=0.1, constant=1.0
)
N, MU = 10_000, 0.5
# log(2d / eta) = 4 + log 8, log(2n / eta) = 4 + log 20000, log(n / eta) = 4 + log 10000.
LOG_8, LOG_20000, LOG_10000 = 2.0794415416798357, 9.903487552536127, 9.210340371976182
# sqrt(d^3 log(2d / eta)) / (mu n) = 8 sqrt(6.0794415) / 5000.
RATE = 8.0 * 2.465652356209171 / 5000.0
# L = 144 / (12 + 4)^2 = 0.5625, times (1 - 4 / 100)^2 = 0.9216; the penalty adds 0.2 / 2.
GUIDED_PART, ORACLE_PART = 0.5184, 0.4608
GUIDED_NOISE = RATE * (5.0 + LOG_20000)
ORACLE_NOISE = RATE * (2.0 + 4.0 + LOG_10000)
LOST = 2.8284271247461903


def test_noise_norm_and_the_factor_that_was_lost():
    eta = 16.0 * math.exp(-8.0)
    assert noise_norm_bound(3.0, 8, eta) == pytest.approx(3.0 * 11.313708498984761, rel=1e-12)
    # Theorem 3.2 with d = 8, mu n = 1 and 1 + log(2n / eta) = 3 / 16, that is noise_sd = 3.
    published = math.sqrt(512.0 * 8.0) * 3.0 / 16.0
    assert noise_norm_bound(3.0, 8, eta, as_published=True) == pytest.approx(published, rel=1e-12)


def test_condition_with_public_moments():
    published = GUIDED_NOISE / (GUIDED_PART + 0.1)
    value = robustness_condition(GUIDED, N, MU, as_published=True)
    assert value == pytest.approx(published, rel=1e-10)
    assert robustness_condition(GUIDED, N, MU) == pytest.approx(LOST * published, rel=1e-10)


def test_condition_without_public_moments():
    published = ORACLE_NOISE / (ORACLE_PART + 0.1)
    value = robustness_condition(ORACLE, N, MU, as_published=True)
    assert value == pytest.approx(published, rel=1e-10)
    assert robustness_condition(ORACLE, N, MU) == pytest.approx(LOST * published, rel=1e-10)


@pytest.mark.parametrize("setting", [GUIDED, ORACLE], ids=["guided", "oracle"])
def test_condition_falls_with_rows_and_budget(setting):
    by_rows = [robustness_condition(setting, n, MU) for n in (3, 10, 17, 100, 10**4, 10**8)]
    assert by_rows == sorted(by_rows, reverse=True)
    assert len(set(by_rows)) == len(by_rows)
    by_budget = [robustness_condition(setting, N, mu) for mu in (0.1, 1.0, 10.0)]
    assert by_budget == sorted(by_budget, reverse=True)
    assert by_budget[0] == pytest.approx(100.0 * by_budget[2])


def test_condition_is_infinite_without_a_floor():
    setting = GuidedSetting(d=4, eta=math.exp(-4.0), n_public=144, constant=1.0)
    assert robustness_condition(setting, 16, MU) == math.inf
    assert math.isfinite(robustness_condition(setting, 17, MU))
    assert inverse_error_bound(setting, 16, MU) == math.inf


def test_robust_means_at_most_one_half():
    assert is_robust(0.0)
    assert is_robust(0.5)
    assert not is_robust(math.nextafter(0.5, 1.0))
    assert not is_robust(math.inf)
    for value in (math.nan, -0.1):
        with pytest.raises(ValueError, match=r"^condition must be "):
            is_robust(value)


@pytest.mark.parametrize("setting", [GUIDED, ORACLE], ids=["guided", "oracle"])
@pytest.mark.parametrize("mu", [0.01, 1.0, 10.0, 1e4])
@pytest.mark.parametrize("as_published", [False, True])
def test_required_rows_are_the_fewest(setting, mu, as_published):
    n = required_rows(setting, mu, as_published=as_published)
    assert robustness_condition(setting, n, mu, as_published=as_published) <= 0.5
    if n > 1:
        assert robustness_condition(setting, n - 1, mu, as_published=as_published) > 0.5
    assert robustness_condition(setting, 2 * n, mu, as_published=as_published) <= 0.5


def test_required_rows_can_be_one():
    assert required_rows(GUIDED, 1e6) == 1


def test_required_rows_hold_from_there_on():
    # trace / d + log(n / eta) over n rises from n = 1 to 2 here and falls afterwards.
    setting = OracleSetting(d=1, eta=0.9, trace=0.01, min_eigenvalue=0.01, penalty=1.0)
    conditions = [robustness_condition(setting, n, 1.0) for n in (1, 2, 3, 4)]
    assert conditions[0] < conditions[1]
    assert conditions[2] > conditions[3]
    mu = 2.0 * math.sqrt(conditions[0] * conditions[1])
    assert required_rows(setting, mu) > 1


def test_lost_factor_costs_rows():
    fewer = required_rows(GUIDED, 1.0, as_published=True)
    assert 2.0 * fewer < required_rows(GUIDED, 1.0) < 4.0 * fewer


def test_no_number_of_rows_is_enough_without_eigenvalues():
    setting = OracleSetting(d=2, eta=0.1, trace=1.0, min_eigenvalue=0.0)
    with pytest.raises(ValueError, match="no number of rows"):
        required_rows(setting, 1.0)


def test_inverse_error_with_public_moments():
    published = GUIDED_NOISE / (GUIDED_PART**2 + 0.01)
    value = inverse_error_bound(GUIDED, N, MU, as_published=True)
    assert value == pytest.approx(published, rel=1e-10)
    recovered = inverse_error_bound(GUIDED, N, MU, inverse_norm=7.0, as_published=True)
    assert recovered == pytest.approx(7.0 * published, rel=1e-10)
    assert inverse_error_bound(GUIDED, N, MU) == pytest.approx(2 * LOST * published, rel=1e-10)


def test_inverse_error_without_public_moments():
    published = ORACLE_NOISE / (ORACLE_PART**2 + 0.01)
    value = inverse_error_bound(ORACLE, N, MU, as_published=True)
    assert value == pytest.approx(published, rel=1e-10)
    assert inverse_error_bound(ORACLE, N, MU) == pytest.approx(2 * LOST * published, rel=1e-10)


def test_simplified_errors():
    guided = simplified_inverse_error(GUIDED, N, MU, inverse_norm=2.0)
    assert guided == pytest.approx(RATE * (4.0 + LOG_10000) * 2.0, rel=1e-10)
    # ||S^-1|| = 2 and the average condition number is 8 / (4 * 0.5) = 4.
    oracle = simplified_inverse_error(ORACLE, N, MU)
    assert oracle == pytest.approx(RATE * 2.0 * (4.0 + 2.0 * (4.0 + LOG_10000)), rel=1e-10)


def test_simplified_errors_are_the_limits_of_the_printed_ones():
    many = 10**14
    guided = GuidedSetting(d=4, eta=0.1, n_public=many)
    oracle = OracleSetting(d=4, eta=0.1, trace=8.0, min_eigenvalue=0.5)
    ratio = inverse_error_bound(oracle, many, 1.0, as_published=True)
    assert ratio / simplified_inverse_error(oracle, many, 1.0) == pytest.approx(1.0, abs=1e-5)
    ratio = inverse_error_bound(guided, many, 1.0, as_published=True)
    # What stays apart is 1 + log 2, against log(n / eta) = 34.5.
    assert ratio / simplified_inverse_error(guided, many, 1.0) == pytest.approx(1.049, abs=1e-3)


def test_printed_ridge_errors():
    inverse = GUIDED_NOISE / (GUIDED_PART**2 + 0.01)
    bound = ridge_error_bound(
        GUIDED, N, MU, moment_norm=3.0, coef_norm=2.0, recovery_norm=5.0, factor=1.5
    )
    assert bound == pytest.approx(45.0 * inverse, rel=1e-10)
    inverse = ORACLE_NOISE / (ORACLE_PART**2 + 0.01)
    bound = ridge_error_bound(ORACLE, N, MU, moment_norm=3.0, coef_norm=2.0)
    assert bound == pytest.approx(6.0 * inverse, rel=1e-10)
    assert ridge_error_bound(GUIDED, N, MU, moment_norm=3.0, coef_norm=0.0) == 0.0


def test_explicit_ridge_error_keeps_the_noise_on_the_vector():
    matrix = 2.0 * LOST * GUIDED_NOISE / (GUIDED_PART**2 + 0.01)
    # vector_sd = 2 R r / (mu n), R^2 = 4 (5 + log 20000); ||g|| <= vector_sd (2 + sqrt(8)).
    vector_sd = 2.0 * 2.0 * math.sqrt(5.0 + LOG_20000) * 3.0 / 5000.0
    vector = 2.0 * vector_sd * 4.82842712474619 / (GUIDED_PART + 0.1)
    bound = explicit_ridge_error_bound(GUIDED, N, MU, response_radius=3.0, cross_norm=0.5)
    assert bound == pytest.approx(0.5 * matrix + vector, rel=1e-10)
    bound = explicit_ridge_error_bound(GUIDED, N, MU, response_radius=3.0, cross_norm=0.0)
    assert bound == pytest.approx(vector, rel=1e-10)


def test_explicit_ridge_error_is_silent_where_the_condition_fails():
    n = required_rows(GUIDED, MU)
    assert math.isfinite(explicit_ridge_error_bound(GUIDED, n, MU, response_radius=3.0))
    assert explicit_ridge_error_bound(GUIDED, n - 1, MU, response_radius=3.0) == math.inf


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: noise_norm_bound(0.0, 2, 0.1), "noise_sd"),
        (lambda: noise_norm_bound(1.0, 0, 0.1), "d"),
        (lambda: noise_norm_bound(1.0, 2, 0.0), "eta"),
        (lambda: robustness_condition(GUIDED, 0, 1.0), "n"),
        (lambda: robustness_condition(GUIDED, 10, math.nan), "mu"),
        (lambda: required_rows(GUIDED, 0.0), "mu"),
        (lambda: inverse_error_bound(GUIDED, 10, 1.0, inverse_norm=0.0), "inverse_norm"),
        (lambda: simplified_inverse_error(GUIDED, 0, 1.0), "n"),
        (lambda: simplified_inverse_error(GUIDED, 10, 1.0, inverse_norm=-1.0), "inverse_norm"),
        (
            lambda: ridge_error_bound(GUIDED, 10, 1.0, moment_norm=0.0, coef_norm=1.0),
            "moment_norm",
        ),
        (
            lambda: ridge_error_bound(GUIDED, 10, 1.0, moment_norm=1.0, coef_norm=-1.0),
            "coef_norm",
        ),
        (
            lambda: explicit_ridge_error_bound(GUIDED, N, 1.0, response_radius=0.0),
            "response_radius",
        ),
        (
            lambda: explicit_ridge_error_bound(
                GUIDED, N, 1.0, response_radius=1.0, cross_norm=-1.0
            ),
            "cross_norm",
        ),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=rf"^{name} must be "):
        call()
