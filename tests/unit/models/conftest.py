"""Refusals, a watch at the door, and releases that are the same whatever the private rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from publicmoments import release
from publicmoments.models import fitting
from publicmoments.privacy import Account
from publicmoments.privacy.noise import SystemNoise
from publicmoments.rows import CountRecipe, GramRecipe
from tests.helpers import fix_releases


@pytest.fixture
def untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail when budget is spent."""

    def charge(self, cost):
        pytest.fail("the account was charged")

    def draw(self, count, noise_sd):
        pytest.fail("noise was drawn")

    monkeypatch.setattr(Account, "charge", charge)
    monkeypatch.setattr(SystemNoise, "draw", draw)


@pytest.fixture
def refusal(untouched: None) -> Callable[..., str]:
    """The error of a fit; nothing private may be in it, in its causes or in any warning."""

    def refused(model: Any, *tables: Any, **more: Any) -> str:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises((TypeError, ValueError)) as info:
                model.fit(*tables, **more)
        texts = [str(warning.message) for warning in caught]
        error: BaseException | None = info.value
        while error is not None:
            texts.append(repr(error))
            error = error.__cause__ or error.__context__
        for text in [*texts, repr(model)]:
            # Digits of values that stand in private rows only.
            assert "12345" not in text
            assert "1.2345" not in text
            assert "31337" not in text
        # Nothing is left of the attempt, so that the model does not pass for a fitted one.
        assert set(vars(model)) == set(model.get_params())
        return str(info.value)

    return refused


KINDS = {GramRecipe: "second moment", CountRecipe: "histogram"}


@dataclass(frozen=True, eq=False)
class Passage:
    """One release: its kind, the recipe of its rows, its cost, and its values per row."""

    kind: str
    recipe: Any
    mu: float
    noisy: np.ndarray
    exact: np.ndarray


class Scripted:
    """Draws its scale times a factor, and tells of each draw."""

    private = True

    def __init__(self, factor: float, events: list[str]) -> None:
        self.factor, self.events = factor, events

    def draw(self, count: int, noise_sd: float) -> np.ndarray:
        self.events.append("draw")
        return np.full(count, round(self.factor * noise_sd), dtype=np.int64)


class Door:
    """Releases, charges and draws in order; noise is its scale times ``source.factor``."""

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self.events: list[str] = []
        self.source = Scripted(0.0, self.events)

    @property
    def kinds(self) -> list[str]:
        return [passage.kind for passage in self.passages]

    @property
    def total_mu(self) -> float:
        return float(np.sqrt(sum(passage.mu**2 for passage in self.passages)))

    def watch(self, monkeypatch: pytest.MonkeyPatch, name: str, values: str) -> None:
        real = getattr(release, name)

        def measure(rows, recipe, cost, account, source):
            released = real(rows, recipe, cost, account, source)
            before = list(self.events)
            exact = real(rows, recipe, cost, Account(cost), Scripted(0.0, []))
            self.events[:] = before
            noisy, silent = getattr(released, values), getattr(exact, values)
            kind = KINDS.get(type(recipe), "gradient")
            self.passages.append(Passage(kind, recipe, cost.mu, noisy, silent))
            return released

        monkeypatch.setattr(release, name, measure)


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Door:
    """Watch every release of a fit."""
    door = Door()
    door.watch(monkeypatch, "measure_gram", "noisy_gram")
    door.watch(monkeypatch, "measure_total", "noisy_mean")
    charge = Account.charge

    def watched(self, cost):
        charge(self, cost)
        door.events.append("charge")

    monkeypatch.setattr(Account, "charge", watched)
    monkeypatch.setattr(fitting, "noise_source", lambda random_state: door.source)
    return door


@pytest.fixture
def fixed_releases(monkeypatch: pytest.MonkeyPatch) -> list[tuple[np.ndarray, Any]]:
    """Every release is the same whatever the exact sum; sums and noise laws are kept for a look."""
    # Of a size that differs from one release to the next, as gradients do.
    return fix_releases(monkeypatch, lambda count: 2.0 ** (26 - count % 3))
