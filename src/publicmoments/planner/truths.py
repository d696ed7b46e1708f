"""What is true in a made-up population: laws of it, from public responses or statements."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from publicmoments.planner.features import FeatureLaw
from publicmoments.planner.fits import Task

__all__ = ["CoefLaw", "PredictorLaw", "SignalLaw", "Truth", "TruthLaw", "likely"]

Array = NDArray[np.float64]

FIT_ROWS, NEAR, MOST_TRIES = 2_000, 0.05, 200
"""Rows of a fit that is looked at for its length, how near that is to be to the stated one, as a
share, and how many are tried."""

LARGEST_FACTOR = 30.0
"""How much longer than its fit a truth may be."""

LONG_PREDICTOR = 5.0
"""Linear predictors of a root mean square above this are ever less likely before any response is
seen: probabilities would be 0 or 1 for most rows."""

LARGEST_LEVEL = 30.0
"""Largest mean of a linear predictor that is looked for."""

MOST_CERTAIN = 0.99
"""Share of the size of a linear predictor that its mean has at most."""


@dataclass(frozen=True, eq=False)
class Truth:
    """
    What is true in one population.

    Parameters
    ----------
    features : FeatureLaw
        Law of the features.
    coef : ndarray of shape (p,)
        Coefficients, intercept last where there is one.
    residual_sd : float
        Of the responses about the linear predictor; 1 where the family leaves none.
    residuals : ndarray or None
        Public residuals of mean square 1, one for each public row.
    """

    features: FeatureLaw
    coef: Array
    residual_sd: float = 1.0
    residuals: Array | None = field(default=None, repr=False)


class TruthLaw(Protocol):
    """A law of truths."""

    def drawn(self, rng: np.random.Generator, features: FeatureLaw) -> Truth:
        """Draw one, and the law of its features, from what is public of these."""
        ...


@dataclass(frozen=True, eq=False)
class CoefLaw:
    """
    Law of the coefficients around a public fit, intercept last where there is one.

    Parameters
    ----------
    centre : ndarray of shape (p,)
        The fit.
    root : ndarray of shape (p, p)
        The fit is off by this times standard normal numbers times the residual sd.
    residual_sd : float
        As public residuals tell it; 1 where the family leaves none.
    freedom : float or None
        Degrees of freedom of that; None where it is not estimated.
    residuals : ndarray or None
        Public residuals of mean square 1, orthogonal to the rows and to the ones.
    """

    centre: Array
    root: Array = field(repr=False)
    residual_sd: float
    freedom: float | None
    residuals: Array | None = field(default=None, repr=False)

    def drawn(self, rng: np.random.Generator, features: FeatureLaw) -> Truth:
        """
        Draw coefficients and a residual sd.

        The variance is s^2 f / chi^2 with f + 1 degrees of freedom. The mean of its root over
        public samples is the true sd, so that planned errors are right on average over these.
        """
        sd = self.residual_sd
        if self.freedom is not None:
            sd *= math.sqrt(self.freedom / rng.chisquare(self.freedom + 1.0))
        coef = self.centre + sd * self.root @ rng.standard_normal(len(self.centre))
        return Truth(features.drawn(rng), coef, sd, self.residuals)


@dataclass(frozen=True)
class SignalLaw:
    """
    Law of a linear model where no response is public: effects of like size per column.

    Parameters
    ----------
    signal : float
        Root mean square of the linear predictor, about its mean where there is an intercept.
    residual_sd : float
        Of the responses about it.
    level : float
        Mean of the linear predictor, where there is an intercept.
    fit_intercept : bool
        Whether there is one.
    """

    signal: float
    residual_sd: float
    level: float
    fit_intercept: bool

    def drawn(self, rng: np.random.Generator, features: FeatureLaw) -> Truth:
        """Draw a direction and bring it to length."""
        direction = _direction(rng, features)
        features = features.drawn(rng, direction)
        metric = features.covariance if self.fit_intercept else features.second_moment
        coef = _to_length(direction, metric, self.signal)
        if self.fit_intercept:
            coef = np.append(coef, self.level - features.mean @ coef)
        return Truth(features, coef, self.residual_sd)


@dataclass(frozen=True)
class PredictorLaw:
    """
    Law of a generalised linear model where no response is public.

    Parameters
    ----------
    signal : float
        Root mean square of the linear predictor of the non-private fit, about its mean where there
        is an intercept.
    response_mean : float or None
        Mean of the responses; None where nobody stated it.
    task : Task
        What is going to be fitted.
    """

    signal: float
    response_mean: float | None
    task: Task

    def drawn(self, rng: np.random.Generator, features: FeatureLaw) -> Truth:
        """
        Draw directions and lengths until a fit is about as long as was stated.

        A penalty makes fits shorter than the truth; near separable labels, much shorter. In some
        directions no fit is as long, in others those of many lengths are.
        """
        if self.task.alpha == 0.0:
            return self._drawn(rng, features, self.signal)
        tried: list[tuple[float, Truth]] = []
        while len(tried) < MOST_TRIES and (not tried or tried[-1][0] > NEAR):
            truth = self._drawn(rng, features, self._length(rng))
            tried.append((abs(self._fitted_signal(truth, rng) / self.signal - 1.0), truth))
        return min(tried, key=lambda one: one[0])[1]

    def _length(self, rng: np.random.Generator) -> float:
        """Draw the length of a truth whose fit is about as long as was stated, or shorter."""
        shortest = (1.0 - NEAR) * self.signal
        while True:
            length = shortest * math.pow(LARGEST_FACTOR, rng.uniform())
            if rng.uniform() * likely(shortest) < likely(length):
                return length

    def _drawn(self, rng: np.random.Generator, features: FeatureLaw, signal: float) -> Truth:
        """Draw a direction, for coefficients of a length."""
        guess = _Guess.drawn(rng, features)
        return self._truth(features.drawn(rng, guess.direction), guess, signal)

    def _fitted_signal(self, truth: Truth, rng: np.random.Generator) -> float:
        """Size of the linear predictor of a fit to expected responses."""
        z = rng.standard_normal((FIT_ROWS, len(truth.features.mean)))
        X = truth.features.mean + z @ truth.features.root
        rows = self.task.design(X)
        fitted = rows @ self.task.plain_fit(X, self.task.family.mean(rows @ truth.coef))
        return float(np.std(fitted) if self.task.fit_intercept else np.sqrt(np.mean(fitted**2)))

    def _truth(self, features: FeatureLaw, guess: _Guess, signal: float) -> Truth:
        """Coefficients along a direction, of a length, whose responses have the stated mean."""
        if self.task.fit_intercept:
            level = self._level(signal)
            coef = _to_length(guess.direction, features.covariance, signal)
            return Truth(features, np.append(coef, level - features.mean @ coef))
        if self.response_mean is None:
            return Truth(features, _to_length(guess.direction, features.second_moment, signal))
        if features.mean_known:
            coef = _with_level(guess.direction, features, signal, self._level(signal))
            return Truth(features, coef)
        coef = _to_length(guess.direction, features.second_moment, signal)
        return Truth(guess.with_mean(features, coef / signal, self._level(signal) / signal), coef)

    def _level(self, size: float) -> float:
        """
        Mean of a normal linear predictor whose responses have theirs, or as near as can be.

        The size is its standard deviation with an intercept, else its root mean square.
        """
        if self.response_mean is None:
            return 0.0
        about_mean, wanted = self.task.fit_intercept, self.response_mean
        nodes, weights = np.polynomial.hermite_e.hermegauss(40)
        weights = weights / np.sum(weights)

        def excess(level: float) -> float:
            sd = size if about_mean else math.sqrt(size**2 - level**2)
            return float(weights @ self.task.family.mean(level + sd * nodes)) - wanted

        furthest = LARGEST_LEVEL if about_mean else MOST_CERTAIN * size
        if excess(-furthest) >= 0.0:
            return -furthest
        return furthest if excess(furthest) <= 0.0 else float(brentq(excess, -furthest, furthest))


@dataclass(frozen=True, eq=False)
class _Guess:
    """
    What neither public data nor the user tell.

    Parameters
    ----------
    direction : ndarray of shape (d,)
        Of the coefficients: normal in units of the columns' sizes.
    across : ndarray of shape (d,)
        Where the mean of whitened features points beside the linear predictor: normal.
    share : float
        How much of what is left of their second moment that part of the mean has: uniform.
    """

    direction: Array
    across: Array
    share: float

    @classmethod
    def drawn(cls, rng: np.random.Generator, features: FeatureLaw) -> _Guess:
        """Draw one."""
        direction = _direction(rng, features)
        return cls(direction, rng.standard_normal(len(direction)), rng.uniform())

    def with_mean(self, features: FeatureLaw, unit_coef: Array, level: float) -> FeatureLaw:
        """
        Divide a second moment between mean and variance.

        The linear predictor of unit size gets a given mean. With w the mean of whitened features,
        the covariance of these is I - w w'.
        """
        along = features.root @ unit_coef
        across = self.across - along * (along @ self.across)
        length = math.sqrt(self.share * (1.0 - level**2) / float(across @ across))
        mean = level * along + MOST_CERTAIN * length * across
        square = float(mean @ mean)
        shrink = (1.0 - math.sqrt(1.0 - square)) / square * np.outer(mean, mean @ features.root)
        return replace(features, mean=mean @ features.root, root=features.root - shrink)


def likely(size: float | Array) -> float | Array:
    """How likely linear predictors of a size are before any response is seen."""
    return 1.0 / (1.0 + (size / LONG_PREDICTOR) ** 2)


def _direction(rng: np.random.Generator, features: FeatureLaw) -> Array:
    """Draw a direction: normal in units of the columns' sizes."""
    sizes = np.linalg.norm(features.root, axis=0)
    return rng.standard_normal(len(sizes)) / np.where(sizes > 0.0, sizes, np.inf)


def _to_length(direction: Array, metric: Array, length: float) -> Array:
    """Bring a vector to a length."""
    return direction * (length / math.sqrt(float(direction @ metric @ direction)))


def _with_level(direction: Array, features: FeatureLaw, signal: float, level: float) -> Array:
    """Coefficients whose linear predictor has a size, and a mean as near as can be to a level."""
    moment, mean = features.second_moment, features.mean
    along = np.linalg.lstsq(moment, mean, rcond=1e-12)[0]
    leverage = float(mean @ along)
    if leverage <= 0.0:
        return _to_length(direction, moment, signal)
    limit = MOST_CERTAIN * signal * math.sqrt(leverage)
    level = min(max(level, -limit), limit)
    across = direction - along * (mean @ direction) / leverage
    length = math.sqrt(signal**2 - level**2 / leverage)
    if float(across @ moment @ across) <= 0.0:
        return _to_length(np.asarray(along * math.copysign(1.0, level)), moment, signal)
    return np.asarray(level / leverage * along + _to_length(across, moment, length))
