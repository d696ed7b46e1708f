"""What public responses say of the coefficients."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments.planner.fits import CoefLaw, Task


def drawn(model, count, rng, sd=1.0):
    X = rng.normal(size=(count, 3)) * [1.0, 10.0, 0.1] + 2.0
    coef = np.array([0.5, -0.05, 3.0, -5.9])
    predictor = X @ coef[:3] + coef[3]
    if model == "ridge":
        return X, predictor + sd * rng.normal(size=count), coef
    if model == "logistic":
        return X, (rng.logistic(size=count) < predictor).astype(float), coef
    return X, rng.poisson(np.exp(predictor) * rng.gamma(2.0, 0.5, count)).astype(float), coef


@pytest.mark.parametrize("model", ["ridge", "logistic", "poisson"])
def test_draws_cover_the_truth(model):
    # Squared errors of fits in the metric that draws state have mean p.
    squares = []
    for seed in range(60):
        X, y, coef = drawn(model, 250, np.random.default_rng(seed))
        law = CoefLaw.of_rows(Task(model), X, y)
        away = np.linalg.lstsq(law.root, law.coef - coef, rcond=None)[0]
        squares.append(away @ away)
    assert np.median(squares) == pytest.approx(3.36, rel=0.35)


def test_the_spread_allows_for_what_fits_take():
    rng = np.random.default_rng(0)
    spreads = [
        CoefLaw.of_rows(Task("ridge"), *drawn("ridge", 30, rng)[:2]).spread for _ in range(200)
    ]
    assert np.mean(spreads) == pytest.approx(1.0, rel=0.1)


def test_separable_labels_have_finite_fits():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0.0).astype(float)
    law = CoefLaw.of_rows(Task("logistic"), X, y)
    assert np.linalg.norm(law.coef) < 100.0
    assert np.isfinite(law.root).all()


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 20))
    law = CoefLaw.of_rows(Task("ridge"), X, X[:, 0] + rng.normal(size=10))
    assert np.isfinite(law.drawn(rng)).all()
