"""The noise law: its scale, its exact cost, and its distance from Gaussian DP."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from publicmoments.privacy import NoiseLaw, gdp_delta, gram_noise_law, gram_sensitivity
from publicmoments.privacy.laws import extra_delta


def discrete_gaussian(noise_sd: float, reach: int, centre: int = 0) -> np.ndarray:
    """Probabilities on the integers from -reach to reach."""
    points = np.arange(-reach, reach + 1)
    weights = np.exp(-0.5 * ((points - centre) / noise_sd) ** 2)
    return weights / weights.sum()


def rounded_gaussian(noise_sd: float, reach: int) -> np.ndarray:
    """Probabilities of a rounded continuous Gaussian on the same integers."""
    return np.diff(norm.cdf((np.arange(-reach, reach + 2) - 0.5) / noise_sd))


@pytest.mark.parametrize("bound", [1, 10, 12345, 2**31 + 11, 2**40 + 1])
@pytest.mark.parametrize("dimension", [1, 2, 30])
@pytest.mark.parametrize("mu", [0.01, 0.1, 1 / 3, 1.0, 2.7, 100.0])
def test_cost_never_exceeds_the_budget(bound, dimension, mu):
    law = gram_noise_law(bound, dimension, mu)
    cost = law.rho(bound)
    assert cost <= mu * mu / 2
    assert Fraction(cost) <= Fraction(mu) ** 2 / 2
    assert cost == pytest.approx(mu * mu / 2, rel=1e-14)


def test_scale_on_and_off_the_diagonal():
    law = gram_noise_law(1000, 5, 0.25)
    assert law.diagonal_sd == pytest.approx(gram_sensitivity(1000, 5) / 0.25, rel=1e-14)
    assert 2 * Fraction(law.offdiagonal_sd) ** 2 >= Fraction(law.diagonal_sd) ** 2
    assert law.offdiagonal_sd == pytest.approx(law.diagonal_sd / math.sqrt(2), rel=1e-15)


def test_cost_sees_a_weak_off_diagonal():
    law = NoiseLaw(100.0, 100.0 / math.sqrt(2) / 2, 3)
    assert law.rho(10) == pytest.approx(4 * 10**2 / 100**2, rel=1e-14)
    # in one dimension there is no off-diagonal entry to be weak
    assert NoiseLaw(100.0, 1.0, 1).rho(10) == pytest.approx(0.5 * 10**2 / 100**2, rel=1e-14)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 8.0])
def test_cost_bounds_the_renyi_divergence_by_summation(alpha):
    noise_sd, shift = 3.0, 4
    log_p, log_q = (np.log(discrete_gaussian(noise_sd, 90, centre)) for centre in (0, shift))
    divergence = logsumexp(alpha * log_p + (1 - alpha) * log_q) / (alpha - 1)
    rho = NoiseLaw(noise_sd, noise_sd, 1).rho(shift)
    assert divergence <= alpha * rho * (1 + 1e-9)
    assert divergence >= 0.98 * alpha * rho


@pytest.mark.parametrize("noise_sd", [10.0, 10.3, 12.5, 30.0, 100.0, 400.0])
def test_distance_bound_against_summation(noise_sd):
    reach = math.ceil(20 * noise_sd)
    gaps = np.abs(discrete_gaussian(noise_sd, reach) - rounded_gaussian(noise_sd, reach))
    distance = gaps.sum() / 2
    bound = NoiseLaw(noise_sd, noise_sd, 1).gdp_extra_tv
    assert distance <= bound
    assert distance >= 0.95 * bound


def test_distance_adds_over_entries():
    law = NoiseLaw(20.0, 15.0, 4)
    assert law.gdp_extra_tv == pytest.approx(4 / (48 * 400) + 6 / (48 * 225), rel=1e-14)


@pytest.mark.parametrize("law", [NoiseLaw(9.99, 20.0, 2), NoiseLaw(20.0, 9.99, 2)])
def test_distance_is_refused_where_it_is_not_established(law):
    with pytest.raises(ValueError, match=r"at least 10\.0 grid units for a GDP statement"):
        _ = law.gdp_extra_tv


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 3.0])
def test_gaussian_curve_plus_extra_delta_covers_the_discrete_noise(epsilon):
    noise_sd, shift = 12.0, 18
    p, q = (discrete_gaussian(noise_sd, 600, centre) for centre in (0, shift))
    exact = np.maximum(p - np.exp(epsilon) * q, 0).sum()
    curve = gdp_delta(shift / noise_sd, epsilon)
    extra = extra_delta(NoiseLaw(noise_sd, noise_sd, 1).gdp_extra_tv, epsilon)
    assert exact <= curve + extra
    assert extra == pytest.approx((1 + math.exp(epsilon)) / (48 * noise_sd**2), rel=1e-12)


def test_extra_delta_is_at_most_one():
    extra_tv = NoiseLaw(20.0, 20.0, 3).gdp_extra_tv
    assert extra_delta(extra_tv, 1e6) == 1.0
    with pytest.raises(ValueError, match="epsilon"):
        extra_delta(extra_tv, math.nan)


@pytest.mark.parametrize(
    "arguments",
    [
        (0.0, 1.0, 2),
        (1.0, math.nan, 2),
        (math.inf, 1.0, 2),
        (2.0**57, 1.0, 2),
        (1.0, 2.0**-41, 2),
        (1.0, 1.0, 0),
    ],
)
def test_law_is_checked(arguments):
    with pytest.raises(ValueError, match="must be"):
        NoiseLaw(*arguments)


@pytest.mark.parametrize(
    "arguments", [(0, 2, 1.0), (2**62, 2, 1.0), (10, 2, 0.0), (10, 2, math.nan), (10, 2, 1e-300)]
)
def test_gram_noise_law_is_checked(arguments):
    with pytest.raises(ValueError, match="must be"):
        gram_noise_law(*arguments)


def test_bound_must_be_an_integer():
    with pytest.raises(TypeError, match="l2_bound_squared must be an integer"):
        gram_noise_law(10.0, 2, 1.0)  # type: ignore[arg-type]
