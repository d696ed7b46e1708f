"""Moments of features and responses: together, and told apart.

The joint record keeps the mean and the second moment *about* it (the spread). Storing both, rather
than the raw second moment alone, loses no digits when means are large against deviations.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from publicmoments.arrays import Array, ReadOnlyArrays, read_only
from publicmoments.checks import positive_integer
from publicmoments.public.validation import (
    checked_matrix,
    checked_vector,
    label,
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

    @property
    def raw(self) -> Array:
        """Second moment about zero."""
        if self.mean is None:
            return self.about
        return np.asarray(self.about + np.outer(self.mean, self.mean))

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


@dataclass(frozen=True, eq=False)
class PublicResponse(ReadOnlyArrays):
    """What is public about the responses.

    Parameters
    ----------
    scale : ndarray of shape (q,)
        Root of the second moment of each response.
    cross : ndarray of shape (d, q) or None
        E[x y]; None when only the scale is public.
    mean : ndarray of shape (q,) or None
        Mean of each response.
    moment : ndarray of shape (q, q) or None
        E[y y^T].
    names : tuple of str or None
        Response names.
    cross_covariance, covariance : ndarray or None
        Like ``cross`` and ``moment``, about the means; None when these are unknown.

    Examples
    --------
    >>> from publicmoments.public import PublicMoments
    >>> PublicMoments.identity(2, response_scale=3.0).response.scale
    array([3.])
    """

    scale: Array
    cross: Array | None = None
    mean: Array | None = None
    moment: Array | None = None
    names: tuple[str, ...] | None = None
    cross_covariance: Array | None = field(default=None, repr=False)
    covariance: Array | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class PublicRecord(ReadOnlyArrays):
    """What `PublicMoments` holds, which says what each of it is."""

    second_moment: Array
    mean: Array | None
    covariance: Array | None
    n: int | None
    columns: tuple[str, ...] | None
    response: PublicResponse | None
    rows: Array | None = None
    response_rows: Array | None = None
    assumed: bool = False
    fingerprint: str = field(init=False)

    def __post_init__(self) -> None:
        """Take the fingerprint."""
        object.__setattr__(self, "fingerprint", self._joined().fingerprint())

    @classmethod
    def _of(cls, joint: JointMoments, rows: Array | None = None) -> Self:
        """Tell features and responses apart."""
        spread, d = joint.spread, len(joint.spread.about) - joint.n_responses
        keeps_responses = rows is not None and joint.n_responses > 0
        return cls(
            second_moment=read_only(spread.raw[:d, :d]),
            mean=None if spread.mean is None else read_only(spread.mean[:d]),
            covariance=None if spread.mean is None else read_only(spread.about[:d, :d]),
            n=spread.n,
            columns=joint.columns,
            response=_response(joint, d),
            rows=None if rows is None else read_only(rows[:, :d]),
            response_rows=read_only(rows[:, d:]) if rows is not None and keeps_responses else None,
            assumed=joint.assumed,
        )

    def _joined(self) -> JointMoments:
        """Undo `_of`, bit by bit."""
        about = self.second_moment if self.covariance is None else self.covariance
        mean, response = self.mean, self.response
        spread = Spread(mean, about, self.n)
        if response is None or response.cross is None or response.moment is None:
            scale = None if response is None else response.scale
            return JointMoments(spread, self.columns, response_scale=scale, assumed=self.assumed)
        cross, own = response.cross, response.moment
        if mean is not None and response.mean is not None:
            mean = np.concatenate([mean, response.mean])
        if response.cross_covariance is not None and response.covariance is not None:
            cross, own = response.cross_covariance, response.covariance
        spread = Spread(mean, np.block([[about, cross], [cross.T, own]]), self.n)
        return JointMoments(spread, self.columns, len(own), response.names, None, self.assumed)


def _response(joint: JointMoments, d: int) -> PublicResponse | None:
    """Collect what is known of the responses."""
    if joint.n_responses == 0:
        given = joint.response_scale
        return None if given is None else PublicResponse(scale=read_only(given))
    raw, about, mean = joint.spread.raw, joint.spread.about, joint.spread.mean
    scale = np.sqrt(np.diag(raw)[d:])
    if not np.all(scale > 0):
        raise ValueError(
            "response must have a positive second moment, got zero in response(s) "
            f"{label(np.flatnonzero(scale <= 0), joint.response_names)}; "
            "leave it out, or pass response_scale instead"
        )
    return PublicResponse(
        scale=read_only(scale),
        cross=read_only(raw[:d, d:]),
        mean=None if mean is None else read_only(mean[d:]),
        moment=read_only(raw[d:, d:]),
        names=joint.response_names,
        cross_covariance=None if mean is None else read_only(about[:d, d:]),
        covariance=None if mean is None else read_only(about[d:, d:]),
    )


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
