"""The fits that a rehearsal compares: private ones by the library, and plain ones."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from publicmoments.arrays import Array
from publicmoments.families import Bernoulli, CanonicalFamily, Gaussian, Poisson
from publicmoments.models.logistic import LogisticRegression
from publicmoments.models.poisson import PoissonRegressor
from publicmoments.models.ridge import Ridge
from publicmoments.privacy.budgets import GDP
from publicmoments.public import PublicMoments

Model: TypeAlias = Literal["ridge", "logistic", "poisson"]

FAMILIES: dict[str, CanonicalFamily] = {
    "ridge": Gaussian(),
    "logistic": Bernoulli(),
    "poisson": Poisson(),
}
ESTIMATORS: dict[str, Any] = {
    "ridge": Ridge,
    "logistic": LogisticRegression,
    "poisson": PoissonRegressor,
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
        model = ESTIMATORS[self.model](
            alpha=self.alpha,
            fit_intercept=self.fit_intercept,
            privacy=GDP(mu),
            public=public,
            random_state=seed,
        )
        exposed = {} if self.exposure == 1.0 else {"exposure": np.full(len(y), self.exposure)}
        with warnings.catch_warnings():
            # What the public data lack is told once, by the real fit.
            warnings.simplefilter("ignore")
            model.fit(X, y, **exposed)
        coef = np.ravel(model.coef_)
        coef = np.append(coef, model.intercept_) if self.fit_intercept else coef
        return coef, float(model.card_.passes[-1].bound)

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


@dataclass(frozen=True, eq=False)
class CoefLaw:
    """
    Law of the coefficients of a population around the fit of its public rows.

    Few labels are fitted too well, and separable ones without end: a penalty, alike for all columns
    in units of their sizes, is chosen by the loss of rows that are left out. The size of a column
    is sqrt(E x^4 / E x^2), which is 1 for an indicator, however rare. The fit is off by a sandwich
    that holds for whatever variance responses have, residuals being those of rows left out, and by
    what the penalty stands for: a prior.

    Parameters
    ----------
    coef : ndarray of shape (p,)
        The fit.
    root : ndarray of shape (p, k)
        It is off by this times standard normal numbers.
    spread : float
        Mean square of residuals, corrected for what the fit took of them.
    """

    coef: Array
    root: Array = field(repr=False)
    spread: float

    @classmethod
    def of_rows(cls, task: Task, X: Array, y: Array) -> CoefLaw:
        """Fit public rows and their responses."""
        rows = task.design(X)
        squares = (X - task.fit_intercept * X.mean(axis=0)) ** 2
        sizes = np.mean(squares**2, axis=0) / np.maximum(np.mean(squares, axis=0), 1e-300)
        prior = np.append(sizes, 0.0) if task.fit_intercept else sizes
        fits = [_LeftOut.made(task, rows, y, prior * s) for s in np.geomspace(1e-6, 1.0, 13)]
        fit = min(fits, key=lambda one: one.loss_left_out)
        left, kept = y - fit.mean, 1.0 - fit.leverage
        spread = float(np.mean(left**2 / kept))
        noise = (rows * (left / kept)[:, None]).T
        unit = spread / float(np.mean(fit.curvature))
        prior_noise = np.diag(np.sqrt(unit * len(rows) * fit.penalty))
        return cls(fit.coef, fit.inverse @ np.hstack([noise, prior_noise]), spread)

    def drawn(self, rng: np.random.Generator) -> Array:
        """Draw coefficients."""
        return self.coef + self.root @ rng.standard_normal(self.root.shape[1])


@dataclass(frozen=True, eq=False)
class _LeftOut:
    """A penalised fit of public rows, with all that leaving rows out takes."""

    penalty: Array
    coef: Array
    mean: Array
    curvature: Array
    inverse: Array
    leverage: Array
    loss_left_out: float

    @classmethod
    def made(cls, task: Task, rows: Array, y: Array, penalty: Array) -> _LeftOut:
        """Fit, and look at every row from a fit without it, to first order."""
        coef = newton(task.family, rows, y, np.diag(penalty))
        predictor = rows @ coef
        mean, curvature = task.family.mean(predictor), task.family.curvature(predictor)
        hessian = (rows * curvature[:, None]).T @ rows + len(rows) * np.diag(penalty)
        inverse = np.asarray(np.linalg.pinv(hessian, rcond=1e-14, hermitian=True), dtype=float)
        reach = np.einsum("ij,jk,ik->i", rows, inverse, rows)
        leverage = np.asarray(np.minimum(reach * curvature, 1.0 - 1e-6))
        without = predictor - reach * (y - mean) / (1.0 - leverage)
        with np.errstate(over="ignore"):
            loss = float(np.mean(task.family.loss(without, y)))
        return cls(penalty, coef, mean, curvature, inverse, leverage, loss)
