"""What few public labels or counts say of the truth: draws from its posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from publicmoments.families import CanonicalFamily
from publicmoments.planner.features import FeatureLaw
from publicmoments.planner.fits import Task, newton
from publicmoments.planner.truths import Truth, column_units, likely

__all__ = ["ResponseLaw"]

Array = NDArray[np.float64]

PRIOR_VARIANCES = np.geomspace(0.01, 1000.0, 16)
"""Candidates for the variance of a coefficient, design rows being scaled to a mean square of 1."""

STEPS = 40
"""Steps of the walk to a draw."""

SMALLEST_ANGLE = 1e-6


@dataclass(frozen=True, eq=False)
class _Belief:
    """Posterior under one prior variance: its mode, its precision there, and its evidence."""

    variance: float
    mode: Array
    precision: Array = field(repr=False)
    evidence: float


@dataclass(frozen=True, eq=False)
class ResponseLaw:
    """
    Law of the coefficients of a generalised linear model with public responses.

    Fits of few labels are too long, and infinite where they are separable. A normal prior pulls
    them back: centred at zero, alike for all columns in their units; its size is drawn too, as the
    responses find it likely. Few rows tell of a column that is seldom other than zero, and there
    the prior decides: what such a column does where it is not zero is taken to be of the size of
    what others do.

    Parameters
    ----------
    family : CanonicalFamily
        Of the responses.
    z : ndarray of shape (n, p)
        Public design rows in the units of their columns, of mean square 1 over rows and columns.
    y : ndarray of shape (n,)
        Public responses.
    scaler : ndarray of shape (p, p)
        Coefficients in these units times this are coefficients.
    """

    family: CanonicalFamily
    z: Array = field(repr=False)
    y: Array = field(repr=False)
    scaler: Array = field(repr=False)
    beliefs: tuple[_Belief, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Find the mode of the posterior under every prior variance."""
        beliefs = tuple(self._belief(float(variance)) for variance in PRIOR_VARIANCES)
        object.__setattr__(self, "beliefs", beliefs)

    @classmethod
    def of_rows(cls, task: Task, X: Array, y: Array) -> ResponseLaw:
        """
        Measure columns in their units, less their means where there is an intercept.

        The size of a column is its root mean square where it matters, sqrt(E x^4 / E x^2): 1 for an
        indicator, however rare, and sqrt(3) standard deviations for a normal column (in the manner
        of Gelman, Jakulin, Pittau and Su, 2008).
        """
        p, intercept = X.shape[1], task.fit_intercept
        centre = np.mean(X, axis=0) if intercept else np.zeros(p)
        centred = X - centre
        if intercept:
            # Rounding leaves of a constant column something that is no variation.
            centred[:, np.ptp(X, axis=0) == 0.0] = 0.0
        units = column_units(_sizes(centred))
        scaler = np.diag(1.0 / (np.append(units, 1.0) if intercept else units))
        z = task.design(centred) @ scaler
        size = math.sqrt(float(np.mean(z**2)))
        scaler, z = scaler / size, z / size
        if intercept:
            scaler[-1] -= centre @ scaler[:-1]
        return cls(task.family, z, y, scaler)

    def drawn(self, rng: np.random.Generator, features: FeatureLaw) -> Truth:
        """
        Draw coefficients from the posterior.

        It is skewed where labels are few: long coefficients are less certain than short ones. An
        elliptical slice walk, around the mode with the curvature there, has the posterior for its
        limit whatever its shape is (Nishihara, Murray and Adams, 2014).
        """
        evidence = np.array([belief.evidence for belief in self.beliefs])
        sizes = np.sqrt([belief.variance * self.z.shape[1] for belief in self.beliefs])
        weights = np.exp(evidence - np.max(evidence)) * likely(sizes)
        belief = self.beliefs[rng.choice(len(weights), p=weights / np.sum(weights))]
        values, vectors = np.linalg.eigh(belief.precision)
        root = vectors / np.sqrt(values)
        # In these units the normal law around the mode is standard.
        at = rng.standard_normal(len(values))
        value = self._gain(belief, root, at)
        for _ in range(STEPS):
            at, value = self._step(rng, belief, root, at, value)
        return Truth(features.drawn(rng), self.scaler @ (belief.mode + root @ at))

    def _step(
        self, rng: np.random.Generator, belief: _Belief, root: Array, at: Array, value: float
    ) -> tuple[Array, float]:
        """Move along a random ellipse to where the posterior is above a random level."""
        other, level = rng.standard_normal(len(at)), value + math.log(rng.uniform())
        angle = rng.uniform(0.0, 2.0 * math.pi)
        low, high = angle - 2.0 * math.pi, angle
        while high - low > SMALLEST_ANGLE:
            new = at * math.cos(angle) + other * math.sin(angle)
            new_value = self._gain(belief, root, new)
            if new_value > level:
                return new, new_value
            low, high = (angle, high) if angle < 0.0 else (low, angle)
            angle = rng.uniform(low, high)
        return at, value

    def _gain(self, belief: _Belief, root: Array, at: Array) -> float:
        """Logarithm of the posterior over that of the normal law around its mode."""
        return float(at @ at) / 2.0 - self._loss(belief.mode + root @ at, belief.variance)

    def _loss(self, coef: Array, variance: float) -> float:
        """Minus the logarithm of the posterior, up to a constant."""
        with np.errstate(over="ignore"):
            loss = float(np.sum(self.family.loss(self.z @ coef, self.y)))
        return loss + float(coef @ coef) / (2.0 * variance)

    def _belief(self, variance: float) -> _Belief:
        """Mode, precision and evidence by Laplace's approximation."""
        n, r = self.z.shape
        mode = newton(self.family, self.z, self.y, np.eye(r) / (n * variance))
        curvature = self.family.curvature(self.z @ mode)
        precision = (self.z * curvature[:, None]).T @ self.z + np.eye(r) / variance
        spread = float(np.linalg.slogdet(precision)[1]) + r * math.log(variance)
        return _Belief(variance, mode, precision, -self._loss(mode, variance) - 0.5 * spread)


def _sizes(X: Array) -> Array:
    """Root mean squares of columns, rows counting by their squares; zero where all are zero."""
    largest = np.max(np.abs(X), axis=0)
    shares = X / np.where(largest > 0.0, largest, 1.0)
    squares = np.sum(shares**2, axis=0)
    fourth = np.sum(shares**4, axis=0)
    return np.asarray(largest * np.sqrt(fourth / np.where(squares > 0.0, squares, 1.0)))
