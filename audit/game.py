"""
The distinguishing game: how well an attacker who knows all rows but one tells two tables apart.

The releases of a real fit are noted at the door. The attacker searches a pool of hostile rows for
the pair that moves these releases most, then real noise is added again and again to the exact sums
of both tables. The best test between two Gaussians is linear: the difference of the sums in units
of the noise. No test of mu-GDP releases has z(1 - false alarms) - z(misses) above mu, so a
confidence limit on both rates is one on mu.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, norm

from audit.cases import Case, card_of, released_by, table_for
from audit.door import BulkNoise, Passage, watched
from publicmoments.data import as_responses, as_table, no_columns
from publicmoments.engines.dispatch import exact_sum
from publicmoments.engines.host import _Desk
from publicmoments.privacy.noise import add_gram_noise, add_vector_noise
from publicmoments.rows.private_rows import PrivateRows

__all__ = ["CONFIDENCE", "Verdict", "mu_lower_bound", "play", "play_whole_fits", "upper_rate"]

Array = NDArray[np.float64]

CONFIDENCE = 0.999
LENGTHS = (0.0, 0.3, 0.5, 0.70710678, 1.0, 1e3, 1e12, 1e150, 1e300)
ANGLES = 48


@dataclass(frozen=True)
class Verdict:
    """
    Outcome of a game.

    ``claimed`` is the total of the card, ``charged`` the composition of the charges, ``reached``
    what the pair is worth to an attacker with unlimited runs, ``shown`` the lower confidence bound
    after ``runs`` of each table.
    """

    name: str
    releases: int
    claimed: float
    charged: float
    reached: float
    shown: float
    runs: int
    tight: bool

    @property
    def sound(self) -> bool:
        """Whether nothing contradicts the claim."""
        within = self.shown <= self.claimed and self.charged <= self.claimed * (1 + 1e-9)
        return within and self.reached <= self.charged * (1 + 1e-9)

    @property
    def close(self) -> bool:
        """Whether the attacker came as close as a tight claim lets one expect."""
        return not self.tight or self.shown >= 0.85 * self.claimed


def upper_rate(errors: int, trials: int) -> float:
    """Clopper-Pearson upper limit on an error rate."""
    return float(beta.ppf(CONFIDENCE, errors + 1, trials - errors)) if errors < trials else 1.0


def mu_lower_bound(threshold: float, first: Array, second: Array) -> float:
    """Lower confidence bound on mu from a threshold that was fixed before the scores were seen."""
    alarms = upper_rate(int(np.sum(first > threshold)), len(first))
    misses = upper_rate(int(np.sum(second <= threshold)), len(second))
    return float(norm.isf(alarms) - norm.ppf(misses))


def play(case: Case, runs: int, factor: float = 1.0) -> Verdict:
    """Play the game on the releases of one fit; a factor makes faulty noise, to test the game."""
    X, y = table_for(case)
    with watched() as passages, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = case.fit(X, y, on_invalid="ignore")
    card = card_of(fitted)
    pair = worst_pair(case, passages, X, y)
    sums = [exact_sums(case, passages, *table) for table in pair]
    weights = [_weights(p, b - a) for p, a, b in zip(passages, *sums, strict=True)]
    means = [sum(float(np.sum(w * s)) for w, s in zip(weights, one, strict=True)) for one in sums]
    source = BulkNoise(factor, bulk=min(4096, 2 * runs))
    scores = [_scores(passages, one, weights, source, runs) for one in sums]
    return Verdict(
        name=case.name,
        releases=len(passages),
        claimed=card.mu,
        charged=math.hypot(*(passage.mu for passage in passages)),
        reached=math.sqrt(max(means[1] - means[0], 0.0)),
        shown=mu_lower_bound(sum(means) / 2.0, *scores),
        runs=runs,
        tight=case.tight,
    )


def play_whole_fits(case: Case, runs: int) -> float:
    """
    Play with complete fits: lower confidence bound on mu from their coefficients alone.

    The direction of the test is learned from one half of the fits and judged on the other.
    """
    X, y = table_for(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with watched() as passages:
            case.fit(X, y, on_invalid="ignore")
        pair = worst_pair(case, passages, X, y)
        first, second = (np.array([_told(case, *table) for _ in range(runs)]) for table in pair)
    half = runs // 2
    centre = (np.median(first[:half], axis=0) + np.median(second[:half], axis=0)) / 2.0
    spread = np.std(np.concatenate([first[:half], second[:half]]), axis=0) + 1e-300
    step = np.median(second[:half], axis=0) - np.median(first[:half], axis=0)
    direction = step / spread**2
    scores = [np.asarray((one[half:] - centre) @ direction) for one in (first, second)]
    return mu_lower_bound(0.0, *scores)


def worst_pair(
    case: Case, passages: list[Passage], X: Array, y: Array
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Two tables that differ in their last row, as far apart as the pool allows."""
    pool_X, pool_y = _pool(case, passages)
    images = np.concatenate(
        [_images(case, passage, pool_X, pool_y, X, y) for passage in passages], axis=1
    )
    squares = np.einsum("ij,ij->i", images, images)
    distances = squares[:, None] + squares[None, :] - 2.0 * images @ images.T
    chosen = np.unravel_index(np.argmax(distances), distances.shape)
    first, second = (_replaced(X, y, pool_X[k], pool_y[k]) for k in chosen)
    return first, second


