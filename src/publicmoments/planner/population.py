"""Made-up populations that the public data could have come from: the stage of a rehearsal.

Their rows are public ones, resampled and smoothed, or elliptical ones of public moments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq
from scipy.special import entr

from publicmoments.arrays import Array
from publicmoments.planner.fits import CoefLaw, Task, newton
from publicmoments.public import PublicDesign, PublicMoments

Picked = NDArray[np.intp]

UNSTATED_KURTOSIS = 1.08
"""Fourth moment of the length of whitened rows over that of Gaussian ones, where nobody stated it:
that of Student rows with 29 degrees of freedom."""


@dataclass(frozen=True, eq=False)
class PublicRows:
    """
    Public rows, resampled and smoothed.

    A column most of whose values occur once is smoothed, by a Gaussian kernel of the covariance
    that such columns have given the others and the usual bandwidth (4 / ((d + 2) k))^(1 / (d + 4));
    what is smoothed is shrunk so that all second moments stay. Other columns are kept as they are.

    Parameters
    ----------
    rows : ndarray of shape (k, d)
        Public rows.
    n : int
        Number of rows that they stand for.
    weights : ndarray of shape (k,)
        Share of each.
    """

    rows: Array = field(repr=False)
    n: int
    weights: Array = field(repr=False)

    @property
    def smooth(self) -> NDArray[np.bool_]:
        """Which columns are smoothed."""
        values = np.array([len(np.unique(column)) for column in self.rows.T])
        return np.asarray(values > len(self.rows) / 2)

    def drawn(self, rng: np.random.Generator) -> PublicRows:
        """
        Weigh rows by the Bayesian bootstrap.

        By Laplace's rule of succession what one row shows counts for two, lest columns that are
        seldom other than zero vanish.
        """
        k = len(self.rows)
        return PublicRows(self.rows, self.n, rng.dirichlet(np.full(k, 2.0 * self.n / k)))

    def sample(self, rng: np.random.Generator, n: int) -> tuple[Array, Picked]:
        """Draw rows."""
        picked, smooth = rng.choice(len(self.rows), size=n, p=self.weights), self.smooth
        X, d = self.rows[picked], int(smooth.sum())
        if d == 0:
            return X, picked
        others = np.column_stack([self.rows[:, ~smooth], np.ones(len(self.rows))])
        heavy = np.sqrt(self.weights)[:, None]
        explained = np.linalg.lstsq(heavy * others, heavy * self.rows[:, smooth], rcond=None)[0]
        centre = others @ explained
        rest = self.rows[:, smooth] - centre
        _, sizes, axes = np.linalg.svd(heavy * rest, full_matrices=False)
        bandwidth = (4.0 / ((d + 2) * len(self.rows))) ** (1.0 / (d + 4))
        kernel = bandwidth * rng.standard_normal((n, len(sizes))) @ (sizes[:, None] * axes)
        X[:, smooth] = centre[picked] + (rest[picked] + kernel) / math.hypot(1.0, bandwidth)
        return X, picked


@dataclass(frozen=True, eq=False)
class EllipticalRows:
    """
    Student or Gaussian rows of public moments.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        Their mean.
    root : ndarray of shape (d, d)
        Rows less their mean are standard ones times this.
    kurtosis : float
        Fourth moment of the length of standard rows, over that of Gaussian ones.
    n : int or None
        Public rows behind the moments; None for moments taken as they are.
    axis : ndarray of shape (d,) or None
        Direction of standard rows, of length 1, along which they fall into two classes.
    apart, upper : float
        Standard deviation between the classes, below 1, and share of the upper one.
    """

    mean: Array
    root: Array = field(repr=False)
    kurtosis: float
    n: int | None
    axis: Array | None = field(default=None, repr=False)
    apart: float = 0.0
    upper: float = 0.5

    def drawn(self, rng: np.random.Generator) -> EllipticalRows:
        """
        Draw moments that the public ones could be those of a sample of.

        A sample's second moment, whitened by the true one, is a Wishart matrix; the true one,
        whitened by the sample's, the inverse of one. Fewer rows than twice the columns say next to
        nothing of some directions, and are taken for so many.
        """
        d = len(self.mean)
        if self.n is None:
            return self
        freedom = max(self.n - 1, 2 * d)
        wishart = np.atleast_2d(stats.wishart.rvs(freedom, np.eye(d), random_state=rng)) / freedom
        root = np.linalg.inv(np.linalg.cholesky(wishart)) @ self.root
        shift = rng.standard_normal(d) @ root / math.sqrt(self.n) if self.mean.any() else 0.0
        return EllipticalRows(self.mean + shift, root, self.kurtosis, self.n)

    def sample(self, rng: np.random.Generator, n: int) -> tuple[Array, Picked]:
        """Draw rows."""
        z = rng.standard_normal((n, len(self.mean)))
        if self.axis is not None:
            along = z @ self.axis
            moved = _parted(along, rng.random(n) < self.upper, self.apart, self.upper)
            z += np.outer(moved - along, self.axis)
        if self.kurtosis > 1.0:
            freedom = 4.0 + 2.0 / (self.kurtosis - 1.0)
            z *= np.sqrt((freedom - 2.0) / rng.chisquare(freedom, size=n))[:, None]
        return self.mean + z @ self.root, np.full(n, -1)


Features: TypeAlias = PublicRows | EllipticalRows


def _parted(along: Array, upper: NDArray[np.bool_], apart: float, share: float) -> Array:
    """Put standard normal numbers in two classes, so that their mean and variance stay."""
    between = (upper - share) / math.sqrt(share * (1.0 - share))
    return np.asarray(apart * between + math.sqrt(1.0 - apart**2) * along)


def features_of(public: PublicMoments, kurtosis: float | None) -> Features:
    """Resample public rows where there are any, else draw rows of the public moments."""
    if public.rows is not None:
        k = len(public.rows)
        return PublicRows(np.asarray(public.rows), public.n or k, np.full(k, 1.0 / k))
    moment, mean = np.asarray(public.second_moment), np.zeros(len(public.second_moment))
    if public.mean is not None and public.covariance is not None:
        moment, mean = np.asarray(public.covariance), np.asarray(public.mean)
    values, vectors = np.linalg.eigh(moment)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return EllipticalRows(mean, root, kurtosis or UNSTATED_KURTOSIS, public.n)


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

    coef_law: CoefLaw
    y: Array = field(repr=False)

    def drawn(self, rng: np.random.Generator, task: Task, features: Features) -> World:
        """
        Draw coefficients; what the fit leaves of public responses stays with their rows.

        For errors may be uneven, and the model wrong. Left is the difference from a fit of rows
        weighted as they are in this population, or for counts the ratio to it, of the size that
        allows for what fits take. The coefficients are those of a fit of the population. Rows that
        are fewer than twice the columns show nothing of this.
        """
        coef, y, spread = self.coef_law.drawn(rng), self.y, self.coef_law.spread
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
