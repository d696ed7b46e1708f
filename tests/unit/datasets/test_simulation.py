"""Simulated populations: the law that was asked for, drawn in a fixed order."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from publicmoments.datasets import (
    LinearPopulation,
    LogisticPopulation,
    PoissonPopulation,
    Simulation,
    simulate_linear,
    simulate_logistic,
    simulate_poisson,
)

POPULATIONS = (LinearPopulation, LogisticPopulation, PoissonPopulation)
SIMULATORS = (simulate_linear, simulate_logistic, simulate_poisson)


def generator(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("kind", POPULATIONS)
@pytest.mark.parametrize("condition", [1.0, 100.0, 1e4])
def test_spectrum(kind, condition):
    population = kind.draw(generator(), d=6, condition=condition)
    assert isinstance(population, Simulation)
    ratios = population.eigenvalues[1:] / population.eigenvalues[:-1]
    np.testing.assert_allclose(ratios, condition**0.2)
    assert population.eigenvalues[0] == pytest.approx(condition**-0.5)
    assert np.linalg.cond(population.covariance) == pytest.approx(condition)
    np.testing.assert_allclose(population.axes.T @ population.axes, np.eye(6), atol=1e-12)
    # A random orientation: no axis is a coordinate.
    assert np.abs(population.axes).max() < 0.999


@pytest.mark.parametrize("kind", POPULATIONS)
def test_rows_have_the_moments_of_the_population(kind):
    rng = generator()
    population = kind.draw(rng, d=4, condition=100.0)
    X = population.sample(rng, 40_000)[0]
    scales = np.sqrt(np.diag(population.second_moment))
    apart = (X.T @ X / len(X) - population.second_moment) / np.outer(scales, scales)
    assert np.abs(apart).max() < 0.05
    apart = (np.cov(X.T) - population.covariance) / np.outer(scales, scales)
    assert np.abs(apart).max() < 0.05
    # The test would notice a covariance in place of the second moment.
    assert np.abs(np.outer(population.mean, population.mean) / np.outer(scales, scales)).max() > 0.1


def test_draws_follow_a_fixed_order():
    rng = generator(3)
    population = LinearPopulation.draw(rng, d=3, condition=4.0)
    X, y = population.sample(rng, 5)
    rng = generator(3)
    axes = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    mean, coef = rng.standard_normal(3), rng.standard_normal(3)
    expected = mean + (rng.standard_normal((5, 3)) * np.sqrt([0.5, 1.0, 2.0])) @ axes.T
    np.testing.assert_allclose(X, expected)
    np.testing.assert_allclose(y, expected @ coef + 0.05 * rng.standard_normal(5))


@pytest.mark.parametrize("simulate", SIMULATORS)
def test_reproducible(simulate):
    *first, _ = simulate(generator(1), 30)
    *again, _ = simulate(generator(1), 30)
    *other, _ = simulate(generator(2), 30)
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize("simulate", SIMULATORS)
def test_one_more_sample_of_the_same_population(simulate):
    rng = generator()
    X, y, *_, population = simulate(rng, 20, d=3)
    X_more, y_more = population.sample(rng, 7)[:2]
    assert X.shape == (20, 3)
    assert y.shape == (20,)
    assert X_more.shape == (7, 3)
    assert y_more.shape == (7,)
    assert not np.array_equal(X[:7], X_more)


def test_two_samples_share_coefficients():
    rng = generator()
    population = LinearPopulation.draw(rng, residual_sd=0.0, condition=100.0)
    for n in (50, 20):
        X, y = population.sample(rng, n)
        np.testing.assert_allclose(np.linalg.lstsq(X, y)[0], population.coef, atol=1e-9)
    other = LinearPopulation.draw(rng, residual_sd=0.0, condition=100.0)
    assert not np.allclose(other.coef, population.coef)


@pytest.mark.parametrize("residual_sd", [0.05, 2.0])
def test_residuals(residual_sd):
    X, y, population = simulate_linear(generator(), 20_000, residual_sd=residual_sd)
    assert np.std(y - X @ population.coef) == pytest.approx(residual_sd, rel=0.03)
    assert population.residual_sd == residual_sd


def test_logistic_responses():
    X, y, population = simulate_logistic(generator(), 40_000, signal=1.5)
    chances = 1 / (1 + np.exp(-X @ population.coef))
    assert set(y) == {0.0, 1.0}
    for low, high in [(0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1)]:
        chosen = (chances > low) & (chances <= high)
        assert chosen.sum() > 1000
        assert y[chosen].mean() == pytest.approx(chances[chosen].mean(), abs=0.02)


def test_counts_follow_rate_and_exposure():
    X, y, exposure, population = simulate_poisson(generator(), 40_000, exposure=(0.5, 4.0))
    rates = exposure * np.exp(X @ population.coef)
    assert np.all(y == np.round(y))
    assert exposure.min() >= 0.5
    assert exposure.max() <= 4.0
    assert exposure.mean() == pytest.approx(2.25, rel=0.02)
    for chosen in (exposure < 1, exposure > 3, rates < 1, rates > 3):
        assert y[chosen].mean() == pytest.approx(rates[chosen].mean(), rel=0.05)
    # A Poisson count has the variance of its mean.
    assert np.mean((y - rates) ** 2 / rates) == pytest.approx(1.0, rel=0.05)


def test_constant_exposure():
    exposure = simulate_poisson(generator(), 5, exposure=3)[2]
    np.testing.assert_array_equal(exposure, 3.0)


def test_astronomical_counts_are_refused():
    with pytest.raises(ValueError, match=r"below 9.*signal=200; .*smaller signal"):
        simulate_poisson(generator(), 1000, signal=200.0)


def test_what_is_chosen_is_kept():
    axes = np.eye(3)[::-1]
    population = LinearPopulation.draw(
        generator(), 3, mean=[1, 2, 3], spectrum=[4, 5, 6], axes=axes, coef=0.5
    )
    np.testing.assert_array_equal(population.mean, [1, 2, 3])
    np.testing.assert_array_equal(population.eigenvalues, [4, 5, 6])
    np.testing.assert_array_equal(population.axes, axes)
    np.testing.assert_array_equal(population.coef, [0.5, 0.5, 0.5])
    np.testing.assert_array_equal(population.covariance, np.diag([6, 5, 4]))


def test_none_leaves_a_choice_open():
    chosen = dict.fromkeys(["condition", "spectrum", "axes", "mean", "coef", "signal"])
    default, same = (LinearPopulation.draw(generator(), 3, **c) for c in ({}, chosen))
    np.testing.assert_array_equal(default.coef, same.coef)
    np.testing.assert_array_equal(default.eigenvalues, np.ones(3))


@pytest.mark.parametrize("name", ["mean", "coef"])
def test_laws(name):
    def law(rng, d):
        return 7 + rng.uniform(size=d)

    values = getattr(LinearPopulation.draw(generator(), 50, **{name: law}), name)
    assert np.all((values > 7) & (values < 8))
    assert len(set(values)) == 50


@pytest.mark.parametrize("kind", POPULATIONS)
def test_signal(kind):
    rng = generator()
    population = kind.draw(rng, condition=100.0, signal=0.8)
    assert population.signal == pytest.approx(0.8)
    X = population.sample(rng, 40_000)[0]
    assert np.sqrt(np.mean((X @ population.coef) ** 2)) == pytest.approx(0.8, rel=0.03)


def test_signal_of_counts():
    assert PoissonPopulation.draw(generator()).signal == pytest.approx(0.5)
    chosen = PoissonPopulation.draw(generator(), 2, coef=[0.1, 0.2])
    np.testing.assert_array_equal(chosen.coef, [0.1, 0.2])


def test_records_are_frozen():
    population = LinearPopulation.draw(generator(), 2)
    with pytest.raises(AttributeError):
        population.residual_sd = 1.0
    for record in (population, pickle.loads(pickle.dumps(population))):
        with pytest.raises(ValueError, match="read-only"):
            record.coef[0] = 1.0


@pytest.mark.parametrize(
    ("choices", "error", "match"),
    [
        ({"d": 0}, ValueError, "d must be"),
        ({"condition": 0.5}, ValueError, "condition must be at least 1"),
        ({"condition": np.nan}, ValueError, "condition must be"),
        ({"d": 1, "condition": 2.0}, ValueError, "condition must be 1 for a single column"),
        ({"spectrum": [1, 2], "condition": 2.0}, ValueError, "not both"),
        ({"spectrum": [1, 0]}, ValueError, "spectrum must be positive"),
        ({"spectrum": [1, 2, 3]}, ValueError, "spectrum must have shape"),
        ({"axes": [[1, 1], [0, 1]]}, ValueError, "orthonormal"),
        ({"mean": [1, np.inf]}, ValueError, "mean must be finite"),
        ({"coef": [1]}, ValueError, "coef must have shape"),
        ({"signal": -1.0}, ValueError, "signal must be"),
        ({"signal": 1.0, "coef": 0.0}, ValueError, "coef must not be zero"),
        ({"residual_sd": -1.0}, ValueError, "residual_sd must be"),
        ({"conditions": 2.0}, TypeError, "conditions"),
    ],
)
def test_choices_that_are_refused(choices, error, match):
    with pytest.raises(error, match=match):
        LinearPopulation.draw(generator(), **({"d": 2} | choices))


@pytest.mark.parametrize("exposure", [0.0, -1.0, (2.0, 1.0), (1.0, np.inf), (1.0, 2.0, 3.0)])
def test_exposures_that_are_refused(exposure):
    with pytest.raises(ValueError, match="exposure"):
        PoissonPopulation.draw(generator(), exposure=exposure)


def test_a_sample_has_rows():
    with pytest.raises(ValueError, match="n must be"):
        LinearPopulation.draw(generator()).sample(generator(), 0)