def exact_sums(case: Case, passages: list[Passage], X: Array, y: Array) -> list[Any]:
    """What the passages would release of a table without noise, in integers."""
    rows = _private(case, X, y, passages[0].recipe)
    return [_exact(passage, rows) for passage in passages]


def _exact(passage: Passage, rows: PrivateRows) -> Any:
    """One exact answer, the smallest eigenvalue as the door rounds it."""
    return passage.query.of(exact_sum(rows, passage.recipe))


def _private(case: Case, X: Array, y: Array, recipe: Any) -> PrivateRows:
    """Hand a table to the private side, as the fit did."""
    features = as_table(X)
    responses = no_columns(features) if case.kind == "none" else as_responses(y)
    return PrivateRows(features, responses, len(recipe.coef) > X.shape[1], True)


def _pool(case: Case, passages: list[Passage]) -> tuple[Array, Array]:
    """Rows of all lengths and directions, in the coordinates of the first release."""
    recipe = passages[0].recipe
    d = table_for(case)[0].shape[1]
    radius = recipe.radius if math.isfinite(recipe.radius) else recipe.l2_bound
    angles = 2.0 * np.pi * np.arange(ANGLES) / ANGLES
    whitened = np.column_stack([np.cos(angles), np.sin(angles)])
    back = np.linalg.inv(recipe.whitener[:d, :d])
    with np.errstate(over="ignore"):
        unit = radius * whitened @ back
        X = np.concatenate([np.clip(size * unit, -1e300, 1e300) for size in LENGTHS])
    count = len(case.responses)
    return np.repeat(X, count, axis=0), np.tile(case.responses, len(X))


def _images(case: Case, passage: Passage, pool_X: Array, pool_y: Array, X: Array, y: Array) -> Any:
    """What each row of the pool adds to a release, in units of its noise."""
    if passage.kind == "eigenvalue":
        tables = (_replaced(X, y, *row) for row in zip(pool_X, pool_y, strict=True))
        rows = (_private(case, *table, passage.recipe) for table in tables)
        return np.array([_in_noise_units(passage, _exact(passage, one)) for one in rows])
    pool = _private(case, pool_X, pool_y, passage.recipe)
    integers = _Desk(pool, passage.recipe, pool.n_rows).integers(0, pool.n_rows)
    rows = np.ascontiguousarray(integers.T, dtype=float)
    sums = [np.outer(row, row) for row in rows] if passage.kind == "gram" else rows
    return np.array([_in_noise_units(passage, one) for one in sums])


def _replaced(X: Array, y: Array, x: Array, response: float) -> tuple[Array, Array]:
    """The table with another last row."""
    rows, responses = X.copy(), np.asarray(y, dtype=float).copy()
    rows[-1], responses[-1] = x, response
    return rows, responses


def _in_noise_units(passage: Passage, exact: Array) -> Array:
    """Independent entries of a release, divided by their noise sd."""
    if passage.kind != "gram":
        return exact / passage.law.noise_sd
    upper = np.triu_indices(len(exact), k=1)
    diagonal = np.diag(exact) / passage.law.diagonal_sd
    return np.concatenate([diagonal, exact[upper] / passage.law.offdiagonal_sd])


def _weights(passage: Passage, change: Any) -> Array:
    """Weights of the best linear test: the change over the variance of the noise."""
    if passage.kind != "gram":
        return np.asarray(change / passage.law.noise_sd**2)
    weights = np.triu(change, k=1) / passage.law.offdiagonal_sd**2
    return np.asarray(weights + np.diag(np.diag(change)) / passage.law.diagonal_sd**2)


def _scores(
    passages: list[Passage], sums: list[Any], weights: list[Array], source: BulkNoise, runs: int
) -> Array:
    """The test's statistic for many draws of real noise."""
    scores = np.zeros(runs)
    for passage, exact, weight in zip(passages, sums, weights, strict=True):
        add = add_gram_noise if passage.kind == "gram" else add_vector_noise
        for run in range(runs):
            scores[run] += np.sum(weight * add(exact, passage.law, source))
    return scores


def _told(case: Case, X: Array, y: Array) -> Array:
    """Coefficients of a fit, or the noisy matrix, as a vector."""
    fitted = case.fit(X, y, on_invalid="ignore")
    values = released_by(fitted)
    return np.asarray(values, dtype=float).ravel()
