"""Rows that stand for private ones: where curvature is worked out without budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from publicmoments.arrays import Array
from publicmoments.evidence.numerics import floored_power
from publicmoments.families import Family

MOST_PREDICTOR = 30.0
"""Linear predictors of stand-ins are cut here: no exponential of interest is larger."""

LEAST_CURVATURE = 0.03
"""Curvature of any direction, as a share of the mean of all: what is never gone below."""

MADE_UP_ROWS, FREEDOM = 1_000, 6
"""Made-up rows follow a Student law: real ones have longer tails than Gaussian ones."""


@dataclass(frozen=True, eq=False)
class Secant:
    """
    A move between two released gradients, and what it teaches of the curvature.

    Parameters
    ----------
    move, change : ndarray of shape (p k,)
        Difference of the coefficients, and of the gradients.
    expected : float
        What stand-ins lead to expect of the product of the two.
    weight : float
        How far to trust it, between 0 and 1.
    """

    move: Array
    change: Array
    expected: float
    weight: float


@dataclass(frozen=True, eq=False)
class StandIns:
    """
    Rows in whitened coordinates whose second moment is that of the private ones.

    Parameters
    ----------
    family : Family
        Of the responses.
    rows : ndarray of shape (m, p)
        The rows.
    offsets : ndarray of shape (m, 1) or float
        Added to their linear predictors.
    secants : tuple of Secant
        What released gradients have taught of the curvature.
    """

    family: Family
    rows: Array = field(repr=False)
    offsets: Array | float = field(default=0.0, repr=False)
    secants: tuple[Secant, ...] = field(default=(), repr=False)

    @property
    def size(self) -> int:
        """Number of coefficients, p k."""
        return int(self.rows.shape[1] * self.family.n_predictors)

    @cached_property
    def lengths(self) -> Array:
        """Lengths of the rows."""
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", self.rows, self.rows)))

    def predictors(self, coef: Array) -> Array:
        """Linear predictors of the rows, of shape (m, k)."""
        return np.clip(self.linear(coef), -MOST_PREDICTOR, MOST_PREDICTOR)

    def linear(self, coef: Array) -> Array:
        """Linear predictors as they are."""
        return np.asarray(self.rows @ coef.reshape(-1, self.family.n_predictors) + self.offsets)

    def spread(self, coef: Array) -> float:
        """Mean information of a row about one of its predictors."""
        information = self.family.information(self.predictors(coef))
        return float(np.mean(np.einsum("ijj->i", information))) / self.family.n_predictors

    def largest_move(self, move: Array) -> float:
        """
        Largest change of a linear predictor; where slopes are bounded, the fourth-power mean.

        One row alone can send a fit astray only if its slope knows no limit. With squares, a column
        that few rows have could, with any.
        """
        changes = np.abs(self.rows @ move.reshape(-1, self.family.n_predictors))
        if np.isfinite(self.family.slope_limit):
            return float(np.mean(changes**4) ** 0.25)
        return float(changes.max())

    def squares(self, matrices: Array) -> Array:
        """Mean of z z^T times a matrix for each row, of shape (p k, p k)."""
        rows, k, m = self.rows, self.family.n_predictors, len(self.rows)
        if k == 1:
            return np.asarray((rows * matrices[:, 0, :]).T @ rows / m)
        p = rows.shape[1]
        result = np.empty((p, k, p, k))
        for i in range(k):
            for j in range(k):
                result[:, i, :, j] = (rows * matrices[:, i, j][:, None]).T @ rows / m
        return result.reshape(p * k, p * k)

    def curvature(self, coef: Array, kept: Array | float = 1.0) -> Array:
        """
        Mean curvature at some coefficients, of rows with the weights that a bound keeps.

        What a move between two gradients has taught is how much stand-ins were wrong along it, as a
        factor: curvature itself may be another elsewhere.
        """
        information = self.family.information(self.predictors(coef))
        own = hessian = self.squares(information * np.reshape(kept, (-1, 1, 1)))
        for secant in self.secants:
            here = float(secant.move @ own @ secant.move)
            hessian = _corrected(hessian, secant, here / max(secant.expected, 1e-300))
        values, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
        least = LEAST_CURVATURE * max(float(values.mean()), 1e-300)
        return np.asarray((vectors * np.maximum(values, least)) @ vectors.T)

    def between(self, first: Array, last: Array, kept: Array | float = 1.0) -> Array:
        """Mean curvature from some coefficients to others (Simpson's rule)."""
        ends = self.curvature(first, kept) + self.curvature(last, kept)
        return np.asarray((ends + 4.0 * self.curvature((first + last) / 2.0, kept)) / 6.0)


def _corrected(hessian: Array, secant: Secant, scale: float) -> Array:
    """Give the curvature the change that a move was seen to have, and keep it positive."""
    along = hessian @ secant.move
    change = secant.weight * scale * secant.change + (1.0 - secant.weight) * along
    size, before = float(change @ secant.move), float(along @ secant.move)
    if not size > 0.05 * before > 0.0:
        return hessian
    return hessian - np.outer(along, along) / before + np.outer(change, change) / size


def recoloured(rows: Array) -> Array:
    """Rows mixed so that their second moment is the identity."""
    return np.asarray(rows @ floored_power(rows.T @ rows / len(rows), -0.5, 1e-4))


@lru_cache(maxsize=16)
def _student_rows(p: int, count: int) -> Array:
    """Made-up rows of second moment one, the same in every fit: nothing is drawn."""
    rng = np.random.default_rng(p)
    half = rng.standard_normal((count // 2, p))
    half /= np.sqrt(rng.chisquare(FREEDOM, (count // 2, 1)) / FREEDOM)
    rows = recoloured(np.concatenate([half, -half]))
    rows.setflags(write=False)
    return rows


def made_up_rows(p: int, constant: Array | None) -> Array:
    """
    Make up whitened rows.

    Parameters
    ----------
    p : int
        Columns.
    constant : ndarray of shape (p,) or None
        Where there is an intercept, whitened rows satisfy ``z @ constant = 1``; the other
        directions are made up.

    Returns
    -------
    ndarray of shape (count, p)
    """
    count = max(MADE_UP_ROWS, 4 * p)
    if constant is None:
        return _student_rows(p, count)
    length = float(np.sqrt(constant @ constant))
    axis = constant / length
    if p == 1:
        return np.tile(axis / length, (count, 1))
    others = np.linalg.svd(axis[None, :])[2][1:]
    return np.asarray(_student_rows(p - 1, count) @ others + axis / length)


def enough_rows(rows: Array, constant: Array | None) -> Array:
    """Public rows mixed so that their second moment is the identity; few are joined by others."""
    p = rows.shape[1]
    few = len(rows) < 2 * p
    return recoloured(np.concatenate([rows, made_up_rows(p, constant)]) if few else rows)
