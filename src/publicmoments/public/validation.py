"""The checks every public input passes, whichever constructor it came through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from publicmoments.arrays import Array
from publicmoments.data import listing, refuse_duplicates

SYMMETRY = 1e-8
NEGATIVE = 1e-8
ROUNDING = 1e-12
MEAN_SLACK = 1e-6
SMALLEST, LARGEST = 1e-100, 1e100


def unit_diagonal(matrix: Array) -> tuple[Array, Array]:
    """Split a matrix into column scales and the matrix with unit diagonal.

    Columns with a zero diagonal keep scale one, so that nothing is divided by zero.
    """
    scales = np.sqrt(np.clip(np.diag(matrix), 0.0, None))
    scales[scales == 0] = 1.0
    return scales, matrix / scales[:, None] / scales[None, :]


def checked_matrix(values: ArrayLike, name: str, columns: Sequence[str] | None = None) -> Array:
    """Return a symmetric positive semi-definite matrix, or say what is wrong with it."""
    matrix = _finite(values, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(
            f"{name} must be a square matrix, got shape {matrix.shape}; "
            "pass one row and one column per variable"
        )
    if np.any(np.diag(matrix) < 0):
        raise ValueError(f"{name} must have no negative diagonal entry; pass the mean of x x^T")
    refuse_extreme_scales(np.sqrt(np.diag(matrix)), columns, name)
    matrix = _symmetrised(matrix, name)
    _refuse_negative(matrix, name)
    return lifted(matrix)


def lifted(matrix: Array) -> Array:
    """Lift negative eigenvalues to zero.

    Eigenvalues negative by mere rounding are left alone, so that a valid matrix keeps its bits.
    """
    scales, unit = unit_diagonal(matrix)
    eigenvalues, vectors = np.linalg.eigh(unit)
    if eigenvalues[0] >= -ROUNDING * eigenvalues[-1]:
        return matrix
    repaired = (vectors * np.clip(eigenvalues, 0.0, None)) @ vectors.T
    repaired = repaired * scales[:, None] * scales[None, :]
    return np.asarray(repaired / 2 + repaired.T / 2)


def checked_vector(values: ArrayLike, length: int, name: str) -> Array:
    """Return a finite vector of the given length."""
    vector = _finite(values, name)
    if vector.shape != (length,):
        raise ValueError(
            f"{name} must have shape ({length},), got shape {vector.shape}; "
            "pass one value per variable"
        )
    return vector


def checked_columns(columns: Sequence[str] | None, width: int) -> tuple[str, ...] | None:
    """Return column names, distinct and as many as there are columns."""
    if columns is None:
        return None
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if not all(isinstance(name, str) for name in names):
        raise ValueError("columns must be strings; convert the names with str()")
    if len(names) != width:
        raise ValueError(
            f"columns must have one name per variable, got {len(names)} names for {width} "
            "variables; pass all names, responses included"
        )
    refuse_duplicates(names, "columns")
    return names


def checked_response_scale(values: ArrayLike) -> Array:
    """Return response scales as a vector; one number stands for one response."""
    scales = np.atleast_1d(_finite(values, "response_scale"))
    if scales.ndim != 1 or scales.size == 0 or not np.all(scales > 0):
        raise ValueError(
            "response_scale must be a positive number, or one per response, got shape "
            f"{scales.shape}; pass the root mean square of each response"
        )
    refuse_extreme_scales(scales, None, "response_scale")
    return scales


def refuse_extreme_scales(scales: Array, columns: Sequence[str] | None, name: str) -> None:
    """Refuse columns whose squares would leave the range of floating-point numbers."""
    good = (scales == 0) | ((scales >= SMALLEST) & (scales <= LARGEST))
    if not np.all(good):
        raise ValueError(
            f"{name} must have root mean squares between {SMALLEST:g} and {LARGEST:g} (or zero), "
            f"got others in column(s) {label(np.flatnonzero(~good), columns)}; "
            "rescale these columns, in the private rows too"
        )


def refuse_inconsistent_mean(spread: Array, second_moment: Array) -> None:
    """Refuse a mean that the second moment cannot have: S - m m^T must not be negative."""
    scales, _ = unit_diagonal(second_moment)
    smallest = np.linalg.eigvalsh(spread / scales[:, None] / scales[None, :])[0]
    if not smallest >= -MEAN_SLACK:
        raise ValueError(
            "mean must agree with the second-moment matrix, but S - mean mean^T is not positive "
            "semi-definite; pass E[x x^T] (not centred), or use from_mean_cov for a covariance"
        )


def label(indices: Iterable[Any], columns: Sequence[str] | None) -> str:
    """List columns by name where names are known, by position otherwise."""
    return listing([str(int(i)) if columns is None else columns[int(i)] for i in indices])


def _finite(values: ArrayLike, name: str) -> Array:
    """Convert to float64 and refuse NaN and infinity."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must hold numbers; pass an array of floats") from None
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite, got NaN or infinity; remove or impute them")
    return array


def _symmetrised(matrix: Array, name: str) -> Array:
    """Average a matrix with its transpose when the two agree."""
    _, unit = unit_diagonal(matrix)
    if not np.max(np.abs(unit - unit.T)) <= SYMMETRY * np.max(np.abs(unit)):
        raise ValueError(
            f"{name} must be symmetric to a relative {SYMMETRY:g}; pass (S + S.T) / 2 if the "
            "difference is meant to be rounding"
        )
    return matrix / 2 + matrix.T / 2


def _refuse_negative(matrix: Array, name: str) -> None:
    """Refuse a matrix with a clearly negative eigenvalue."""
    eigenvalues = np.linalg.eigvalsh(unit_diagonal(matrix)[1])
    if not eigenvalues[0] >= -NEGATIVE * max(eigenvalues[-1], 0.0):
        raise ValueError(
            f"{name} must be positive semi-definite, but an eigenvalue is negative; pass the mean "
            "of x x^T over public rows, or a covariance"
        )
