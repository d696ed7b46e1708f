"""Where fits start: public fits that are shrunk as far as that helps, and the constant model."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as PlainLogistic
from sklearn.linear_model import PoissonRegressor as PlainPoisson

from publicmoments.evidence.standins import StandIns
from publicmoments.evidence.start import constant_start, minimised, moments_start, public_start
from publicmoments.families import Bernoulli, Gamma, Gaussian, Multinomial, Poisson

P = 4
COEF = np.array([0.6, -0.4, 0.2, 0.3])
CONSTANT = np.array([0.0, 0.0, 0.0, 1.0])


def sample(family, n, seed=0, coef=COEF):
    """Rows that end in a one, and responses that follow them."""
    rng = np.random.default_rng(seed)
    rows = np.column_stack([rng.normal(size=(n, P - 1)), np.ones(n)])
    mean = family.mean(rows @ coef[:, None])
    y = {
        Bernoulli: lambda: (rng.random((n, 1)) < mean).astype(float),
        Poisson: lambda: rng.poisson(mean).astype(float),
        Gamma: lambda: mean * rng.gamma(4.0, 0.25, size=(n, 1)),
        Gaussian: lambda: mean + 0.5 * rng.normal(size=(n, 1)),
    }[type(family)]()
    return rows, y


def started(family, rows, y, ridge=0.0, constant=CONSTANT):
    size = rows.shape[1] * family.n_predictors
    return public_start(family, rows, y, ridge * np.eye(size), constant)


@pytest.mark.parametrize("family", [Gaussian(), Bernoulli(), Poisson(), Gamma()], ids=repr)
def test_many_public_rows_find_the_truth(family):
    start = started(family, *sample(family, 40_000))
    np.testing.assert_allclose(start.coef, COEF, atol=0.06)
    assert start.informed
    assert start.n_public == 40_000
    # Of a fourth part of the variance of its family, and of residuals of one half.
    expected = 0.25 if isinstance(family, Gamma | Gaussian) else 1.0
    np.testing.assert_allclose(start.dispersion, expected, rtol=0.05)


@pytest.mark.parametrize("family", [Gaussian(), Bernoulli(), Poisson()], ids=repr)
def test_stated_errors_are_those_of_many_public_samples(family):
    starts = [started(family, *sample(family, 400, seed)) for seed in range(60)]
    away = np.array([start.coef - COEF for start in starts])
    stated = np.mean([np.diag(start.covariance) for start in starts], axis=0)
    ratio = np.mean(away**2, axis=0) / stated
    assert 0.6 < ratio.mean() < 1.5


def test_noise_is_shrunk_away():
    family, coef = Bernoulli(), np.array([0.0, 0.0, 0.0, 0.5])
    lengths = {"start": [], "plain": []}
    for seed in range(20):
        rows, y = sample(family, 30, seed, coef)
        lengths["start"].append(np.linalg.norm(started(family, rows, y).coef[:-1]))
        plain = PlainLogistic(C=np.inf, fit_intercept=False).fit(rows, y[:, 0])
        lengths["plain"].append(np.linalg.norm(plain.coef_[0, :-1]))
    assert np.mean(lengths["start"]) < 0.5 * np.mean(lengths["plain"])


@pytest.mark.parametrize("family", [Bernoulli(), Multinomial(3)], ids=repr)
@pytest.mark.parametrize("n", [5, 100])
def test_separable_labels_stay_finite(family, n):
    rng = np.random.default_rng(3)
    rows = np.column_stack([rng.normal(size=(n, P - 1)), np.ones(n)])
    y = np.searchsorted([0.0] if isinstance(family, Bernoulli) else [-0.4, 0.4], rows[:, :1])
    for responses in (y.astype(float), np.zeros((n, 1))):
        start = started(family, rows, responses)
        assert np.linalg.norm(start.coef) < 50.0
        assert np.isfinite(start.covariance).all()
        assert np.linalg.eigvalsh(start.covariance)[0] > 0.0


@pytest.mark.parametrize("family", [Gaussian(), Bernoulli(), Poisson(), Gamma()], ids=repr)
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("constant", [CONSTANT, None], ids=["intercept", "none"])
def test_few_rows_are_enough_for_a_start(family, n, constant):
    start = started(family, *sample(family, n), constant=constant)
    assert np.isfinite(start.coef).all()
    assert np.linalg.norm(start.coef) < 50.0
    assert np.isfinite(start.covariance).all()
    assert (start.dispersion > 0.0).all()


def test_units_of_a_linear_fit_do_not_matter():
    rows, y = sample(Gaussian(), 50)
    one, ten = started(Gaussian(), rows, y), started(Gaussian(), rows, 10.0 * y)
    np.testing.assert_allclose(ten.coef, 10.0 * one.coef, rtol=1e-4)
    np.testing.assert_allclose(ten.covariance, 100.0 * one.covariance, rtol=1e-4)


def test_several_responses_are_fitted_each():
    rows, y = sample(Gaussian(), 200)
    other = 3.0 * y + 0.5 * np.random.default_rng(5).normal(size=y.shape)
    both = started(Gaussian(2), rows, np.column_stack([y, other]))
    alone = [started(Gaussian(), rows, one) for one in (y, other)]
    for k, one in enumerate(alone):
        np.testing.assert_allclose(both.coef.reshape(P, 2)[:, k], one.coef, atol=0.02 + 0.04 * k)
        assert both.dispersion[k] == pytest.approx(one.dispersion[0], rel=0.02)


def test_offsets_of_public_rows_count():
    family, n = Poisson(), 20_000
    rng = np.random.default_rng(1)
    rows, _ = sample(family, n)
    offsets = rng.normal(size=(n, 1))
    y = rng.poisson(np.exp(rows @ COEF[:, None] + offsets)).astype(float)
    start = public_start(family, rows, y, np.zeros((P, P)), CONSTANT, offsets)
    np.testing.assert_allclose(start.coef, COEF, atol=0.06)


# Minimising


@pytest.mark.parametrize(
    ("family", "plain"),
    [
        (Bernoulli(), lambda n: PlainLogistic(C=1 / (0.1 * n), solver="newton-cholesky", tol=1e-9)),
        (Poisson(), lambda n: PlainPoisson(alpha=0.1, solver="newton-cholesky", tol=1e-10)),
    ],
    ids=["labels", "counts"],
)
@pytest.mark.parametrize("begin", [0.0, 3.0, -3.0])
def test_minima_are_those_of_scikit_learn(family, plain, begin):
    rows, y = sample(family, 500)
    expected = np.ravel(plain(500).set_params(fit_intercept=False).fit(rows, y[:, 0]).coef_)
    found = minimised(StandIns(family, rows), y, 0.1 * np.eye(P), np.full(P, begin))
    np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("family", [Poisson(), Gamma()], ids=repr)
def test_the_gradient_vanishes_at_the_minimum(family):
    rows, y = sample(family, 500)
    found = minimised(StandIns(family, rows), y, 0.1 * np.eye(P), np.zeros(P))
    gradient = rows.T @ family.slope(rows @ found[:, None], y) / 500
    np.testing.assert_allclose(gradient[:, 0] + 0.1 * found, 0.0, atol=1e-3)


# Without public responses


@pytest.mark.parametrize("k", [1, 2])
def test_the_constant_model_predicts_the_same_for_all_rows(k):
    rng = np.random.default_rng(2)
    constant = rng.normal(size=P)
    others = np.linalg.svd(constant[None, :])[2][1:]
    rows = rng.normal(size=(10, P - 1)) @ others + constant / (constant @ constant)
    levels = np.arange(1.0, k + 1.0)
    start = constant_start(P, levels, constant, np.full(k, 4.0))
    np.testing.assert_allclose(rows @ start.coef.reshape(P, k), np.tile(levels, (10, 1)))
    assert not start.informed
    assert start.n_public is None
    # Coefficients as large as would explain all of the variance.
    np.testing.assert_allclose(np.trace(start.covariance), 4.0 * k)


def test_without_a_constant_the_start_is_nothing():
    start = constant_start(P, np.array([3.0]), None, np.ones(1))
    np.testing.assert_array_equal(start.coef, np.zeros(P))


def test_moments_say_how_far_off_their_fit_is():
    coef = np.arange(6.0).reshape(3, 2)
    start = moments_start(coef, np.array([0.5, 2.0]), 100)
    np.testing.assert_array_equal(start.coef, coef.ravel())
    np.testing.assert_allclose(start.covariance, np.diag([0.25, 4.0] * 3) / 100)
    np.testing.assert_array_equal(start.dispersion, [0.25, 4.0])
    assert start.informed
