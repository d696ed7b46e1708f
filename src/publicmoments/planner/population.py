"""Made-up populations that look like what is public: the stage of a rehearsal.

Public data leave things open: with few rows the second moment, the coefficients and the residual
scale are known badly. Each drawn population is one that the public data could have come from, so
that a rehearsal on many of them allows for what is not known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from publicmoments.families import Bernoulli, Gaussian
from publicmoments.planner.features import FeatureLaw, student_factors
from publicmoments.planner.fits import Task
from publicmoments.planner.truths import Truth, TruthLaw

__all__ = ["Population", "World"]

Array = NDArray[np.float64]

MISFIT_ROWS = 450.0
"""How wrong linear models are taken to be, as in `bounds.MISFIT_ROWS`. Bounds had better allow for
too much; a prediction should lie between a perfectly linear model and the real tables of the
accuracy benchmark."""

RESIDUAL_TAIL = 8.0
"""Degrees of freedom of the Student factors that lengthen residuals of rows nobody has seen. Such
residuals have a kurtosis of 4.5; those of the real tables of the accuracy benchmark have 4.3 and
4.8, of which few public rows show little."""

LARGEST_PREDICTOR = 30.0
"""Counts with a larger logarithm of the mean than this are not drawn."""


@dataclass(frozen=True, eq=False, kw_only=True)
class World(Truth):
    """One population: a truth and how responses follow it; everything in it is made up."""

    task: Task

    @property
    def metric(self) -> Array:
        """Second moment of a design row."""
        moment, mean = self.features.second_moment, self.features.mean[None, :]
        if not self.task.fit_intercept:
            return moment
        return np.block([[moment, mean.T], [mean, np.ones((1, 1))]])

    def sample(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """Draw rows and responses."""
        z, picked = self.features.whitened(rng, n)
        X = self.features.mean + z @ self.features.root
        predictor = X @ self.coef[: X.shape[1]] + (
            self.coef[-1] if self.task.fit_intercept else 0.0
        )
        if isinstance(self.task.family, Gaussian):
            left = self._residuals(rng, picked) + self._bend(rng, z, X)
            return X, predictor + self.residual_sd * left
        if isinstance(self.task.family, Bernoulli):
            return X, (rng.logistic(size=n) > -predictor).astype(np.float64)
        rates = np.exp(np.minimum(predictor, LARGEST_PREDICTOR))
        return X, rng.poisson(self.task.exposure * rates).astype(np.float64)

    @property
    def _trust(self) -> float:
        """How far public residuals are taken to show in which rows the model is wrong."""
        seen = 0 if self.residuals is None else len(self.residuals)
        return seen / (seen + MISFIT_ROWS)

    def _residuals(self, rng: np.random.Generator, picked: NDArray[np.intp]) -> Array:
        """
        Residuals of mean square 1: normal, or public ones, smoothed.

        What residuals go with which rows is mostly chance where public rows are few: then most are
        shuffled. Those of rows that nobody has seen have tails that nobody has seen.
        """
        n = len(picked)
        left = rng.standard_normal(n)
        if self.residuals is not None:
            own = (picked >= 0) & (rng.random(n) < self._trust)
            chosen = np.where(own, picked, rng.integers(len(self.residuals), size=n))
            smooth = self.features.jitter
            left = (self.residuals[chosen] + smooth * left) / math.sqrt(1.0 + smooth**2)
        unseen = picked < 0
        left[unseen] *= student_factors(rng, RESIDUAL_TAIL, int(unseen.sum()))
        return np.asarray(left)

    def _bend(self, rng: np.random.Generator, z: Array, X: Array) -> Array:
        """
        What a straight line misses in long rows, in units of the residual sd.

        It is (a.z) (|z| - c), of the size that ``MISFIT_ROWS`` stands for, less what residuals show
        that go with their rows, and made orthogonal to the design: least squares does not feel it,
        bounds on long rows do.
        """
        length = np.linalg.norm(z, axis=1)
        bend = length - np.mean(length**3) / np.mean(length**2)
        bend /= math.sqrt(float(np.mean((length * bend) ** 2)) / max(self.features.rank, 1))
        shown = self._trust * self.features.seen_share
        size = math.sqrt((1.0 - shown) / MISFIT_ROWS)
        bend *= z @ rng.standard_normal(z.shape[1]) * size
        rows = np.column_stack([X, np.ones(len(X))]) if self.task.fit_intercept else X
        return np.asarray(bend - rows @ np.linalg.lstsq(rows, bend, rcond=None)[0])


@dataclass(frozen=True, eq=False)
class Population:
    """What is believed of the private population, from public knowledge alone."""

    features: FeatureLaw
    law: TruthLaw
    task: Task

    def drawn(self, rng: np.random.Generator) -> World:
        """Draw one population that agrees with what is public."""
        truth = self.law.drawn(rng, self.features)
        return World(**vars(truth), task=self.task)
