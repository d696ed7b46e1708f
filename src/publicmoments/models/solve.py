"""From what is known to penalised coefficients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from publicmoments.models.knowledge import Knowledge

__all__ = [
    "elastic_net_coef",
    "positive_inverse",
    "positive_root",
    "positive_solution",
    "ridge_coef",
]

LEAST_VALUE = 1e-14
"""Eigenvalues of positive matrices are at least this share of the largest, despite rounding."""


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


def positive_inverse(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """
    Invert a positive matrix, even where rounding left nothing of its least directions.

    Examples
    --------
    >>> positive_inverse(np.diag([4.0, 2.0]))
    array([[0.25, 0.  ],
           [0.  , 0.5 ]])
    """
    try:
        np.linalg.cholesky(matrix)
        return np.asarray(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        values, vectors = _floored(matrix)
        return np.asarray((vectors / values) @ vectors.T)


def positive_solution(
    matrix: NDArray[np.float64], target: NDArray[np.float64]
) -> NDArray[np.float64]:
    """
    Solve ``matrix @ x = target`` with a positive matrix, likewise.

    Examples
    --------
    >>> positive_solution(np.diag([4.0, 2.0]), np.ones(2))
    array([0.25, 0.5 ])
    """
    try:
        return np.asarray(np.linalg.solve(matrix, target))
    except np.linalg.LinAlgError:
        return np.asarray(positive_inverse(matrix) @ target)


def positive_root(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """
    Return a square matrix R with R^T R a positive matrix, likewise.

    Examples
    --------
    >>> positive_root(np.diag([4.0, 9.0]))
    array([[2., 0.],
           [0., 3.]])
    """
    try:
        return np.asarray(np.linalg.cholesky((matrix + matrix.T) / 2).T)
    except np.linalg.LinAlgError:
        values, vectors = _floored(matrix)
        return np.asarray(np.sqrt(values)[:, None] * vectors.T)


def _floored(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvalues, not too small, and eigenvectors of a symmetric matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.maximum(values, LEAST_VALUE * max(float(values[-1]), 1e-200)), vectors


def elastic_net_coef(
    root: NDArray[np.float64], target: NDArray[np.float64], alpha: float, l1_ratio: float
) -> NDArray[np.float64]:
    """
    Minimise ||root b - target||^2 / 2 + alpha l1_ratio ||b||_1 + alpha (1 - l1_ratio) / 2 ||b||^2.

    Any quadratic loss with elastic-net penalty has this form, its Hessian being root.T @ root: a
    small problem without private data, for scikit-learn's coordinate descent.

    Parameters
    ----------
    root : ndarray of shape (p, p)
        Root of the Hessian.
    target : ndarray of shape (p,)
        Where ``root @ b`` would be without a penalty.
    alpha, l1_ratio : float
        Penalty, as in scikit-learn.

    Returns
    -------
    ndarray of shape (p,)
    """
    ridge = alpha * (1.0 - l1_ratio)
    if alpha * l1_ratio == 0.0:
        matrix = root.T @ root + ridge * np.eye(len(root))
        return np.asarray(np.linalg.solve(matrix, root.T @ target))
    # Imported late: few models need it, and it takes a dozen MiB.
    from sklearn.linear_model import ElasticNet

    # scikit-learn divides the squares by the number of rows; undone by scaling the rows.
    size = np.sqrt(len(root))
    model = ElasticNet(
        alpha=alpha, l1_ratio=l1_ratio, fit_intercept=False, tol=1e-12, max_iter=100_000
    )
    return np.asarray(model.fit(size * root, size * target).coef_)
