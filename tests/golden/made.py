"""Small made-up tables, the same in every run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments import PublicMoments

__all__ = ["Rows", "counts", "gammas", "labels", "lines", "public_kinds", "shown"]

Array = NDArray[np.float64]

N_PUBLIC = 150
WORDS = np.array(["low", "mid", "high", "top"])


@dataclass(frozen=True, eq=False)
class Rows:
    """A private table, and a public one from the same population."""

    X: Array
    y: Any
    public_X: Array
    public_y: Any
    extra: Any = None
    public_extra: Any = None

    def public(self, **choices: Any) -> PublicMoments:
        """Moments of the public rows with their responses."""
        return PublicMoments.from_rows(self.public_X, response=self.public_y, **choices)

    def public_rows(self) -> PublicMoments:
        """Moments of the public rows without responses."""
        return PublicMoments.from_rows(self.public_X)


def _features(rng: np.random.Generator, n: int, d: int) -> Array:
    """Correlated columns of several sizes, off the origin, with a heavy tail."""
    mixing = np.eye(d) + 0.3 * np.tri(d, k=-1)
    rows = rng.normal(size=(n, d))
    rows[:, -1] = rng.standard_t(5, size=n)
    return np.asarray((rows @ mixing.T + 0.5) * np.linspace(1.0, 3.0, d))


def _split(X: Array, y: Any, extra: Any = None) -> Rows:
    """The first rows are public."""
    k = N_PUBLIC
    parts = (None, None) if extra is None else (extra[k:], extra[:k])
    return Rows(X[k:], y[k:], X[:k], y[:k], *parts)


def _coef(d: int) -> Array:
    """Coefficients of both signs."""
    return np.asarray(0.6 * np.cos(1.3 * np.arange(d)) / np.linspace(1.0, 3.0, d))


def lines(n: int = 1_200, d: int = 3, q: int = 0, seed: int = 1) -> Rows:
    """A linear response, or several."""
    rng = np.random.default_rng(seed)
    X = _features(rng, n + N_PUBLIC, d)
    noise = rng.normal(size=(len(X), max(q, 1)))
    Y = np.stack([X @ np.roll(_coef(d), k) + k + 2.0 for k in range(max(q, 1))], axis=1) + noise
    return _split(X, Y if q else Y[:, 0])


def labels(n: int = 1_200, d: int = 3, k: int = 2, seed: int = 2, words: bool = False) -> Rows:
    """Labels of two or more classes, as numbers or as words."""
    rng = np.random.default_rng(seed)
    X = _features(rng, n + N_PUBLIC, d)
    odds = np.stack([X @ np.roll(_coef(d), j) - 0.2 * j for j in range(k)], axis=1)
    y = np.argmax(odds + rng.gumbel(size=odds.shape), axis=1)
    return _split(X, WORDS[y] if words else y)


def counts(n: int = 1_200, d: int = 3, seed: int = 3) -> Rows:
    """Counts that were observed for different times."""
    rng = np.random.default_rng(seed)
    X = _features(rng, n + N_PUBLIC, d)
    years = rng.uniform(0.5, 3.0, size=len(X))
    y = rng.poisson(years * np.exp(np.clip(0.5 * X @ _coef(d), -3.0, 3.0))).astype(float)
    return _split(X, y, years)


def gammas(n: int = 1_200, d: int = 3, seed: int = 4) -> Rows:
    """Positive responses."""
    rng = np.random.default_rng(seed)
    X = _features(rng, n + N_PUBLIC, d)
    offset = rng.normal(0.0, 0.3, size=len(X))
    mean = np.exp(np.clip(0.5 * X @ _coef(d), -3.0, 3.0) + offset)
    return _split(X, mean * rng.gamma(2.0, 0.5, size=len(X)), offset)


def public_kinds(rows: Rows) -> dict[str, PublicMoments | None]:
    """Every kind of public knowledge, of numeric responses."""
    B, y = rows.public_X, rows.public_y
    Z, d = np.column_stack([B, y]), B.shape[1]
    other = 1.5 * B[:, ::-1] + 1.0
    scale = np.sqrt(np.mean(np.asarray(y, dtype=float) ** 2))
    return {
        "rows": PublicMoments.from_rows(B),
        "rows-and-scale": PublicMoments.from_rows(B, response_scale=scale),
        "few-rows": PublicMoments.from_rows(B[:8], response=y[:8]),
        "matrix": PublicMoments.from_matrix(B.T @ B / len(B), n=len(B)),
        "matrix-and-mean": PublicMoments.from_matrix(
            Z.T @ Z / len(Z), n=len(Z), mean=Z.mean(axis=0), response=d
        ),
        "mean-and-cov": PublicMoments.from_mean_cov(B.mean(axis=0), np.cov(B.T), n=len(B)),
        "mean-and-cov-of-all": PublicMoments.from_mean_cov(
            Z.mean(axis=0), np.cov(Z.T), n=len(Z), response=d
        ),
        "identity": PublicMoments.identity(d, response_scale=2.0),
        "none": None,
        "elsewhere": PublicMoments.from_rows(other, response=y),
        "collinear": PublicMoments.from_rows(np.column_stack([B[:, :-1], B[:, 0]]), response=y),
    }


def shown(rows: Rows, k: int = 4) -> Array:
    """A few rows to predict at."""
    return rows.X[:k]
