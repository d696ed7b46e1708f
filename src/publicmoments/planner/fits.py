"""The fits that a rehearsal compares: private ones by the library, and plain ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from publicmoments.families import Bernoulli, CanonicalFamily, Gaussian, Poisson
from publicmoments.models.glm.logistic import LogisticRegression
from publicmoments.models.glm.regressors import PoissonRegressor
from publicmoments.models.ridge import Ridge
from publicmoments.privacy.budgets import GDP
from publicmoments.public import PublicMoments
from publicmoments.report.card import GradientPass, RidgePass

__all__ = ["FAMILIES", "Model", "Task", "newton", "with_ones"]

Array = NDArray[np.float64]
Model: TypeAlias = Literal["ridge", "logistic", "poisson"]

FAMILIES: dict[str, CanonicalFamily] = {
    "ridge": Gaussian(),
    "logistic": Bernoulli(),
    "poisson": Poisson(),
}

MOST_STEPS, MOST_HALVINGS, CONVERGED = 50, 30, 1e-20


@dataclass(frozen=True)
class Task:
    """
    What is going to be fitted.

    Parameters
    ----------
    model : str
        "ridge", "logistic" or "poisson".
    alpha : float
        Penalty on the mean loss.
    fit_intercept : bool
        Whether there is an intercept, which is not penalised.
    exposure : float
        Of private rows of counts, all alike.
    """

    model: Model
    alpha: float
    fit_intercept: bool
    exposure: float = 1.0

    @property
    def family(self) -> CanonicalFamily:
        """Family of the responses."""
        return FAMILIES[self.model]

    def penalty(self, p: int) -> Array:
        """Penalty of each coefficient of a design row."""
        penalties = np.full(p, self.alpha)
        if self.fit_intercept:
            penalties[-1] = 0.0
        return penalties

    def design(self, X: Array) -> Array:
        """Append the column of ones where there is an intercept."""
        return with_ones(X) if self.fit_intercept else X

    def private_fit(
        self, X: Array, y: Array, mu: float, public: PublicMoments, seed: int
    ) -> tuple[Array, float]:
        """Fit with reproducible noise; return the coefficients and the radius of the last pass."""
        stated: dict[str, Any] = {
            "alpha": self.alpha,
            "fit_intercept": self.fit_intercept,
            "privacy": GDP(mu),
            "public": public,
            "random_state": seed,
        }
        if self.model == "poisson":
            exposure = None if self.exposure == 1.0 else np.full(len(y), self.exposure)
            model: Any = PoissonRegressor(**stated).fit(X, y, exposure=exposure)
        else:
            model = {"ridge": Ridge, "logistic": LogisticRegression}[self.model](**stated).fit(X, y)
        coef = np.ravel(model.coef_)
        if self.fit_intercept:
            coef = np.append(coef, model.intercept_)
        return coef, _radius(model.card_.passes[-1])

    def plain_fit(self, X: Array, y: Array) -> Array:
        """
        Fit without noise: minimise the mean loss and the penalty.

        The loss of counts under an exposure e is e times that of counts over e.
        """
        rows, e = self.design(X), self.exposure
        return newton(self.family, rows, y / e, np.diag(self.penalty(rows.shape[1])) / e)

    def plain_moments(self, X: Array, coef: Array) -> tuple[Array, Array]:
        """
        Error of the plain fit to first order: covariance for one row of unit variance, and bias.

        With H the mean curvature at the true coefficients and P the penalty, the covariance is
        (H + P)^-1 H (H + P)^-1 and the bias is -(H + P)^-1 P coef.
        """
        rows = self.design(X)
        penalty = np.diag(self.penalty(rows.shape[1]))
        curvature = self.exposure * self.family.curvature(rows @ coef)
        hessian = (rows * curvature[:, None]).T @ rows / len(rows)
        inverse = np.linalg.pinv(hessian + penalty, rcond=1e-15, hermitian=True)
        return inverse @ hessian @ inverse, -inverse @ penalty @ coef


def newton(family: CanonicalFamily, rows: Array, y: Array, penalty: Array) -> Array:
    """
    Minimise the mean loss of design rows plus a quadratic penalty, by damped Newton steps.

    Columns are brought to size 1, and a very weak prior keeps coefficients finite that responses
    leave open.
    """
    sizes = np.sqrt(np.mean(rows**2, axis=0))
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    X, n = rows / sizes, len(rows)
    weak = 0.0 if isinstance(family, Gaussian) else 1e-6 / n
    added = penalty / np.outer(sizes, sizes) + weak * np.eye(len(sizes))
    coef = np.zeros(len(sizes))

    def objective(at: Array) -> float:
        with np.errstate(over="ignore"):
            return float(np.mean(family.loss(X @ at, y)) + at @ added @ at / 2)

    value = objective(coef)
    for _ in range(MOST_STEPS):
        predictor = X @ coef
        gradient = X.T @ (family.mean(predictor) - y) / n + added @ coef
        hessian = (X * family.curvature(predictor)[:, None]).T @ X / n + added
        step = np.linalg.lstsq(hessian, gradient, rcond=1e-14)[0]
        for _ in range(MOST_HALVINGS):
            new = objective(coef - step)
            if new <= value + 1e-14 * abs(value):
                break
            step = step / 2
        coef, value = coef - step, new
        if gradient @ step < CONVERGED or isinstance(family, Gaussian):
            break
    return np.asarray(coef / sizes)


def with_ones(X: Array) -> Array:
    """Append the column of ones."""
    return np.column_stack([X, np.ones(len(X))])


def _radius(last: object) -> float:
    """Radius that the last release bounded whitened rows by."""
    if isinstance(last, RidgePass):
        return last.x_radius
    return last.radius if isinstance(last, GradientPass) else float("nan")
