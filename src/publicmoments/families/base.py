"""What a family of responses is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

__all__ = ["CLIP", "Family", "checked_family", "clipped_normal_mean"]

Array = NDArray[np.float64]

CLIP = 4.0
"""Slopes are clipped at this many spreads, where a family does not bound them itself."""


@dataclass(frozen=True)
class Family(ABC):
    """
    How responses follow linear predictors.

    To add a family, derive from this class and state its mean, curvature and loss, and the range of
    its responses. What else the fit needs follows from these for a canonical link, whose slope is
    the mean less the response; override it for others. Predictors have shape (rows, k), k being
    `n_predictors`; instances must be frozen records, comparable and picklable.
    """

    @abstractmethod
    def mean(self, predictor: Array) -> Array:
        """Expected response."""

    @abstractmethod
    def curvature(self, predictor: Array) -> Array:
        """Expected curvature of the loss; with a canonical link, the variance of the response."""

    @abstractmethod
    def loss(self, predictor: Array, response: Array) -> Array:
        """Loss of a row, up to a term without the predictor."""

    @abstractmethod
    def allows(self, response: Array) -> NDArray[np.bool_]:
        """Whether responses lie in the range of the family."""

    @property
    @abstractmethod
    def range(self) -> str:
        """The range in words, for messages."""

    @property
    def has_unit(self) -> bool:
        """Whether responses come in units of the family's own, as counts and classes do."""
        return True

    @property
    def n_predictors(self) -> int:
        """Linear predictors of a response: one, unless the family says otherwise."""
        return 1

    @property
    def slope_limit(self) -> float:
        """Longest slope of a row's loss, in units of `spread`; longer ones are clipped."""
        return CLIP

    @property
    def curvature_limit(self) -> float:
        """Largest curvature, in units of the squared `spread`."""
        return 1.0

    def spread(self, predictor: Array) -> Array:
        """Size of a row's slope, of shape (rows, 1), with which its length is weighed."""
        return np.ones((len(predictor), 1))

    def slope(self, predictor: Array, response: Array) -> Array:
        """Slope of the loss, clipped to ``slope_limit`` spreads."""
        limit = self.slope_limit * self.spread(predictor)
        return np.clip(self.mean(predictor) - response, -limit, limit)

    def expected_slope(self, predictor: Array, truth: Array) -> Array:
        """Mean of `slope` over responses whose own predictor is ``truth``."""
        limit = self.slope_limit * self.spread(predictor)
        away = self.mean(predictor) - self.mean(truth)
        return clipped_normal_mean(away, np.sqrt(self.curvature(truth)), limit)

    def sensitivity(self, predictor: Array, truth: Array) -> Array:
        """Minus the derivative of `expected_slope` by the truth, of shape (rows, k, k)."""
        limit = self.slope_limit * self.spread(predictor)
        away, sd = self.mean(predictor) - self.mean(truth), np.sqrt(self.curvature(truth))
        inside = ndtr((limit - away) / sd) - ndtr((-limit - away) / sd)
        return np.asarray(self.information(truth) * inside[:, :, None])

    def information(self, predictor: Array) -> Array:
        """Fisher information of a row about its predictors, of shape (rows, k, k)."""
        return self.curvature(predictor)[:, :, None]


def clipped_normal_mean(mean: Array, sd: Array, limit: Array) -> Array:
    """
    Mean of a normal variable that is clipped at +-limit.

    Examples
    --------
    >>> clipped_normal_mean(np.array([0.0, 50.0]), np.array([1.0, 1.0]), np.array([4.0, 4.0]))
    array([0., 4.])
    """
    low, high = (-limit - mean) / sd, (limit - mean) / sd
    below, above = ndtr(low), ndtr(-high)
    tails = (np.exp(-(low**2) / 2) - np.exp(-(high**2) / 2)) * sd / np.sqrt(2.0 * np.pi)
    return np.asarray(limit * (above - below) + mean * (1.0 - below - above) + tails)


def checked_family(family: object) -> Family:
    """Return a family, or say where to find one."""
    if not isinstance(family, Family):
        raise TypeError(
            "family must be one of publicmoments.families, such as Poisson(), got "
            f"{type(family).__name__}"
        )
    return family
