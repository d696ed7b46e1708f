"""Fits without privacy: of the private rows as a reference, of the public rows as a rival."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]

NEWTON_STEPS = 60
HALVINGS = 20
CONVERGED = 1e-10

LEAST_PENALTY = 1e-8
"""Keeps logistic coefficients finite where rows, mostly few public ones, are separable."""


def ridge_fit(X: Array, y: Array, alpha: float) -> Array:
    """Minimise ||y - X b||^2 / (2 n) + alpha ||b||^2 / 2."""
    if alpha == 0.0:
        return np.linalg.lstsq(X, y, rcond=None)[0]
    n, d = X.shape
    return np.linalg.solve(X.T @ X / n + alpha * np.eye(d), X.T @ y / n)


def logistic_fit(X: Array, y: Array, alpha: float) -> Array:
    """Minimise mean(log(1 + exp(x.b)) - y x.b) + alpha ||b||^2 / 2 by damped Newton steps."""
    n, d = X.shape
    alpha = max(alpha, LEAST_PENALTY)
    coef = np.zeros(d)
    for _ in range(NEWTON_STEPS):
        mean = expit(X @ coef)
        gradient = X.T @ (mean - y) / n + alpha * coef
        hessian = (X * (mean * (1.0 - mean))[:, None]).T @ X / n + alpha * np.eye(d)
        step = np.linalg.solve(hessian, gradient)
        coef = coef - _damping(X, y, alpha, coef, step) * step
        if float(gradient @ step) < CONVERGED:
            break
    return coef


def _damping(X: Array, y: Array, alpha: float, coef: Array, step: Array) -> float:
    """Halve a step until the loss does not rise."""
    before, share = _loss(X, y, alpha, coef), 1.0
    for _ in range(HALVINGS):
        if _loss(X, y, alpha, coef - share * step) <= before:
            break
        share /= 2.0
    return share


def _loss(X: Array, y: Array, alpha: float, coef: Array) -> float:
    """Penalised logistic loss."""
    predictor = X @ coef
    return float(np.mean(np.logaddexp(0.0, predictor) - y * predictor) + alpha / 2 * coef @ coef)
