"""Made-up populations that the public data could have come from: the stage of a rehearsal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import entr

from publicmoments.families import Bernoulli, Gaussian
from publicmoments.planner.features import EllipticalRows, Features, PublicRows, parted
from publicmoments.planner.fits import Task
from publicmoments.planner.posterior import Posterior
from publicmoments.public import PublicDesign

__all__ = ["KnownMoments", "KnownRows", "Population", "Stated", "TruthLaw", "World"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class World:
    """
    One population; everything in it is made up.

    Parameters
    ----------
    task : Task
        What is fitted.
    features : Features
        Law of the rows.
    coef : ndarray of shape (p,)
        Its coefficients, intercept last where there is one.
    residual_sd : float
        Of responses of a linear model about the linear predictor.
    residuals : ndarray or None
        What public rows leave of their responses, instead of a normal law of that size.
    dispersion : float
        Of counts beyond Poisson's.
    largest : float
        Largest mean of a count.
    """

    task: Task
    features: Features
    coef: Array
    residual_sd: float = 1.0
    residuals: Array | None = field(default=None, repr=False)
    dispersion: float = 0.0
    largest: float = 1e18

    def sample(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """Draw rows and responses."""
        X, picked = self.features.sample(rng, n)
        predictor = self.task.design(X) @ self.coef
        if isinstance(self.task.family, Gaussian):
            if self.residuals is not None:
                return X, predictor + self.residuals[picked]
            return X, predictor + self.residual_sd * rng.standard_normal(n)
        if isinstance(self.task.family, Bernoulli):
            return X, (rng.logistic(size=n) > -predictor).astype(np.float64)
        rates = np.exp(np.minimum(predictor, math.log(self.largest)))
        if self.dispersion > 0.0:
            rates *= rng.gamma(1.0 / self.dispersion, self.dispersion, n)
        return X, rng.poisson(self.task.exposure * rates).astype(np.float64)


class TruthLaw(Protocol):
    """What is believed of how responses follow rows."""

    def drawn(self, rng: np.random.Generator, task: Task, features: Features) -> World:
        """Draw a population with a law of rows."""
        ...


@dataclass(frozen=True)
class Population:
    """What is believed of the private population, from public knowledge alone."""

    task: Task
    features: Features
    law: TruthLaw

    def drawn(self, rng: np.random.Generator) -> World:
        """Draw one population that agrees with what is public."""
        return self.law.drawn(rng, self.task, self.features.drawn(rng))


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Public rows with responses: their fit, and responses about it like theirs."""

    posterior: Posterior
    largest: float

    def drawn(self, rng: np.random.Generator, task: Task, features: Features) -> World:
        """
        Draw coefficients.

        Residuals stay with their rows, for errors may be uneven, less what rows, weighted as they
        are in this population, explain of them: the coefficients are then those of least squares.
        """
        coef, residuals = self.posterior.drawn(rng), self.posterior.residuals
        if isinstance(features, PublicRows):
            heavy = np.sqrt(features.weights)[:, None]
            rows = np.column_stack([features.rows, np.ones(len(features.rows))])
            bent = np.linalg.lstsq(heavy * rows, heavy[:, 0] * residuals, rcond=None)[0]
            residuals = residuals - rows @ bent
        return World(
            task,
            features,
            coef,
            residuals=residuals,
            dispersion=self.posterior.dispersion,
            largest=self.largest,
        )


@dataclass(frozen=True, eq=False)
class KnownMoments:
    """Public moments of rows and responses: least squares with normal errors."""

    design: PublicDesign
    coef: Array

    def drawn(self, rng: np.random.Generator, task: Task, features: Features) -> World:
        """Draw a residual variance and coefficients."""
        sd, p = float(np.ravel(self.design.residual_scale)[0]), len(self.coef)
        if self.design.n is None:
            return World(task, features, self.coef, sd)
        freedom = max(self.design.n - p, 1)
        sd *= math.sqrt(freedom / rng.chisquare(freedom))
        away = np.asarray(self.design.whitener) @ rng.standard_normal(p)
        return World(task, features, self.coef + sd / math.sqrt(self.design.n) * away, sd)


