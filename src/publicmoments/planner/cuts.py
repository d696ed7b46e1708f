"""What candidate bounds cut off: on a model of rows nobody has seen, and on public rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["ROW_TAIL", "Candidates", "Cut", "cut_by_model", "cut_by_rows", "tried"]

Array = NDArray[np.float64]

ROW_TAIL, RESPONSE_TAIL = 10.0, 8.0
"""Degrees of freedom of the Student laws that stand in for rows and residuals nobody has seen."""

MOST_ROWS = 500
"""Public rows that candidates are tried on."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Bounds to choose from, for rows whose ||z||^2 has mean p; equal only to itself."""

    x_radius: Array
    weight: Array
    radius: Array

    def room(self, norms: Array) -> Array:
        """Limit, by each, on the response in rows of the given bounded norms."""
        squared = np.maximum(self.radius[:, None] ** 2 - norms**2, 0.0)
        return np.asarray(np.sqrt(squared) / self.weight[:, None])


@dataclass(frozen=True, eq=False)
class Cut:
    """What each candidate cuts off."""

    kept: Array
    second: Array
    lost: Array
    lost_mean: Array
    inside: Array


def tried(rows: Array) -> Array:
    """Return at most ``MOST_ROWS`` of some rows: every so many-th."""
    return rows[:: math.ceil(len(rows) / MOST_ROWS)]


@lru_cache(maxsize=32)
def cut_by_model(p: int, q: int, candidates: Candidates) -> Cut:
    """Student rows of mean square p and independent Student residuals of mean square 1."""
    norms, residuals, chances = _student_points(p)
    c = np.minimum(1.0, candidates.x_radius[:, None] / norms)
    limits = candidates.room(c * norms) / math.sqrt(q)
    lost, inside = np.empty_like(c), np.empty_like(c)
    for k in range(len(norms)):
        scaled = c[:, k, None] * residuals
        left = np.minimum(scaled, limits[:, k, None])
        lost[:, k] = (residuals - c[:, k, None] * left) ** 2 @ chances
        inside[:, k] = (scaled <= limits[:, k, None]) @ chances
    second_moment = chances * norms**2
    return Cut(
        kept=c**2 @ second_moment / p,
        second=c**4 @ second_moment / p,
        lost=lost @ second_moment,
        lost_mean=np.zeros(len(c)),
        inside=inside @ chances,
    )


def cut_by_rows(rows: Array, residuals: Array, candidates: Candidates) -> Cut:
    """What the candidates do to public rows, brought to the mean square the whitener intends."""
    rows, residuals = tried(rows), tried(residuals)
    count, p = rows.shape
    rows = rows * np.sqrt(p / np.mean(np.sum(rows**2, axis=1)))
    norms = np.maximum(np.sqrt(np.sum(rows**2, axis=1)), 1e-300)
    lengths = np.maximum(np.sqrt(np.sum(residuals**2, axis=1)), 1e-300)
    slopes = (rows[:, :, None] * residuals[:, None, :]).reshape(count, -1)
    slopes_squared = norms**2 * np.mean(residuals**2, axis=1)
    cut = Cut(*np.empty((5, len(candidates.x_radius))))
    # Many candidates share a radius: what depends on nothing else is worked out once, and the rows
    # of so many fit in the cache.
    for x_radius in np.unique(candidates.x_radius):
        those = np.flatnonzero(candidates.x_radius == x_radius)
        c = np.minimum(1.0, x_radius / norms)
        cut.kept[those] = c**2 @ norms**2 / count / p
        cut.second[those] = c**4 @ norms**2 / count / p
        some, left = _left_of_responses(candidates, those, c, norms, lengths)
        cut.inside[those] = 1.0 - np.count_nonzero(left < 1.0, axis=1) / count
        left *= -(c[some] ** 2)
        lost_share = np.add(left, 1.0, out=left)
        mean = lost_share @ slopes[some] / count
        cut.lost_mean[those] = np.sum(mean**2, axis=1) / residuals.shape[1]
        cut.lost[those] = np.square(lost_share, out=lost_share) @ slopes_squared[some] / count
    return cut


def _left_of_responses(
    candidates: Candidates, those: NDArray[np.intp], c: Array, norms: Array, lengths: Array
) -> tuple[NDArray[np.intp], Array]:
    """
    Share of their responses that candidates of one radius leave to rows scaled by c.

    Returns
    -------
    tuple
        The rows that any of them changes, mostly few, and the shares, of shape (candidates, rows).
    """
    radii, which = np.unique(candidates.radius[those], return_inverse=True)
    weights, heaviest = candidates.weight[those], np.zeros(len(radii))
    np.maximum.at(heaviest, which, weights)
    room = np.sqrt(np.maximum(radii[:, None] ** 2 - (c * norms) ** 2, 0.0)) / (c * lengths)
    some = np.flatnonzero((c < 1.0) | (room < heaviest[:, None]).any(axis=0))
    return some, np.minimum(room[which[:, None], some] / weights[:, None], 1.0)


def _student_points(p: int) -> tuple[Array, Array, Array]:
    """Quadrature of the norm of a row and of the size of a residual, fine in the tail."""
    edges = np.concatenate([np.linspace(1.0, 0.1, 25)[:-1], np.geomspace(0.1, 1e-8, 25)])
    middles, chances = (edges[:-1] + edges[1:]) / 2, edges[:-1] - edges[1:]
    norms = np.sqrt(stats.f.isf(middles, p, ROW_TAIL))
    residuals = stats.t.isf(middles / 2, RESPONSE_TAIL)
    norms = norms * np.sqrt(p / (chances @ norms**2))
    residuals = residuals / np.sqrt(chances @ residuals**2)
    return norms, residuals, chances / chances.sum()
