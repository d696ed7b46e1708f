"""Made-up populations that look like what is public: the stage of a rehearsal.

Public data leave things open: with few rows the second moment, the coefficients and the residual
scale are known badly. Each drawn population is one that the public data could have come from, so
that a rehearsal on many of them allows for what is not known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from publicmoments.families import Bernoulli, CanonicalFamily, Gaussian
from publicmoments.planner.bounds import SHAPE_ROWS
from publicmoments.public import PublicMoments

__all__ = ["CoefLaw", "FeatureLaw", "Population", "SignalLaw", "World", "feature_law"]

Array = NDArray[np.float64]

RANK = 1e-10
"""Directions with less than this share of the largest variance, sizes being 1, count as none."""

SPARE_ROWS = 4
"""Second moments are taken to come from so many rows more than they have columns, at least."""

MISFIT_ROWS = 600.0
"""How wrong linear models are taken to be, as in `bounds.MISFIT_ROWS`. Bounds had better allow for
too much; a prediction should lie between a perfectly linear model and the real tables of the
accuracy benchmark."""

UNSEEN_EXCESS = 0.18
"""Fourth moment of rows nobody has seen, as a share beyond that of Gaussian ones: that of Student
rows with 15 degrees of freedom."""

MOST_EXCESS = 2.0

LARGEST_PREDICTOR = 30.0
"""Counts with a larger logarithm of the mean than this are not drawn."""


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
    """

    mean: Array
    root: Array = field(repr=False)
    rank: int
    n_public: int | None
    mean_known: bool
    rows: Array | None = field(repr=False)

    @property
    def freedom(self) -> int | None:
        """Degrees of freedom of the second moment."""
        if self.n_public is None:
            return None
        return max(self.n_public - self.mean_known, len(self.mean) + SPARE_ROWS)

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
    def tail(self) -> float:
        """Degrees of freedom of Student rows: as public rows tell it, the fewer the less so."""
        excess = UNSEEN_EXCESS
        if self.rows is not None and len(self.rows) > 2:
            k, r = len(self.rows), self.rank
            # Gaussian rows, whitened by their own moments, have this fourth moment on average.
            gaussian = r * (r + 2) * (k - 1) / (k + 1)
            seen = float(np.mean(np.sum(self.rows**2, axis=1) ** 2)) / gaussian - 1.0
            excess = (k * seen + SHAPE_ROWS * excess) / (k + SHAPE_ROWS)
        return 4.0 + 2.0 / min(max(excess, 1e-3), MOST_EXCESS)

    @property
    def inverse_bias(self) -> float:
        """How much the inverse of a sample second moment is too small by: (f - r - 1) / f."""
        if self.freedom is None:
            return 1.0
        return max(1.0 - (self.rank + 1) / self.freedom, 1.0 / 3.0)

    def drawn(self, rng: np.random.Generator) -> FeatureLaw:
        """
        Draw a law that the public moments could have come from.

        The sample second moment of Gaussian rows, whitened by the true one, is a Wishart matrix W
        over its degrees of freedom; so the true one whitened by the sample's is the inverse.
        """
        if self.freedom is None or self.n_public is None:
            return self
        d = len(self.mean)
        wishart = np.atleast_2d(stats.wishart.rvs(self.freedom, np.eye(d), random_state=rng))
        values, vectors = np.linalg.eigh(wishart / self.freedom)
        root = (vectors / np.sqrt(values)) @ vectors.T @ self.root
        mean = self.mean
        if self.mean_known:
            mean = mean + rng.standard_normal(d) @ root / math.sqrt(self.n_public)
        return replace(self, root=root, mean=mean)

    def whitened(self, rng: np.random.Generator, n: int) -> tuple[Array, NDArray[np.intp]]:
        """
        Draw whitened rows, and tell which public row each was made from; -1 stands for none.

        Public rows are resampled and smoothed. Few of them say little of tails: Student rows stand
        in for those nobody has seen.
        """
        z = rng.standard_normal((n, len(self.mean)))
        seen = 0 if self.rows is None else len(self.rows)
        picked = rng.integers(seen, size=n) if seen else np.zeros(n, dtype=np.intp)
        picked[rng.random(n) * (seen + SHAPE_ROWS) >= seen] = -1
        made = picked < 0
        tail = self.tail
        tails = (tail - 2.0) / rng.chisquare(tail, size=int(made.sum()))
        z[made] *= np.sqrt(tails)[:, None]
        if self.rows is not None:
            smooth = self.jitter
            z[~made] = (self.rows[picked[~made]] + smooth * z[~made]) / math.sqrt(1.0 + smooth**2)
        return z, picked


@dataclass(frozen=True, eq=False)
class CoefLaw:
    """
    Law of the coefficients around a public fit, intercept last where there is one.

    Parameters
    ----------
    centre : ndarray of shape (p,)
        The fit.
    root : ndarray of shape (p, p)
        The fit is off by this times standard normal numbers times the residual sd.
    residual_sd : float
        As public residuals tell it; 1 where the family leaves none.
    freedom : float or None
        Degrees of freedom of that; None where it is not estimated.
    residuals : ndarray or None
        Public residuals of mean square 1, orthogonal to the rows and to the ones.
    """

    centre: Array
    root: Array = field(repr=False)
    residual_sd: float
    freedom: float | None
    residuals: Array | None = field(default=None, repr=False)

    def drawn(self, rng: np.random.Generator) -> tuple[Array, float]:
        """
        Draw coefficients and a residual sd.

        The variance is s^2 f / chi^2 with f + 2 degrees of freedom. Its mean is s^2, which is
        unbiased, so that planned squared errors are right on average over public samples.
        """
        sd = self.residual_sd
        if self.freedom is not None:
            sd *= math.sqrt(self.freedom / rng.chisquare(self.freedom + 2.0))
        return self.centre + sd * self.root @ rng.standard_normal(len(self.centre)), sd


