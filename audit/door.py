"""A watch at the door: what passes it, and releases that are the same whatever the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from publicmoments.privacy.laws import Law
from publicmoments.privacy.noise import NoiseSource, SystemNoise
from publicmoments.rows.recipe import Recipe
from publicmoments.session import door, queries
from publicmoments.session.door import Release
from publicmoments.session.queries import EigenvalueQuery, GramQuery, Query

__all__ = [
    "BulkNoise",
    "Kept",
    "Passage",
    "Scripted",
    "answered",
    "fixed_releases",
    "noise_from",
    "watched",
]


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
    """One release of a fit, and the exact answer in grid units that it was made of."""

    released: Release
    exact: NDArray[np.int64]

    @property
    def kind(self) -> str:
        """What was asked for: a matrix, an eigenvalue, or a sum of rows."""
        if isinstance(self.query, GramQuery):
            return "gram"
        return "eigenvalue" if isinstance(self.query, EigenvalueQuery) else "total"

    @property
    def query(self) -> Query:
        """What was asked."""
        return self.released.query

    @property
    def recipe(self) -> Recipe:
        """How rows were bounded."""
        return self.query.recipe

    @property
    def law(self) -> Law:
        """Law of the noise."""
        return self.released.law

    @property
    def mu(self) -> float:
        """What was charged."""
        return self.released.cost.mu

    @property
    def noisy(self) -> NDArray[np.float64]:
        """What was released, per row."""
        return self.released.values

    @property
    def silent(self) -> NDArray[np.float64]:
        """What would have been released without noise."""
        return self.exact.astype(np.float64) * (self.query.unit_of_answer / self.recipe.n_rows)

    @property
    def noise(self) -> NDArray[np.float64]:
        """What was drawn, per row."""
        return self.noisy - self.silent


@contextmanager
def watched() -> Iterator[list[Passage]]:
    """Note every release that a fit makes."""
    passages: list[Passage] = []
    real = door.release

    def noted(query: Query, exact: NDArray[np.int64], *rest: Any) -> Release:
        released = real(query, exact, *rest)
        passages.append(Passage(released, query.of(exact)))
        return released

    with patch.object(door, "release", noted):
        yield passages


@contextmanager
def noise_from(source: NoiseSource) -> Iterator[None]:
    """Let every fit draw from one source, whatever its random state."""
    with patch.object(door, "noise_source", lambda random_state, *, protects: source):
        yield


class Scripted:
    """
    Noise that is its own scale times a factor: none at all with a factor of zero.

    Every draw is told of in ``events``; a source that fails tells of it and raises.
    """

    def __init__(
        self,
        factor: float = 0.0,
        events: list[str] | None = None,
        *,
        private: bool = True,
        fails: bool = False,
    ) -> None:
        self.factor, self.private, self.fails = factor, private, fails
        self.events: list[str] = [] if events is None else events
        self.counts: list[int] = []

    def draw(self, count: int, noise_sd: float) -> NDArray[np.int64]:
        """Return the same number for every entry."""
        self.events.append("draw")
        self.counts.append(count)
        if self.fails:
            raise OSError("no entropy")
        return np.full(count, round(self.factor * noise_sd), dtype=np.int64)


class Kept(NamedTuple):
    """An exact answer that was not released, and the law of the noise it would have got."""

    exact: NDArray[np.int64]
    law: Any


@contextmanager
def answered(
    matrix: Callable[[int], NDArray[np.float64]], vector: Callable[[int, int], NDArray[np.float64]]
) -> Iterator[list[Kept]]:
    """
    Release made-up numbers in place of every noisy sum; the exact sums are kept for a look.

    ``matrix`` makes one of some size, ``vector`` one of a length, told how many releases there are.
    """
    kept: list[Kept] = []

    def in_place_of_gram(exact: NDArray[np.int64], law: Any, source: Any) -> NDArray[np.int64]:
        kept.append(Kept(exact, law))
        return np.rint(matrix(law.dimension)).astype(np.int64)

    def in_place_of_vector(exact: NDArray[np.int64], law: Any, source: Any) -> NDArray[np.int64]:
        kept.append(Kept(exact, law))
        return np.rint(vector(law.dimension, len(kept))).astype(np.int64)

    with (
        patch.object(queries, "add_gram_noise", in_place_of_gram),
        patch.object(queries, "add_vector_noise", in_place_of_vector),
    ):
        yield kept


def fixed_releases(
    vector_size: Callable[[int], float] = lambda count: 2.0 ** (28 - count % 3),
    gram_size: float = 2.0**35,
) -> AbstractContextManager[list[Kept]]:
    """
    Make every release the same whatever the exact sum; the sums are kept for a look.

    ``vector_size`` gives the size of a released vector from the number of releases so far: by
    default one that differs from one to the next, as gradients do.
    """

    def matrix(size: int) -> NDArray[np.float64]:
        waves = np.sin(np.arange(size * size).reshape(size, size))
        return np.asarray((2.0 * np.eye(size) + 0.2 * (waves + waves.T)) * gram_size)

    return answered(matrix, lambda size, count: np.cos(np.arange(size)) * vector_size(count))
