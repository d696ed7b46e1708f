"""Errors of a rehearsal, averaged over tables and over populations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import digamma, stdtrit

__all__ = ["RANGE_SHARE", "TINY", "Level", "Spread"]

Array = NDArray[np.float64]

TINY = 1e-150
"""Smallest squared error that is told from none."""

RANGE_SHARE = 0.8
"""Share of fits whose error lies in the range that is told."""

FEWEST_PARTS, MOST_PARTS = 0.5, 1e6
"""Range of the shape of squared errors: 0.5 is that of one normal part."""


@dataclass(frozen=True, eq=False)
class Level:
    """
    Squared errors, against the population or against the non-private fit.

    Errors are root mean squares over tables and noise, and their geometric mean over populations.
    If what is believed of these is right, planned errors are then neither above nor below those
    that fits have, typically. What public data allow may hold a few populations with errors far
    beyond all others, which would rule a mean of squares.

    Parameters
    ----------
    squares : ndarray of shape (2 + p,)
        In the prediction metric; the squared length of the coefficients without the intercept; and
        those of each coefficient.
    """

    squares: Array

    @classmethod
    def mean(cls, predictions: Array, lengths: Array, coefs: Array) -> Level:
        """
        Average squared errors: populations by rows, their two tables by columns.

        A coefficient has the mean over populations of its share in the error of predictions, which
        does not depend on the units of other columns.
        """
        prediction, length = _typical(predictions), _typical(lengths)
        shares = np.mean(coefs, axis=1) / np.mean(predictions, axis=1)[:, None]
        return cls(np.array([prediction, length, *(prediction * np.mean(shares, axis=0))]))

    @property
    def prediction(self) -> float:
        """Squared error in the prediction metric."""
        return float(self.squares[0])

    @property
    def sizes(self) -> tuple[float, float]:
        """Root mean square length of the coefficients, and error of predictions."""
        prediction, length = np.sqrt(self.squares[:2])
        return float(length), float(prediction)

    @property
    def coef(self) -> Array:
        """Squared error of each coefficient."""
        return self.squares[2:]

    def with_coef(self, factor: float | Array) -> Level:
        """Return the same with the errors of coefficients multiplied, their length first."""
        return Level(np.append(self.squares[:1], factor * self.squares[1:]))


@dataclass(frozen=True)
class Spread:
    """
    How far the error of one fit may be from its level: factors to the lower and the upper end.

    Parameters
    ----------
    length, prediction : tuple of float
        Of the length of the coefficients, and in the prediction metric.
    """

    length: tuple[float, float]
    prediction: tuple[float, float]

    @classmethod
    def of(cls, predictions: Array, lengths: Array) -> Spread:
        """Read it off squared errors: populations by rows, their two tables by columns."""
        return cls(_factors(lengths), _factors(predictions))


def _factors(squares: Array) -> tuple[float, float]:
    """
    Ends of the range of one more error, over the typical one.

    Logarithms of squared errors are taken to be normal, over populations and within them. Of
    one more fit they are off their mean by the variance between populations, that of the mean
    included, and the variance within; both are estimated, which Student's law allows for
    (Satterthwaite).
    """
    logs, k = np.log(squares), len(squares)
    within = float(np.mean(np.var(logs, axis=1, ddof=1)))
    means = np.mean(logs, axis=1)
    # The means of populations have half of the variance within them.
    between = (1.0 + 1.0 / k) * float(np.var(means, ddof=1))
    rest = within / 2.0
    if between + rest == 0.0:
        return 1.0, 1.0
    freedom = (between + rest) ** 2 / (between**2 / (k - 1) + rest**2 / k)
    reach = float(stdtrit(freedom, (1.0 + RANGE_SHARE) / 2.0)) * math.sqrt(between + rest)
    middle = float(np.mean(means)) - math.log(_typical(squares))
    return math.exp((middle - reach) / 2.0), math.exp((middle + reach) / 2.0)


def _typical(squares: Array) -> float:
    """Geometric mean over populations of mean squares over their tables."""
    logs = np.log(np.mean(squares, axis=1))
    chance = _chance(float(np.mean(logs - np.mean(np.log(squares), axis=1))))
    return math.exp(float(np.mean(logs)) + chance)


def _chance(apart: float) -> float:
    """
    What the logarithm of the mean square over two tables lacks on average.

    Squared errors are taken to have a gamma law. Its shape k follows from how far that logarithm is
    above the mean of those of both tables, which is psi(2 k) - psi(k) - log 2 on average; it is
    itself below that of the expected square by log(2 k) - psi(2 k).
    """

    def excess(k: float) -> float:
        return float(digamma(2.0 * k) - digamma(k)) - math.log(2.0) - apart

    if excess(FEWEST_PARTS) <= 0.0:
        k = FEWEST_PARTS
    elif excess(MOST_PARTS) >= 0.0:
        return 0.0
    else:
        k = brentq(excess, FEWEST_PARTS, MOST_PARTS)
    return math.log(2.0 * k) - float(digamma(2.0 * k))
