"""Do the public moments fit the private rows? Read off the first release, at no cost."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from publicmoments.arrays import Array
from publicmoments.checks import PublicMomentsWarning
from publicmoments.release.second_moment import Coordinates, Evidence, noise_variance, normalised
from publicmoments.release.weights import RowWeights

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


MISFIT_Z = 5.0
"""Standard errors from which the public moments are said not to fit."""


@dataclass(frozen=True)
class Diagnostics:
    """
    What a release tells of its own quality.

    Parameters
    ----------
    public_fit_z : float or None
        Distance between the released and the public second moment, in standard errors; None where
        no public rows stand behind the latter.
    public_condition, condition : float
        Condition numbers of the second moment with columns of unit size: public, and as estimated.
    whitened_condition : float
        That of the estimated one in whitened coordinates, which noise and rows have to deal with.
    smallest_eigenvalue : float
        In whitened coordinates, where 1 is expected, before the repair.
    lifted : int
        Eigenvalues lifted by the repair: directions of which the release shows noise only.
    trust : float
        Weight of the release against the public moments.
    kept, kept_ones : float
        Expected shares of the second moment, and of the rows, that survive the weights.
    """

    public_fit_z: float | None
    public_condition: float
    condition: float
    whitened_condition: float
    smallest_eigenvalue: float
    lifted: int
    trust: float
    kept: float
    kept_ones: float


def diagnosed(
    noisy_gram: Array,
    offdiagonal_sd: float,
    weights: RowWeights,
    coordinates: Coordinates,
    evidence: Evidence,
) -> Diagnostics:
    """Compare a release with its public expectation; nothing private is used."""
    z_score = None
    if coordinates.n is not None:
        p = len(noisy_gram)
        # Rows with heavy tails tell their second moment as fewer Gaussian ones would.
        rows = p + 1 + max(coordinates.n - p - 1, 1.0) / coordinates.tail
        moment = normalised(noisy_gram, weights)
        noise_sd = math.sqrt(noise_variance(offdiagonal_sd, weights))
        z_score = moment_agreement(moment, 1.0, noise_sd, rows)
    return Diagnostics(
        public_fit_z=z_score,
        public_condition=_condition(coordinates.unwhitener),
        condition=_condition(evidence.root),
        whitened_condition=float(np.linalg.cond(evidence.moment)),
        smallest_eigenvalue=float(evidence.eigenvalues[0]),
        lifted=evidence.lifted,
        trust=evidence.trust,
        kept=weights.kept,
        kept_ones=weights.kept_ones,
    )


def warn_of(diagnostics: Diagnostics, anchor: bool) -> None:
    """Warn of public moments that do not fit, and of more noise than signal."""
    z_score, lifted = diagnostics.public_fit_z, diagnostics.lifted
    if anchor and z_score is not None and z_score > MISFIT_Z:
        warnings.warn(
            f"the public moments do not fit the private rows: the second moment is {z_score:.1f} "
            "standard errors away. Privacy does not depend on it; accuracy does, and intervals may "
            "be too short. Use public data from the same population, or pass anchor=False and a "
            "larger radius",
            PublicMomentsWarning,
            stacklevel=4,
        )
    if lifted:
        warnings.warn(
            f"in {lifted} directions the release shows little but noise, and was repaired; "
            "spend more budget, release fewer columns, combine sites, or regress with a penalty, "
            "which choose_alpha picks",
            PublicMomentsWarning,
            stacklevel=4,
        )


def _condition(root: Array) -> float:
    """Condition number of root.T @ root with unit diagonal."""
    sizes = np.sqrt(np.einsum("ij,ij->j", root, root))
    return float(np.linalg.cond(root / np.where(sizes > 0.0, sizes, 1.0))) ** 2
