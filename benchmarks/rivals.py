"""Simple rivals, each of a dozen lines: they measure what a private regression must beat.

Their noise comes from a seeded generator in floating point, which protects nobody. Coefficients
have the intercept last; rows are given without their column of ones.
"""

from __future__ import annotations

import numpy as np
from plain import fit as plain_fit
from scipy.stats import norm
from settings import Array, Rows
from sklearn.linear_model import LogisticRegressionCV, PoissonRegressor, RidgeCV
from sklearn.model_selection import GridSearchCV

from publicmoments.families import Bernoulli, CanonicalFamily, Gaussian

STEPS, RATE = 20, 0.5
"""Gradient steps of a warm descent, and their length in units of the inverse curvature."""

COLD_STEPS, COUNTED = 12, 0.06
"""Steps of a cold descent, and the share of its squared budget that counts rows within a bound."""

FAR = 400.0
"""Linear predictors that exponentials are taken of are cut there, so that these stay finite."""


def with_ones(rows: Array) -> Array:
    """Append a column of ones."""
    return np.column_stack([rows, np.ones(len(rows))])


def non_private(family: CanonicalFamily, rows: Array, responses: Array) -> Array:
    """The fit that all errors are counted from."""
    return plain_fit(family, Rows(with_ones(rows), responses), 0.0)


def public_only(family: CanonicalFamily, rows: Array, responses: Array) -> Array:
    """Fit of the public rows alone, its penalty by cross-validation among them."""
    mean, size = rows.mean(axis=0), rows.std(axis=0)
    scaled = (rows - mean) / size
    if isinstance(family, Gaussian):
        model = RidgeCV(alphas=np.geomspace(1e-3, 1e5, 33)).fit(scaled, responses)
    elif isinstance(family, Bernoulli):
        model = LogisticRegressionCV(Cs=np.geomspace(1e-4, 1e3, 15), cv=5, max_iter=2_000)
        model.fit(scaled, responses)
    else:
        grid = {"alpha": np.geomspace(1e-3, 3.0, 9)}
        model = GridSearchCV(PoissonRegressor(max_iter=2_000), grid, cv=5)
        model = model.fit(scaled, responses).best_estimator_
    coef = np.ravel(model.coef_) / size
    return np.append(coef, np.ravel(model.intercept_)[0] - coef @ mean)


def warm_descent(
    rng: np.random.Generator,
    family: CanonicalFamily,
    private: Rows,
    public: Rows,
    mu: float,
    start: Array,
    quantile: float,
) -> Array:
    """
    Clipped gradient descent from the public fit, in coordinates whitened by public rows.

    Rows are clipped at a quantile of the public rows' own gradients at the start; the estimate is
    the mean of the later half of the steps.
    """
    mean, n = public.X.mean(axis=0), len(private.X)
    B = with_ones(public.X - mean)
    whitener = _root_inverse(_shrunk(B.T @ B / len(B), len(B)))
    Z, known = with_ones(private.X - mean) @ whitener, B @ whitener
    coef = np.linalg.solve(whitener, np.append(start[:-1], start[-1] + start[:-1] @ mean))
    far = np.inf if isinstance(family, Gaussian) else FAR
    predictor = np.clip(known @ coef, -far, far)
    sizes = np.linalg.norm(known, axis=1) * np.abs(public.y - family.mean(predictor))
    clip, curvature = np.quantile(sizes, quantile), np.mean(family.curvature(predictor))
    noise, lengths = 2.0 * clip * np.sqrt(STEPS) / (n * mu), np.linalg.norm(Z, axis=1)
    kept = []
    for step in range(STEPS):
        slope = private.y - family.mean(np.clip(Z @ coef, -far, far))
        slope = slope * np.minimum(1.0, clip / np.maximum(lengths * np.abs(slope), 1e-300))
        gradient = Z.T @ slope / n + noise * rng.standard_normal(len(coef))
        coef = coef + RATE / curvature * gradient
        if step >= STEPS // 2:
            kept.append(coef)
    found = whitener @ np.mean(kept, axis=0)
    return np.append(found[:-1], found[-1] - found[:-1] @ mean)


def cold_descent(
    rng: np.random.Generator, X: Array, y: Array, moment: Array, scale: float, mu: float
) -> Array:
    """
    Linear regression from zero; public are the second moment of design rows and the response size.

    Rows are shortened to the root of their length's expectation; the bound on residuals follows
    them down by a noisy count of those within it.
    """
    whitener = _root_inverse(moment)
    Z = X @ whitener
    n, d = Z.shape
    radius = np.sqrt(d)
    kept = np.minimum(1.0, radius / np.maximum(np.linalg.norm(Z, axis=1), 1e-300))
    rows = Z * kept[:, None]
    left = np.mean(np.minimum(rng.chisquare(d, 100_000), radius**2)) / d
    shares = 1.3 ** np.arange(COLD_STEPS)
    budgets = mu * np.sqrt((1.0 - COUNTED) * shares / shares.sum())
    coef, bound = np.zeros(d), scale
    for budget in budgets:
        residuals = kept * (y - Z @ coef)
        count = np.mean(np.abs(residuals) <= bound)
        count += rng.standard_normal() / (n * mu * np.sqrt(COUNTED / COLD_STEPS))
        noise = 2.0 * radius * bound / (n * budget) * rng.standard_normal(d)
        coef = coef + (rows.T @ np.clip(residuals, -bound, bound) / n + noise) / left
        bound = min(bound, bound / norm.ppf((1.0 + np.clip(count, 0.08, 0.997)) / 2.0))
    return whitener @ coef


def _shrunk(moment: Array, n: int) -> Array:
    """Shrink a second moment of n rows towards its diagonal."""
    d = len(moment)
    return (n * moment + d * np.diag(np.diag(moment))) / (n + d)


def _root_inverse(moment: Array) -> Array:
    """Inverse root of a second moment."""
    values, vectors = np.linalg.eigh(moment)
    return (vectors / np.sqrt(np.maximum(values, 1e-8 * values[-1]))) @ vectors.T
