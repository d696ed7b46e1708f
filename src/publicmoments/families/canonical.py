"""Families with their canonical links, those of the paper."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from publicmoments.arrays import Array
from publicmoments.checks import non_negative
from publicmoments.families.base import Family, checked_family

LARGEST_REACH = 300.0
"""Largest linear predictor of counts: the square of its exponential is still a float."""


@dataclass(frozen=True)
class CanonicalFamily(Family):
    """
    A family with its canonical link.

    The loss of a row with linear predictor t and response y is b(t) - y t, up to a constant: its
    slope is b'(t) - y, with b' the mean, and its curvature b''(t).
    """

    @abstractmethod
    def largest_mean(self, reach: float) -> float:
        """Largest |b'(t)| for |t| <= reach."""

    @abstractmethod
    def largest_curvature(self, reach: float) -> float:
        """Largest |b''(t)| for |t| <= reach."""


@dataclass(frozen=True)
class Gaussian(CanonicalFamily):
    """
    Responses of constant variance around the linear predictor.

    Parameters
    ----------
    n_responses : int, default=1
        Responses of a row that are fitted together.

    Examples
    --------
    >>> Gaussian().mean(np.array([0.5]))
    array([0.5])
    """

    n_responses: int = 1

    @property
    def alone(self) -> Gaussian:
        """The family of one of the responses."""
        return Gaussian()

    @property
    def n_predictors(self) -> int:
        """One for each response of a row."""
        return self.n_responses

    def without_offset(self, response: Array, offset: Array) -> Array:
        """The response less its offset."""
        return np.asarray(response - offset)

    @property
    def is_linear(self) -> bool:
        """Yes."""
        return True

    def information(self, predictor: Array) -> Array:
        """The identity."""
        identity = np.eye(self.n_responses)
        return np.broadcast_to(identity, (len(predictor), *identity.shape))

    def mean(self, predictor: Array) -> Array:
        """The predictor itself."""
        return predictor

    def curvature(self, predictor: Array) -> Array:
        """One."""
        return np.ones_like(predictor)

    def loss(self, predictor: Array, response: Array) -> Array:
        """t^2 / 2 - y t."""
        return predictor**2 / 2 - response * predictor

    def allows(self, response: Array) -> NDArray[np.bool_]:
        """Any finite number."""
        return np.isfinite(response)

    @property
    def range(self) -> str:
        """The range in words."""
        return "finite numbers"

    @property
    def has_unit(self) -> bool:
        """False: responses are measured in whatever unit the user has."""
        return False

    def largest_mean(self, reach: float) -> float:
        """The reach."""
        return non_negative("reach", reach)

    def largest_curvature(self, reach: float) -> float:
        """One."""
        return 1.0


@dataclass(frozen=True)
class Bernoulli(CanonicalFamily):
    """
    Responses of 0 or 1, whose log odds are the linear predictor.

    Examples
    --------
    >>> Bernoulli().mean(np.array([0.0]))
    array([0.5])
    """

    def mean(self, predictor: Array) -> Array:
        """1 / (1 + exp(-t))."""
        return np.asarray(expit(predictor))

    def curvature(self, predictor: Array) -> Array:
        """P (1 - p)."""
        return np.asarray(expit(predictor) * expit(-predictor))

    def loss(self, predictor: Array, response: Array) -> Array:
        """log(1 + exp(t)) - y t."""
        return np.logaddexp(0.0, predictor) - response * predictor

    def allows(self, response: Array) -> NDArray[np.bool_]:
        """Zero or one."""
        return np.asarray((response == 0.0) | (response == 1.0))

    @property
    def range(self) -> str:
        """The range in words."""
        return "0 and 1"

    def largest_mean(self, reach: float) -> float:
        """1 / (1 + exp(-reach))."""
        return float(expit(non_negative("reach", reach)))

    def largest_curvature(self, reach: float) -> float:
        """A quarter, at a predictor of zero."""
        return 0.25

    @property
    def slope_limit(self) -> float:
        """One: probabilities differ from 0 or 1 by at most that."""
        return 1.0


@dataclass(frozen=True)
class Poisson(CanonicalFamily):
    """
    Counts, the logarithm of whose mean is the linear predictor.

    Examples
    --------
    >>> Poisson().mean(np.array([0.0]))
    array([1.])
    """

    def mean(self, predictor: Array) -> Array:
        """exp(t)."""
        return np.asarray(np.exp(predictor))

    def curvature(self, predictor: Array) -> Array:
        """exp(t)."""
        return np.asarray(np.exp(predictor))

    def loss(self, predictor: Array, response: Array) -> Array:
        """exp(t) - y t."""
        return np.asarray(np.exp(predictor) - response * predictor)

    def allows(self, response: Array) -> NDArray[np.bool_]:
        """Non-negative whole numbers."""
        whole = np.floor(response) == response
        return np.asarray(np.isfinite(response) & (response >= 0.0) & whole)

    @property
    def range(self) -> str:
        """The range in words."""
        return "non-negative whole numbers"

    def without_offset(self, response: Array, offset: Array) -> Array:
        """The count per unit of exposure."""
        return np.asarray(response * np.exp(-offset))

    def largest_mean(self, reach: float) -> float:
        """exp(reach)."""
        if not non_negative("reach", reach) <= LARGEST_REACH:
            raise ValueError(
                f"the linear predictor of counts must be at most {LARGEST_REACH:g}, so that their "
                f"mean is a number, got a reach of {reach:g}; lower the bound on the coefficients"
            )
        return math.exp(reach)

    def largest_curvature(self, reach: float) -> float:
        """exp(reach)."""
        return self.largest_mean(reach)


def canonical_family(family: object) -> CanonicalFamily:
    """Return a family with a canonical link, or say which have one."""
    known = checked_family(family)
    if not isinstance(known, CanonicalFamily):
        raise TypeError(
            "family must have a canonical link, as Gaussian(), Bernoulli() and Poisson() have, "
            f"got {type(known).__name__}"
        )
    return known
