"""Absolute penalties, by proximal Newton steps on the public stage."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from publicmoments.models.glm.stage import Stage
from publicmoments.models.solve import elastic_net_coef

__all__ = ["penalised"]

Array = NDArray[np.float64]

MOST_STEPS = 50
TOLERANCE = 1e-9


def penalised(
    stage: Stage,
    explained: Array,
    whitener: Array,
    l1: float,
    *,
    kept: Array,
    fit_intercept: bool,
) -> Array:
    """
    Return the coefficients that an absolute penalty leaves of those that explain the gradients.

    Minimises, over whitened coefficients b, the loss of the stage's rows if their responses follow
    ``explained``, plus l1 times the sum of the absolute coefficients in raw units, the intercept
    excepted. Costs no budget. Taken where the next gradient will be, it is exact there: what the
    stage gets wrong shows in the gradient and is explained away.

    Parameters
    ----------
    stage : Stage
        Public rows, the ridge penalty included.
    explained : ndarray of shape (p k,)
        Whitened coefficients without absolute penalty.
    whitener : ndarray of shape (p, p)
        ``coef = whitener @ whitened``.
    l1 : float
        Penalty.
    kept : ndarray of shape (m,)
        Weights of the stage's rows.
    fit_intercept : bool
        Whether the last raw coefficient is an intercept.

    Returns
    -------
    ndarray of shape (p k,)
    """
    if l1 == 0.0:
        return explained
    k = stage.family.n_predictors
    to_raw = np.kron(whitener, np.eye(k))
    to_white = np.linalg.inv(to_raw)
    free = k if fit_intercept else 0
    raw = to_raw @ explained
    for _ in range(MOST_STEPS):
        coef = to_white @ raw
        gradient = _gradient(stage, coef, explained, kept)
        hessian = to_white.T @ stage.hessian(coef, kept) @ to_white
        target = raw - np.linalg.solve(hessian, to_white.T @ gradient)
        moved = _lasso(_root(hessian), target, l1, free)
        change = float(np.linalg.norm(moved - raw))
        raw = moved
        if change <= TOLERANCE * (1.0 + float(np.linalg.norm(raw))):
            break
    return np.asarray(to_white @ raw)


def _lasso(root: Array, target: Array, l1: float, free: int) -> Array:
    """Minimise |root (b - target)|^2 / 2 + l1 |b|, the last ``free`` entries without penalty."""
    goal = root @ target
    if free == 0:
        return elastic_net_coef(root, goal, l1, 1.0)
    features, intercepts = root[:, :-free], root[:, -free:]
    inverse = np.linalg.pinv(intercepts)
    rest = np.eye(len(root)) - intercepts @ inverse
    coef = elastic_net_coef(rest @ features, rest @ goal, l1, 1.0)
    return np.concatenate([coef, inverse @ (goal - features @ coef)])


def _gradient(stage: Stage, coef: Array, truth: Array, kept: Array) -> Array:
    """Gradient of the stage's penalised loss, for responses that follow the truth."""
    rows = stage.moving_rows
    start = stage.predictors(coef)
    there = stage.after_move(start, truth - coef)
    slopes = stage.family.expected_slope(start, there)
    gradient = (rows.T @ ((kept * stage.weights)[:, None] * slopes)).ravel()
    # The truth is where the ridge-penalised loss is least: its own penalty is already in there.
    return np.asarray(gradient + stage.full_penalty @ (coef - truth))


def _root(matrix: Array) -> Array:
    """Upper triangular root of a positive matrix."""
    return np.asarray(np.linalg.cholesky((matrix + matrix.T) / 2).T)
