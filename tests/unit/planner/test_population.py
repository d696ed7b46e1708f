"""Made-up populations agree with what is public, and with what is stated of the rest."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments import PublicMoments
from publicmoments.planner.plans import PlanQuestion


def world(public, seed=0, **options):
    question = PlanQuestion(public, **options)
    return question.population.drawn(np.random.default_rng(seed))


def rows(count=400, seed=0):
    return np.random.default_rng(seed).normal(size=(count, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, 1.0]


def test_the_coefficients_are_those_of_least_squares():
    B = rows(60)
    y = B @ [1.0, -0.2, 0.5] + np.abs(B[:, 0]) * np.random.default_rng(1).normal(size=60)
    made = world(PublicMoments.from_rows(B, response=y))
    X, u = made.sample(np.random.default_rng(2), 300_000)
    assert made.task.plain_fit(X, u) == pytest.approx(made.coef, abs=0.05)
    # Errors stay uneven.
    left = (u - made.task.design(X) @ made.coef) ** 2
    assert np.mean(left[np.abs(X[:, 0]) > 1.0]) > 2.0 * np.mean(left[np.abs(X[:, 0]) < 0.5])


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_public_moments_with_responses(fit_intercept):
    B = rows(5_000)
    y = B @ [1.0, -0.2, 0.5] + np.random.default_rng(1).normal(size=5_000)
    joint = np.column_stack([B, y])
    public = PublicMoments.from_matrix(
        joint.T @ joint / 5_000, 5_000, mean=joint.mean(0), response=3
    )
    made = world(public, fit_intercept=fit_intercept)
    assert made.coef[:3] == pytest.approx([1.0, -0.2, 0.5], abs=0.7)
    assert made.coef[:2] == pytest.approx([1.0, -0.2], abs=0.1)
    assert made.residual_sd == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("model", "mean"), [("logistic", 0.3), ("poisson", 1.5)])
def test_stated_predictors(model, mean, fit_intercept):
    public = PublicMoments.from_rows(rows())
    asked = {"model": model, "predictor_sd": 1.2, "response_mean": mean}
    made = world(public, fit_intercept=fit_intercept, **asked)
    X, y = made.sample(np.random.default_rng(2), 100_000)
    predictor = made.task.design(X) @ made.coef
    centre = predictor.mean() if fit_intercept else 0.0
    assert np.sqrt(np.mean((predictor - centre) ** 2)) == pytest.approx(1.2, rel=0.15)
    assert y.mean() == pytest.approx(mean, rel=0.2)


def test_stated_shares_of_variance_and_of_deviance():
    X, y = world(None, n_features=3, r2=0.7).sample(np.random.default_rng(2), 50_000)
    assert np.var(y) == pytest.approx(1.0, rel=0.1)
    made = world(None, n_features=3, model="logistic", predictor_sd=4.0, r2=0.8)
    X, y = made.sample(np.random.default_rng(2), 50_000)
    loss = np.mean(made.task.family.loss(made.task.design(X) @ made.coef, y))
    assert 1.0 - loss / np.log(2.0) == pytest.approx(0.8, abs=0.05)


def test_counts_are_as_uneven_as_public_ones():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(2_000, 2))
    y = rng.poisson(np.exp(0.2 * B[:, 0] + 1.0) * rng.gamma(1.0, 1.0, 2_000)).astype(float)
    made = world(PublicMoments.from_rows(B, response=y), model="poisson", exposure=2.0)
    X, u = made.sample(rng, 50_000)
    rate = 2.0 * np.exp(made.task.design(X) @ made.coef)
    assert np.mean((u - rate) ** 2 - rate) / np.mean(rate**2) == pytest.approx(1.0, rel=0.25)
    assert u.sum() == pytest.approx(rate.sum(), rel=0.05)


def test_counts_are_whole_and_have_the_coefficients_of_their_fit():
    rng = np.random.default_rng(0)
    B = rng.poisson(1.0, size=(500, 2)).astype(float)
    y = rng.poisson(np.exp(0.3 * B[:, 0]) * rng.gamma(1.0, 1.0, 500)).astype(float)
    made = world(PublicMoments.from_rows(B, response=y), model="poisson")
    X, u = made.sample(rng, 200_000)
    assert np.array_equal(u, np.floor(u))
    assert made.task.plain_fit(X, u) == pytest.approx(made.coef, abs=0.03)
