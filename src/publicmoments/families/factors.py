"""What a whitened row is multiplied by before rows are summed: public functions of one row each."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from publicmoments.arrays import Array
from publicmoments.families import Family


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

    def __call__(self, predictor: Array, responses: Array) -> Array:
        """Return the root of the curvature."""
        return np.sqrt(self.family.curvature(predictor))


@dataclass(frozen=True)
class Slope:
    """
    Slope of the loss of a row, which nothing bounds here: bounded rows add up to a gradient.

    Parameters
    ----------
    family : Family
        Of the responses.
    scale : float or tuple of float
        Columns of the responses are divided by it, the offset included.
    offset : bool
        Whether the last column is added to the predictor.
    """

    family: Family
    scale: float | tuple[float, ...] = 1.0
    offset: bool = False

    def __call__(self, predictor: Array, responses: Array) -> Array:
        """Return the slope."""
        given = responses / np.asarray(self.scale)
        if self.offset:
            return self.family.slope(predictor + given[:, -1:], given[:, :-1])
        return self.family.slope(predictor, given)


@dataclass(frozen=True)
class ScaledResponse:
    """
    A response in units of its public scale and without its offset: what a histogram of it counts.

    Parameters
    ----------
    family, scale, offset
        As for `Slope`.
    column : int
        Which of several responses; -1 is the offset itself.
    """

    family: Family
    scale: float | tuple[float, ...] = 1.0
    offset: bool = False
    column: int = 0

    def __call__(self, predictor: Array, responses: Array) -> Array:
        """Return the response, of shape (rows, 1)."""
        given = responses / np.asarray(self.scale)
        chosen = given[:, [self.column]]
        return self.family.without_offset(chosen, given[:, -1:]) if self.offset else chosen
