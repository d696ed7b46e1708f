"""Algorithm 1: public-moment-guided truncation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.checks import fraction
from publicmoments.data import as_table
from publicmoments.models.shell import check_public, matched_moments
from publicmoments.paper.radii import truncation_radius
from publicmoments.public import PublicMoments
from publicmoments.session.door import truncated_rows


def pmt(X: Any, public: PublicMoments, *, eta: float = 0.05) -> NDArray[np.float64]:
    """
    Whiten rows by public moments and shorten those outside `truncation_radius`, Algorithm 1.

    Parameters
    ----------
    X : array or data frame of shape (n_rows, n_features)
        Private rows.
    public : PublicMoments
        Public second moments of the same columns.
    eta : float
        Probability scale in (0, 1).

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        Whitened rows, of norm at most ``truncation_radius(d, n, eta)``, in the coordinates of
        ``public.design(fit_intercept=False).whitener``, which differ from the paper's by a
        rotation.

    Notes
    -----
    **Not a release.** The rows are bounded but exact: they are as private as what was passed in.
    The estimators truncate in the same way behind the door, and release noisy sums only.

    Examples
    --------
    >>> B = np.random.default_rng(0).normal(5.0, 2.0, size=(100, 3))
    >>> Z = pmt([[1e9, 0.0, 0.0], [5.0, 5.0, 5.0]], PublicMoments.from_rows(B))
    >>> np.linalg.norm(Z, axis=1).round(3)
    array([4.018, 0.987])
    """
    check_public(public)
    table = as_table(X, "X")
    radius = truncation_radius(table.n_columns, table.n_rows, fraction("eta", eta))
    design = matched_moments(public, table, 1).design(fit_intercept=False)
    rows = table.values()
    if not np.isfinite(rows).all():
        raise ValueError("Input X contains NaN or infinity; drop or fill such rows")
    return truncated_rows(rows, np.asarray(design.whitener), radius)
