"""Makers of recipes, tables and watched parties, shared by the tests of the private side."""

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from audit.door import Scripted
from publicmoments.data import as_responses, as_table
from publicmoments.families.factors import Ones
from publicmoments.privacy import GDP, Account
from publicmoments.rows.private_rows import PrivateRows
from publicmoments.rows.recipe import Recipe

# The same examples in every run where a failure would stop others; new ones on a developer's desk.
# No example is too slow: how fast a busy machine is says nothing of the code.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("desk", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "desk")

# Spark's workers are to be the interpreter that runs the tests, whichever test starts Spark first.
os.environ["PYSPARK_PYTHON"] = sys.executable


@pytest.fixture(scope="session")
def make_recipe() -> Callable[..., Recipe]:
    """Make a recipe of rows times a factor: by default 1, and bounds that are powers of two."""

    def make(kind: type[Recipe], p: int = 2, k: int = 1, **changes: Any) -> Recipe:
        arguments: dict[str, Any] = {
            "whitener": np.eye(p),
            "coef": np.zeros((p, k)),
            "factor": Ones(),
            "radius": 4.0,
            "l2_bound": 8.0,
            "n_rows": 100,
        }
        return kind(**(arguments | changes))

    return make


@pytest.fixture(scope="session")
def make_rows() -> Callable[..., PrivateRows]:
    """Hand a table and its responses to the private side."""

    def make(
        X: Any, y: Any, fit_intercept: bool = False, ignore_invalid: bool = False
    ) -> PrivateRows:
        return PrivateRows(as_table(X), as_responses(y), fit_intercept, ignore_invalid)

    return make


class WatchedAccount(Account):
    """Notes when it is charged."""

    def __init__(self, total: GDP, events: list[str]) -> None:
        super().__init__(total)
        self.events = events

    def charge(self, cost: GDP) -> None:
        super().charge(cost)
        self.events.append("charge")


class Watch:
    """Notes charges and draws in the order in which they happen."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def account(self, mu: float) -> WatchedAccount:
        """An account that tells of its charges."""
        return WatchedAccount(GDP(mu), self.events)

    def noise(self, factor: float = 1.0, fails: bool = False) -> Scripted:
        """A source that tells of its draws."""
        return Scripted(factor, self.events, fails=fails)


@pytest.fixture
def watch() -> Watch:
    """Notes of what happens at the door."""
    return Watch()


@pytest.fixture(scope="session")
def silence() -> Scripted:
    """A source whose draws are zero."""
    return Scripted()
