"""What a family of responses is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from publicmoments.arrays import Array


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
    def n_responses(self) -> int:
        """Responses of a row that are fitted together."""
        return 1

    @property
    def alone(self) -> Family:
        """The family of one of the responses."""
        return self

    @property
    def is_linear(self) -> bool:
        """Whether curvature is the same everywhere, so that one step solves the equations."""
        return False

    @property
    def slope_limit(self) -> float:
        """Longest slope of a row's loss, where a family bounds it; infinite otherwise."""
        return math.inf

    def slope(self, predictor: Array, response: Array) -> Array:
        """Slope of the loss by the predictor."""
        return np.asarray(self.mean(predictor) - response)

    def without_offset(self, response: Array, offset: Array) -> Array:
        """Roughly what the response would be without an offset in its predictor."""
        return response

    def information(self, predictor: Array) -> Array:
        """Fisher information of a row about its predictors, of shape (rows, k, k)."""
        return self.curvature(predictor)[:, :, None]


def checked_family(family: object) -> Family:
    """Return a family, or say where to find one."""
    if not isinstance(family, Family):
        raise TypeError(
            "family must be one of publicmoments.families, such as Poisson(), got "
            f"{type(family).__name__}"
        )
    return family
