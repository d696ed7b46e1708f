"""Families beyond the canonical ones with a single predictor."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert
from scipy.special import log_softmax, softmax

from publicmoments.arrays import Array
from publicmoments.families.base import Family


@dataclass(frozen=True)
class Gamma(Family):
    """
    Positive responses whose sd is proportional to their mean, with a logarithmic link.

    Examples
    --------
    >>> Gamma().mean(np.array([0.0]))
    array([1.])
    """

    def mean(self, predictor: Array) -> Array:
        """exp(t)."""
        return np.asarray(np.exp(predictor))

    def curvature(self, predictor: Array) -> Array:
        """One, in units of the dispersion."""
        return np.ones_like(predictor)

    def loss(self, predictor: Array, response: Array) -> Array:
        """T + y exp(-t)."""
        return np.asarray(predictor + response * np.exp(-predictor))

    def allows(self, response: Array) -> NDArray[np.bool_]:
        """Positive numbers."""
        return np.asarray(np.isfinite(response) & (response > 0.0))

    @property
    def range(self) -> str:
        """The range in words."""
        return "positive numbers"

    def without_offset(self, response: Array, offset: Array) -> Array:
        """The response in units of its offset's exponential."""
        return np.asarray(response * np.exp(-offset))

    def slope(self, predictor: Array, response: Array) -> Array:
        """1 - y exp(-t)."""
        return np.asarray(1.0 - response * np.exp(-predictor))


@dataclass(frozen=True)
class Multinomial(Family):
    """
    One of several classes, with softmax probabilities.

    The log odds of K classes matter up to a common constant, so that K - 1 predictors suffice:
    theirs are the coordinates in an orthonormal basis of the vectors that add up to zero, in which
    norms, and with them penalties and bounds, are those of the K log odds.

    Parameters
    ----------
    n_classes : int
        At least two. Responses are the positions 0 to K - 1.

    Examples
    --------
    >>> Multinomial(3).probabilities(np.zeros((1, 2))).round(3)
    array([[0.333, 0.333, 0.333]])
    """

    n_classes: int

    def __post_init__(self) -> None:
        """There must be something to tell apart."""
        if not self.n_classes >= 2:
            raise ValueError(f"n_classes must be at least 2, got n_classes={self.n_classes!r}")

    @property
    def n_predictors(self) -> int:
        """One less than there are classes."""
        return self.n_classes - 1

    @property
    def basis(self) -> Array:
        """Orthonormal basis of the vectors that add up to zero, of shape (K - 1, K)."""
        return np.asarray(helmert(self.n_classes))

    @property
    def slope_limit(self) -> float:
        """sqrt(2): the longest difference of two vectors of probabilities."""
        return math.sqrt(2.0)

    def probabilities(self, predictor: Array) -> Array:
        """Probabilities of the classes, of shape (rows, K)."""
        return np.asarray(softmax(predictor @ self.basis, axis=1))

    def mean(self, predictor: Array) -> Array:
        """Probabilities in the coordinates of the basis."""
        return np.asarray(self.probabilities(predictor) @ self.basis.T)

    def curvature(self, predictor: Array) -> Array:
        """Diagonal of the information."""
        return np.asarray(np.einsum("ijj->ij", self.information(predictor)))

    def loss(self, predictor: Array, response: Array) -> Array:
        """Minus the logarithm of the probability of the class."""
        logs = log_softmax(predictor @ self.basis, axis=1)
        codes = response.astype(int).reshape(-1, 1)
        return np.asarray(-np.take_along_axis(logs, codes, axis=1))

    def allows(self, response: Array) -> NDArray[np.bool_]:
        """Positions of classes."""
        return np.isin(response, np.arange(self.n_classes))

    @property
    def range(self) -> str:
        """The range in words."""
        return f"whole numbers from 0 to {self.n_classes - 1}"

    def slope(self, predictor: Array, response: Array) -> Array:
        """Probabilities less the indicator of the class, in the coordinates of the basis."""
        with np.errstate(invalid="ignore"):
            codes = np.nan_to_num(response[:, 0]).astype(int)
        return np.asarray(self.mean(predictor) - self.basis.T[codes])

    def information(self, predictor: Array) -> Array:
        """diag(p) - p p^T in the coordinates of the basis."""
        p = self.probabilities(predictor)
        rows = self.basis[None, :, :] * p[:, None, :]
        means = rows.sum(axis=2)
        return np.asarray(rows @ self.basis.T - means[:, :, None] * means[:, None, :])