@dataclass(frozen=True)
class SignalLaw:
    """
    Law of the coefficients where no response is public: effects of like size per column.

    Parameters
    ----------
    signal : float
        Root mean square of the linear predictor, about its mean where there is an intercept.
    residual_sd : float
        Of the responses about it; 1 where the family leaves none.
    level : float
        Mean of the linear predictor, where there is an intercept.
    """

    signal: float
    residual_sd: float
    level: float = 0.0

    def drawn(
        self, rng: np.random.Generator, law: FeatureLaw, fit_intercept: bool
    ) -> tuple[Array, float]:
        """Draw a direction, normal in units of the columns' sizes, and bring it to length."""
        metric = law.covariance if fit_intercept else law.second_moment
        sizes = np.sqrt(np.diag(metric))
        coef = rng.standard_normal(len(sizes)) / np.where(sizes > 0.0, sizes, np.inf)
        coef *= self.signal / math.sqrt(float(coef @ metric @ coef))
        if fit_intercept:
            coef = np.append(coef, self.level - law.mean @ coef)
        return coef, self.residual_sd


@dataclass(frozen=True, eq=False)
class World:
    """One population: features, coefficients and family; everything in it is made up."""

    features: FeatureLaw
    coef: Array
    residual_sd: float
    residuals: Array | None = field(repr=False)
    family: CanonicalFamily
    fit_intercept: bool

    @property
    def metric(self) -> Array:
        """Second moment of a design row."""
        moment, mean = self.features.second_moment, self.features.mean[None, :]
        if not self.fit_intercept:
            return moment
        return np.block([[moment, mean.T], [mean, np.ones((1, 1))]])

    def sample(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """Draw rows and responses."""
        z, picked = self.features.whitened(rng, n)
        X = self.features.mean + z @ self.features.root
        predictor = X @ self.coef[: X.shape[1]] + (self.coef[-1] if self.fit_intercept else 0.0)
        if isinstance(self.family, Gaussian):
            left = self._residuals(rng, picked) + self._bend(rng, z, X)
            return X, predictor + self.residual_sd * left
        if isinstance(self.family, Bernoulli):
            return X, (rng.logistic(size=n) > -predictor).astype(np.float64)
        rates = np.exp(np.minimum(predictor, LARGEST_PREDICTOR))
        return X, rng.poisson(rates).astype(np.float64)

    @property
    def _trust(self) -> float:
        """How far public residuals are taken to show in which rows the model is wrong."""
        seen = 0 if self.residuals is None else len(self.residuals)
        return seen / (seen + MISFIT_ROWS)

    def _residuals(self, rng: np.random.Generator, picked: NDArray[np.intp]) -> Array:
        """
        Residuals of mean square 1: normal, or public ones, smoothed.

        What residuals go with which rows is mostly chance where public rows are few: then most are
        shuffled.
        """
        n = len(picked)
        z = rng.standard_normal(n)
        if self.residuals is None:
            return z
        own = (picked >= 0) & (rng.random(n) < self._trust)
        chosen = np.where(own, picked, rng.integers(len(self.residuals), size=n))
        smooth = self.features.jitter
        return np.asarray((self.residuals[chosen] + smooth * z) / math.sqrt(1.0 + smooth**2))

    def _bend(self, rng: np.random.Generator, z: Array, X: Array) -> Array:
        """
        What a straight line misses in long rows, in units of the residual sd.

        It is (a.z) (|z|^2 - c), of the size that ``MISFIT_ROWS`` stands for, and made
        orthogonal to the design: least squares does not feel it, bounds on long rows do.
        """
        square = np.sum(z**2, axis=1)
        bend = square - np.mean(square**2) / np.mean(square)
        bend /= math.sqrt(float(np.mean(square * bend**2)) / max(self.features.rank, 1))
        size = math.sqrt((1.0 - self._trust) / MISFIT_ROWS)
        bend *= z @ rng.standard_normal(z.shape[1]) * size
        rows = np.column_stack([X, np.ones(len(X))]) if self.fit_intercept else X
        return np.asarray(bend - rows @ np.linalg.lstsq(rows, bend, rcond=None)[0])


@dataclass(frozen=True, eq=False)
class Population:
    """What is believed of the private population, from public knowledge alone."""

    features: FeatureLaw
    law: CoefLaw | SignalLaw
    family: CanonicalFamily
    fit_intercept: bool

    def drawn(self, rng: np.random.Generator) -> World:
        """Draw one population that agrees with what is public."""
        features = self.features.drawn(rng)
        if isinstance(self.law, CoefLaw):
            (coef, residual_sd), residuals = self.law.drawn(rng), self.law.residuals
        else:
            (coef, residual_sd), residuals = self.law.drawn(rng, features, self.fit_intercept), None
        return World(features, coef, residual_sd, residuals, self.family, self.fit_intercept)


def feature_law(public: PublicMoments) -> FeatureLaw:
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
    return FeatureLaw(mean, root, int(np.sum(kept)), public.n, known, rows)
