"""The GDP curve agrees with dp-accounting, an independent implementation."""

import math

import pytest
from dp_accounting import GaussianDpEvent, get_epsilon_gaussian
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss
from dp_accounting.rdp import RdpAccountant

from publicmoments.privacy import GDP, ZCDP, ApproxDP, compose, gdp_delta, gdp_epsilon

MUS = [0.05, 0.3, 1.0, 3.0, 10.0]


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("deviations", [-5.0, -3.0, -1.0, 0.0, 1.0])
def test_delta(mu, deviations):
    # a grid along the curve: delta runs from 1e-7 or so up to its value at epsilon = 0
    epsilon = max(0.0, mu * (mu / 2 - deviations))
    theirs = GaussianPrivacyLoss(standard_deviation=1 / mu).get_delta_for_epsilon(epsilon)
    assert gdp_delta(mu, epsilon) == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
def test_epsilon_and_mu(mu, delta):
    theirs = get_epsilon_gaussian(sigma=1 / mu, delta=delta)
    assert gdp_epsilon(mu, delta) == pytest.approx(theirs, rel=1e-6)
    assert ApproxDP(theirs, delta).mu == pytest.approx(mu, rel=1e-6)


def test_composition():
    parts = [GDP(0.3), GDP(0.7), GDP(1.1)]
    total = math.sqrt(0.3**2 + 0.7**2 + 1.1**2)
    theirs = get_epsilon_gaussian(sigma=1 / total, delta=1e-6)
    assert compose(*parts).to_approx_dp(delta=1e-6).epsilon == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize("rho", [0.05, 0.5, 5.0])
def test_zcdp_conversion_is_no_looser_than_theirs(rho):
    accountant = RdpAccountant(orders=[1 + 10 ** (k / 40) for k in range(-120, 160)])
    accountant.compose(GaussianDpEvent(1 / math.sqrt(2 * rho)))
    theirs = accountant.get_epsilon(1e-6)
    assert ZCDP(rho).to_approx_dp(1e-6).epsilon == pytest.approx(theirs, rel=2e-3)
    assert ZCDP(rho).to_approx_dp(1e-6).epsilon <= theirs * (1 + 1e-9)
