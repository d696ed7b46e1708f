"""The inverse of a covariance or second moment read off a release, and partial correlations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from publicmoments.arrays import Array, ReadOnlyArrays, read_only
from publicmoments.release.second_moment import ErrorLaw, Evidence
from publicmoments.release.views.questions import penalised_inverse


@dataclass(frozen=True, eq=False)
class Estimated(ReadOnlyArrays):
    """
    A symmetric matrix with standard errors of its entries.

    Parameters
    ----------
    features : tuple of str
        The columns.
    matrix : ndarray of shape (k, k)
        The estimate.
    noise_error, sampling_error : ndarray of shape (k, k)
        Standard errors for what privacy adds, and for what a finite sample does.
    """

    features: tuple[str, ...]
    matrix: Array
    noise_error: Array = field(repr=False)
    sampling_error: Array = field(repr=False)

    @property
    def std_error(self) -> Array:
        """Standard errors for both together."""
        return np.hypot(self.noise_error, self.sampling_error)

    def to_frame(self) -> Any:
        """Return the matrix as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.matrix, index=list(self.features), columns=list(self.features))


@dataclass(frozen=True, eq=False)
class Precision(Estimated):
    """
    Inverse of the regularised covariance or second moment of some columns.

    Parameters
    ----------
    features, matrix, noise_error, sampling_error
        As in `Estimated`.
    alpha : float
        What was added to the diagonal.
    center : bool
        Whether moments are about the means.
    partial_correlations : Estimated
        Correlations of two columns given all others, ones on the diagonal; with a penalty, those
        of the regularised matrix.
    """

    alpha: float
    center: bool
    partial_correlations: Estimated = field(repr=False)


def precision_of(
    evidence: Evidence,
    chosen: tuple[int, ...],
    alpha: float,
    center: bool,
    law: ErrorLaw,
    features: tuple[str, ...],
) -> Precision:
    """
    Invert, and tell how far the entries are from those of the population, to first order.

    Notes
    -----
    With C the covariance, P = (C + alpha I)^{-1} and N an error of the second moment S of rows
    (x, 1), C moves by J N J', J = [I, -m], and P by -P J N J' P. For N = V' E V, E symmetric with
    independent entries of variance t^2 off the diagonal and twice that on it, entry (i, j) moves by
    -b_i' E b_j, the b being the columns of V J' P, whose variance is

        t^2 (||b_i||^2 ||b_j||^2 + (b_i . b_j)^2).

    For noise V is the noise root; for sampling, N being that of a mean of products of Gaussian
    rows, it is the root of S. The partial correlation r = -P_ij / sqrt(P_ii P_jj) moves by <E, Q>
    with Q = sym(b_i b_j') + r/2 (b_i b_i' + b_j b_j'), each b over the root of its diagonal entry,
    whose variance is 2 t^2 ||Q||_F^2. Post-processing: nothing here costs privacy.
    """
    root, noise = _about(evidence, center)
    columns, carried = root[:, chosen], noise[:, chosen]
    inverse = penalised_inverse(columns, np.full(len(chosen), alpha))
    sizes = np.sqrt(np.diag(inverse))
    partial = -inverse / np.outer(sizes, sizes)
    np.fill_diagonal(partial, 1.0)

    def errors(variance: Callable[[Array], Array], scale: Array) -> tuple[Array, Array]:
        """Standard errors for noise and for sampling."""
        noisy, sampled = carried @ inverse / scale, columns @ inverse / scale
        return (
            read_only(np.sqrt(law.noise * variance(noisy.T @ noisy))),
            read_only(np.sqrt(law.sampling * variance(sampled.T @ sampled))),
        )

    noise_error, sampling_error = errors(_of_products, np.ones(len(chosen)))
    return Precision(
        features=features,
        matrix=read_only(inverse),
        noise_error=noise_error,
        sampling_error=sampling_error,
        alpha=alpha,
        center=center,
        partial_correlations=Estimated(
            features, read_only(partial), *errors(lambda g: _of_correlations(g, partial), sizes)
        ),
    )


def _about(evidence: Evidence, center: bool) -> tuple[Array, Array]:
    """Roots that carry the second moment and its noise, about the means if asked for."""
    root, noise = evidence.root, evidence.noise_root
    if not center:
        return root, noise
    ones = root[:, -1]
    means = ones @ root / (ones @ ones)
    return root - np.outer(ones, means), noise - np.outer(noise[:, -1], means)


def _of_products(grams: Array) -> Array:
    """Variances of b_i' E b_j from the products of the b, for t = 1."""
    squares = np.diag(grams)
    return np.asarray(np.outer(squares, squares) + grams**2)


def _of_correlations(grams: Array, partial: Array) -> Array:
    """Variances of partial correlations from the products of the scaled b, for t = 1."""
    squares = np.diag(grams)
    first, second = squares[:, None], squares[None, :]
    own = (first * second + grams**2) / 2.0
    both = partial * grams * (first + second)
    ends = partial**2 / 4.0 * (first**2 + second**2 + 2.0 * grams**2)
    variance = 2.0 * (own + both + ends)
    np.fill_diagonal(variance, 0.0)
    return np.asarray(np.maximum(variance, 0.0))
