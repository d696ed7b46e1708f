"""Making a second-moment matrix safe to invert.

A matrix from few rows, or of collinear columns, has directions in which the public sample saw
nothing. Whitening would blow these up without limit, so the matrix is pulled towards its diagonal
by as much as its own sampling error suggests. All decisions are made on the matrix with unit
diagonal: the units of the columns do not matter.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from publicmoments.arrays import Array
from publicmoments.checks import PublicMomentsWarning
from publicmoments.public.validation import label, unit_diagonal

SINGULAR = 1e-10
FLOOR = 1e-8


def well_conditioned(
    S: Array,
    n: int | None,
    rows: Array | None = None,
    *,
    columns: tuple[str, ...] | None = None,
    sizes: Array | None = None,
) -> tuple[Array, float]:
    """Return a positive definite version of a second-moment matrix.

    The matrix is returned untouched when ``n >= 2 d`` and, scaled to unit diagonal, its smallest
    eigenvalue is at least 1e-10 of the largest. Otherwise it is averaged with its diagonal, with
    the larger of the oracle-approximating and (given rows) the Ledoit-Wolf intensity, and its
    eigenvalues are floored at 1e-8 of the largest. Columns that are zero throughout get a second
    moment as if they had been seen once.

    Parameters
    ----------
    S : ndarray of shape (d, d)
        Symmetric positive semi-definite matrix.
    n : int or None
        Number of rows behind it; None for a matrix that is known, not estimated.
    rows : ndarray of shape (n, d), optional
        The rows behind it, used for the intensity when there are all ``n`` of them.
    columns : tuple of str, optional
        Names used in warnings.
    sizes : ndarray of shape (d,), optional
        Squared size of each column, from which a zero column takes its value. Needed where ``S``
        is centred: a constant column has no variance, yet has a size.

    Returns
    -------
    matrix : ndarray of shape (d, d)
        Positive definite.
    intensity : float
        Weight of the diagonal in the average; 0 when none was needed.

    Warns
    -----
    PublicMomentsWarning
        When the matrix was changed.

    Examples
    --------
    >>> import numpy as np
    >>> matrix, intensity = well_conditioned(np.eye(2), 100)
    >>> intensity
    0.0
    """
    unseen = np.diag(S) <= 0
    filled = _seen_once(S, unseen, n, sizes)
    if unseen.any():
        _warn_unseen(unseen, n, columns)
    scales, unit = unit_diagonal(filled)
    eigenvalues, vectors = np.linalg.eigh(unit)
    null = eigenvalues < SINGULAR * eigenvalues[-1]
    if len(unit) == 1 or not (too_few_rows(n, len(unit)) or null.any()):
        return filled, 0.0
    seen_rows = None if rows is None or len(rows) != n else (rows / scales)[:, ~unseen]
    intensity = _intensity(unit[np.ix_(~unseen, ~unseen)], n, seen_rows)
    _warn_shrunk(intensity, n, vectors[:, null], columns)
    shrunk = _floored((1 - intensity) * unit + intensity * np.eye(len(unit)))
    return shrunk * scales[:, None] * scales[None, :], intensity


def too_few_rows(n: int | None, d: int) -> bool:
    """Tell whether ``n`` rows are too few to trust a matrix of ``d`` columns as it is."""
    return n is not None and n < 2 * d


def oas_intensity(unit: Array, n: int) -> float:
    """Oracle-approximating shrinkage intensity from the matrix alone.

    Chen, Wiesel, Eldar and Hero (2010), equation 23, without its 2/d terms, as scikit-learn has it.

    Parameters
    ----------
    unit : ndarray of shape (d, d)
        Second-moment matrix.
    n : int
        Number of rows behind it.

    Returns
    -------
    float
        Intensity in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> oas_intensity(np.eye(3), 10)
    1.0
    """
    d = len(unit)
    square, trace2 = float(np.sum(unit**2)), float(np.trace(unit)) ** 2
    gap = (n + 1) * (square - trace2 / d)
    return 1.0 if gap <= 0 else min((square + trace2) / gap, 1.0)


def _intensity(unit: Array, n: int | None, rows: Array | None) -> float:
    """Choose the intensity: Ledoit-Wolf sees heavy tails, OAS never falls to zero."""
    # A known matrix has no sampling error; it is singular by design, so move it just enough.
    if n is None:
        return FLOOR
    if len(unit) < 2:
        return 1.0
    intensity = oas_intensity(unit, n)
    # One row shows no variation to Ledoit-Wolf.
    if rows is not None and len(rows) > 1:
        # Imported here: scikit-learn takes longer to import than this function to run.
        from sklearn.covariance import ledoit_wolf_shrinkage

        intensity = max(intensity, float(ledoit_wolf_shrinkage(rows, assume_centered=True)))
    return intensity


def _seen_once(S: Array, unseen: NDArray[np.bool_], n: int | None, sizes: Array | None) -> Array:
    """Give zero columns the second moment of one sighting in ``n`` rows."""
    if not unseen.any():
        return S
    diagonal = np.diag(S)
    typical = float(np.median(diagonal[~unseen])) if not unseen.all() else 1.0
    value = np.full(len(S), typical / (n or 1) if not unseen.all() else 1.0)
    if sizes is not None:
        value = np.where(sizes > 0, sizes / (n or 1), value)
    filled = S.copy()
    filled[unseen, :] = 0.0
    filled[:, unseen] = 0.0
    filled[unseen, unseen] = value[unseen]
    return filled


def _floored(unit: Array) -> Array:
    """Lift eigenvalues to a small share of the largest."""
    eigenvalues, vectors = np.linalg.eigh(unit)
    lowest = FLOOR * eigenvalues[-1]
    if eigenvalues[0] >= lowest:
        return unit
    floored = (vectors * np.maximum(eigenvalues, lowest)) @ vectors.T
    return np.asarray(floored / 2 + floored.T / 2)


def _warn_unseen(unseen: NDArray[np.bool_], n: int | None, columns: tuple[str, ...] | None) -> None:
    """Say which columns the public sample does not show."""
    warnings.warn(
        f"public column(s) {label(np.flatnonzero(unseen), columns)} do not vary in the public "
        f"sample (n={n}); they are used as if they had varied once, which wastes accuracy on them; "
        "add public rows in which they vary, or drop them",
        PublicMomentsWarning,
        stacklevel=3,
    )


def _warn_shrunk(
    intensity: float, n: int | None, null: Array, columns: tuple[str, ...] | None
) -> None:
    """Say why the matrix was shrunk, and which columns are collinear."""
    reason = f"has only n={n} rows for {len(null)} columns"
    if null.shape[1] and not too_few_rows(n, len(null)):
        involved = np.flatnonzero(np.sum(null**2, axis=1) > 1e-4)
        reason = f"has collinear columns {label(involved, columns)}"
    warnings.warn(
        f"the public second moment {reason}; it was shrunk towards its diagonal with intensity "
        f"{intensity:.3g}, so that it can be inverted; add public rows or drop columns",
        PublicMomentsWarning,
        stacklevel=3,
    )
