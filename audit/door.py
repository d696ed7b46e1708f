"""A watch at the door: what passes it, and releases that are the same whatever the rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from publicmoments import release
from publicmoments.privacy.noise import SystemNoise
from publicmoments.session import GramRecipe

__all__ = ["BulkNoise", "Passage", "fixed_releases", "watched"]


class BulkNoise:
    """
    System noise, drawn many at a time.

    A factor other than one makes a faulty source of it.
    """

    private = True

    def __init__(self, factor: float = 1.0, bulk: int = 4096) -> None:
        self.factor, self.bulk = factor, bulk
        self.stock: dict[float, NDArray[np.int64]] = {}

    def draw(self, count: int, noise_sd: float) -> NDArray[np.int64]:
        """Take from the stock, and fill it where it is short."""
        stock = self.stock.get(noise_sd, np.empty(0, dtype=np.int64))
        if len(stock) < count:
            stock = SystemNoise().draw(max(self.bulk, count), self.factor * noise_sd)
        self.stock[noise_sd] = stock[count:]
        return stock[:count]


@dataclass(frozen=True, eq=False)
class Passage:
    """One release of a fit: its kind, recipe and noise law, and what it was charged."""

    kind: str
    recipe: Any
    law: Any
    mu: float


@contextmanager
def watched() -> Iterator[list[Passage]]:
    """Note every release that a fit makes."""
    passages: list[Passage] = []
    real_gram, real_vector = release.release_gram, release._noisy_vector

    def gram(exact: Any, recipe: Any, *rest: Any) -> Any:
        released = real_gram(exact, recipe, *rest)
        passages.append(Passage("gram", recipe, released.law, released.cost.mu))
        return released

    def vector(exact: Any, bound: int, recipe: Any, *rest: Any) -> Any:
        released = real_vector(exact, bound, recipe, *rest)
        kind = "eigenvalue" if isinstance(recipe, GramRecipe) else "total"
        passages.append(Passage(kind, recipe, released.law, released.cost.mu))
        return released

    with (
        patch.object(release, "release_gram", gram),
        patch.object(release, "_noisy_vector", vector),
    ):
        yield passages


@contextmanager
def fixed_releases() -> Iterator[list[NDArray[np.int64]]]:
    """Make every release the same whatever the exact sum; the sums are kept for a look."""
    kept: list[NDArray[np.int64]] = []

    def fixed_gram(exact: Any, law: Any, source: Any) -> NDArray[np.int64]:
        kept.append(exact)
        d = law.dimension
        waves = np.sin(np.arange(d * d).reshape(d, d))
        return np.rint((2.0 * np.eye(d) + 0.2 * (waves + waves.T)) * 2.0**35).astype(np.int64)

    def fixed_vector(exact: Any, law: Any, source: Any) -> NDArray[np.int64]:
        kept.append(exact)
        # Of a size that differs from one release to the next, as gradients do.
        size = 2.0 ** (28 - len(kept) % 3)
        return np.rint(np.cos(np.arange(law.dimension)) * size).astype(np.int64)

    with (
        patch.object(release, "add_gram_noise", fixed_gram),
        patch.object(release, "add_vector_noise", fixed_vector),
    ):
        yield kept
