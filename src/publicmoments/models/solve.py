"""From what is known to penalised coefficients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from publicmoments.models.knowledge import Knowledge

__all__ = ["ridge_coef"]


def ridge_coef(knowledge: Knowledge, alpha: float, fit_intercept: bool) -> NDArray[np.float64]:
    """
    Minimise (b - b0)' S (b - b0) / 2 + alpha ||b||^2 / 2, leaving the intercept unpenalised.

    With b0 the least-squares coefficients and S the second moment this is ridge regression. It is
    solved in whitened coordinates, where the matrix is the identity plus the penalty: along each
    axis of the penalty the coefficients shrink by 1 / (1 + alpha times its size).

    Returns
    -------
    ndarray of shape (p, q)
    """
    if alpha == 0.0:
        return knowledge.coef
    features = knowledge.whitener[: len(knowledge.whitener) - fit_intercept]
    _, sizes, axes = np.linalg.svd(features)
    shrinkage = np.ones((len(axes), 1))
    with np.errstate(over="ignore"):
        shrinkage[: len(sizes), 0] = 1.0 / (1.0 + alpha * sizes**2)
    whitened = axes @ (knowledge.unwhitener @ knowledge.coef)
    return np.asarray(knowledge.whitener @ (axes.T @ (shrinkage * whitened)))
