"""What is true in a made-up population: laws of it, from public responses or statements."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from publicmoments.planner.features import FeatureLaw

__all__ = [
    "CoefLaw",
    "SignalLaw",
    "Truth",
    "TruthLaw",
    "column_units",
    "drawn_direction",
    "likely",
    "to_length",
]

Array = NDArray[np.float64]


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

        The variance is s^2 f / chi^2 with f degrees of freedom. The mean of its logarithm over
        public samples is that of the true one, so that planned errors are typically right.
        """
        sd = self.residual_sd
        if self.freedom is not None:
            sd *= math.sqrt(self.freedom / rng.chisquare(self.freedom))
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
        direction = drawn_direction(rng, features)
        features = features.drawn(rng, direction)
        metric = features.covariance if self.fit_intercept else features.second_moment
        coef = to_length(direction, metric, self.signal)
        if self.fit_intercept:
            coef = np.append(coef, self.level - features.mean @ coef)
        return Truth(features, coef, self.residual_sd)


def likely(size: float | Array) -> float | Array:
    """
    How likely linear predictors of a size are before any response is seen.

    A density of the logarithm of their root mean square, which has a half-Cauchy law of scale 1;
    largest at 1.
    """
    return size / (1.0 + size**2)


def drawn_direction(rng: np.random.Generator, features: FeatureLaw) -> Array:
    """Draw a direction: normal in the units of the columns."""
    sizes = np.linalg.norm(features.root, axis=0)
    return np.asarray(rng.standard_normal(len(sizes)) / column_units(sizes))


def column_units(sizes: Array) -> Array:
    """
    Units of columns, from their sizes; infinite for one that does not vary, which has no effect.

    Columns of like sizes are taken to have one unit, those of unlike sizes to be measured each in
    its own: with v the variance of the logarithms of sizes, units are sizes to the v / (v + 1), as
    shares of their geometric mean.
    """
    varying = sizes > 0.0
    if not varying.any():
        return np.full(len(sizes), np.inf)
    logs = np.log(sizes[varying])
    unlike = float(np.var(logs))
    middle = float(np.mean(logs))
    units = np.full(len(sizes), np.inf)
    units[varying] = np.exp(middle + (logs - middle) * unlike / (unlike + 1.0))
    return units


def to_length(direction: Array, metric: Array, length: float) -> Array:
    """Bring a vector to a length."""
    return direction * (length / math.sqrt(float(direction @ metric @ direction)))
