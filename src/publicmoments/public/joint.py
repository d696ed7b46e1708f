"""Moments of features and responses together, before they are told apart.

The joint record keeps the mean and the second moment *about* it (the spread). Storing both, rather
than the raw second moment alone, loses no digits when means are large against deviations.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from publicmoments.arrays import Array, ReadOnlyArrays
from publicmoments.checks import positive_integer
from publicmoments.public.validation import (
    checked_matrix,
    checked_vector,
    lifted,
    refuse_extreme_scales,
    refuse_inconsistent_mean,
)

# Relative variance below which a column is constant: what rounding leaves of a true zero.
CONSTANT_IN_ROWS = 1e-26
CONSTANT_IN_MATRIX = 1e-14


@dataclass(frozen=True, eq=False)
class Spread(ReadOnlyArrays):
    """A mean, and the second moment about it (about zero when the mean is unknown)."""

    mean: Array | None
    about: Array
    n: int | None

    def permuted(self, order: list[int]) -> Spread:
        """Return the same moments with the variables in another order."""
        mean = None if self.mean is None else self.mean[order]
        return Spread(mean, self.about[np.ix_(order, order)], self.n)


@dataclass(frozen=True, eq=False)
class JointMoments:
    """The spread of all variables, the responses last, with names and given scales."""

    spread: Spread
    columns: tuple[str, ...] | None = None
    n_responses: int = 0
    response_names: tuple[str, ...] | None = None
    response_scale: Array | None = None
    assumed: bool = False

    def fingerprint(self) -> str:
        """Hash the moments, counts and names; the same on every platform."""
        header = [
            self.spread.n,
            self.columns,
            self.n_responses,
            self.response_names,
            self.assumed,
            self.spread.about.shape[0],
            self.spread.mean is not None,
        ]
        digest = hashlib.sha256(json.dumps(header).encode())
        for values in (self.spread.mean, self.spread.about, self.response_scale):
            if values is not None:
                # Adding zero turns -0.0 into 0.0.
                digest.update((values + 0.0).astype("<f8").tobytes())
        return digest.hexdigest()


def spread_of_rows(rows: Array, names: tuple[str, ...] | None) -> Spread:
    """Compute moments from rows, in units where neither squares nor sums can overflow."""
    peak = np.max(np.abs(rows), axis=0)
    peak[peak == 0] = 1.0
    unit = rows / peak
    size = np.mean(unit**2, axis=0)
    refuse_extreme_scales(peak * np.sqrt(size), names, "public rows")
    mean = np.mean(unit, axis=0)
    about = (unit - mean).T @ (unit - mean) / len(rows)
    about = _constants_removed(about, size, CONSTANT_IN_ROWS) * peak[:, None] * peak[None, :]
    return Spread(mean * peak, about / 2 + about.T / 2, len(rows))


def spread_of_matrix(
    second_moment: ArrayLike, mean: ArrayLike | None, n: object, names: tuple[str, ...] | None
) -> Spread:
    """Check a second-moment matrix, and centre it when the mean is known."""
    count = _count(n)
    matrix = checked_matrix(second_moment, "S", names)
    if mean is None:
        return Spread(None, matrix, count)
    centre = checked_vector(mean, len(matrix), "mean")
    about = matrix - np.outer(centre, centre)
    refuse_inconsistent_mean(about, matrix)
    about = _constants_removed(about, np.diag(matrix), CONSTANT_IN_MATRIX)
    return Spread(centre, lifted(about), count)


def spread_of_cov(
    mean: ArrayLike, cov: ArrayLike, n: object, names: tuple[str, ...] | None
) -> Spread:
    """Check a mean and a covariance."""
    count = _count(n)
    about = checked_matrix(cov, "cov", names)
    centre = checked_vector(mean, len(about), "mean")
    refuse_extreme_scales(np.hypot(np.sqrt(np.diag(about)), np.abs(centre)), names, "mean and cov")
    return Spread(centre, about, count)


def _count(n: object) -> int:
    """Check the number of public rows."""
    return positive_integer("n", n, "pass the number of public rows behind the moments")


def _constants_removed(about: Array, size: Array, tolerance: float) -> Array:
    """Set the spread of constant columns to exactly zero."""
    constant = np.diag(about) <= tolerance * size
    about = about.copy()
    about[constant, :] = 0.0
    about[:, constant] = 0.0
    return about
