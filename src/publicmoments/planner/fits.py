"""The fits that a rehearsal compares: private ones by the library, and plain ones."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

import publicmoments
from publicmoments.families import Bernoulli, CanonicalFamily, Gaussian, Poisson
from publicmoments.public import PublicMoments

__all__ = ["FAMILIES", "Model", "Task", "newton"]

Array = NDArray[np.float64]
Model: TypeAlias = Literal["ridge", "logistic", "poisson"]

FAMILIES: dict[str, CanonicalFamily] = {
    "ridge": Gaussian(),
    "logistic": Bernoulli(),
    "poisson": Poisson(),
}


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
    alpha: float = 0.0
    fit_intercept: bool = True
    exposure: float = 1.0

    @property
    def family(self) -> CanonicalFamily:
        """Family of the responses."""
        return FAMILIES[self.model]

    def design(self, X: Array) -> Array:
        """Append the column of ones where there is an intercept."""
        return np.column_stack([X, np.ones(len(X))]) if self.fit_intercept else X

    def penalty(self, p: int) -> Array:
        """Penalty on the coefficients of a design row, as a matrix."""
        penalties = np.full(p, self.alpha)
        if self.fit_intercept:
            penalties[-1] = 0.0
        return np.diag(penalties)

    def private_fit(
        self, X: Array, y: Array, mu: float, public: PublicMoments, seed: int
    ) -> tuple[Array, float]:
        """Fit with reproducible noise; return coefficients and the bound of the last release."""
        stated: dict[str, Any] = {
            "alpha": self.alpha,
            "fit_intercept": self.fit_intercept,
            "privacy": publicmoments.GDP(mu),
            "public": public,
            "random_state": seed,
        }
        with warnings.catch_warnings():
            # What the public data lack is told once, by the real fit.
            warnings.simplefilter("ignore")
            if self.model == "poisson":
                exposure = None if self.exposure == 1.0 else np.full(len(y), self.exposure)
                model: Any = publicmoments.PoissonRegressor(**stated).fit(X, y, exposure=exposure)
            elif self.model == "logistic":
                model = publicmoments.LogisticRegression(**stated, classes=(0, 1)).fit(X, y)
            else:
                model = publicmoments.Ridge(**stated).fit(X, y)
        last: Any = model.card_.passes[-1]
        bound = getattr(last, "x_radius", getattr(last, "radius", float("nan")))
        coef = np.ravel(model.coef_)
        coef = np.append(coef, model.intercept_) if self.fit_intercept else coef
        return coef, float(getattr(last, "bound", bound))

    def plain_fit(self, X: Array, y: Array) -> Array:
        """
        Fit without noise: minimise the mean loss and the penalty.

        The loss of counts under an exposure e is e times that of counts over e.
        """
        rows, e = self.design(X), self.exposure
        return newton(self.family, rows, y / e, self.penalty(rows.shape[1]) / e)


def newton(
    family: CanonicalFamily, rows: Array, y: Array, penalty: Array, weights: Array | None = None
) -> Array:
    """
    Minimise the mean loss of design rows plus a quadratic penalty, by damped Newton steps.

    Columns are brought to size 1, and a very weak prior keeps coefficients finite that responses
    leave open.
    """
    sizes = np.sqrt(np.mean(rows**2, axis=0))
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    X, share = rows / sizes, np.full(len(rows), 1.0 / len(rows)) if weights is None else weights
    weak = 0.0 if isinstance(family, Gaussian) else 1e-6 / len(rows)
    added = penalty / np.outer(sizes, sizes) + weak * np.eye(len(sizes))

    def objective(at: Array) -> float:
        with np.errstate(over="ignore"):
            return float(share @ family.loss(X @ at, y) + at @ added @ at / 2)

    coef = np.zeros(len(sizes))
    value, gain = objective(coef), np.inf
    for _ in range(50):
        predictor = X @ coef
        gradient = X.T @ (share * (family.mean(predictor) - y)) + added @ coef
        hessian = (X * (share * family.curvature(predictor))[:, None]).T @ X + added
        step = np.linalg.lstsq(hessian, gradient, rcond=1e-14)[0]
        if (gain := float(gradient @ step)) < 1e-20:
            break
        while gain > 1e-20 and (new := objective(coef - step)) > value + 1e-14 * abs(value):
            step, gain = step / 2, gain / 2
        if not gain > 1e-20:
            break
        coef, value = coef - step, new
    return np.asarray(coef / sizes)
