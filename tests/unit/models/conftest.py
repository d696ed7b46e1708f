"""Refusals, a watch at the door, and releases that are the same whatever the private rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from audit.door import Passage, Scripted, noise_from, watched
from publicmoments.privacy import Account
from publicmoments.privacy.noise import SystemNoise


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


class Door:
    """Releases, charges and draws in order; noise is its scale times ``source.factor``."""

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self.events: list[str] = []
        self.source = Scripted(0.0, self.events)

    @property
    def kinds(self) -> list[str]:
        """What was released."""
        return [passage.query.statistic for passage in self.passages]

    @property
    def total_mu(self) -> float:
        """What it cost."""
        return float(np.sqrt(sum(passage.mu**2 for passage in self.passages)))


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    """Watch every release of a fit."""
    door = Door()
    charge = Account.charge

    def charged(self, cost):
        charge(self, cost)
        door.events.append("charge")

    monkeypatch.setattr(Account, "charge", charged)
    with watched() as door.passages, noise_from(door.source):
        yield door
