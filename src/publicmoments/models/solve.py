"""From a quadratic loss to penalised coefficients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["elastic_net_coef"]


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
