"""Made-up populations that the public data could have come from: the stage of a rehearsal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import entr

from publicmoments.arrays import Array
from publicmoments.planner.features import EllipticalRows, Features, PublicRows
from publicmoments.planner.fits import Posterior, Task, newton
from publicmoments.public import PublicDesign, PublicMoments


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
        What public rows leave of their responses, instead of a normal law of that size; for counts
        their ratios to the mean, instead of Poisson's law.
    largest : float
        Largest mean of a count.
    """

    task: Task
    features: Features
    coef: Array
    residual_sd: float = 1.0
    residuals: Array | None = field(default=None, repr=False)
    largest: float = 1e18

    def sample(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """Draw rows and responses."""
        X, picked = self.features.sample(rng, n)
        predictor = self.task.design(X) @ self.coef
        if self.task.model == "logistic":
            return X, (rng.logistic(size=n) > -predictor).astype(np.float64)
        if self.task.model == "ridge":
            if self.residuals is not None:
                return X, predictor + self.residuals[picked]
            return X, predictor + self.residual_sd * rng.standard_normal(n)
        rates = self.task.exposure * np.exp(np.minimum(predictor, math.log(self.largest)))
        if self.residuals is not None:
            return X, np.floor(rates * self.residuals[picked] + rng.random(n))
        return X, rng.poisson(rates).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Population:
    """
    What is believed of the private population, from public knowledge alone.

    Parameters
    ----------
    task : Task
        What is fitted.
    public : PublicMoments
        The public input that the fit will have.
    public_coef : ndarray or None
        Coefficients of the public data alone, where these have responses.
    features : Features
        Law of the rows.
    law : TruthLaw
        Law of their responses.
    """

    task: Task
    public: PublicMoments
    public_coef: Array | None
    features: Features
    law: KnownRows | KnownMoments | Stated

    def drawn(self, rng: np.random.Generator) -> World:
        """Draw one population that agrees with what is public."""
        return self.law.drawn(rng, self.task, self.features.drawn(rng))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the coefficients."""
        names = self.public.columns or tuple(f"x{k}" for k in range(len(self.public.second_moment)))
        return (*names, "intercept") if self.task.fit_intercept else names


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Public rows with responses: their fit, and responses about it like theirs."""

    posterior: Posterior
    y: Array = field(repr=False)

    def drawn(self, rng: np.random.Generator, task: Task, features: Features) -> World:
        """
        Draw coefficients; what the fit leaves of public responses stays with their rows.

        For errors may be uneven, and the model wrong. Left is the difference from a fit of rows
        weighted as they are in this population, or for counts the ratio to it, of the size that
        allows for what fits take. The coefficients are those of a fit of the population. Rows that
        are fewer than twice the columns show nothing of this.
        """
        coef, y, spread = self.posterior.drawn(rng), self.y, self.posterior.spread
        largest = max(float(np.max(y)), 1.0)
        world = World(task, features, coef, math.sqrt(spread), largest=largest)
        few = len(y) <= 2 * len(coef)
        if task.model == "logistic" or few or not isinstance(features, PublicRows):
            return world
        rows, weights, none = task.design(features.rows), features.weights, 0.0 * np.diag(coef)
        predictor = rows @ newton(task.family, rows, y, none, weights)
        left = y - task.family.mean(predictor)
        wide = math.sqrt(spread / max(float(weights @ left**2), 1e-300))
        if task.model == "ridge":
            return replace(world, residuals=wide * left)
        ratios = np.maximum(1.0 + wide * left * np.exp(-predictor), 0.0)
        y = ratios * np.exp(np.minimum(rows @ coef, math.log(largest)))
        coef = newton(task.family, rows, y, none, weights)
        return replace(world, coef=coef, residuals=y * np.exp(-rows @ coef))


@dataclass(frozen=True, eq=False)
class KnownMoments:
    """Public moments of rows and responses: least squares with normal errors."""

    design: PublicDesign
    coef: Array

    def drawn(self, rng: np.random.Generator, task: Task, features: Features) -> World:
        """Draw a residual variance and coefficients."""
        sd, n, p = float(np.asarray(self.design.residual_scale)[0]), self.design.n, len(self.coef)
        if n is None:
            return World(task, features, self.coef, sd)
        sd *= math.sqrt(max(n - p, 1) / rng.chisquare(max(n - p, 1)))
        away = sd / math.sqrt(n) * np.asarray(self.design.whitener) @ rng.standard_normal(p)
        return World(task, features, self.coef + away, sd)


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
        """Draw effects that are alike in units of the columns, and classes where r2 takes them."""
        seed = int(rng.integers(2**31))
        coef, _ = self._settled(task, features, seed)
        if self.r2 is not None and isinstance(features, EllipticalRows):
            law, axis = features, features.root @ coef[: len(features.mean)]
            share = self.response_mean or 0.5

            def classes(apart: float) -> EllipticalRows:
                unit = axis / np.linalg.norm(axis)
                return replace(law, axis=unit, apart=apart, upper=share)

            def missing(apart: float) -> float:
                _, predictor = self._settled(task, classes(apart), seed)
                means = task.family.mean(predictor)
                whole = float(entr(np.mean(means)) + entr(1.0 - np.mean(means)))
                left = float(np.mean(task.family.loss(predictor, means))) / whole
                return 1.0 - left - (self.r2 or 0.0)

            features = classes(_root(missing, 0.0, 0.99))
            coef, _ = self._settled(task, features, seed)
        return World(task, features, coef, self.residual_sd)

    def _settled(self, task: Task, features: Features, seed: int) -> tuple[Array, Array]:
        """
        Coefficients of the stated size and mean of responses, and their linear predictors.

        Effects are put together with the coefficients whose predictor is nearest to 1, the
        intercept where there is one; what is left of them has a predictor of mean 0 then.
        """
        centred = task.fit_intercept
        X, _ = features.sample(np.random.default_rng(seed), 4_000)
        rows, sizes = task.design(X), np.sqrt(np.mean((X - centred * X.mean(0)) ** 2, axis=0))
        varying = sizes > 1e-9 * np.max(np.abs(X), axis=0)
        effects = np.random.default_rng([seed, 1]).standard_normal(len(sizes)) * varying
        effects = effects / np.where(varying, sizes, 1.0)
        effects = np.append(effects, np.zeros(rows.shape[1] - len(effects)))
        along = np.linalg.lstsq(rows, np.ones(len(rows)), rcond=1e-9)[0]
        base = max(math.sqrt(float(np.mean(rows @ along))), 1e-150)
        if centred or self.response_mean is not None:
            effects = effects - along * float(np.mean(rows @ effects)) / base**2
        effects /= max(math.sqrt(float(np.mean((rows @ effects) ** 2))), 1e-300)

        def coef(at: float) -> Array:
            if centred:
                return np.asarray(self.signal * effects + at * along)
            return np.asarray(self.signal * (math.cos(at) * effects + math.sin(at) / base * along))

        def excess(at: float) -> float:
            return float(np.mean(task.family.mean(rows @ coef(at)))) - (self.response_mean or 0.0)

        end = 30.0 if centred else 1.4
        at = self.level if self.response_mean is None else _root(excess, -end, end)
        return coef(at), rows @ coef(at)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Root of an increasing function, or the end that is nearest to one."""
    if function(low) >= 0.0:
        return low
    return high if function(high) <= 0.0 else float(brentq(function, low, high, xtol=1e-3))
