"""A watch at the door: what the published estimators release, and with what noise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from audit.door import Passage, Scripted, noise_from, watched


class Door:
    """Releases in order; noise of the operating system is its scale times ``source.factor``."""

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self.source = Scripted(1.0)

    @property
    def kinds(self) -> list[str]:
        """What was released."""
        return [passage.kind for passage in self.passages]

    @property
    def total_mu(self) -> float:
        """What it cost."""
        return float(np.sqrt(sum(passage.mu**2 for passage in self.passages)))


@pytest.fixture
def door() -> Iterator[Door]:
    """Watch every release of a fit."""
    door = Door()
    with watched() as door.passages, noise_from(door.source):
        yield door
