"""Lemmas 5.1 and 5.2 and Theorems 5.3 to 5.5 against values worked out by hand."""

import math

import numpy as np
import pytest

from publicmoments.paper import (
    GuidedSetting,
    OracleSetting,
    hessian_lipschitz,
    is_convergent,
    iterations,
    iterations_to_floor,
    logistic_curvature,
    newton_condition,
    newton_error_bound,
    newton_noise_floor,
    start_gradient_bound,
)

GUIDED = GuidedSetting(
    d=4, eta=math.exp(-4.0), n_public=144, penalty=0.2, public_norm=2.0, constant=1.0
)
ORACLE = OracleSetting(
    d=4, eta=math.exp(-4.0), trace=8.0, min_eigenvalue=0.5, penalty=0.1, constant=1.0
)
N, MU, T = 10_000, 0.5, 4
# gamma = 0.25 * 0.5625 * 0.96^2 + 0.2 / 2 and 0.25 * 0.5 * 0.96^2 + 0.1.
GAMMA_GUIDED, GAMMA_ORACLE = 0.2296, 0.2152
# radius^2 = 4 (1 + 4 + log 20000) and 8 + 4 (4 + log 10000).
SQUARED_GUIDED, SQUARED_ORACLE = 59.61395021014451, 60.84136148790473
# sqrt(T d log(2 T d / eta)) = 4 sqrt(4 + log 32).
ENTRIES = 4.0 * 2.732349886599395


def test_curvature_of_logistic_regression():
    assert logistic_curvature(0.0) == 0.25
    # p = 1/4 at log 3.
    assert logistic_curvature(math.log(3.0)) == pytest.approx(3.0 / 16.0, rel=1e-12)
    assert logistic_curvature(1000.0) == 0.0


def test_lipschitz_constant_is_the_largest_third_derivative():
    assert hessian_lipschitz(2.0) == pytest.approx(0.769800358919501, rel=1e-12)
    p = np.linspace(0.0, 1.0, 100_001)
    steepest = np.abs(p * (1.0 - p) * (1.0 - 2.0 * p)).max()
    assert hessian_lipschitz(1.0) == pytest.approx(steepest, rel=1e-8)


def test_start_is_the_tighter_of_two_bounds():
    assert start_gradient_bound(0.5, 10.0, 1.0) == pytest.approx(0.025, rel=1e-12)
    assert start_gradient_bound(0.5, 10.0, 0.01) == pytest.approx(0.005, rel=1e-12)


def test_condition_of_theorems_5_3_and_5_4():
    value = newton_condition(GUIDED, N, MU, T, curvature=0.25)
    expected = ENTRIES * SQUARED_GUIDED / (5000.0 * GAMMA_GUIDED)
    assert value == pytest.approx(expected, rel=1e-10)
    value = newton_condition(ORACLE, N, MU, T, curvature=0.25)
    expected = ENTRIES * SQUARED_ORACLE / (5000.0 * GAMMA_ORACLE)
    assert value == pytest.approx(expected, rel=1e-10)


def test_condition_and_error_of_theorem_5_5():
    condition = ENTRIES * SQUARED_GUIDED * 3.0 / (5000.0 * GAMMA_GUIDED)
    value = newton_condition(GUIDED, N, MU, T, curvature=0.25, curvature_bound=3.0)
    assert value == pytest.approx(condition, rel=1e-10)
    error = newton_error_bound(GUIDED, N, MU, T, curvature=0.25, curvature_bound=3.0, factor=2.0)
    assert error == pytest.approx(2.0 * condition / GAMMA_GUIDED, rel=1e-10)


