"""Low-order bits of what is released say nothing about the exact sum."""

import math

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from publicmoments.engines import ExactGram, ExactTotal
from publicmoments.privacy import GDP, Account
from publicmoments.privacy.noise import SystemNoise
from publicmoments.release import release_gram, release_total
from publicmoments.rows import TotalRecipe

DIMENSION = 30
RELEASES = 40
CLASSES = 16
LEVEL = 1e-9


class GramDoor:
    """Gram matrices with the same integer everywhere, and their entries as they are released."""

    def __init__(self, recipe) -> None:
        self.recipe = recipe
        self.unit = recipe.grid_unit**2 / recipe.n_rows
        self.one_row = recipe.l2_bound_squared

    def entries(self, value: int) -> tuple[np.ndarray, float]:
        """Entries on and above the diagonal of one release, and the claimed sd of most."""
        exact = ExactGram(np.full((DIMENSION, DIMENSION), value), self.recipe.n_rows)
        released = release_gram(exact, self.recipe, GDP(1.0), Account(GDP(1.0)), SystemNoise())
        return released.noisy_gram[np.triu_indices(DIMENSION)], released.offdiagonal_sd


class TotalDoor:
    """Totals with the same integer everywhere, and their entries as they are released."""

    def __init__(self, recipe) -> None:
        self.recipe = recipe
        self.unit = recipe.grid_unit / recipe.n_rows
        self.one_row = math.isqrt(recipe.l2_bound_squared)

    def entries(self, value: int) -> tuple[np.ndarray, float]:
        """Entries of one release, and their claimed sd."""
        exact = ExactTotal(np.full(self.recipe.dimension, value), self.recipe.n_rows)
        released = release_total(exact, self.recipe, GDP(1.0), Account(GDP(1.0)), SystemNoise())
        return released.noisy_mean, released.noise_sd


@pytest.fixture(scope="module", params=["gram", "total"])
def door(request, make_recipe, make_scaled):
    """A way out for many entries that all are the same integer."""
    if request.param == "gram":
        return GramDoor(make_recipe(DIMENSION - 1))
    return TotalDoor(make_scaled(TotalRecipe, 1, 500, l2_bound=5.0))


@pytest.fixture(scope="module")
def values(door) -> dict[str, int]:
    """Exact entries to compare: neighbouring integers, and as far as one row can move them."""
    return {"zero": 0, "one": 1, "row": door.one_row}


@pytest.fixture(scope="module")
def released(door, values) -> dict[str, np.ndarray]:
    return {
        name: np.concatenate([door.entries(value)[0] for _ in range(RELEASES)])
        for name, value in values.items()
    }


def float_entries(value: int, door, rng: np.random.Generator) -> np.ndarray:
    """The same entries from a textbook mechanism: a float plus a float."""
    entries, noise_sd = door.entries(0)
    return value * door.unit + rng.normal(0.0, noise_sd, size=RELEASES * entries.size)


def on_grid(entries: np.ndarray, unit: float) -> bool:
    """Whether all entries are multiples of a unit, but for the rounding of the quotient."""
    quotients = entries / unit
    return bool(np.all(np.abs(quotients - np.rint(quotients)) <= 1e-15 * np.abs(quotients) * 4))


def told_apart(first: np.ndarray, second: np.ndarray, unit: float, within: float) -> bool:
    """
    Whether low-order bits of small entries tell two samples apart.

    Entries are counted in units, and their remainders by 16 compared; only entries of small size
    are looked at, where both samples have about the same density.
    """
    counts = [
        np.bincount(
            np.rint(sample[np.abs(sample) < within] / unit).astype(np.int64) % CLASSES,
            minlength=CLASSES,
        )
        for sample in (first, second)
    ]
    table = np.array(counts)
    table = table[:, table.sum(axis=0) > 0]
    return bool(chi2_contingency(table).pvalue < LEVEL)


@pytest.mark.parametrize("name", ["zero", "one", "row"])
def test_everything_released_lies_on_one_public_grid(door, released, name):
    assert on_grid(released[name], door.unit)


@pytest.mark.parametrize("name", ["one", "row"])
def test_low_order_bits_are_indistinguishable(door, released, name):
    within = door.one_row * door.unit / 4
    assert not told_apart(released["zero"], released[name], door.unit, within)


@pytest.mark.parametrize("name", ["zero", "one", "row"])
def test_even_and_odd_are_equally_likely(door, released, name):
    odd = np.rint(released[name] / door.unit) % 2
    assert abs(odd.mean() - 0.5) < 6.5 * 0.5 / np.sqrt(odd.size)


def test_float_noise_leaves_the_grid(door):
    entries = float_entries(0, door, np.random.default_rng(1))
    assert not on_grid(entries, door.unit)


def test_float_noise_is_told_apart_by_its_low_order_bits(door):
    rng = np.random.default_rng(2)
    zero, row = (float_entries(value, door, rng) for value in (0, door.one_row))
    size = door.one_row * door.unit
    # Near zero, a float reached from far away keeps the coarse spacing it had there.
    assert told_apart(zero, row, np.spacing(size) / CLASSES, size / 4)
