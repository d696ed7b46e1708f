"""The GDP curve, in its three directions, against itself and against high precision."""

import math

import mpmath
import numpy as np
import pytest

from publicmoments.privacy.curves import gdp_delta, gdp_epsilon, gdp_mu

MUS = [1e-3, 1e-2, 0.0999, 0.1001, 0.5, 1.0, 7.0, 40.0, 1e3]
DELTAS = [1e-12, 1e-9, 1e-6, 1e-4, 1e-2]


def reference_delta(mu: float, epsilon: float) -> mpmath.mpf:
    """The defining formula in 60 digits."""
    with mpmath.workdps(60):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        a = -epsilon / mu + mu / 2
        cdf = lambda t: mpmath.erfc(-t / mpmath.sqrt(2)) / 2  # noqa: E731
        return cdf(a) - mpmath.exp(epsilon) * cdf(a - mu)


@pytest.mark.parametrize("mu", [1e-6, *MUS])
@pytest.mark.parametrize("a", [-30.0, -12.0, -5.0, -1.0, -0.04, 0.0, 0.04])
def test_delta_agrees_with_high_precision(mu, a):
    epsilon = max(0.0, mu * (mu / 2 - a))
    assert abs(gdp_delta(mu, epsilon) / reference_delta(mu, epsilon) - 1) < 1e-11


@pytest.mark.parametrize("mu", [1e-6, *MUS])
def test_delta_at_zero_is_the_total_variation(mu):
    assert gdp_delta(mu, 0.0) == pytest.approx(math.erf(mu / math.sqrt(8)), rel=1e-13)


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("delta", DELTAS)
def test_round_trips(mu, delta):
    epsilon = gdp_epsilon(mu, delta)
    if epsilon == 0.0:
        assert gdp_delta(mu, 0.0) <= delta
        return
    assert gdp_delta(mu, epsilon) == pytest.approx(delta, rel=1e-9)
    assert gdp_mu(epsilon, delta) == pytest.approx(mu, rel=1e-9)


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("delta", DELTAS)
def test_results_err_on_the_safe_side(mu, delta):
    epsilon = gdp_epsilon(mu, delta)
    assert gdp_delta(mu, epsilon) <= delta * (1 + 1e-12)
    safe_mu = gdp_mu(1.0 + epsilon, delta)
    assert gdp_delta(safe_mu, 1.0 + epsilon) <= delta * (1 + 1e-12)
    # and not by much: a step further breaks the promise
    assert gdp_delta(safe_mu * (1 + 1e-9), 1.0 + epsilon) > delta


def test_epsilon_is_zero_when_delta_covers_everything():
    assert gdp_epsilon(1e-3, 0.01) == 0.0
    assert gdp_epsilon(1e-3, 1e-4) > 0.0


def test_no_overflow_far_out():
    assert gdp_delta(1e3, 5.2e5) < 1e-50
    assert gdp_delta(1e-3, 1.0) == 0.0
    assert gdp_delta(1e-200, 1e200) == 0.0
    assert gdp_delta(1e3, 1.0) == 1.0


@pytest.mark.parametrize("mu", [0.05, 1.0, 30.0])
def test_delta_falls_with_epsilon_and_grows_with_mu(mu):
    # from where delta leaves 1 in floating point to where it is tiny
    epsilons = np.linspace(max(0.0, mu * (mu / 2 - 5)), mu * (mu / 2 + 6), 60)
    deltas = np.array([gdp_delta(mu, float(epsilon)) for epsilon in epsilons])
    assert np.all(np.diff(deltas) < 0)
    assert np.all(deltas < [gdp_delta(mu * 1.01, float(epsilon)) for epsilon in epsilons])


def test_mu_at_zero_epsilon_has_a_closed_form():
    assert gdp_mu(0.0, 0.3) == pytest.approx(0.770640932, rel=1e-8)
    assert gdp_delta(gdp_mu(0.0, 0.3), 0.0) == pytest.approx(0.3, rel=1e-12)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (gdp_delta, (0.0, 1.0)),
        (gdp_delta, (1.0, -1.0)),
        (gdp_delta, (1.0, math.nan)),
        (gdp_epsilon, (1.0, 0.0)),
        (gdp_epsilon, (1.0, 1.0)),
        (gdp_epsilon, (math.inf, 0.1)),
        (gdp_mu, (math.nan, 0.1)),
        (gdp_mu, (1.0, 2.0)),
    ],
)
def test_arguments_are_checked(function, arguments):
    with pytest.raises(ValueError, match="must be in"):
        function(*arguments)
