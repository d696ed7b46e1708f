"""Laws of private features that agree with what is public of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import digamma

from publicmoments.planner.bounds import SHAPE_ROWS
from publicmoments.planner.parting import Parting
from publicmoments.public import PublicMoments

__all__ = ["FeatureLaw", "feature_law", "student_factors"]

Array = NDArray[np.float64]

RANK = 1e-10
"""Directions with less than this share of the largest variance, sizes being 1, count as none."""

SPARE_ROWS = 4
"""Second moments are taken to come from so many rows more than they have columns, at least."""

UNSEEN_EXCESS = 0.08
"""Fourth moment of rows nobody has seen, as a share beyond that of Gaussian ones: that of Student
rows with 29 degrees of freedom."""

MOST_EXCESS = 2.0

UNSEEN_SHARE, RARE_ROWS = 0.6, 400.0
"""Share of the excess of the fourth moment that public rows do not show, for the rows that make it
are rare and mostly not among few; and how many public rows show as much of the tails as Student
rows of that excess."""


@dataclass(frozen=True, eq=False)
class FeatureLaw:
    """
    Law of the features.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        Their mean; zero where it is unknown and the second moment stands for the covariance.
    root : ndarray of shape (d, d)
        Features less their mean are whitened rows times this.
    rank : int
        Directions in which they vary.
    n_public : int or None
        Rows that the moments come from; None for moments taken as they are.
    mean_known : bool
        Whether the mean was public.
    rows : ndarray of shape (k, d) or None
        Public rows, whitened.
    kurtosis : float or None
        Fourth moment of their length, over that of Gaussian rows, where somebody stated it.
    parting : Parting or None
        How far two classes of rows are apart.
    axis : ndarray of shape (d,) or None
        Along what direction of whitened features; of length 1.
    """

    mean: Array
    root: Array = field(repr=False)
    rank: int
    n_public: int | None
    mean_known: bool
    rows: Array | None = field(repr=False)
    kurtosis: float | None = None
    parting: Parting | None = None
    axis: Array | None = field(default=None, repr=False)

    @property
    def freedom(self) -> int | None:
        """
        Degrees of freedom of the second moment.

        Those of heavy-tailed rows vary more: along any direction, relatively, by a variance
        of 3 k - 1 over the number of rows, k being the kurtosis, and 2 over it for Gaussian ones.
        """
        if self.n_public is None:
            return None
        varied = 1.0 if self.kurtosis is None else (3.0 * max(self.kurtosis, 1.0) - 1.0) / 2.0
        rows = int(self.n_public / varied)
        return max(rows - self.mean_known, len(self.mean) + SPARE_ROWS)

    @property
    def covariance(self) -> Array:
        """Covariance of the features."""
        return np.asarray(self.root.T @ self.root)

    @property
    def second_moment(self) -> Array:
        """Second moment of the features, about zero."""
        return np.asarray(self.covariance + np.outer(self.mean, self.mean))

    @property
    def jitter(self) -> float:
        """Size of the noise that smooths resampled rows: the fewer there are, the more."""
        return 0.0 if self.rows is None else min(1.0, math.sqrt(self.rank / len(self.rows)))

    @property
    def seen_share(self) -> float:
        """Share of rows that are like public ones in their tails, too."""
        square = 0.0 if self.rows is None else (len(self.rows) / RARE_ROWS) ** 2
        return square / (1.0 + square)

    @property
    def tail(self) -> float:
        """
        Degrees of freedom of the Student factors that lengthen rows nobody has seen.

        As stated; or for what public rows are taken not to show, the less the fewer they are. Rows
        with lighter tails than Gaussian ones are taken for those.
        """
        if self.kurtosis is not None:
            return 4.0 + 2.0 / max(self.kurtosis - 1.0, 1e-3)
        excess = UNSEEN_EXCESS
        if self.rows is not None and len(self.rows) > 2:
            k, r = len(self.rows), self.rank
            # Gaussian rows, whitened by their own moments, have this fourth moment on average.
            gaussian = r * (r + 2) * (k - 1) / (k + 1)
            fourth = np.sum(self.rows**2, axis=1) ** 2 / gaussian
            seen = max(float(np.mean(fourth)) - 1.0, 0.0)
            whole = (k * seen / (1.0 - UNSEEN_SHARE) + SHAPE_ROWS * excess) / (k + SHAPE_ROWS)
            # Fourth moments of the factors and of the smoothed rows multiply.
            excess = (1.0 + whole) / (1.0 + seen / (1.0 + self.jitter**2) ** 2) - 1.0
        return 4.0 + 2.0 / min(max(excess, 1e-3), MOST_EXCESS)

    @property
    def inverse_bias(self) -> float:
        """
        How much too large the inverse of a sample second moment is, as a factor, typically.

        Along a direction it is f / chi^2 with f - r + 1 degrees of freedom times the true one, and
        those of drawn laws are chi^2 / f times the sample's, with f. This brings the means of the
        logarithms together.
        """
        if self.freedom is None:
            return 1.0
        shape = (self.freedom - self.rank + 1) / 2.0
        return max(math.exp(float(digamma(shape) - digamma(self.freedom / 2.0))), 1.0 / 3.0)

    def drawn(self, rng: np.random.Generator, coef: Array | None = None) -> FeatureLaw:
        """
        Draw a law that the public moments could have come from.

        The sample second moment of Gaussian rows, whitened by the true one, is a Wishart matrix W
        over its degrees of freedom f; so the true one whitened by the sample's is the inverse.

        Parameters
        ----------
        rng : Generator
            Where draws come from.
        coef : ndarray of shape (d,), optional
            Coefficients, up to their length, that public rows tell nothing of. Whitened truly they
            are some vector v, to which W is not related, and whitened by the sample's moment
            (W / f)^(1/2) v: the draw is turned so that this is where they are.
        """
        if self.freedom is None or self.n_public is None:
            return self
        d = len(self.mean)
        wishart = np.atleast_2d(stats.wishart.rvs(self.freedom, np.eye(d), random_state=rng))
        values, vectors = np.linalg.eigh(wishart / self.freedom)
        root = self.root
        if coef is not None:
            wanted = (vectors * np.sqrt(values)) @ vectors.T @ rng.standard_normal(d)
            root = _turned(root @ coef, wanted) @ root
        root = (vectors / np.sqrt(values)) @ vectors.T @ root
        mean = self.mean
        if self.mean_known:
            mean = mean + rng.standard_normal(d) @ root / math.sqrt(self.n_public)
        return replace(self, root=root, mean=mean)

    def parted(self, parting: Parting, along: Array) -> FeatureLaw:
        """Put classes of rows apart along a direction of whitened features."""
        if parting.apart == 0.0:
            return self
        return replace(self, parting=parting, axis=along / np.linalg.norm(along))

    def whitened(self, rng: np.random.Generator, n: int) -> tuple[Array, NDArray[np.intp]]:
        """
        Draw whitened rows, and tell which public row each is like; -1 stands for none.

        Public rows are resampled and smoothed; without any, rows are normal. Few public rows say
        little of tails: rows that stand in for those nobody has seen are longer by Student factors.
        """
        z = rng.standard_normal((n, len(self.mean)))
        if self.parting is not None and self.axis is not None:
            along = z @ self.axis
            z += np.outer(self.parting.parted(rng, along) - along, self.axis)
        picked = np.full(n, -1)
        if self.rows is not None:
            picked, smooth = rng.integers(len(self.rows), size=n), self.jitter
            z = (self.rows[picked] + smooth * z) / math.sqrt(1.0 + smooth**2)
        unseen = rng.random(n) < 1.0 - self.seen_share
        picked[unseen] = -1
        z[unseen] *= student_factors(rng, self.tail, int(unseen.sum()))[:, None]
        return z, picked


def student_factors(rng: np.random.Generator, freedom: float, count: int) -> Array:
    """Factors of mean square 1 that make normal numbers have a Student law."""
    return np.asarray(np.sqrt((freedom - 2.0) / rng.chisquare(freedom, size=count)))


def _turned(old: Array, new: Array) -> Array:
    """Reflection that brings one vector to the direction of another."""
    across = old / max(float(np.linalg.norm(old)), 1e-300) - new / np.linalg.norm(new)
    square = float(across @ across)
    return np.eye(len(old)) - (2.0 / square if square > 0.0 else 0.0) * np.outer(across, across)


def feature_law(public: PublicMoments, kurtosis: float | None = None) -> FeatureLaw:
    """Read the law of the features off public moments, and off public rows where there are any."""
    known = public.mean is not None and public.covariance is not None
    mean = np.asarray(public.mean) if known else np.zeros(len(public.second_moment))
    covariance = np.asarray(public.covariance if known else public.second_moment)
    if public.rows is not None:
        # Many public rows are thinned; those kept must have the moments that go with them.
        mean = np.mean(public.rows, axis=0)
        covariance = np.cov(public.rows, rowvar=False, bias=True).reshape(covariance.shape)
    sizes = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    unit = np.where(sizes > 0.0, sizes, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(unit, unit))
    kept = values > RANK * max(values[-1], 0.0)
    roots = np.sqrt(np.where(kept, values, 0.0))
    root = (vectors * roots) @ vectors.T * unit
    rows = None
    if public.rows is not None:
        inverse = np.where(kept, 1.0 / np.where(kept, roots, 1.0), 0.0)
        rows = (public.rows - mean) / unit @ (vectors * inverse) @ vectors.T
    return FeatureLaw(mean, root, int(np.sum(kept)), public.n, known, rows, kurtosis)
