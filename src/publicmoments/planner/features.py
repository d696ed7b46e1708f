"""Made-up rows: public ones, resampled and smoothed, or elliptical ones of public moments."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from publicmoments.arrays import Array
from publicmoments.public import PublicMoments

Picked = NDArray[np.intp]

UNSTATED_KURTOSIS = 1.08
"""Fourth moment of the length of whitened rows over that of Gaussian ones, where nobody stated it:
that of Student rows with 29 degrees of freedom."""


@dataclass(frozen=True, eq=False)
class PublicRows:
    """
    Public rows, resampled and smoothed.

    A column most of whose values occur once is smoothed, by a Gaussian kernel of the covariance
    that such columns have given the others and the usual bandwidth (4 / ((d + 2) k))^(1 / (d + 4));
    what is smoothed is shrunk so that all second moments stay. Other columns are kept as they are.

    Parameters
    ----------
    rows : ndarray of shape (k, d)
        Public rows.
    n : int
        Number of rows that they stand for.
    weights : ndarray of shape (k,)
        Share of each.
    """

    rows: Array = field(repr=False)
    n: int
    weights: Array = field(repr=False)

    @property
    def smooth(self) -> NDArray[np.bool_]:
        """Which columns are smoothed."""
        values = np.array([len(np.unique(column)) for column in self.rows.T])
        return np.asarray(values > len(self.rows) / 2)

    def drawn(self, rng: np.random.Generator) -> PublicRows:
        """
        Weigh rows by the Bayesian bootstrap.

        By Laplace's rule of succession what one row shows counts for two, lest columns that are
        seldom other than zero vanish.
        """
        k = len(self.rows)
        return PublicRows(self.rows, self.n, rng.dirichlet(np.full(k, 2.0 * self.n / k)))

    def sample(self, rng: np.random.Generator, n: int) -> tuple[Array, Picked]:
        """Draw rows."""
        picked, smooth = rng.choice(len(self.rows), size=n, p=self.weights), self.smooth
        X, d = self.rows[picked], int(smooth.sum())
        if d == 0:
            return X, picked
        others = np.column_stack([self.rows[:, ~smooth], np.ones(len(self.rows))])
        heavy = np.sqrt(self.weights)[:, None]
        explained = np.linalg.lstsq(heavy * others, heavy * self.rows[:, smooth], rcond=None)[0]
        centre = others @ explained
        rest = self.rows[:, smooth] - centre
        _, sizes, axes = np.linalg.svd(heavy * rest, full_matrices=False)
        bandwidth = (4.0 / ((d + 2) * len(self.rows))) ** (1.0 / (d + 4))
        kernel = bandwidth * rng.standard_normal((n, len(sizes))) @ (sizes[:, None] * axes)
        X[:, smooth] = centre[picked] + (rest[picked] + kernel) / math.hypot(1.0, bandwidth)
        return X, picked


@dataclass(frozen=True, eq=False)
class EllipticalRows:
    """
    Student or Gaussian rows of public moments.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        Their mean.
    root : ndarray of shape (d, d)
        Rows less their mean are standard ones times this.
    kurtosis : float
        Fourth moment of the length of standard rows, over that of Gaussian ones.
    n : int or None
        Public rows behind the moments; None for moments taken as they are.
    axis : ndarray of shape (d,) or None
        Direction of standard rows, of length 1, along which they fall into two classes.
    apart, upper : float
        Standard deviation between the classes, below 1, and share of the upper one.
    """

    mean: Array
    root: Array = field(repr=False)
    kurtosis: float
    n: int | None
    axis: Array | None = field(default=None, repr=False)
    apart: float = 0.0
    upper: float = 0.5

    def drawn(self, rng: np.random.Generator) -> EllipticalRows:
        """
        Draw moments that the public ones could be those of a sample of.

        A sample's second moment, whitened by the true one, is a Wishart matrix; the true one,
        whitened by the sample's, the inverse of one. Fewer rows than twice the columns say next to
        nothing of some directions, and are taken for so many.
        """
        d = len(self.mean)
        if self.n is None:
            return self
        freedom = max(self.n - 1, 2 * d)
        wishart = np.atleast_2d(stats.wishart.rvs(freedom, np.eye(d), random_state=rng)) / freedom
        root = np.linalg.inv(np.linalg.cholesky(wishart)) @ self.root
        shift = rng.standard_normal(d) @ root / math.sqrt(self.n) if self.mean.any() else 0.0
        return EllipticalRows(self.mean + shift, root, self.kurtosis, self.n)

    def sample(self, rng: np.random.Generator, n: int) -> tuple[Array, Picked]:
        """Draw rows."""
        z = rng.standard_normal((n, len(self.mean)))
        if self.axis is not None:
            along = z @ self.axis
            moved = _parted(along, rng.random(n) < self.upper, self.apart, self.upper)
            z += np.outer(moved - along, self.axis)
        if self.kurtosis > 1.0:
            freedom = 4.0 + 2.0 / (self.kurtosis - 1.0)
            z *= np.sqrt((freedom - 2.0) / rng.chisquare(freedom, size=n))[:, None]
        return self.mean + z @ self.root, np.full(n, -1)


Features: TypeAlias = PublicRows | EllipticalRows


def _parted(along: Array, upper: NDArray[np.bool_], apart: float, share: float) -> Array:
    """Put standard normal numbers in two classes, so that their mean and variance stay."""
    between = (upper - share) / math.sqrt(share * (1.0 - share))
    return np.asarray(apart * between + math.sqrt(1.0 - apart**2) * along)


def features_of(public: PublicMoments, kurtosis: float | None) -> Features:
    """Resample public rows where there are any, else draw rows of the public moments."""
    if public.rows is not None:
        k = len(public.rows)
        return PublicRows(np.asarray(public.rows), public.n or k, np.full(k, 1.0 / k))
    moment, mean = np.asarray(public.second_moment), np.zeros(len(public.second_moment))
    if public.mean is not None and public.covariance is not None:
        moment, mean = np.asarray(public.covariance), np.asarray(public.mean)
    values, vectors = np.linalg.eigh(moment)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return EllipticalRows(mean, root, kurtosis or UNSTATED_KURTOSIS, public.n)
