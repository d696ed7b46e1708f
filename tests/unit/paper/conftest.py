"""A watch at the door: what the published estimators release, and with what noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from publicmoments import release
from publicmoments.paper import spending
from publicmoments.privacy import Account
from tests.helpers import fix_releases


@dataclass(frozen=True, eq=False)
class Passage:
    """One release: its kind, the recipe of its rows, its cost, and its values per row."""

    kind: str
    recipe: Any
    mu: float
    noisy: np.ndarray
    exact: np.ndarray

    @property
    def noise(self) -> np.ndarray:
        return self.noisy - self.exact


class Scripted:
    """Draws its scale times a factor, and counts the draws."""

    private = True

    def __init__(self, factor: float) -> None:
        self.factor, self.counts = factor, []

    def draw(self, count: int, noise_sd: float) -> np.ndarray:
        self.counts.append(count)
        return np.full(count, round(self.factor * noise_sd), dtype=np.int64)


class Door:
    """Releases in order; noise of the operating system is its scale times ``source.factor``."""

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self.source = Scripted(1.0)

    @property
    def kinds(self) -> list[str]:
        return [passage.kind for passage in self.passages]

    @property
    def total_mu(self) -> float:
        return float(np.sqrt(sum(passage.mu**2 for passage in self.passages)))

    def watch(self, monkeypatch: pytest.MonkeyPatch, kind: str, name: str, values: str) -> None:
        real = getattr(spending, name)

        def measure(rows, recipe, cost, account, source, *law):
            released = real(rows, recipe, cost, account, source, *law)
            exact = real(rows, recipe, cost, Account(cost), Scripted(0.0), *law)
            noisy, silent = getattr(released, values), getattr(exact, values)
            self.passages.append(Passage(kind, recipe, cost.mu, noisy, silent))
            return released

        monkeypatch.setattr(spending, name, measure)


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Door:
    """Watch every release of a fit."""
    door = Door()
    door.watch(monkeypatch, "gram", "measure_gram", "noisy_gram")
    door.watch(monkeypatch, "total", "measure_total", "noisy_mean")
    door.watch(monkeypatch, "eigenvalue", "measure_smallest_eigenvalue", "noisy_mean")
    monkeypatch.setattr(release, "SystemNoise", lambda: door.source)
    return door


@pytest.fixture
def fixed_releases(monkeypatch: pytest.MonkeyPatch) -> list[tuple[np.ndarray, Any]]:
    """Every release is the same whatever the exact sum; sums and noise laws are kept for a look."""
    return fix_releases(monkeypatch, lambda count: 2.0**32)
