"""The constant model from a noisy histogram, for every family."""

from __future__ import annotations

import math

import numpy as np
import pytest

from publicmoments.evidence.responses import OFFSETS, Histogram, response_edges, typical_offset
from publicmoments.families import Bernoulli, Gamma, Gaussian, Multinomial, Poisson

N = 20_000
RNG = np.random.default_rng(0)


def counted(values, edges):
    cells = np.searchsorted(edges, values, side="right") - 1
    return np.bincount(cells[cells >= 0], minlength=len(edges)) / len(values)


def histogram(family, values, noise_sd=0.0, rates=False):
    edges = response_edges(family, rates)
    noisy = counted(values, edges) + noise_sd * np.random.default_rng(1).normal(size=len(edges))
    return Histogram.of(family, edges, noisy, noise_sd)


RESPONSES = {
    "numbers": (Gaussian(), RNG.normal(0.7, 0.5, size=N), 0.7),
    "numbers far off": (Gaussian(), RNG.normal(-900.0, 50.0, size=N), -900.0),
    "two classes": (Bernoulli(), (RNG.random(N) < 0.2).astype(float), math.log(0.25)),
    "counts": (Poisson(), RNG.poisson(3.0, size=N).astype(float), math.log(3.0)),
    "rare counts": (Poisson(), RNG.poisson(0.05, size=N).astype(float), math.log(0.05)),
    "large counts": (Poisson(), RNG.poisson(5e3, size=N).astype(float), math.log(5e3)),
    "sizes": (Gamma(), 7.0 * RNG.gamma(4.0, 0.25, size=N), math.log(7.0)),
    "small sizes": (Gamma(), 1e-4 * RNG.gamma(4.0, 0.25, size=N), math.log(1e-4)),
}


@pytest.mark.parametrize("noise_sd", [0.0, 1e-3])
@pytest.mark.parametrize(("family", "values", "level"), RESPONSES.values(), ids=RESPONSES)
def test_the_constant_model_is_that_of_the_responses(family, values, level, noise_sd):
    found = histogram(family, values, noise_sd).constants(family)
    # Cells are half an octave wide, or one where numbers are far from their public size.
    allowed = 0.3 * abs(level) if family == Gaussian() and abs(level) > 100.0 else 0.15
    np.testing.assert_allclose(found, [level], atol=allowed)


@pytest.mark.parametrize("noise_sd", [0.0, 1e-3])
def test_classes_have_their_shares(noise_sd):
    family, shares = Multinomial(4), np.array([0.5, 0.3, 0.15, 0.05])
    values = np.random.default_rng(2).choice(4, p=shares, size=N).astype(float)
    made = histogram(family, values, noise_sd)
    np.testing.assert_allclose(made.shares, shares, atol=0.02)
    found = family.probabilities(made.constants(family)[None])[0]
    np.testing.assert_allclose(found, shares, atol=0.02)


def test_slopes_spread_as_the_responses_do():
    family, values, _ = RESPONSES["numbers"]
    made = histogram(family, values)
    slopes = made.slopes(family, made.constants(family))
    assert slopes.shape == (len(made.shares), 1)
    assert made.shares @ slopes[:, 0] == pytest.approx(0.0, abs=0.05)
    assert made.shares @ slopes[:, 0] ** 2 == pytest.approx(0.25, rel=0.15)


@pytest.mark.parametrize(
    "family", [Gaussian(), Bernoulli(), Poisson(), Gamma(), Multinomial(3)], ids=repr
)
@pytest.mark.parametrize("noise_sd", [0.3, 100.0])
def test_noise_that_hides_all_leaves_a_sensible_model(family, noise_sd):
    edges = response_edges(family)
    noisy = noise_sd * np.random.default_rng(3).normal(size=len(edges))
    made = Histogram.of(family, edges, noisy, noise_sd)
    assert made.shares.sum() == pytest.approx(1.0)
    assert (made.shares >= 0.0).all()
    assert family.allows(made.middles[made.shares > 0.0]).all()
    # No class is rarer than one in a hundred, and sizes are about those that are public.
    assert np.abs(made.constants(family)).max() < 6.0
    slopes = made.slopes(family, made.constants(family))
    assert made.shares @ np.sum(slopes**2, axis=1) > 1e-3


@pytest.mark.parametrize("values", [np.zeros(N), np.ones(N)])
def test_a_class_without_rows_is_only_rare(values):
    made = histogram(Bernoulli(), values)
    assert made.shares.min() == pytest.approx(0.01, rel=0.02)
    assert abs(made.constants(Bernoulli())[0]) == pytest.approx(math.log(100.0), abs=0.1)


def test_counts_of_nothing_have_a_finite_model():
    made = histogram(Poisson(), np.zeros(N))
    np.testing.assert_array_equal(made.middles[made.shares > 0.0], [0.0])
    assert -30.0 < made.constants(Poisson())[0] < -5.0


# Cells


@pytest.mark.parametrize(
    ("family", "rates"),
    [
        (Gaussian(), False),
        (Bernoulli(), False),
        (Poisson(), False),
        (Poisson(), True),
        (Gamma(), False),
        (Multinomial(5), False),
    ],
    ids=repr,
)
def test_every_response_has_a_cell(family, rates):
    edges = response_edges(family, rates)
    assert (np.diff(edges) > 0.0).all()
    allowed = np.array([-1e3, -1.0, 0.0, 1e-3, 0.5, 1.0, 2.0, 3.0, 4.0, 77.0, 1e6])
    allowed = allowed[family.allows(allowed)]
    assert counted(allowed, edges).sum() == pytest.approx(1.0)


def test_classes_have_a_cell_each():
    edges = response_edges(Multinomial(3))
    np.testing.assert_array_equal(counted(np.array([0.0, 1.0, 1.0, 2.0]), edges), [0.25, 0.5, 0.25])


def test_zero_counts_have_a_cell_of_their_own():
    for rates in (False, True):
        shares = counted(np.array([0.0, 1.0]), response_edges(Poisson(), rates))
        assert shares[0] == 0.5


def test_rates_may_lie_between_whole_numbers():
    exposure = RNG.uniform(2.0, 8.0, size=N)
    rates = RNG.poisson(0.4 * exposure) / exposure
    found = histogram(Poisson(), rates, 1e-4, rates=True).constants(Poisson())
    assert found[0] == pytest.approx(math.log(0.4), abs=0.15)


# Offsets


@pytest.mark.parametrize("centre", [-3.0, 0.0, 1.7])
def test_the_typical_offset_is_the_mean(centre):
    offsets = RNG.normal(centre, 0.4, size=N)
    assert typical_offset(counted(offsets, OFFSETS), 1e-4) == pytest.approx(centre, abs=0.05)
    assert typical_offset(np.full(len(OFFSETS), 0.01), 1.0) == 0.0
