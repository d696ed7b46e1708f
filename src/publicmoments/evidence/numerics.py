"""Powers and solutions of symmetric matrices, safe despite rounding; squares beyond chance."""

from __future__ import annotations

import math

import numpy as np

from publicmoments.arrays import Array

LEAST_VALUE = 1e-14
"""Eigenvalues of positive matrices are at least this share of the largest, despite rounding."""


def floored_power(matrix: Array, exponent: float, floor: float = LEAST_VALUE) -> Array:
    """
    Power of a symmetric matrix whose eigenvalues are at least ``floor`` times the largest.

    Examples
    --------
    >>> floored_power(np.diag([4.0, 9.0]), 0.5)
    array([[2., 0.],
           [0., 3.]])
    """
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    least = floor * max(float(values[-1]), 1e-200)
    return np.asarray((vectors * np.maximum(values, least) ** exponent) @ vectors.T)


def positive_inverse(matrix: Array) -> Array:
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
        return floored_power(matrix, -1.0)


def positive_solution(matrix: Array, target: Array) -> Array:
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


def positive_root(matrix: Array) -> Array:
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
        return floored_power(matrix, 0.5)


MARGIN = 2.0
"""Standard errors of a sum of squares that chance is allowed."""


def beyond_chance(squares: float, variances: Array | float) -> float:
    """
    Return how much larger a sum of squares is than independent normal errors make it, at least 0.

    Parameters
    ----------
    squares : float
        Their sum.
    variances : ndarray or float
        Expectation of each of them.

    Returns
    -------
    float

    Examples
    --------
    >>> beyond_chance(4.0, np.ones(4)), beyond_chance(100.0, np.ones(4)) > 80.0
    (0.0, True)
    """
    expected, spread = (
        float(np.sum(variances)),
        math.sqrt(2.0 * float(np.sum(np.square(variances)))),
    )
    return max(squares - expected - MARGIN * spread, 0.0)
