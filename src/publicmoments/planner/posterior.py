"""What public responses say of the coefficients: a fit, and draws of how far it may be off."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from publicmoments.planner.fits import Task, newton

__all__ = ["Posterior"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Posterior:
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
    def of_rows(cls, task: Task, X: Array, y: Array) -> Posterior:
        """Fit public rows and their responses."""
        rows = task.design(X)
        squares = (X - task.fit_intercept * X.mean(axis=0)) ** 2
        sizes = np.mean(squares**2, axis=0) / np.maximum(np.mean(squares, axis=0), 1e-300)
        prior = np.append(sizes, 0.0) if task.fit_intercept else sizes
        fits = [_Fit.made(task, rows, y, prior * s) for s in np.geomspace(1e-6, 1.0, 13)]
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
class _Fit:
    """A penalised fit of public rows, with all that leaving rows out takes."""

    penalty: Array
    coef: Array
    mean: Array
    curvature: Array
    inverse: Array
    leverage: Array
    loss_left_out: float

    @classmethod
    def made(cls, task: Task, rows: Array, y: Array, penalty: Array) -> _Fit:
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
