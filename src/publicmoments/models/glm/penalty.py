"""Absolute penalties, by proximal Newton steps on the public stage."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from publicmoments.families import Multinomial
from publicmoments.models.glm.stage import Stage
from publicmoments.models.solve import elastic_net_coef, positive_root, positive_solution

__all__ = ["penalised", "settled_classes", "without_dust"]

Array = NDArray[np.float64]

MOST_STEPS = 50
TOLERANCE = 1e-9

MOST_WRONG = 0.5
"""The stage's gradient is corrected by at most this share of its length."""

ROUNDING = 1e-11
"""Relative size of what rounding leaves of a zero."""


def penalised(
    stage: Stage,
    explained: Array,
    whitener: Array,
    l1: float,
    *,
    kept: Array,
    fit_intercept: bool,
    ridge: float = 0.0,
    at: Array | None = None,
    unexplained: Array | None = None,
) -> Array:
    """
    Return the coefficients that an absolute penalty leaves of those that explain the gradients.

    Minimises, over whitened coefficients b, the loss of the stage's rows if their responses follow
    ``explained``, plus l1 times the sum of the absolute coefficients in raw units, the intercept
    excepted. Costs no budget. What the stage was seen to get wrong at the last gradient is taken to
    be wrong elsewhere in proportion, so that without noise the steps end at the exact solution.

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
    ridge : float
        Ridge penalty in raw units; of several classes, the coefficients' mean has its share too.
    at, unexplained : ndarray of shape (p k,), optional
        Where the last gradient was taken, and how far off the stage was there.

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
    lasso = _lasso
    if isinstance(stage.family, Multinomial):
        lasso = _ClassLasso(stage.family.basis, ridge)
    correction = np.zeros((len(explained), len(explained)))
    if at is not None and unexplained is not None:
        correction = _correction(_gradient(stage, at, explained, kept), unexplained)
    raw = to_raw @ explained
    for _ in range(MOST_STEPS):
        coef = to_white @ raw
        gradient = _gradient(stage, coef, explained, kept)
        gradient = gradient + correction @ gradient
        hessian = to_white.T @ stage.hessian(coef, kept) @ to_white
        target = raw - positive_solution(hessian, to_white.T @ gradient)
        moved = lasso(positive_root(hessian), target, l1, free)
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


class _ClassLasso:
    """The same for several classes, whose K coefficients are penalised, not their coordinates."""

    def __init__(self, basis: Array, ridge: float) -> None:
        self.basis, self.ridge = basis, ridge

    def __call__(self, root: Array, target: Array, l1: float, free: int) -> Array:
        k, n_classes = self.basis.shape
        n_features = (len(target) - free) // k
        to_coordinates = np.kron(np.eye(n_features), self.basis)
        means = np.kron(np.eye(n_features), np.sqrt(self.ridge / n_classes) * np.ones(n_classes))
        goal = root @ target
        features, intercepts = root[:, : n_features * k], root[:, n_features * k :]
        inverse = np.linalg.pinv(intercepts)
        rest = np.eye(len(root)) - intercepts @ inverse
        design = np.concatenate([rest @ features @ to_coordinates, means])
        goals = np.concatenate([rest @ goal, np.zeros(n_features)])
        coef = to_coordinates @ elastic_net_coef(design, goals, l1, 1.0)
        return np.concatenate([coef, inverse @ (goal - features @ coef)])


def settled_classes(coef: Array, l1: float, ridge: float) -> Array:
    """
    Add to the coefficients of several classes the constants that make their penalty least.

    Probabilities stay as they are; coefficients that the absolute penalty sets to zero get there.

    Parameters
    ----------
    coef : ndarray of shape (p, K)
        Coefficients that add up to zero over classes.
    l1, ridge : float
        Penalties.

    Returns
    -------
    ndarray of shape (p, K)

    Examples
    --------
    >>> settled_classes(np.array([[2.0, -1.0, -1.0]]), 0.1, 0.0)
    array([[3., 0., 0.]])
    """
    n_classes = coef.shape[1]
    shifts = -coef
    if ridge > 0.0:
        signs = np.arange(-n_classes, n_classes + 1) * l1 / (ridge * n_classes)
        shifts = np.concatenate([shifts, np.tile(signs, (len(coef), 1))], axis=1)
    moved = coef[:, None, :] + shifts[:, :, None]
    penalty = l1 * np.abs(moved).sum(axis=2) + ridge / 2.0 * (moved**2).sum(axis=2)
    best = moved[np.arange(len(coef)), np.argmin(penalty, axis=1)]
    largest = np.abs(coef).max(axis=1, keepdims=True)
    return np.where(np.abs(best) <= ROUNDING * largest, 0.0, best)


def without_dust(matrix: Array, coef: Array) -> Array:
    """Return ``matrix @ coef`` with zeros where rounding alone keeps it from zero."""
    product = matrix @ coef
    return np.where(np.abs(product) <= ROUNDING * (np.abs(matrix) @ np.abs(coef)), 0.0, product)


def _correction(predicted: Array, unexplained: Array) -> Array:
    """Matrix of rank one that adds to the gradient predicted somewhere what was unexplained."""
    length = float(np.linalg.norm(predicted))
    off = float(np.linalg.norm(unexplained))
    if not min(length, off) > 0.0:
        return np.zeros((len(predicted), len(predicted)))
    share = min(1.0, MOST_WRONG * length / off)
    return np.outer(share * unexplained / length, predicted / length)


def _gradient(stage: Stage, coef: Array, truth: Array, kept: Array) -> Array:
    """Gradient of the stage's penalised loss, for responses that follow the truth."""
    rows = stage.moving_rows
    start = stage.predictors(coef)
    there = stage.after_move(start, truth - coef)
    slopes = stage.family.expected_slope(start, there)
    gradient = (rows.T @ ((kept * stage.weights)[:, None] * slopes)).ravel()
    # The truth is where the ridge-penalised loss is least: its own penalty is already in there.
    return np.asarray(gradient + stage.full_penalty @ (coef - truth))
