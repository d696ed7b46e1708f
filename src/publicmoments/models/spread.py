"""How far off coefficients may be, split into what noise does and what everything else does."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from publicmoments.models.belief import CoefBelief
from publicmoments.models.passes import Measured
from publicmoments.models.solve import positive_inverse, ridge_coef

__all__ = ["ErrorParts", "error_parts", "ridge_parts"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ErrorParts:
    """
    Covariance of the error of coefficients, in two parts.

    Parameters
    ----------
    noise : ndarray of shape (m, m)
        What the noise of the releases does.
    sampling : ndarray of shape (m, m)
        What a finite number of rows does, private and public ones, and what is not known at all.
    """

    noise: Array = field(repr=False)
    sampling: Array = field(repr=False)

    @property
    def total(self) -> Array:
        """Covariance of the whole error."""
        return np.asarray(self.noise + self.sampling)

    def carried(self, matrix: Array) -> ErrorParts:
        """Return the parts of the error of ``matrix @ coefficients``."""
        return ErrorParts(matrix @ self.noise @ matrix.T, matrix @ self.sampling @ matrix.T)

    def plus(self, noise: Array, sampling: Array) -> ErrorParts:
        """Add further parts."""
        return ErrorParts(self.noise + noise, self.sampling + sampling)


def error_parts(prior: CoefBelief, posterior: CoefBelief, own_sampling: Array) -> ErrorParts:
    """
    Split what is believed of coefficients after releases into noise and the rest.

    Parameters
    ----------
    prior, posterior : CoefBelief
        Before and after the releases, component by component.
    own_sampling : ndarray of shape (p, p)
        Covariance of the coefficients that the private rows have about those of the population.

    Returns
    -------
    ErrorParts

    Notes
    -----
    A component of prior covariance C and posterior covariance P has learned from information P^-1 -
    C^-1. Its mean is A times the prior mean plus (I - A) times what was measured, with A = P C^-1,
    so its error about the coefficients of the private rows is A C A' = P C^-1 P, that of the prior,
    plus P - P C^-1 P, that of the noise. What was measured are the coefficients of the private
    rows, which are off those of the population by ``own_sampling``: (I - A) carries that over.
    Components that disagree add the spread of their means.
    """
    p = len(own_sampling)
    noise, rest = np.zeros((p, p)), np.zeros((p, p))
    for weight, before, after in zip(
        posterior.weights, prior.covariances, posterior.covariances, strict=True
    ):
        kept = after @ positive_inverse(before)
        learned = np.eye(p) - kept
        of_prior = kept @ before @ kept.T
        noise += weight * (after - of_prior)
        rest += weight * (of_prior + learned @ own_sampling @ learned.T)
    away = posterior.means - posterior.mean
    rest += np.einsum("m,mi,mj->ij", posterior.weights, away, away)
    return ErrorParts(_positive_part(noise), _positive_part(rest))


def ridge_parts(
    measured: Measured, alpha: float, fit_intercept: bool, n_rows: int
) -> tuple[ErrorParts, ...]:
    """
    Return the errors of ridge coefficients, in raw units, for each response.

    In whitened coordinates the second moment is the identity, so that n private rows of residual
    variance s^2 have coefficients of covariance s^2 / n about those of the population; weights c^2
    make it s^2 E c^4 / (E c^2)^2 / n, which is at most s^2 / (n E c^2). A penalty shrinks by a
    matrix L, and so does with errors; as it shrinks by r = (I - L) b, an error E of the second
    moment adds L E r, of covariance L (r'r I + r r') L over the rows that it is known by.
    """
    knowledge = measured.knowledge
    p, q = knowledge.coef.shape
    kept = measured.records[-1].bounds.kept
    to_raw = ridge_coef(replace(knowledge, coef=knowledge.whitener), alpha, fit_intercept)
    shrunk = knowledge.coef - ridge_coef(knowledge, alpha, fit_intercept)
    known_by = min(knowledge.effective_n, float(n_rows))
    parts = []
    for k in range(q):
        own = np.eye(p) * (float(measured.variances[k]) / (n_rows * kept))
        prior = measured.priors[k].transformed(knowledge.unwhitener)
        posterior = knowledge.beliefs[k].transformed(knowledge.unwhitener)
        away = knowledge.unwhitener @ shrunk[:, k]
        moment = float(away @ away) * np.eye(p) + np.outer(away, away)
        whitened = error_parts(prior, posterior, own).plus(
            moment * (1.0 / known_by - 1.0 / n_rows), moment / n_rows
        )
        parts.append(whitened.carried(to_raw))
    return tuple(parts)


def _positive_part(matrix: Array) -> Array:
    """Drop what rounding leaves of negative eigenvalues."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
