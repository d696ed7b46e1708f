"""What several tests of the private side do with rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from publicmoments import release
from publicmoments.data import as_responses, as_table
from publicmoments.engines.host import _Desk
from publicmoments.rows import PrivateRows, Recipe


def integer_rows(recipe: Recipe, X: Any, Y: Any) -> np.ndarray:
    """Integer rows of one block, one below the other, as an engine makes them."""
    rows = PrivateRows(as_table(np.array(X, dtype=float)), as_responses(np.array(Y)), False, True)
    return block_rows(recipe, rows, 0, rows.n_rows, rows.n_rows)


def block_rows(recipe: Recipe, rows: PrivateRows, start: int, stop: int, size: int) -> np.ndarray:
    """Integer rows of a block of a given size, padding included."""
    bounded = _Desk(rows, recipe, "total", size).integers(start, stop)
    return np.ascontiguousarray(bounded.T.astype(float))


def fix_releases(
    monkeypatch: pytest.MonkeyPatch, vector_size: Callable[[int], float]
) -> list[tuple[np.ndarray, Any]]:
    """
    Make every release the same whatever the exact sum; return what sums and laws there will be.

    ``vector_size`` gives the size of a released vector from the number of releases so far.
    """
    kept: list[tuple[np.ndarray, Any]] = []

    def fixed_gram(exact: np.ndarray, law: Any, source: Any) -> np.ndarray:
        kept.append((exact, law))
        d = law.dimension
        waves = np.sin(np.arange(d * d).reshape(d, d))
        return np.rint((2.0 * np.eye(d) + 0.2 * (waves + waves.T)) * 2.0**37).astype(np.int64)

    def fixed_vector(exact: np.ndarray, law: Any, source: Any) -> np.ndarray:
        kept.append((exact, law))
        size = vector_size(len(kept))
        return np.rint(np.cos(np.arange(law.dimension)) * size).astype(np.int64)

    monkeypatch.setattr(release, "add_gram_noise", fixed_gram)
    monkeypatch.setattr(release, "add_vector_noise", fixed_vector)
    return kept


def tables_of_three_worlds(
    rng: np.random.Generator, n: int
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """
    Tables with three columns and labels that have nothing in common but their shape.

    The strange one has another scale, outliers, a constant column, rows that are ignored, and one
    class only.
    """
    X = rng.normal(size=(n, 3))
    strange, y = 1e3 * rng.standard_cauchy(size=(n, 3)) + 5e4, np.ones(n)
    strange[:, 1] = 7.0
    strange[3], strange[4, 0], y[5] = np.nan, np.inf, np.nan
    return {
        "ordinary": (X, (X @ [1.0, 2.0, 3.0] > 0).astype(float)),
        "strange": (strange, y),
        "empty": (np.zeros((n, 3)), np.zeros(n)),
    }


def redrawn_noise(release, rng):
    """The same release with another draw of its noise law on top."""
    p = len(release.noisy_gram)
    square = rng.standard_normal((p, p)) * release.offdiagonal_sd
    noise = (square + square.T) / np.sqrt(2.0)
    return replace(release, noisy_gram=release.noisy_gram + noise)