def test_noise_floor_of_the_proof():
    # C matrix_sd sqrt(d log(T d / eta)) / gamma^3, matrix_sd = sqrt(T) radius^2 / (2 mu n).
    lipschitz = SQUARED_GUIDED**1.5 / 10.392304845413264
    matrix_sd = 2.0 * SQUARED_GUIDED / 10_000.0
    entries = 2.0 * 2.602419782095076
    floor = newton_noise_floor(GUIDED, N, MU, T, curvature=0.25, factor=0.5)
    expected = 0.5 * lipschitz * matrix_sd * entries / GAMMA_GUIDED**3
    assert floor == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("setting", [GUIDED, ORACLE], ids=["guided", "oracle"])
@pytest.mark.parametrize("quantity", [newton_condition, newton_error_bound, newton_noise_floor])
def test_more_rows_and_budget_help(setting, quantity):
    by_rows = [quantity(setting, n, MU, T, curvature=0.1) for n in (10, 100, 10**4, 10**8)]
    assert by_rows == sorted(by_rows, reverse=True)
    one, ten = (quantity(setting, N, mu, T, curvature=0.1) for mu in (1.0, 10.0))
    assert one == pytest.approx(10.0 * ten)
    assert quantity(setting, N, MU, T + 1, curvature=0.1) > quantity(
        setting, N, MU, T, curvature=0.1
    )


@pytest.mark.parametrize("quantity", [newton_condition, newton_error_bound, newton_noise_floor])
def test_no_convexity_means_no_statement(quantity):
    setting = GuidedSetting(d=4, eta=math.exp(-4.0), n_public=144, constant=1.0)
    assert quantity(setting, 16, MU, T, curvature=0.25) == math.inf


def test_convergent_means_at_most_one_eighteenth():
    assert is_convergent(1.0 / 18.0)
    assert not is_convergent(math.nextafter(1.0 / 18.0, 1.0))
    assert not is_convergent(math.inf)
    for value in (math.nan, -1.0):
        with pytest.raises(ValueError, match=r"^noise_floor must be "):
            is_convergent(value)


@pytest.mark.parametrize("n", [3, 4, 5, 16, 17, 256, 257, 10_000, 65_536, 65_537, 10**9])
def test_iterations_are_the_fewest_that_square_one_half_down_to_one_row(n):
    steps = iterations(n)
    assert 2 ** (2**steps) >= n
    assert steps == 1 or 2 ** (2 ** (steps - 1)) < n


def test_iterations_scale_with_the_constant_and_are_at_least_one():
    assert iterations(1) == iterations(2) == 1
    assert iterations(65_536, constant=2.5) == 10
    assert iterations(65_536, constant=0.01) == 1


@pytest.mark.parametrize("floor", [0.4, 0.25, 0.05, 1e-4, 1e-12])
def test_iterations_to_the_floor_are_the_fewest(floor):
    steps = iterations_to_floor(floor)
    assert 0.5 ** (2**steps) <= floor
    assert steps == 1 or 0.5 ** (2 ** (steps - 1)) > floor


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: logistic_curvature(-1.0), "reach"),
        (lambda: hessian_lipschitz(0.0), "radius"),
        (lambda: start_gradient_bound(0.0, 1.0, 1.0), "convexity"),
        (lambda: start_gradient_bound(1.0, 0.0, 1.0), "lipschitz"),
        (lambda: start_gradient_bound(1.0, 1.0, math.nan), "ball_radius"),
        (lambda: newton_condition(GUIDED, N, 0.0, T, curvature=0.1), "mu"),
        (lambda: newton_condition(GUIDED, N, MU, 0, curvature=0.1), "iterations"),
        (lambda: newton_condition(GUIDED, N, MU, T, curvature=0.0), "curvature"),
        (lambda: newton_error_bound(GUIDED, N, MU, T, curvature=0.1, factor=0.0), "factor"),
        (lambda: newton_noise_floor(GUIDED, 0, MU, T, curvature=0.1), "n"),
        (lambda: iterations(0), "n"),
        (lambda: iterations(10, constant=0.0), "constant"),
        (lambda: iterations_to_floor(0.5), "noise_floor"),
        (lambda: iterations_to_floor(0.0), "noise_floor"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=rf"^{name} must be "):
        call()
