"""From a quadratic loss to penalised coefficients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from publicmoments.arrays import Array
from publicmoments.evidence.numerics import positive_root, positive_solution
from publicmoments.families import Family, Multinomial


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


ROUNDING = 1e-11
"""Relative size of what rounding leaves of a zero."""


def penalised(
    family: Family,
    hessian: Array,
    coef: Array,
    pull: Array,
    whitener: Array,
    l1: float,
    *,
    fit_intercept: bool,
    ridge: float,
) -> tuple[Array, Array]:
    """
    Return the coefficients that an absolute penalty leaves, and its pull on them.

    The gradient of the loss is taken to be minus ``pull`` at ``coef``, and to change with the
    curvature from there: the pull is that of the penalty where the two no longer differ.

    Parameters
    ----------
    family : Family
        Of the responses.
    hessian : ndarray of shape (p k, p k)
        Curvature at the coefficients, ridge penalty included, in whitened coordinates.
    coef, pull : ndarray of shape (p k,)
        Coefficients that explain gradients less a pull, and this pull.
    whitener : ndarray of shape (p, p)
        ``coef = whitener @ whitened``.
    l1 : float
        Penalty on the sum of absolute coefficients in raw units, the intercept excepted.
    fit_intercept : bool
        Whether the last raw coefficient is an intercept.
    ridge : float
        Ridge penalty in raw units; of several classes, the coefficients' mean has its share too.

    Returns
    -------
    tuple of ndarray of shape (p k,)
    """
    k = family.n_predictors
    to_raw = np.kron(whitener, np.eye(k))
    to_white = np.linalg.inv(to_raw)
    lasso = _ClassLasso(family.basis, ridge) if isinstance(family, Multinomial) else _lasso
    target = coef + positive_solution(hessian, pull)
    root = positive_root(to_white.T @ hessian @ to_white)
    raw = lasso(root, to_raw @ target, l1, k if fit_intercept else 0)
    found = np.asarray(to_white @ raw)
    return found, np.asarray(hessian @ (target - found))


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
