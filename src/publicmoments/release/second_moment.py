"""What a release and the public moments say together of the second moment of the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from publicmoments.arrays import Array, ReadOnlyArrays, read_only
from publicmoments.release.weights import RowWeights, inflation, moment_variance

MOST_FLOOR, FLOOR_NOISE = 0.1, 2.0
"""Eigenvalues of the whitened moment, near 1 in a matching population, are lifted to what noise
alone would show, times this, and to no more than a tenth."""

SINGULAR = 1e-12


@dataclass(frozen=True, eq=False)
class Coordinates(ReadOnlyArrays):
    """
    Public coordinates of a release.

    Parameters
    ----------
    unwhitener : ndarray of shape (p, p)
        ``X = Z @ unwhitener``, the column of ones last.
    n : int or None
        Public rows behind it; None when the moments were assumed.
    fingerprint : str
        SHA-256 of the public moments.
    mean_known : bool
        Whether they had a mean.
    tail : float
        Fourth moment of the public rows, as a multiple of that of Gaussian ones; at least 1.
    """

    unwhitener: Array = field(repr=False)
    n: int | None
    fingerprint: str
    mean_known: bool
    tail: float


@dataclass(frozen=True, eq=False)
class Evidence(ReadOnlyArrays):
    """
    The second moment of a whitened row (columns, 1), and how well it is known.

    Parameters
    ----------
    moment : ndarray of shape (p, p)
        Released and public moment, averaged by precision, and positive definite.
    root : ndarray of shape (p, p)
        ``root.T @ root`` is the second moment of a row in the units of the table.
    noise_root : ndarray of shape (p, p)
        A change E of the released matrix changes that second moment by trust times
        ``noise_root.T @ E @ noise_root``.
    trust : float
        Weight of the release in the average; 1 without an anchor.
    public_variance : float
        Variance of the public moment about the private one, off the diagonal; 0 without an anchor.
    eigenvalues : ndarray of shape (p,)
        Of the average before the repair, ascending.
    floor : float
        What eigenvalues were lifted to.
    """

    moment: Array = field(repr=False)
    root: Array = field(repr=False)
    noise_root: Array = field(repr=False)
    trust: float
    public_variance: float
    eigenvalues: Array = field(repr=False)
    floor: float

    @property
    def lifted(self) -> int:
        """How many eigenvalues were lifted."""
        return int(np.sum(self.eigenvalues < self.floor))


@dataclass(frozen=True)
class ErrorLaw:
    """Variances of the entries off the diagonal of the second moment, whitened: noise, sampling."""

    noise: float
    sampling: float


def normalised(noisy_gram: Array, weights: RowWeights) -> Array:
    """
    Divide by what the weights are expected to leave: the identity in a matching population.

    The second moment of the columns has its departure from a multiple of the identity restored.
    """
    root = expected_roots(len(noisy_gram), weights)
    moment = noisy_gram / root[:, None] / root[None, :]
    columns = moment[:-1, :-1]
    level = np.trace(columns) / len(columns) * np.eye(len(columns))
    moment[:-1, :-1] = level + (columns - level) / weights.kept_shape
    return np.asarray(moment)


def noise_variance(offdiagonal_sd: float, weights: RowWeights) -> float:
    """Noise variance off the diagonal of what `normalised` returns."""
    return (offdiagonal_sd / (weights.kept * weights.kept_shape)) ** 2


def weighed(
    noisy_gram: Array,
    offdiagonal_sd: float,
    weights: RowWeights,
    coordinates: Coordinates,
    anchor: bool,
) -> Evidence:
    """
    Average the released and the public second moment by their precision; repair the average.

    Parameters
    ----------
    noisy_gram : ndarray of shape (p, p)
        The release, per row.
    offdiagonal_sd : float
        Its noise sd off the diagonal.
    weights : RowWeights
        What it is expected to have kept.
    coordinates : Coordinates
        Of the release.
    anchor : bool
        Whether the public moments are evidence, and not coordinates only.

    Returns
    -------
    Evidence

    Notes
    -----
    With D the expected diagonal (kept, ..., kept, kept_ones), D^{-1/2} G D^{-1/2}, departures from
    its mean diagonal divided by ``kept_shape``, estimates the second moment of the whitened rows
    with noise variance t^2 = (offdiagonal_sd / kept / kept_shape)^2. So does
    its public expectation, the identity times the `inflation`, with sampling variance v near 1 /
    n_B. The average has weights v / (v + t^2) and t^2 / (v + t^2). Where the two are further apart
    than noise and sampling explain, v is raised until they are not: then the populations differ.
    As noise vanishes so does the say of the public moments. Without a public mean they say nothing
    of the column of ones, and are not used.

    Post-processing of a release: nothing here costs privacy.
    """
    p = len(noisy_gram)
    moment, variance = normalised(noisy_gram, weights), noise_variance(offdiagonal_sd, weights)
    trust, public_variance = 1.0, 0.0
    if anchor and coordinates.n is not None and coordinates.mean_known:
        expected = np.diag([inflation(p, coordinates.n)] * (p - 1) + [1.0])
        # The squared Frobenius norm counts entries off the diagonal twice, as their variances do.
        distance = float(np.sum((moment - expected) ** 2)) / (p * (p + 1))
        public_variance = max(moment_variance(p, coordinates.n), distance - variance)
        trust = public_variance / (public_variance + variance)
        moment = trust * moment + (1.0 - trust) * expected
    floor = min(MOST_FLOOR, FLOOR_NOISE * math.sqrt(p * trust * variance))
    whole, root, values, floor = repaired(moment, floor)
    return Evidence(
        moment=read_only(whole),
        root=read_only(root @ coordinates.unwhitener),
        noise_root=read_only(coordinates.unwhitener / expected_roots(p, weights)[:, None]),
        trust=trust,
        public_variance=public_variance,
        eigenvalues=read_only(values),
        floor=floor,
    )


def repaired(moment: Array, floor: float) -> tuple[Array, Array, Array, float]:
    """Lift eigenvalues to a floor; return the matrix, its root, the old ones and the floor used."""
    values, vectors = np.linalg.eigh((moment + moment.T) / 2)
    floor = max(floor, SINGULAR * float(values[-1]), 1e-300)
    lifted = np.maximum(values, floor)
    root = (vectors * np.sqrt(lifted)) @ vectors.T
    return (vectors * lifted) @ vectors.T, root, values, floor


def expected_roots(p: int, weights: RowWeights) -> Array:
    """Roots of what weights are expected to leave of the diagonal, the ones last."""
    return np.sqrt([weights.kept] * (p - 1) + [weights.kept_ones])
