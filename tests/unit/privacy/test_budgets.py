"""Budgets validate, convert in the stated direction, compose and split."""

import math
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest

from publicmoments.privacy import GDP, ZCDP, ApproxDP, Budget, compose, gdp_delta, gdp_epsilon

BAD_NUMBERS = [math.nan, -1.0, 0.0, 0, math.inf]
BAD_TYPES = [True, "1", None]


@pytest.mark.parametrize("kind", [GDP, ZCDP, lambda value: ApproxDP(value, 1e-6)])
@pytest.mark.parametrize("value", BAD_NUMBERS)
def test_bad_numbers_are_refused(kind, value):
    with pytest.raises(ValueError, match=r"must be in \(0, inf\), got .*; pass a positive budget"):
        kind(value)


@pytest.mark.parametrize("kind", [GDP, ZCDP, lambda value: ApproxDP(value, 1e-6)])
@pytest.mark.parametrize("value", BAD_TYPES)
def test_bad_types_are_refused(kind, value):
    with pytest.raises(TypeError, match=r"must be a number in \(0, inf\)"):
        kind(value)


def test_message_names_the_parameter_and_the_value():
    with pytest.raises(ValueError, match=r"^epsilon must be in \(0, inf\), got epsilon=-1\.0;"):
        ApproxDP(-1.0, 1e-6)


@pytest.mark.parametrize("delta", [0.0, 1.0, 1.5, -1e-6, float("nan")])
def test_delta_outside_is_refused(delta):
    with pytest.raises(ValueError, match=r"delta must be in \(0, 1\).*below 1/n"):
        ApproxDP(1.0, delta)


def test_missing_delta_says_how_to_choose_one():
    with pytest.raises(TypeError, match=r"needs a delta beside epsilon=1\.0.*well below 1/n"):
        ApproxDP(1.0)


def test_numbers_are_stored_as_float_and_frozen():
    budget = ApproxDP(np.int64(1), np.float32(0.5))
    assert type(budget.epsilon) is float
    assert type(budget.delta) is float
    assert type(GDP(1).mu) is float
    with pytest.raises(FrozenInstanceError):
        GDP(1).mu = 2.0  # type: ignore[misc]
    assert not hasattr(GDP(1), "__dict__")
    assert isinstance(GDP(1), Budget)


def test_mu_of_each_kind():
    assert GDP(0.7).mu == 0.7
    assert ZCDP(0.5).mu == 1.0
    budget = ApproxDP(1.0, 1e-6)
    assert gdp_delta(budget.mu, 1.0) == pytest.approx(1e-6, rel=1e-9)
    for each in (GDP(0.7), ZCDP(0.5), budget):
        assert each.to_gdp() == GDP(each.mu)


@pytest.mark.parametrize("rho", [1e-9, 0.1, 1 / 3, 0.7, 12.3, 1e200])
def test_zcdp_and_gdp_round_inward_and_outward(rho):
    assert Fraction(ZCDP(rho).mu) ** 2 <= 2 * Fraction(rho)
    assert ZCDP(rho).mu == pytest.approx(math.sqrt(2) * math.sqrt(rho), rel=1e-15)
    mu = math.sqrt(rho)
    assert 2 * Fraction(GDP(mu).to_zcdp().rho) >= Fraction(mu) ** 2


def test_gdp_to_approx_dp_in_both_directions():
    by_delta = GDP(1.0).to_approx_dp(delta=1e-6)
    assert by_delta.epsilon == gdp_epsilon(1.0, 1e-6)
    by_epsilon = GDP(1.0).to_approx_dp(epsilon=by_delta.epsilon)
    assert by_epsilon.delta == pytest.approx(1e-6, rel=1e-9)
    assert by_delta.mu == pytest.approx(1.0, rel=1e-12)


def test_gdp_to_approx_dp_needs_exactly_one_coordinate():
    for arguments in ({}, {"delta": 1e-6, "epsilon": 1.0}):
        with pytest.raises(TypeError, match="exactly one of delta and epsilon"):
            GDP(1.0).to_approx_dp(**arguments)


def test_vanishing_coordinates_are_rounded_up():
    assert 0 < GDP(1e-6).to_approx_dp(delta=0.1).epsilon < 1e-300
    assert 0 < GDP(1e-3).to_approx_dp(epsilon=10.0).delta < 1e-300


@pytest.mark.parametrize("rho", [1e-3, 0.05, 0.5, 5.0, 100.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-6, 1e-2])
def test_zcdp_to_approx_dp_lies_between_the_exact_curve_and_the_textbook_bound(rho, delta):
    epsilon = ZCDP(rho).to_approx_dp(delta).epsilon
    # Gaussian mechanisms are rho-zCDP, so no valid conversion can be below their exact epsilon.
    assert epsilon >= gdp_epsilon(ZCDP(rho).mu, delta)
    assert epsilon < rho + 2 * math.sqrt(rho * math.log(1 / delta))


def test_zcdp_to_approx_dp_is_the_minimum_over_orders():
    rho, delta = 0.5, 1e-6
    alphas = 1 + np.logspace(-3, 4, 200_001)
    grid = rho * alphas - np.log(alphas * delta) / (alphas - 1) + np.log1p(-1 / alphas)
    assert ZCDP(rho).to_approx_dp(delta).epsilon == pytest.approx(grid.min(), rel=1e-8)


def test_compose_by_kind():
    assert compose(GDP(3), GDP(4)) == GDP(5)
    assert compose(ZCDP(0.25), ZCDP(0.5)) == ZCDP(0.75)
    assert compose(ApproxDP(1, 0.25), ApproxDP(2, 0.5)) == ApproxDP(3, 0.75)
    assert compose(GDP(3)) == GDP(3)


@pytest.mark.parametrize("budgets", [(), (GDP(1), ZCDP(1)), (GDP(1), 1.0), (1.0, 2.0)])
def test_compose_refuses_nothing_and_mixtures(budgets):
    with pytest.raises(TypeError, match="of one kind"):
        compose(*budgets)


def test_split_keeps_proportions():
    parts = GDP(2.0).split(1, 3)
    assert parts[1].mu / parts[0].mu == pytest.approx(math.sqrt(3))
    assert compose(*parts).mu == pytest.approx(2.0, rel=1e-15)
    assert [part.rho for part in ZCDP(1.0).split(1, 3)] == [0.25, 0.75]
    budget = ApproxDP(1.0, 1e-6)
    assert compose(*budget.split(1, 1, 1)).mu == pytest.approx(budget.mu, rel=1e-15)


@pytest.mark.parametrize("shares", [(), (0,), (1, -1), (1, math.nan), (math.inf,)])
def test_split_refuses_bad_shares(shares):
    with pytest.raises(ValueError, match="share"):
        GDP(1.0).split(*shares)
