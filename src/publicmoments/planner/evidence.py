"""What few public labels or counts say of the truth: draws from its posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from publicmoments.families import CanonicalFamily
from publicmoments.planner.features import FeatureLaw
from publicmoments.planner.fits import newton
from publicmoments.planner.truths import Truth, likely

__all__ = ["ResponseLaw"]

Array = NDArray[np.float64]

PRIOR_VARIANCES = np.geomspace(0.01, 1000.0, 16)
"""Candidates for the variance of a whitened coefficient."""

RANK = 1e-12
"""Share of the largest variance below which a direction of public rows counts as none."""

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
    them back: centred at zero, alike in all directions of whitened rows; its size is drawn too, as
    the responses find it likely.

    Parameters
    ----------
    family : CanonicalFamily
        Of the responses.
    z : ndarray of shape (n, r)
        Public design rows, whitened.
    y : ndarray of shape (n,)
        Public responses.
    whitener : ndarray of shape (p, r)
        Whitened coefficients times this are coefficients.
    """

    family: CanonicalFamily
    z: Array = field(repr=False)
    y: Array = field(repr=False)
    whitener: Array = field(repr=False)
    beliefs: tuple[_Belief, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Find the mode of the posterior under every prior variance."""
        beliefs = tuple(self._belief(float(variance)) for variance in PRIOR_VARIANCES)
        object.__setattr__(self, "beliefs", beliefs)

    @classmethod
    def of_rows(cls, family: CanonicalFamily, rows: Array, y: Array) -> ResponseLaw:
        """Whiten design rows by their own second moment."""
        sizes = np.sqrt(np.mean(rows**2, axis=0))
        unit = np.where(sizes > 0.0, sizes, 1.0)
        values, vectors = np.linalg.eigh((rows / unit).T @ (rows / unit) / len(rows))
        kept = values > RANK * values[-1]
        whitener = vectors[:, kept] / np.sqrt(values[kept]) / unit[:, None]
        return cls(family, rows @ whitener, y, whitener)

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
        return Truth(features.drawn(rng), self.whitener @ (belief.mode + root @ at))

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
