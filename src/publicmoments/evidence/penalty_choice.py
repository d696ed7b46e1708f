"""A ridge penalty chosen by predicted error, after everything has been released."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from publicmoments.arrays import Array
from publicmoments.evidence.matrices import positive_solution
from publicmoments.evidence.posterior import ErrorParts

PENALTIES = np.geomspace(1e-6, 1e3, 73)
"""Penalties tried besides none, as multiples of the mean curvature over the mean penalty."""


@dataclass(frozen=True, eq=False)
class Shrunk:
    """A penalty, the coefficients that it leaves, and what they err by."""

    alpha: float
    coef: Array = field(repr=False)
    errors: ErrorParts = field(repr=False)


def shrunk(coef: Array, errors: ErrorParts, hessian: Array, unit_penalty: Array) -> Shrunk:
    """
    Shrink by the ridge penalty with the least predicted error of predictions.

    Parameters
    ----------
    coef : ndarray of shape (m,)
        Estimate without a penalty.
    errors : ErrorParts
        Its error.
    hessian : ndarray of shape (m, m)
        Curvature, in which errors of predictions are measured.
    unit_penalty : ndarray of shape (m, m)
        Penalty for alpha = 1.

    Returns
    -------
    Shrunk

    Notes
    -----
    With A = (H + alpha P)^-1 H the error is A e - (I - A) t for true coefficients t and the
    estimate's own error e, of covariance E: its squared size is tr(H A E A') + |(I - A) t|_H^2. The
    latter is that of the estimate, less what e adds to it. Post-processing: nothing is paid.

    Examples
    --------
    >>> one = np.eye(1)
    >>> sure = ErrorParts(1e-6 * one, 0.0 * one, 0.0 * one)
    >>> bool(shrunk(np.ones(1), sure, one, one).alpha < 1e-3)
    True
    """
    total, size = errors.total, len(coef)
    unit = float(np.trace(hessian)) / max(float(np.trace(unit_penalty)), 1e-300)
    best, found = np.inf, (0.0, np.eye(size))
    for alpha in np.append(0.0, unit * PENALTIES):
        kept = positive_solution(hessian + alpha * unit_penalty, hessian)
        lost = np.eye(size) - kept
        bias = lost @ coef
        squared = float(bias @ hessian @ bias) - float(np.sum(hessian * (lost @ total @ lost.T)))
        spread = float(np.sum(hessian * (kept @ total @ kept.T)))
        predicted = spread + max(squared, 0.0)
        if predicted < best:
            best, found = predicted, (float(alpha), np.asarray(kept))
    alpha, kept = found
    return Shrunk(alpha, kept @ coef, errors.mixed(kept))
