"""What is believed of the coefficients of one response, and how a release changes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["CoefBelief"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CoefBelief:
    """
    Mixture of Gaussian laws of the coefficients, as deviations from a reference.

    The mean of the belief minimises the expected error in every quadratic metric at once, so the
    same estimate serves predictions and raw coefficients. Several components state several opinions
    on how coefficients spread over directions; the data weigh them.

    Parameters
    ----------
    log_weights : ndarray of shape (m,)
        Logarithms of the weights, up to a constant.
    means : ndarray of shape (m, p)
        Means of the components.
    covariances : ndarray of shape (m, p, p)
        Their covariances.
    """

    log_weights: Array
    means: Array = field(repr=False)
    covariances: Array = field(repr=False)

    @classmethod
    def centred(cls, covariances: list[Array], log_weights: list[float]) -> CoefBelief:
        """Build components of mean zero."""
        stack = np.array(covariances, dtype=np.float64)
        return cls(np.array(log_weights), np.zeros(stack.shape[:2]), stack)

    @property
    def weights(self) -> Array:
        """Weights of the components, adding up to 1."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return np.asarray(weights / weights.sum())

    @property
    def mean(self) -> Array:
        """Mean of the mixture."""
        return np.asarray(self.weights @ self.means)

    @property
    def covariance(self) -> Array:
        """Covariance of the mixture."""
        away = self.means - self.mean
        within = np.einsum("m,mij->ij", self.weights, self.covariances)
        return np.asarray(within + np.einsum("m,mi,mj->ij", self.weights, away, away))

    @cached_property
    def precisions(self) -> Array:
        """Inverses of the covariances."""
        return np.asarray(np.linalg.inv(self.covariances))

    @cached_property
    def log_volumes(self) -> Array:
        """Logarithms of the determinants of the covariances."""
        return np.asarray(np.linalg.slogdet(self.covariances)[1])

    def moved(self, by: Array) -> CoefBelief:
        """Return the same belief as deviations from a reference moved by ``by``."""
        return CoefBelief(self.log_weights, self.means - by, self.covariances)

    def transformed(self, matrix: Array) -> CoefBelief:
        """Return the belief of ``matrix @ coefficients``."""
        covariances = matrix @ self.covariances @ matrix.T
        return CoefBelief(self.log_weights, self.means @ matrix.T, covariances)

    def surprise(self, design: Array, observed: Array, variance: float) -> float:
        """Squared distance of ``observed`` from what the belief predicts, in its own units."""
        predicted = design @ self.covariance @ design + variance * np.eye(len(observed))
        away = observed - design @ self.mean
        return float(away @ np.linalg.pinv(predicted, hermitian=True) @ away)

    def updated(self, design: Array, observed: Array, variance: float | Array) -> CoefBelief:
        """
        Condition on ``observed = design @ coefficients + noise``.

        The noise has the given variance in every direction, or the given covariance matrix.

        ``design`` is symmetric. Each component becomes its posterior and is weighed by how well it
        had predicted what was observed.
        """
        noise = np.asarray(variance)
        noise = noise * np.eye(len(observed)) if noise.ndim == 0 else noise
        parts = [
            _conditioned(*component, design, observed, noise)
            for component in zip(self.log_weights, self.means, self.covariances, strict=True)
        ]
        log_weights, means, covariances = zip(*parts, strict=True)
        return CoefBelief(np.array(log_weights), np.array(means), np.array(covariances))


def _conditioned(
    log_weight: float,
    mean: Array,
    covariance: Array,
    design: Array,
    observed: Array,
    noise: Array,
) -> tuple[float, Array, Array]:
    """Condition one Gaussian; see `CoefBelief.updated`."""
    cross = design @ covariance
    predicted = cross @ design + noise
    surprise = observed - design @ mean
    # One factorisation gives gain, fit and determinant; a pseudo-inverse survives noise switched
    # off and directions in which there is nothing to learn.
    values, vectors = np.linalg.eigh((predicted + predicted.T) / 2)
    values = np.where(values > values[-1] * 1e-14, values, np.inf)
    gain = (cross.T @ vectors / values) @ vectors.T
    standardised = (vectors.T @ surprise) / np.sqrt(values)
    finite = values[np.isfinite(values)]
    evidence = -0.5 * float(standardised @ standardised + np.sum(np.log(finite)))
    # Joseph's form: a difference of covariances could come out negative when noise is very small.
    rest = np.eye(len(mean)) - gain @ design
    posterior = rest @ covariance @ rest.T + gain @ noise @ gain.T
    return log_weight + evidence, mean + gain @ surprise, (posterior + posterior.T) / 2