@dataclass(frozen=True)
class Stated:
    """
    No public responses: a random direction, its size as stated.

    Parameters
    ----------
    signal : float
        Root mean square of the linear predictor, about its mean where there is an intercept.
    residual_sd : float
        Of responses of a linear model about it.
    level : float
        Mean of the linear predictor of a linear model with an intercept.
    response_mean : float or None
        Mean of the responses of the others; None for a linear predictor of mean ``level``.
    r2 : float or None
        Share of the deviance of labels that is explained, where rows are elliptical; None for that
        of rows without classes.
    """

    signal: float
    residual_sd: float = 1.0
    level: float = 0.0
    response_mean: float | None = None
    r2: float | None = None

    def drawn(self, rng: np.random.Generator, task: Task, features: Features) -> World:
        """Draw effects that are alike in units of the columns."""
        X, _ = features.sample(rng, 4_000)
        rows, sizes = task.design(X), np.sqrt(np.mean((X - task.fit_intercept * X.mean(0)) ** 2, 0))
        varying = sizes > 1e-9 * np.max(np.abs(X), axis=0)
        effects = rng.standard_normal(X.shape[1]) * varying / np.where(varying, sizes, 1.0)
        line = _Line.of(
            task, rows, np.append(effects, np.zeros(rows.shape[1] - len(effects))), self
        )
        if self.r2 is not None and isinstance(features, EllipticalRows):
            share = self.response_mean or 0.5
            upper, along = rng.random(len(X)) < share, rng.standard_normal(len(X))

            def unexplained(apart: float) -> float:
                moved = replace(line, shape=parted(along, upper, apart, share))
                predictor = moved.predictor(moved.level())
                means = task.family.mean(predictor)
                whole = entr(np.mean(means)) + entr(1.0 - np.mean(means))
                return float(np.mean(task.family.loss(predictor, means)) / whole) - 1.0 + self.r2

            apart = _root(unexplained, 0.0, 0.99)
            axis = features.root @ line.direction[: X.shape[1]]
            features = replace(features, axis=axis / np.linalg.norm(axis), apart=apart, upper=share)
            line = replace(line, shape=parted(along, upper, apart, share))
        return World(task, features, line.coef(line.level()), self.residual_sd)


@dataclass(frozen=True, eq=False)
class _Line:
    """
    A linear predictor of a stated size whose mean can be chosen.

    ``direction`` are coefficients whose predictor has size 1, ``shape``, and mean 0 where there is
    an intercept or a mean is stated; ``along`` those whose predictor has mean 1 and is as small as
    can be, ``base``: the intercept where there is one.
    """

    task: Task
    stated: Stated
    direction: Array
    along: Array
    shape: Array
    base: Array

    @classmethod
    def of(cls, task: Task, rows: Array, effects: Array, stated: Stated) -> _Line:
        """Divide effects into a part with mean 0 and one along the mean."""
        mean = rows.mean(axis=0)
        along = np.linalg.lstsq(rows, np.ones(len(rows)), rcond=1e-9)[0]
        along = along / max(float(mean @ along), 1e-300)
        if task.fit_intercept or stated.response_mean is not None:
            effects = effects - along * (mean @ effects)
        size = max(math.sqrt(float(np.mean((rows @ effects) ** 2))), 1e-300)
        return cls(task, stated, effects / size, along, rows @ effects / size, rows @ along)

    def coef(self, level: float) -> Array:
        """Coefficients whose linear predictor has a mean."""
        return self._size(level) * self.direction + level * self.along

    def predictor(self, level: float) -> Array:
        """Linear predictors of these."""
        return self._size(level) * self.shape + level * self.base

    def level(self) -> float:
        """Mean of the linear predictor whose responses have theirs, or as near as can be."""
        wanted = self.stated.response_mean
        if wanted is None:
            return self.stated.level
        end = 30.0 if self.task.fit_intercept else 0.99 * self.stated.signal / self._base_size
        mean = self.task.family.mean
        return _root(lambda at: float(np.mean(mean(self.predictor(at)))) - wanted, -end, end)

    @property
    def _base_size(self) -> float:
        """Root mean square of the part along the mean."""
        return math.sqrt(float(np.mean(self.base**2)))

    def _size(self, level: float) -> float:
        """How much of the stated size is left for the rest."""
        if self.task.fit_intercept:
            return self.stated.signal
        return math.sqrt(max(self.stated.signal**2 - (level * self._base_size) ** 2, 0.0))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Root of an increasing function, or the end that is nearest to one."""
    if function(low) >= 0.0:
        return low
    return high if function(high) <= 0.0 else float(brentq(function, low, high, xtol=1e-3))
