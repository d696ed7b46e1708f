"""Noise on vectors: its scale, its exact cost, its distance from Gaussian DP, who may draw it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting.pld.privacy_loss_mechanism import DiscreteGaussianPrivacyLoss

from publicmoments.privacy import NoiseLaw, gdp_delta, gram_noise_law
from publicmoments.privacy.laws import (
    VectorNoiseLaw,
    extra_delta,
    triangle_noise_law,
    vector_noise_law,
)
from publicmoments.privacy.noise import (
    SeededNoise,
    SystemNoise,
    UnprotectedNoise,
    add_vector_noise,
)
from publicmoments.privacy.unit import ONE_ROW


def law_for(bound, dimension, mu):
    """Law of the noise of a sum of rows within a bound."""
    return vector_noise_law(ONE_ROW.sum_square(bound), dimension, mu)


def cost(law, bound):
    """What it costs to release such a sum with it."""
    return law.cost(ONE_ROW.sum_square(bound))


MUS = [0.01, 0.1, 1 / 3, 1.0, 2.7, 100.0]
BOUNDS = [1, 10, 12345, 4**26, 2**62 + 1, (2**33 + 5) ** 2 + 1]


@pytest.mark.parametrize("noise_sd", [0.3, 1.0, 12.7, 1e5 / 3, 2.0**40 + 1.0])
@pytest.mark.parametrize("bound", [1, 12345, 0.1, 4**26, 2**62 + 1, 2**64 - 1])
def test_the_cost_is_exact_and_rounded_up_once(noise_sd, bound):
    # Changes of 2 sqrt(B): (2 sqrt(B))^2 / (2 s^2).
    exact = 4 * Fraction(bound) / (2 * Fraction(noise_sd) ** 2)
    rho = cost(VectorNoiseLaw(noise_sd, 3), bound)
    assert Fraction(math.nextafter(rho, 0.0)) < exact <= Fraction(rho)


def test_the_cost_of_a_numpy_integer_is_that_of_the_integer():
    law = VectorNoiseLaw(7.0, 1)
    assert cost(law, np.int64(2**62)) == cost(law, 2**62)


@pytest.mark.parametrize("bound", [0, -1, math.nan, math.inf])
def test_the_cost_needs_a_bound(bound):
    with pytest.raises(ValueError, match="l2_bound_squared must be"):
        cost(VectorNoiseLaw(7.0, 1), bound)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("dimension", [1, 30])
@pytest.mark.parametrize("mu", MUS)
def test_cost_never_exceeds_the_budget_and_uses_it_up(bound, dimension, mu):
    law = law_for(bound, dimension, mu)
    allowed = Fraction(mu) ** 2 / 2
    assert Fraction(cost(law, bound)) <= allowed
    assert Fraction(cost(law, bound)) >= allowed * (1 - Fraction(1, 10**12))
    assert law.dimension == dimension


@pytest.mark.parametrize(("bound", "mu", "noise_sd"), [(10_000, 0.5, 400.0), (4**26, 2.0, 2**26)])
def test_scale_by_hand(bound, mu, noise_sd):
    assert law_for(bound, 4, mu).noise_sd == noise_sd


@pytest.mark.parametrize("noise_sd", [10.0, 12.5, 2.0**30])
@pytest.mark.parametrize("dimension", [1, 7])
def test_distance_adds_over_entries(noise_sd, dimension):
    one = NoiseLaw(noise_sd, noise_sd, 1).gdp_extra_tv
    law = VectorNoiseLaw(noise_sd, dimension)
    assert law.gdp_extra_tv == pytest.approx(dimension * one, rel=1e-14, abs=0.0)
    assert law.gdp_extra_tv == pytest.approx(dimension / (48 * noise_sd**2), rel=1e-14, abs=0.0)


def test_distance_is_refused_where_it_is_not_established():
    with pytest.raises(ValueError, match=r"at least 10\.0 grid units for a GDP statement"):
        _ = VectorNoiseLaw(9.99, 2).gdp_extra_tv


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize(("length", "mu"), [(10, 1.0), (12, 0.5), (20, 2.0)])
def test_an_independent_accountant_finds_no_more_than_is_claimed(length, mu, epsilon):
    law = law_for(length**2, 1, mu)
    theirs = DiscreteGaussianPrivacyLoss(law.noise_sd, sensitivity=2 * length)
    found = theirs.get_delta_for_epsilon(epsilon)
    claimed = gdp_delta(mu, epsilon) + extra_delta(law.gdp_extra_tv, epsilon)
    assert found <= claimed
    assert found >= 0.8 * gdp_delta(mu, epsilon)


@pytest.mark.parametrize("bound", [1, 12345, 2**33 + 7])
@pytest.mark.parametrize("dimension", [2, 30])
@pytest.mark.parametrize("mu", [0.1, 1.0, 2.7])
def test_published_noise_costs_half_of_what_it_states(bound, dimension, mu):
    law = triangle_noise_law(bound, dimension, mu)
    assert law.diagonal_sd == law.offdiagonal_sd == pytest.approx(2 * bound / mu, rel=1e-15)
    assert law.dimension == dimension
    assert law.rho(bound) == pytest.approx(mu**2 / 4, rel=1e-13)
    tight = gram_noise_law(bound, dimension, mu)
    assert law.diagonal_sd == pytest.approx(math.sqrt(2) * tight.diagonal_sd, rel=1e-14)
    assert law.offdiagonal_sd == pytest.approx(2 * tight.offdiagonal_sd, rel=1e-14)


def test_published_noise_of_one_entry_costs_a_quarter():
    assert triangle_noise_law(1000, 1, 0.6).rho(1000) == pytest.approx(0.6**2 / 8, rel=1e-13)


@pytest.mark.parametrize(
    "arguments",
    [(0.0, 2), (-1.0, 2), (math.nan, 2), (math.inf, 2), (2.0**57, 2), (2.0**-41, 2), (1.0, 0)],
)
def test_law_is_checked(arguments):
    with pytest.raises(ValueError, match="must be"):
        VectorNoiseLaw(*arguments)


@pytest.mark.parametrize("make", [law_for, triangle_noise_law])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 2, 1.0), "l2_bound_squared must be"),
        ((10, 0, 1.0), "dimension must be"),
        ((10, 2, 0.0), "mu must be"),
        ((10, 2, math.nan), "mu must be"),
        ((10, 2, math.inf), "mu must be"),
        ((10, 2, 1e-300), r"sd must be between 2\*\*-40 and 2\*\*56 grid units"),
        ((10, 2, 1e20), r"sd must be between 2\*\*-40 and 2\*\*56 grid units"),
    ],
)
def test_makers_of_laws_are_checked(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(*arguments)


@pytest.mark.parametrize("make", [triangle_noise_law, gram_noise_law])
def test_bound_must_be_an_integer_even_if_its_law_is_known(make):
    make(10, 2, 1.0)
    with pytest.raises(TypeError, match="l2_bound_squared must be an integer"):
        make(10.0, 2, 1.0)


def test_every_entry_gets_its_own_draw_of_the_law(watch):
    exact = np.array([5, -7, 0], dtype=np.int64)
    noisy = add_vector_noise(exact, VectorNoiseLaw(700.0, 3), watch.noise())
    assert noisy.tolist() == [705, 693, 700]
    assert watch.events == ["draw"]
    noisy = add_vector_noise(np.zeros(300, dtype=np.int64), VectorNoiseLaw(1e9, 300), SystemNoise())
    assert noisy.dtype == np.int64
    assert len(np.unique(noisy)) == 300


def test_the_exact_vector_is_left_alone():
    exact = np.zeros(4, dtype=np.int64)
    add_vector_noise(exact, VectorNoiseLaw(1e6, 4), SeededNoise(3))
    assert not exact.any()


@pytest.mark.parametrize(
    ("exact", "error", "message"),
    [
        (np.zeros(2), TypeError, "int64"),
        (np.zeros(2, dtype=np.int32), TypeError, "int64"),
        ([0, 0], TypeError, "int64"),
        (np.zeros(3, dtype=np.int64), ValueError, r"shape \(2,\), got \(3,\)"),
        (np.zeros((2, 1), dtype=np.int64), ValueError, r"shape \(2,\), got \(2, 1\)"),
        (np.array([2**62, 0]), ValueError, r"below 2\*\*62"),
        (np.array([0, -(2**62)]), ValueError, r"below 2\*\*62"),
    ],
)
def test_vector_is_checked_before_any_draw(watch, exact, error, message):
    with pytest.raises(error, match=message) as caught:
        add_vector_noise(exact, VectorNoiseLaw(10.0, 2), watch.noise())
    assert watch.events == []
    assert str(2**62) not in str(caught.value)


def test_largest_entries_do_not_wrap():
    exact = np.array([2**62 - 1, 1 - 2**62])
    noisy = add_vector_noise(exact, VectorNoiseLaw(2.0**56, 2), SeededNoise(0))
    assert noisy[0] > 2**61
    assert noisy[1] < -(2**61)


def test_noise_out_of_range_is_refused(watch):
    with pytest.raises(ValueError, match="range of 64-bit integers"):
        add_vector_noise(
            np.zeros(2, dtype=np.int64), VectorNoiseLaw(2.0**56, 2), watch.noise(factor=64.0)
        )


@pytest.mark.parametrize("source", [SystemNoise(), SeededNoise(4)], ids=repr)
def test_unprotected_noise_is_that_of_its_source_without_the_claim(source):
    unprotected = UnprotectedNoise(source)
    assert unprotected.private is False
    assert repr(unprotected) == f"UnprotectedNoise({source!r})"
    with pytest.raises(AttributeError):
        unprotected.private = True


def test_unprotected_noise_draws_what_its_source_draws():
    ours, theirs = (make(SeededNoise(4)) for make in (UnprotectedNoise, lambda source: source))
    assert ours.draw(50, 1e6).tolist() == theirs.draw(50, 1e6).tolist()
