"""Do the public moments fit the private rows? Read off the first release, at no cost."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["moment_agreement"]

Array = NDArray[np.float64]

MOST_DRAWS, LEAST_DRAWS, DRAWN_CELLS = 64, 4, 50_000
"""Simulated matched populations, enough for a mean and a spread; wide rows need fewer, for the
distance of large matrices hardly varies, and could not afford more."""

TAIL_ALLOWANCE = 1 / 3
"""Tails are heavier than a few public rows show: this share is taken off the rows beyond the p + 1
that a whitener needs at least."""

LEAST_SPREAD = 0.05
"""Least spread of a distance: differences that do not matter are no reason for alarm."""


def moment_agreement(noisy_moment: Array, kept: float, noise_sd: float, n_public: float) -> float:
    """
    Standardise the distance between a released second moment and the public one.

    Parameters
    ----------
    noisy_moment : ndarray of shape (p, p)
        Released second moment of the whitened rows.
    kept : float
        Share of it that is expected to survive the weights.
    noise_sd : float
        Noise sd of its off-diagonal entries.
    n_public : float
        Public rows behind the whitener.

    Returns
    -------
    float
        About standard normal when the populations agree, large when they do not.

    Notes
    -----
    The distance is the root of the sum of squared logarithms of eigenvalues, noise floored: it is
    as sensitive to directions that shrank as to those that grew. Its law under agreement is
    simulated: whitening by a sample of n rows leaves the inverse of a Wishart matrix.
    """
    p = len(noisy_moment)
    floor = max(2.0 * noise_sd / kept * np.sqrt(p), 1e-9)
    centre, spread = _distance_under_agreement(p, float(n_public), noise_sd / kept, floor)
    return float((_distance(noisy_moment / kept, floor) - centre) / spread)


def _distance(moment: Array, floor: float) -> float:
    """Length of the logarithms of the eigenvalues."""
    values = np.maximum(np.linalg.eigvalsh(moment), floor)
    return float(np.linalg.norm(np.log(values)))


@lru_cache(maxsize=32)
def _distance_under_agreement(
    p: int, n_public: float, noise_sd: float, floor: float
) -> tuple[float, float]:
    """Mean and sd of the distance when private and public rows come from one population."""
    rng = np.random.default_rng(p)
    needed = p + 1.0
    freedom = needed + max(n_public - needed, 1.0) * (1.0 - TAIL_ALLOWANCE)
    distances = [
        _distance(_inverse_wishart(rng, p, freedom) + _symmetric_noise(rng, p, noise_sd), floor)
        for _ in range(min(MOST_DRAWS, max(LEAST_DRAWS, DRAWN_CELLS // p**2)))
    ]
    return float(np.mean(distances)), max(float(np.std(distances)), LEAST_SPREAD)


def _inverse_wishart(rng: np.random.Generator, p: int, freedom: float) -> Array:
    """Inverse of a Wishart matrix of mean one, by Bartlett's triangular factor."""
    factor = np.tril(rng.standard_normal((p, p)), -1)
    factor[np.diag_indices(p)] = np.sqrt(rng.chisquare(freedom - np.arange(p)))
    inverse = np.linalg.inv(factor)
    return np.asarray(freedom * inverse.T @ inverse)


def _symmetric_noise(rng: np.random.Generator, p: int, noise_sd: float) -> Array:
    """Noise as a release has it: sqrt(2) larger on the diagonal."""
    square = rng.standard_normal((p, p)) * noise_sd
    return np.asarray((square + square.T) / np.sqrt(2.0))
