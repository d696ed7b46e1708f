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
from publicmoments.families.base import CLIP, clipped_normal_mean

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
def test_slopes_are_those_of_the_loss_where_they_are_not_clipped(family):
    t = PREDICTORS
    for response in (0.0, 1.0, 3.0):
        if not family.allows(np.array([response]))[0]:
            continue
        y = np.full_like(t, response)
        slopes = derivative(lambda at, y=y: family.loss(at, y), t)[:, :, 0]
        within = np.abs(slopes) <= family.slope_limit * family.spread(t)
        assert within.sum() >= 5
        np.testing.assert_allclose(family.slope(t, y)[within], slopes[within], atol=1e-6)


@pytest.mark.parametrize("family", CLASSES, ids=repr)
def test_slopes_of_classes_are_those_of_the_loss(family):
    t = predictors(family)
    y = (np.arange(len(t)) % family.n_classes)[:, None].astype(float)
    slopes = derivative(lambda at: family.loss(at, y), t)[:, 0, :]
    np.testing.assert_allclose(family.slope(t, y), slopes, atol=1e-6)


@pytest.mark.parametrize("family", [*SIMPLE, *CLASSES], ids=repr)
def test_no_slope_is_longer_than_its_limit_says(family):
    rng = np.random.default_rng(1)
    t = 20.0 * rng.normal(size=(2000, family.n_predictors))
    if isinstance(family, Multinomial):
        y = rng.integers(family.n_classes, size=(2000, 1)).astype(float)
    else:
        y = np.exp(10.0 * rng.normal(size=(2000, 1)))
        y = (y > 1.0).astype(float) if isinstance(family, Bernoulli) else np.ceil(y)
    lengths = np.linalg.norm(family.slope(t, y), axis=1) / family.spread(t)[:, 0]
    assert lengths.max() <= family.slope_limit * (1 + 1e-12)
    # The limit is reached: it could not be smaller.
    assert lengths.max() >= 0.99 * family.slope_limit


@pytest.mark.parametrize("family", [*SIMPLE, *CLASSES], ids=repr)
def test_no_curvature_is_larger_than_its_limit_says(family):
    t = np.random.default_rng(2).normal(size=(500, family.n_predictors)) * 5.0
    t[0] = 0.0
    if isinstance(family, Multinomial):
        # Half the probability on each of two classes.
        t[0] = family.basis @ np.where(np.arange(family.n_classes) < 2, 100.0, 0.0)
    largest = np.linalg.eigvalsh(family.information(t))[:, -1] / family.spread(t)[:, 0] ** 2
    assert largest.max() <= family.curvature_limit * (1 + 1e-9)
    assert largest.max() >= 0.99 * family.curvature_limit


@pytest.mark.parametrize("family", [*SIMPLE, *CLASSES], ids=repr)
@pytest.mark.parametrize("seed", [0, 1])
def test_expected_slopes_are_means_over_responses(family, seed):
    rng = np.random.default_rng([seed, 3])
    at, truth = 0.8 * rng.normal(size=(2, 1, family.n_predictors))
    draws = 40_000
    y = drawn(family, truth[0], rng, draws)
    slopes = family.slope(np.tile(at, (draws, 1)), y)
    expected = family.expected_slope(at, truth)[0]
    # Five standard errors, and a little for counts and sizes, which are not quite normal.
    odd = 0.05 if isinstance(family, Gamma) else 0.01
    allowed = 5.0 * slopes.std(axis=0) / math.sqrt(draws) + odd
    assert (np.abs(slopes.mean(axis=0) - expected) < allowed).all()


@pytest.mark.parametrize("family", [*SIMPLE, *CLASSES], ids=repr)
def test_expected_slopes_vanish_at_the_truth(family):
    t = predictors(family)
    assert np.abs(family.expected_slope(t, t)).max() < 2e-2
    assert np.abs(family.expected_slope(t, t + 1.0)).min() > 1e-3 or family.n_predictors > 1


@pytest.mark.parametrize("family", [*SIMPLE, *CLASSES], ids=repr)
def test_sensitivities_are_derivatives_of_expected_slopes(family):
    at = predictors(family, seed=1)
    truth = at + 0.3 * predictors(family, seed=2)
    slopes = derivative(lambda moved: -family.expected_slope(at, moved), truth)
    sensitivity = family.sensitivity(at, truth)
    # The spread of responses changes with the truth too, which sensitivities leave out.
    np.testing.assert_allclose(sensitivity, slopes, rtol=0.1, atol=0.02)
    np.testing.assert_allclose(sensitivity, np.swapaxes(sensitivity, 1, 2), atol=1e-12)


@pytest.mark.parametrize("family", [Bernoulli(), *CLASSES], ids=repr)
def test_sensitivities_of_classes_are_exact(family):
    at, truth = predictors(family, seed=1), predictors(family, seed=2)
    slopes = derivative(lambda moved: -family.expected_slope(at, moved), truth)
    np.testing.assert_allclose(family.sensitivity(at, truth), slopes, atol=1e-8)


@pytest.mark.parametrize("family", [Gaussian(), Bernoulli(), Poisson(), *CLASSES], ids=repr)
def test_information_is_the_derivative_of_the_mean(family):
    t = predictors(family)
    slopes = derivative(family.mean, t)
    np.testing.assert_allclose(family.information(t), slopes, atol=1e-8)
    np.testing.assert_allclose(np.einsum("ijj->ij", slopes), family.curvature(t), atol=1e-8)


def test_far_off_responses_say_nothing_more():
    # Poisson, at t = 0: spread sqrt(2), clipped at 4 sqrt(2) whatever the truth.
    at, truth = np.zeros((1, 1)), np.array([[6.0]])
    limit = CLIP * math.sqrt(2.0)
    assert Poisson().expected_slope(at, truth)[0, 0] == pytest.approx(-limit)
    assert Poisson().sensitivity(at, truth)[0, 0, 0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("mean", "sd", "limit"), [(0.0, 1.0, 1.0), (2.0, 0.5, 2.1), (-3.0, 2, 1)])
def test_clipped_normal_means(mean, sd, limit):
    draws = np.random.default_rng(5).normal(mean, sd, size=200_000)
    clipped = np.clip(draws, -limit, limit)
    value = clipped_normal_mean(*(np.array([x]) for x in (mean, sd, float(limit))))[0]
    assert value == pytest.approx(clipped.mean(), abs=5 * clipped.std() / math.sqrt(len(draws)))


# Counts, sizes, classes


def test_spreads():
    t = np.array([[-50.0], [0.0], [math.log(3.0)]])
    np.testing.assert_allclose(Poisson().spread(t), [[1.0], [math.sqrt(2.0)], [2.0]], rtol=1e-12)
    for family in (Gaussian(), Bernoulli(), Gamma(), Multinomial(2)):
        np.testing.assert_array_equal(family.spread(t), np.ones((3, 1)))


def test_gamma_by_hand():
    t, y = np.array([[0.0], [math.log(2.0)]]), np.array([[3.0], [1.0]])
    np.testing.assert_allclose(Gamma().loss(t, y), [[3.0], [math.log(2.0) + 0.5]])
    np.testing.assert_allclose(Gamma().slope(t, y), [[-2.0], [0.5]])
    np.testing.assert_array_equal(Gamma().slope(t, np.full((2, 1), 1e9)), [[-CLIP], [-CLIP]])
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
