"""What a whitened row is multiplied by before rows are summed: public functions of one row each."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from publicmoments.families import Family

__all__ = [
    "ClippedResponse",
    "Ones",
    "Residual",
    "RootCurvature",
    "RootWeight",
    "Slope",
    "Spread",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Ones:
    """Leave the row as it is."""

    def __call__(self, predictor: Array, responses: Array) -> Array:
        """Return ones."""
        return np.ones_like(predictor)


@dataclass(frozen=True)
class RootWeight:
    """Root of the weight of a row, which is clipped: rows add up to a weighted second moment."""

    bound: float

    def __call__(self, predictor: Array, responses: Array) -> Array:
        """Return the root of clip(w, 0, bound)."""
        return np.sqrt(np.clip(responses, 0.0, self.bound))


@dataclass(frozen=True)
class ClippedResponse:
    """The response in units of its public scale, clipped: rows add up to a cross moment."""

    scale: float
    bound: float

    def __call__(self, predictor: Array, responses: Array) -> Array:
        """Return clip(y / scale)."""
        return np.clip(responses / self.scale, -self.bound, self.bound)


@dataclass(frozen=True)
class Residual:
    """
    Slope of the loss of a row, b'(t) - y: rows add up to a gradient.

    Parameters
    ----------
    family : Family
        Of the responses.
    scale : float
        Responses are divided by it.
    response_bound, bound : float
        Where the scaled response and the slope itself are clipped; nowhere by default.
    """

    family: Family
    scale: float = 1.0
    response_bound: float = math.inf
    bound: float = math.inf

    def __call__(self, predictor: Array, responses: Array) -> Array:
        """Return the slope."""
        scaled = np.clip(responses / self.scale, -self.response_bound, self.response_bound)
        return np.clip(self.family.mean(predictor) - scaled, -self.bound, self.bound)


@dataclass(frozen=True)
class RootCurvature:
    """Root of the curvature of a row's loss: the Gram matrix of such rows is a Hessian."""

    family: Family
    scale: float = 1.0

    def __call__(self, predictor: Array, responses: Array) -> Array:
        """Return the root of the curvature."""
        return np.sqrt(self.family.curvature(_offset(predictor, responses, self.scale)))


@dataclass(frozen=True)
class Slope:
    """
    Slope of the loss of a row, clipped as its family does: rows add up to a gradient.

    Parameters
    ----------
    family : Family
        Of the responses, which are in the first column; a second one is added to the predictor.
    scale : float
        Both columns are divided by it.
    """

    family: Family
    scale: float = 1.0

    def __call__(self, predictor: Array, responses: Array) -> Array:
        """Return the slope."""
        shifted = _offset(predictor, responses, self.scale)
        return self.family.slope(shifted, responses[:, :1] / self.scale)


@dataclass(frozen=True)
class Spread:
    """Size of a row's slope, with which its length is weighed."""

    family: Family
    scale: float = 1.0

    def __call__(self, predictor: Array, responses: Array) -> Array:
        """Return the spread."""
        return self.family.spread(_offset(predictor, responses, self.scale))


def _offset(predictor: Array, responses: Array, scale: float) -> Array:
    """Add the second column of the responses in units of the scale, where there is one."""
    return predictor if responses.shape[1] == 1 else predictor + responses[:, 1:] / scale
