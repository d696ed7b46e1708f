"""Truths of generalised linear models where no response is public."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import entr

from publicmoments.planner.features import FeatureLaw
from publicmoments.planner.fits import Task
from publicmoments.planner.parting import Parting
from publicmoments.planner.truths import Truth, drawn_direction, likely, to_length

__all__ = ["PredictorLaw"]

Array = NDArray[np.float64]

FIT_ROWS, NEAR, MOST_TRIES = 4_000, 0.05, 20
"""Rows of a fit that is looked at for its length, how near that is to be to the stated one, as a
share, and how many directions are tried."""

LENGTHS = np.geomspace(1.0, 30.0, 12)
"""How much longer than its fit a truth may be: lengths at which fits are looked at."""

PAST = 1.1
"""Longer truths are not looked at once a fit is longer by this factor than stated."""

FINE = 400
"""Lengths that are drawn from, between those."""

LARGEST_LEVEL = 30.0
"""Largest mean of a linear predictor that is looked for."""

MOST_CERTAIN = 0.99
"""Share of the size of a linear predictor that its mean has at most."""

MEAN_POWER = 4.0
"""Means of features that are fitted without an intercept make up most of their second moment, and
all of it where columns add up to a constant: their share is a uniform number, to one over this."""

MOST_APART, APART_STEP = 0.99, 0.02
"""How far classes are apart at most, and how closely that is looked for."""


@dataclass(frozen=True, eq=False)
class _Fit:
    """
    A fit to expected responses.

    Parameters
    ----------
    task : Task
        What was fitted.
    predictor, expected : ndarray of shape (n,)
        Linear predictor of the fit, and the responses that it was given.
    """

    task: Task
    predictor: Array
    expected: Array

    @property
    def signal(self) -> float:
        """Root mean square of the linear predictor, about its mean where there is an intercept."""
        centre = np.mean(self.predictor) if self.task.fit_intercept else 0.0
        return float(np.sqrt(np.mean((self.predictor - centre) ** 2)))

    @property
    def r2(self) -> float:
        """Share of the deviance of labels that is explained."""
        share = float(np.mean(self.expected))
        deviance = float(np.mean(self.task.family.loss(self.predictor, self.expected)))
        return 1.0 - deviance / float(entr(share) + entr(1.0 - share))


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
    r2 : float or None
        Share of the deviance of labels that the non-private fit explains; None for that of normal
        linear predictors.
    task : Task
        What is going to be fitted.
    """

    signal: float
    response_mean: float | None
    r2: float | None
    task: Task

    def drawn(self, rng: np.random.Generator, features: FeatureLaw) -> Truth:
        """
        Draw directions until one has a length whose fit is about as long as was stated.

        Without a penalty that is as long as the truth. A penalty makes fits shorter; near separable
        labels, much shorter. In some directions no fit is as long as stated; in others those of
        many lengths are, of which one is drawn as they are likely.
        """
        if self.task.alpha == 0.0:
            return self._parted(_Look.drawn(rng, features), self.signal)
        tried: list[tuple[float, float, _Look]] = []
        while len(tried) < MOST_TRIES and (not tried or tried[-1][0] > NEAR):
            look = _Look.drawn(rng, features)
            tried.append((*self._length(rng, look), look))
        _, length, look = min(tried, key=lambda one: one[0])
        return self._parted(look, length)

    def _length(self, rng: np.random.Generator, look: _Look) -> tuple[float, float]:
        """Draw a length whose fit is about as long as was stated, and tell how far it is off."""
        lengths: list[float] = []
        fits: list[float] = []
        while len(lengths) < len(LENGTHS) and not (fits and fits[-1] > PAST * self.signal):
            lengths.append((1.0 - NEAR) * self.signal * float(LENGTHS[len(lengths)]))
            fits.append(self._fit(self._parted(look, lengths[-1]), look.seed).signal)
        fine = np.geomspace(lengths[0], lengths[-1], FINE)
        fitted = np.exp(np.interp(np.log(fine), np.log(lengths), np.log(fits)))
        off = np.abs(fitted / self.signal - 1.0)
        weights = np.where(off <= max(NEAR, np.min(off)), likely(fine), 0.0)
        k = rng.choice(FINE, p=weights / np.sum(weights))
        return float(off[k]), float(fine[k])

    def _parted(self, look: _Look, signal: float) -> Truth:
        """
        Coefficients of a length, and classes as far apart as the stated share of deviance takes.

        Normal linear predictors are often near zero, where labels are uncertain. Labels that are
        told better than that, by predictors of the same size, are those of two classes of rows.
        """

        def explained(apart: float) -> float:
            truth = self._truth(look.features, look.guess, signal, apart)
            return self._fit(truth, look.seed).r2

        apart = 0.0 if self.r2 is None else _apart(explained, self.r2)
        return self._truth(look.features, look.guess, signal, apart)

    def _fit(self, truth: Truth, seed: int) -> _Fit:
        """Fit expected responses of a truth, to the same random numbers for the same seed."""
        z, _ = truth.features.whitened(np.random.default_rng(seed), FIT_ROWS)
        X = truth.features.mean + z @ truth.features.root
        rows = self.task.design(X)
        expected = self.task.exposure * self.task.family.mean(rows @ truth.coef)
        return _Fit(self.task, rows @ self.task.plain_fit(X, expected), expected)

    def _truth(self, features: FeatureLaw, guess: _Guess, signal: float, apart: float) -> Truth:
        """Coefficients along a direction, of a length, and classes so far apart along them."""
        parting = Parting(apart, 0.5)
        if apart > 0.0 and self.response_mean is not None:
            parting = Parting(apart, self.response_mean)
        truth = self._with_mean(features, guess, signal, self._level(signal, parting))
        axis = truth.features.root @ truth.coef[: len(guess.direction)]
        return replace(truth, features=truth.features.parted(parting, axis))

    def _with_mean(self, features: FeatureLaw, guess: _Guess, signal: float, level: float) -> Truth:
        """Coefficients along a direction, of a length, whose linear predictor has a mean."""
        if self.task.fit_intercept:
            coef = to_length(guess.direction, features.covariance, signal)
            return Truth(features, np.append(coef, level - features.mean @ coef))
        if self.response_mean is not None and features.mean_known:
            return Truth(features, _with_level(guess.direction, features, signal, level))
        coef = to_length(guess.direction, features.second_moment, signal)
        if self.response_mean is None:
            return Truth(features, coef)
        return Truth(guess.with_mean(features, coef / signal, level / signal), coef)

    def _level(self, size: float, parting: Parting) -> float:
        """
        Mean of a linear predictor whose responses have theirs, or as near as can be.

        The size is its standard deviation with an intercept, else its root mean square.
        """
        if self.response_mean is None:
            return 0.0
        about_mean, wanted = self.task.fit_intercept, self.response_mean
        nodes, weights = parting.nodes()

        def excess(level: float) -> float:
            sd = size if about_mean else math.sqrt(size**2 - level**2)
            return float(weights @ self.task.family.mean(level + sd * nodes)) - wanted

        furthest = LARGEST_LEVEL if about_mean else MOST_CERTAIN * size
        if excess(-furthest) >= 0.0:
            return -furthest
        return furthest if excess(furthest) <= 0.0 else float(brentq(excess, -furthest, furthest))


