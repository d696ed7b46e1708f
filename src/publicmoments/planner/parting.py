"""Two classes of rows, apart from each other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Parting"]

Array = NDArray[np.float64]

REACH, NODES = 9.0, 2_001
"""Reach and number of the points of a quadrature over normal numbers: close enough that a step, as
long linear predictors make it of labels, is met to 0.2 %."""


@dataclass(frozen=True)
class Parting:
    """
    Law of a number of mean 0 and variance 1 that is normal within each of two classes.

    Parameters
    ----------
    apart : float
        Standard deviation between the classes, 0 or more and less than 1.
    share : float
        Share of the upper class, between 0 and 1.
    """

    apart: float
    share: float

    @property
    def upper(self) -> float:
        """Mean of the upper class."""
        return self.apart * math.sqrt((1.0 - self.share) / self.share)

    @property
    def lower(self) -> float:
        """Mean of the lower class."""
        return -self.apart * math.sqrt(self.share / (1.0 - self.share))

    @property
    def within(self) -> float:
        """Standard deviation within a class."""
        return math.sqrt(1.0 - self.apart**2)

    def parted(self, rng: np.random.Generator, z: Array) -> Array:
        """Put standard normal numbers in classes."""
        upper = rng.random(len(z)) < self.share
        return np.asarray(np.where(upper, self.upper, self.lower) + self.within * z)

    def nodes(self) -> tuple[Array, Array]:
        """Points and weights of a quadrature over the law."""
        z = np.linspace(-REACH, REACH, NODES)
        weights = np.exp(-(z**2) / 2.0)
        weights /= np.sum(weights)
        nodes = [centre + self.within * z for centre in (self.upper, self.lower)]
        return np.concatenate(nodes), np.outer([self.share, 1.0 - self.share], weights).ravel()
