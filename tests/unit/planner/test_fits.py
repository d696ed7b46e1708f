"""Plain fits minimise what they say."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments.planner.fits import Task


@pytest.mark.parametrize("intercept", [False, True])
def test_counts_under_an_exposure_are_fitted_by_their_rates(intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = rng.poisson(3.0 * np.exp(X @ [0.5, -0.2])).astype(float)
    task = Task("poisson", 0.1, intercept, exposure=3.0)
    coef, rows = task.plain_fit(X, y), task.design(X)
    # Where the penalised likelihood of these counts is largest its slope is none.
    slope = rows.T @ (3.0 * np.exp(rows @ coef) - y) / 500 + task.penalty(len(coef)) * coef
    assert slope == pytest.approx(np.zeros(len(coef)), abs=1e-8)
