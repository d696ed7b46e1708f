"""What fits ask of families beyond means: clipped slopes, their expectations, information."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from scipy.special import softmax

from publicmoments.families import (
    Bernoulli,
    Gamma,
    Gaussian,
    Multinomial,
    Poisson,
    canonical_family,
)

PREDICTORS = np.linspace(-2.0, 2.0, 9)[:, None]
SIMPLE = [Gaussian(), Bernoulli(), Poisson(), Gamma()]
CLASSES = [Multinomial(2), Multinomial(3), Multinomial(5)]
STEP = 1e-5


def predictors(family, count=9, seed=0):
    return np.random.default_rng(seed).normal(size=(count, family.n_predictors))


def drawn(family, truth, rng, count):
    """Responses of one row, many times."""
    if isinstance(family, Multinomial):
        chances = family.probabilities(truth[None])[0]
        return rng.choice(family.n_classes, p=chances, size=(count, 1)).astype(float)
    mean = family.mean(truth[None])[0, 0]
    laws = {
        Gaussian: lambda: rng.normal(mean, 1.0, size=(count, 1)),
        Bernoulli: lambda: (rng.random((count, 1)) < mean).astype(float),
        Poisson: lambda: rng.poisson(mean, size=(count, 1)).astype(float),
        Gamma: lambda: mean * rng.gamma(4.0, 0.25, size=(count, 1)),
    }
    return laws[type(family)]()


def derivative(function, at):
    """Derivatives of functions of shape (rows, k) by each of k predictors, (rows, k, k)."""
    columns = []
    for j in range(at.shape[1]):
        step = np.zeros_like(at)
        step[:, j] = STEP
        columns.append((function(at + step) - function(at - step)) / (2 * STEP))
    return np.stack(columns, axis=2)


@pytest.mark.parametrize("family", SIMPLE, ids=repr)
def test_slopes_are_those_of_the_loss(family):
    t = PREDICTORS
    for response in (0.0, 1.0, 3.0, 1e3):
        if not family.allows(np.array([response]))[0]:
            continue
        y = np.full_like(t, response)
        slopes = derivative(lambda at, y=y: family.loss(at, y), t)[:, :, 0]
        np.testing.assert_allclose(family.slope(t, y), slopes, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("family", CLASSES, ids=repr)
def test_slopes_of_classes_are_those_of_the_loss(family):
    t = predictors(family)
    y = (np.arange(len(t)) % family.n_classes)[:, None].astype(float)
    slopes = derivative(lambda at: family.loss(at, y), t)[:, 0, :]
    np.testing.assert_allclose(family.slope(t, y), slopes, atol=1e-6)


@pytest.mark.parametrize("family", [Bernoulli(), *CLASSES], ids=repr)
def test_no_slope_is_longer_than_its_limit_says(family):
    rng = np.random.default_rng(1)
    t = 20.0 * rng.normal(size=(2000, family.n_predictors))
    y = rng.integers(family.n_predictors + 1, size=(2000, 1)).astype(float)
    lengths = np.linalg.norm(family.slope(t, y), axis=1)
    assert lengths.max() <= family.slope_limit * (1 + 1e-12)
    # The limit is reached: it could not be smaller.
    assert lengths.max() >= 0.99 * family.slope_limit


@pytest.mark.parametrize("family", [Gaussian(), Gaussian(3), Poisson(), Gamma()], ids=repr)
def test_other_slopes_have_no_limit(family):
    assert family.slope_limit == math.inf
    slopes = family.slope(np.zeros((1, 1)), np.full((1, family.n_responses), 1e12))
    assert np.abs(slopes).min() > 1e11


@pytest.mark.parametrize("family", [*SIMPLE, *CLASSES], ids=repr)
def test_slopes_average_to_nothing_at_the_truth_and_vary_as_the_information_says(family):
    rng = np.random.default_rng(3)
    truth = 0.8 * rng.normal(size=(1, family.n_predictors))
    draws = 40_000
    slopes = family.slope(np.tile(truth, (draws, 1)), drawn(family, truth[0], rng, draws))
    allowed = 5.0 * slopes.std(axis=0) / math.sqrt(draws)
    assert (np.abs(slopes.mean(axis=0)) < allowed).all()
    # Sizes drawn above have a quarter of the variance that one unit of dispersion has.
    dispersion = 0.25 if isinstance(family, Gamma) else 1.0
    information = dispersion * family.information(truth)[0]
    np.testing.assert_allclose(np.cov(slopes.T).reshape(information.shape), information, atol=0.05)


@pytest.mark.parametrize("family", [Gaussian(), Bernoulli(), Poisson(), *CLASSES], ids=repr)
def test_information_is_the_derivative_of_the_mean(family):
    t = predictors(family)
    slopes = derivative(family.mean, t)
    np.testing.assert_allclose(family.information(t), slopes, atol=1e-8)
    np.testing.assert_allclose(np.einsum("ijj->ij", slopes), family.curvature(t), atol=1e-8)


# Counts, sizes, classes


def test_gamma_by_hand():
    t, y = np.array([[0.0], [math.log(2.0)]]), np.array([[3.0], [1.0]])
    np.testing.assert_allclose(Gamma().loss(t, y), [[3.0], [math.log(2.0) + 0.5]])
    np.testing.assert_allclose(Gamma().slope(t, y), [[-2.0], [0.5]])
    far = Gamma().slope(t, np.full((2, 1), 1e9))
    np.testing.assert_allclose(far, [[1.0 - 1e9], [1.0 - 5e8]], rtol=1e-12)
    assert Gamma().allows(np.array([0.0, -1.0, np.nan, np.inf, 1e-9])).tolist() == [
        False,
        False,
        False,
        False,
        True,
    ]
    assert Gamma().has_unit
    assert not Gaussian().has_unit


@pytest.mark.parametrize("family", CLASSES, ids=repr)
def test_coordinates_of_classes(family):
    n, basis = family.n_classes, family.basis
    assert basis.shape == (n - 1, n)
    np.testing.assert_allclose(basis @ basis.T, np.eye(n - 1), atol=1e-12)
    np.testing.assert_allclose(basis.sum(axis=1), 0.0, atol=1e-12)
    odds = np.random.default_rng(6).normal(size=(7, n))
    chances = family.probabilities(odds @ basis.T)
    np.testing.assert_allclose(chances, softmax(odds, axis=1), rtol=1e-12)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert family.allows(np.array([0.0, n - 1, n, 0.5, -1.0, np.nan])).tolist() == [
        True,
        True,
        *[False] * 4,
    ]
    assert family.range == f"whole numbers from 0 to {n - 1}"


def test_two_classes_are_the_bernoulli_family():
    # Log odds of sqrt(2) times the coordinate, up to sign.
    t = np.linspace(-3.0, 3.0, 7)[:, None]
    sign = np.sign(Multinomial(2).basis[0, 1])
    second = Multinomial(2).probabilities(t)[:, [1]]
    np.testing.assert_allclose(second, Bernoulli().mean(sign * math.sqrt(2.0) * t), rtol=1e-12)


@pytest.mark.parametrize("count", [1, 0, math.nan])
def test_one_class_is_none(count):
    with pytest.raises(ValueError, match="n_classes must be at least 2"):
        Multinomial(count)


@pytest.mark.parametrize("family", [Gamma(), Multinomial(4)], ids=repr)
def test_further_families_are_values(family):
    assert pickle.loads(pickle.dumps(family)) == family
    assert hash(family) == hash(pickle.loads(pickle.dumps(family)))
    assert family != Poisson()
    with pytest.raises(TypeError, match="family must have a canonical link"):
        canonical_family(family)


def test_several_responses_are_as_many_alone():
    family, t = Gaussian(3), predictors(Gaussian(3))
    y = np.random.default_rng(4).normal(size=t.shape)
    assert (family.n_predictors, family.n_responses, family.alone) == (3, 3, Gaussian())
    for column in range(3):
        one = slice(column, column + 1)
        alone = family.alone.slope(t[:, one], y[:, one])
        np.testing.assert_array_equal(family.slope(t, y)[:, one], alone)
    np.testing.assert_array_equal(family.information(t), np.tile(np.eye(3), (len(t), 1, 1)))
    assert Poisson().alone == Poisson()


@pytest.mark.parametrize("family", [Poisson(), Gamma(), Gaussian()], ids=repr)
def test_without_its_offset_a_response_has_the_mean_of_the_rest(family):
    rest, offset = np.array([[0.3]]), np.array([[1.2]])
    mean = family.mean(rest + offset)
    np.testing.assert_allclose(family.without_offset(mean, offset), family.mean(rest), rtol=1e-12)
