"""The public stage on which private gradients are understood: rows that stand for the private ones.

A gradient is a mean over rows. What it should be, for any coefficients, can be computed on rows of
the same population: public ones, or rows made up from the second moment alone. No budget is spent
on curvature then, and nothing noisy is inverted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from publicmoments.families import Family
from publicmoments.public import PublicDesign

__all__ = ["Lesson", "Stage", "believed_root", "make_stage"]

Array = NDArray[np.float64]

MADE_UP_ROWS = 2000
"""Rows that are made up where none are public."""

TAIL = 10.0
"""Degrees of freedom of the Student law that made-up rows follow."""

SHAPE_ROWS = 50.0
"""How many public rows tell as much about curvature as the made-up ones, or about their own
variance as Gaussian ones would."""

MOST_PREDICTOR = 30.0
"""Linear predictors on the stage are cut here: no exponential of interest is larger."""

MOST_UNTRUE = 1.0
"""A stage is never taken to be further off than this, relative to what it predicts."""


LEAST_STRETCH, MOST_STRETCH = 0.05, 20.0
"""A released curvature is believed within these factors of the stage's."""

NOISE_MARGIN = 2.0
"""Nor is it believed below this many times the largest that its noise alone would show."""

CHANGE = 0.1
"""Squared relative change of a curvature per squared unit that the linear predictor moves."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """
    What a released curvature taught.

    Parameters
    ----------
    stretch : ndarray of shape (p, p)
        Moves of the coefficients act on ``rows @ stretch.T``.
    coef : ndarray of shape (p,)
        Where the curvature was taken.
    error : float
        Its squared relative error there.
    """

    stretch: Array
    coef: Array
    error: float


@dataclass(frozen=True, eq=False)
class Stage:
    """
    Rows that stand for private ones, in whitened coordinates.

    Parameters
    ----------
    family : Family
        Of the responses.
    rows : ndarray of shape (m, p)
        The rows.
    weights : ndarray of shape (m,)
        Their weights, adding up to one.
    penalty : ndarray of shape (p, p)
        Ridge penalty in whitened coordinates.
    untruth : float
        Expected squared relative error of gradients predicted here.
    n_public : int
        How many of the rows are public, and so a sample.
    lesson : Lesson or None
        What a released curvature taught.
    """

    family: Family
    rows: Array = field(repr=False)
    weights: Array = field(repr=False)
    penalty: Array = field(repr=False)
    untruth: float
    n_public: int = 0
    lesson: Lesson | None = field(default=None, repr=False)

    @property
    def size(self) -> int:
        """Number of coefficients, p times k."""
        return int(self.rows.shape[1] * self.family.n_predictors)

    @cached_property
    def lengths(self) -> Array:
        """Lengths of the rows."""
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", self.rows, self.rows)))

    @cached_property
    def moving_rows(self) -> Array:
        """Rows on which moves of the coefficients act."""
        return self.rows if self.lesson is None else self.rows @ self.lesson.stretch.T

    @cached_property
    def full_penalty(self) -> Array:
        """Penalty on all coefficients."""
        return np.asarray(np.kron(self.penalty, np.eye(self.family.n_predictors)))

    def predictors(self, coef: Array) -> Array:
        """Linear predictors of the rows, within what exponentials can bear."""
        predictors = self.rows @ coef.reshape(-1, self.family.n_predictors)
        return np.clip(predictors, -MOST_PREDICTOR, MOST_PREDICTOR)

    def after_move(self, start: Array, move: Array) -> Array:
        """Linear predictors after the coefficients moved."""
        moved = start + self.moving_rows @ move.reshape(-1, self.family.n_predictors)
        return np.clip(moved, -MOST_PREDICTOR, MOST_PREDICTOR)

    def kept(self, coef: Array, radius: float) -> Array:
        """What the weights of a radius leave of each row, at some coefficients."""
        spread = self.family.spread(self.predictors(coef))[:, 0]
        with np.errstate(divide="ignore"):
            return np.asarray(np.minimum(1.0, radius / (spread * self.lengths)))

    def squares(self, weights: Array, matrices: Array, moving: bool = True) -> Array:
        """Weighted mean of z z^T times a matrix per row, on moving rows or on plain ones."""
        rows, k = self.moving_rows if moving else self.rows, self.family.n_predictors
        weights = weights * self.weights
        if k == 1:
            return np.asarray((rows * (weights * matrices[:, 0, 0])[:, None]).T @ rows)
        p = rows.shape[1]
        result = np.empty((p, k, p, k))
        for i in range(k):
            for j in range(k):
                result[:, i, :, j] = (rows * (weights * matrices[:, i, j])[:, None]).T @ rows
        return result.reshape(p * k, p * k)

    def moved(self, squares: Array) -> Array:
        """Return what squares of plain rows are on moving ones; a lesson is for one predictor."""
        if self.lesson is None:
            return squares
        return np.asarray(self.lesson.stretch @ squares @ self.lesson.stretch.T)

    def hessian(self, coef: Array, kept: Array) -> Array:
        """Expected weighted curvature at some coefficients, the penalty included."""
        information = self.family.information(self.predictors(coef))
        return self.squares(kept, information) + self.full_penalty

    def untruth_at(self, coef: Array) -> float:
        """Expected squared relative error of gradients, if these are the coefficients."""
        if self.lesson is None:
            return self.untruth
        away = float(np.sum((coef - self.lesson.coef) ** 2))
        return min(self.untruth, self.lesson.error + CHANGE * away)

    def taught(self, lesson: Lesson) -> Stage:
        """Return the stage after a curvature was released."""
        return replace(self, lesson=lesson)


def believed_root(relative: Array, noise: float) -> Array:
    """
    Return a root of what is believed of a released curvature.

    Coefficients move by a gradient over a curvature, and would run off along directions in which
    noise leaves little of the latter: those of rare columns, say. Symmetric noise of p columns has
    eigenvalues up to 2 sqrt(p) times the standard deviation of its off-diagonal entries. What is
    raised for it is never raised above the stage's own curvature.

    Parameters
    ----------
    relative : ndarray of shape (p, p)
        The curvature, in units of the stage's.
    noise : float
        Standard deviation of its off-diagonal entries, in the same units.

    Returns
    -------
    ndarray of shape (p, p)
        Symmetric and positive.
    """
    values, vectors = np.linalg.eigh((relative + relative.T) / 2)
    least = max(LEAST_STRETCH, NOISE_MARGIN * 2.0 * noise * math.sqrt(len(values)))
    roots = np.sqrt(np.clip(values, min(least, 1.0), MOST_STRETCH))
    return np.asarray((vectors * roots) @ vectors.T)


def make_stage(design: PublicDesign, family: Family, alpha: float) -> Stage:
    """
    Set the stage from public moments.

    Public rows are used where there are any, with a few made-up ones among them, so that no
    direction is empty; otherwise all rows are made up: of Student law, of second moment one.
    """
    p = design.n_columns
    penalised = np.ones(p)
    if design.fit_intercept:
        penalised[-1] = 0.0
    penalty = alpha * design.whitener.T @ (penalised[:, None] * design.whitener)
    constant = design.unwhitener[:, -1] if design.fit_intercept else None
    if design.rows is None:
        rows = made_up_rows(p, MADE_UP_ROWS, constant)
        weights = np.full(len(rows), 1.0 / len(rows))
        known = 1.0 / (1.0 / SHAPE_ROWS + (0.0 if design.n is None else 1.0 / design.n))
    else:
        public = design.rows @ design.whitener
        few = made_up_rows(p, 2 * max(2 * p, 50), constant)
        known = float(len(public))
        share = p / (known + p)
        rows = np.concatenate([public, few])
        weights = np.concatenate(
            [np.full(len(public), (1 - share) / len(public)), np.full(len(few), share / len(few))]
        )
    fourth = float(weights @ np.sum(rows**2, axis=1) ** 2) / (p * (p + 2))
    untruth = min((p + 1) / known * max(fourth, 1.0), MOST_UNTRUE)
    n_public = 0 if design.rows is None else len(design.rows)
    return Stage(family, rows, weights, np.asarray(penalty), untruth, n_public)


@lru_cache(maxsize=16)
def _student_rows(p: int, count: int) -> Array:
    """Made-up rows of second moment one, the same in every fit: nothing is drawn."""
    rng = np.random.default_rng(p)
    half = rng.standard_normal((count // 2, p))
    chances = rng.permutation((np.arange(count // 2) + 0.5) / (count // 2))
    half /= np.sqrt(stats.chi2.ppf(chances, TAIL) / TAIL)[:, None]
    rows = np.concatenate([half, -half])
    root = np.linalg.cholesky(np.linalg.inv(rows.T @ rows / count))
    rows = rows @ root
    rows.setflags(write=False)
    return rows


def made_up_rows(p: int, count: int, constant: Array | None) -> Array:
    """
    Make up whitened rows.

    Parameters
    ----------
    p, count : int
        Columns, and rows, at least 2 p of them.
    constant : ndarray of shape (p,) or None
        Where there is an intercept, whitened rows satisfy ``z @ constant = 1``; the other
        directions are made up.

    Returns
    -------
    ndarray of shape (count, p)
    """
    count = max(count, 4 * p)
    if constant is None:
        return _student_rows(p, count)
    length = math.sqrt(float(constant @ constant))
    axis = constant / length
    if p == 1:
        return np.tile(axis / length, (count, 1))
    others = np.linalg.svd(axis[None, :])[2][1:]
    return np.asarray(_student_rows(p - 1, count) @ others + axis / length)
