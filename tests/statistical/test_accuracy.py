"""Accuracy on the paper's simulation: a small version of the benchmark, able to catch a regression.

Bounds are far enough from the medians measured by the benchmark that chance does not break them.
"""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments import GDP, PublicMoments, Ridge

D, RESIDUAL_SD, SEEDS = 10, 0.05, 10


def draw(seed, n, n_public, condition=100.0):
    rng = np.random.default_rng([seed, 77])
    eigenvalues = condition ** np.linspace(-0.5, 0.5, D)
    axes, _ = np.linalg.qr(rng.standard_normal((D, D)))
    mean, coef = rng.standard_normal(D), rng.standard_normal(D)
    X = mean + (rng.standard_normal((n + n_public, D)) * np.sqrt(eigenvalues)) @ axes.T
    y = X @ coef + RESIDUAL_SD * rng.standard_normal(n + n_public)
    metric = (axes * eigenvalues) @ axes.T + np.outer(mean, mean)
    return (X[:n], y[:n]), (X[n:], y[n:]), coef, metric


def median_errors(n, n_public, mu):
    """Median errors: zero vector, non-private, public only, matrix only, public responses."""
    errors = []
    for seed in range(SEEDS):
        (X, y), (B, y_public), coef, metric = draw(seed, n, n_public)
        scale = float(np.sqrt(np.mean(y_public**2)))
        publics = (
            PublicMoments.from_matrix(B.T @ B / n_public, n=n_public, response_scale=scale),
            PublicMoments.from_rows(B, response=y_public),
        )
        estimates = [
            np.zeros(D),
            np.linalg.lstsq(X, y, rcond=None)[0],
            np.linalg.lstsq(B, y_public, rcond=None)[0],
        ]
        for public in publics:
            model = Ridge(fit_intercept=False, privacy=GDP(mu), public=public, random_state=seed)
            estimates.append(model.fit(X, y).coef_)
        errors.append([np.sqrt((b - coef) @ metric @ (b - coef)) for b in estimates])
    return np.median(errors, axis=0)


@pytest.mark.parametrize("n_public", [20, 200])
def test_privacy_is_nearly_free_where_rows_times_budget_are_many(n_public):
    _, plain, public_only, matrix, full = median_errors(10_000, n_public, 1.0)
    assert full < 1.3 * plain
    assert matrix < 1.5 * plain
    assert full < public_only / 4


def test_little_budget_is_never_worse_than_what_was_public():
    zero, _, public_only, matrix, full = median_errors(2_000, 200, 0.1)
    assert full < 1.05 * public_only
    assert matrix < zero / 4
