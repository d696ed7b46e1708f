"""Refusals, a watch at the door, and releases that are the same whatever the private rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from audit.door import Passage, Scripted, noise_from, watched
from publicmoments.privacy import Account
from tests.helpers import refusal_of


@pytest.fixture
def refusal() -> Callable[..., str]:
    """The words in which a fit is refused."""
    return lambda model, *tables, **more: refusal_of(lambda: model.fit(*tables, **more), model)


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
