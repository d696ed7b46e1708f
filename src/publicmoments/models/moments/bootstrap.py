"""Standard errors by simulation: the known laws of noise and sampling, drawn again and again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from publicmoments.checks import fraction
from publicmoments.models.moments.evidence import (
    Coordinates,
    Evidence,
    expected_roots,
    repaired,
)
from publicmoments.models.moments.regress import ErrorLaw
from publicmoments.models.moments.weights import RowWeights
from publicmoments.public.arrays import ReadOnlyArrays, read_only

__all__ = ["Bootstrap", "redrawn"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Bootstrap(ReadOnlyArrays):
    """
    Coefficients of many simulated releases.

    Parameters
    ----------
    names : tuple of str
        The coefficients, the intercept last where there is one.
    estimate : ndarray of shape (n_coefficients,)
        Those of the release itself.
    draws : ndarray of shape (n_draws, n_coefficients)
        Those of the simulated ones.
    """

    names: tuple[str, ...]
    estimate: Array
    draws: Array = field(repr=False)

    @property
    def std_err(self) -> Array:
        """Standard deviations of the draws."""
        return np.asarray(np.std(self.draws, axis=0, ddof=1))

    def conf_int(self, level: float = 0.95) -> Array:
        """
        Return basic bootstrap intervals: quantiles of the draws, reflected at the estimate.

        Parameters
        ----------
        level : float, default=0.95
            Coverage, in (0, 1).

        Returns
        -------
        ndarray of shape (n_coefficients, 2)
            Lower and upper ends.
        """
        tail = (1.0 - fraction("level", level)) / 2.0
        low, high = np.quantile(self.draws, [tail, 1.0 - tail], axis=0)
        return np.column_stack([2.0 * self.estimate - high, 2.0 * self.estimate - low])


def redrawn(
    evidence: Evidence,
    weights: RowWeights,
    coordinates: Coordinates,
    law: ErrorLaw,
    rng: np.random.Generator,
) -> Evidence:
    """
    Simulate evidence like the one at hand, which is taken as the truth.

    Noise has its known law; sampling errors are those of Gaussian rows with the second moment at
    hand. Draws add to a release what is known about it and see no private row: they are free.
    """
    p = len(evidence.moment)
    left = expected_roots(p, weights)
    noise = np.sqrt(law.noise) * _symmetric(rng, p) / left[:, None] / left[None, :]
    sampling = np.sqrt(law.sampling) * _symmetric(rng, p)
    root = np.linalg.cholesky(evidence.moment)
    moment = evidence.moment + noise + root @ sampling @ root.T
    _, root, _, _ = repaired(moment, evidence.floor)
    return replace(evidence, root=read_only(root @ coordinates.unwhitener))


def _symmetric(rng: np.random.Generator, p: int) -> Array:
    """Symmetric noise of variance 1 off the diagonal and 2 on it."""
    square = rng.standard_normal((p, p))
    return np.asarray((square + square.T) / np.sqrt(2.0))
