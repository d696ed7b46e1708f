"""Makers of recipes, tables and watched parties, shared by the tests of the private side."""

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from publicmoments.data import as_responses, as_table
from publicmoments.privacy import GDP, Account
from publicmoments.rows import GramRecipe, PrivateRows, RowRecipe, TotalRecipe

# The same examples in every run where a failure would stop others; new ones on a developer's desk.
# No example is too slow: how fast a busy machine is says nothing of the code.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("desk", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "desk")

# Spark's workers are to be the interpreter that runs the tests, whichever test starts Spark first.
os.environ["PYSPARK_PYTHON"] = sys.executable


@pytest.fixture(scope="session")
def make_recipe() -> Callable[..., RowRecipe]:
    """Make a recipe with R = hypot(3, 4) = 5 for one response, unless told otherwise."""

    def make(p: int = 2, q: int = 1, **changes: Any) -> RowRecipe:
        arguments: dict[str, Any] = {
            "whitener": np.eye(p),
            "coef": np.zeros((p, q)),
            "scale": np.ones(q),
            "x_radius": 3.0,
            "response_bound": 4.0,
            "weight": 1.0,
            "fit_intercept": False,
            "n_rows": 100,
        }
        return RowRecipe(**(arguments | changes))

    return make


@pytest.fixture(scope="session")
def make_scaled() -> Callable[..., TotalRecipe | GramRecipe]:
    """Make a recipe of rows times a factor: by default 1, and bounds that are powers of two."""

    def make(
        kind: type[TotalRecipe] | type[GramRecipe], p: int = 2, k: int = 1, **changes: Any
    ) -> TotalRecipe | GramRecipe:
        arguments: dict[str, Any] = {
            "whitener": np.eye(p),
            "coef": np.zeros((p, k)),
            "factor": lambda predictor, responses: np.ones_like(predictor),
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


@pytest.fixture(scope="session")
def worst_neighbours() -> Callable[[RowRecipe], tuple[tuple[Any, Any], tuple[Any, Any]]]:
    """
    Make two rows (x, y) that a recipe maps to full-length rows at right angles.

    With z1 = a e1, z2 = a (b^2 / a^2, sqrt(1 - b^4 / a^4)) and responses b and -b in bounded units,
    z1.z2 - b^2 = 0. Both lie far outside the radius and are brought to it by the recipe.
    """

    def make(recipe: RowRecipe) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        p, q = recipe.coef.shape
        a, b = recipe.x_radius, np.sqrt(q) * recipe.weight * recipe.response_bound
        cosine = (b / a) ** 2
        assert cosine == pytest.approx(1.0) if p == 1 else cosine <= 1.0
        directions = np.zeros((2, p))
        directions[:, 0] = 1.0, cosine
        if p > 1:
            directions[1, 1] = np.sqrt(1.0 - cosine**2)
        X = 1e3 * a * directions @ np.linalg.inv(recipe.whitener)
        residuals = 2e3 * recipe.response_bound * recipe.scale * np.array([[1.0], [-1.0]])
        Y = X @ recipe.coef + residuals
        return (X[0], Y[0]), (X[1], Y[1])

    return make


class ScriptedNoise:
    """A source that claims privacy and draws its scale times a factor, unless told to fail."""

    private = True

    def __init__(self, events: list[str], factor: float, fails: bool) -> None:
        self.events, self.factor, self.fails = events, factor, fails

    def draw(self, count: int, noise_sd: float) -> np.ndarray:
        self.events.append("draw")
        if self.fails:
            raise OSError("no entropy")
        return np.full(count, round(self.factor * noise_sd), dtype=np.int64)


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

    def noise(self, factor: float = 1.0, fails: bool = False) -> ScriptedNoise:
        """A source that tells of its draws."""
        return ScriptedNoise(self.events, factor, fails)


@pytest.fixture
def watch() -> Watch:
    """Notes of what happens at the door."""
    return Watch()


@pytest.fixture(scope="session")
def silence() -> ScriptedNoise:
    """A source whose draws are zero."""
    return ScriptedNoise([], factor=0.0, fails=False)