def _apart(explained: Callable[[float], float], wanted: float) -> float:
    """Find how far classes have to be apart for a share of the deviance, or as near as can be."""
    if explained(0.0) >= wanted:
        return 0.0
    if explained(MOST_APART) <= wanted:
        return MOST_APART
    return float(brentq(lambda apart: explained(apart) - wanted, 0.0, MOST_APART, xtol=APART_STEP))


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
        How much of what is left of their second moment that part of the mean has.
    """

    direction: Array
    across: Array
    share: float

    @classmethod
    def drawn(cls, rng: np.random.Generator, features: FeatureLaw) -> _Guess:
        """Draw one."""
        direction = drawn_direction(rng, features)
        across = rng.standard_normal(len(direction))
        return cls(direction, across, rng.uniform() ** (1.0 / MEAN_POWER))

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


@dataclass(frozen=True, eq=False)
class _Look:
    """A guess, a law of features that goes with it, and the seed of looks at fits."""

    guess: _Guess
    features: FeatureLaw
    seed: int

    @classmethod
    def drawn(cls, rng: np.random.Generator, features: FeatureLaw) -> _Look:
        """Draw one."""
        guess = _Guess.drawn(rng, features)
        return cls(guess, features.drawn(rng, guess.direction), int(rng.integers(2**63)))


def _with_level(direction: Array, features: FeatureLaw, signal: float, level: float) -> Array:
    """Coefficients whose linear predictor has a size, and a mean as near as can be to a level."""
    moment, mean = features.second_moment, features.mean
    along = np.linalg.lstsq(moment, mean, rcond=1e-12)[0]
    leverage = float(mean @ along)
    if leverage <= 0.0:
        return to_length(direction, moment, signal)
    limit = MOST_CERTAIN * signal * math.sqrt(leverage)
    level = min(max(level, -limit), limit)
    across = direction - along * (mean @ direction) / leverage
    length = math.sqrt(signal**2 - level**2 / leverage)
    if float(across @ moment @ across) <= 0.0:
        return to_length(np.asarray(along * math.copysign(1.0, level)), moment, signal)
    return np.asarray(level / leverage * along + to_length(across, moment, length))
