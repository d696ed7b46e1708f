"""Generalised linear models without privacy: of the private rows, or of the public ones."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy
from settings import Array, Rows

from publicmoments.families import CanonicalFamily, Poisson

NEWTON_STEPS = 100
HALVINGS = 40
CONVERGED = 1e-22
RANK = 1e-12

FLAT = 1e-8
"""Curvature of whitened rows below which their responses leave a direction undetermined."""

LEAST_PENALTY = 1e-6
"""Penalty on whitened coefficients that such rows are given."""


def fit(family: CanonicalFamily, rows: Rows, alpha: float) -> Array:
    """
    Minimise mean(loss(x.b + offset, y)) + alpha/2 ||b||^2.

    Where rows leave a direction undetermined, as separable ones do without a penalty, a slight
    penalty makes the coefficients finite.
    """
    whitener = _whitener(rows.X)
    whitened = Rows(rows.X @ whitener, rows.y, rows.offset)
    penalty = alpha * whitener.T @ whitener
    coef, flattest = _newton(family, whitened, penalty)
    if flattest < FLAT:
        coef, _ = _newton(family, whitened, penalty + LEAST_PENALTY * np.eye(len(coef)))
    return whitener @ coef


def loss(family: CanonicalFamily, rows: Rows, coef: Array) -> float:
    """Mean log loss of labels, or mean deviance of counts."""
    with np.errstate(over="ignore"):
        losses = family.loss(rows.X @ coef + rows.offset, rows.y)
    if isinstance(family, Poisson):
        losses = 2.0 * (losses + xlogy(rows.y, rows.y) - rows.y)
    return float(np.mean(losses))


def _whitener(X: Array) -> Array:
    """Coordinates in which the second moment is the identity."""
    sizes = np.sqrt(np.mean(X**2, axis=0))
    sizes = np.where(sizes > 0, sizes, 1.0)
    unit = (X / sizes).T @ (X / sizes) / len(X)
    eigenvalues, vectors = np.linalg.eigh(unit)
    return vectors / np.sqrt(np.maximum(eigenvalues, RANK)) / sizes[:, None]


def _newton(family: CanonicalFamily, rows: Rows, penalty: Array) -> tuple[Array, float]:
    """Damped Newton steps; return also the smallest eigenvalue of the curvature."""
    X, y = rows.X, rows.y
    n, d = X.shape
    coef = np.zeros(d)

    def objective(at: Array) -> float:
        with np.errstate(over="ignore"):
            losses = family.loss(X @ at + rows.offset, y)
        return float(np.mean(losses) + at @ penalty @ at / 2)

    value = objective(coef)
    for _ in range(NEWTON_STEPS):
        predictor = X @ coef + rows.offset
        gradient = X.T @ (family.mean(predictor) - y) / n + penalty @ coef
        hessian = (X * family.curvature(predictor)[:, None]).T @ X / n + penalty
        flattest = float(np.linalg.eigvalsh(hessian)[0])
        if flattest < FLAT:
            break
        step = np.linalg.solve(hessian, gradient)
        for _ in range(HALVINGS):
            new = objective(coef - step)
            # Rounding moves the objective more than the last steps do.
            if new <= value + 1e-14 * abs(value):
                break
            step = step / 2
        coef, value = coef - step, new
        if gradient @ step < CONVERGED:
            break
    return coef, flattest
