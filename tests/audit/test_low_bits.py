"""Low-order bits of what is released say nothing about the exact sum."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from publicmoments.engines import ExactSum
from publicmoments.privacy import GDP, Account
from publicmoments.privacy.noise import SystemNoise
from publicmoments.release import release

DIMENSION = 30
RELEASES = 40
CLASSES = 16
LEVEL = 1e-9


@pytest.fixture(scope="module")
def recipe(make_recipe):
    return make_recipe(DIMENSION - 1)


def constant(value: int, recipe) -> ExactSum:
    """An exact sum with the same integer everywhere."""
    return ExactSum(np.full((DIMENSION, DIMENSION), value), recipe.n_rows)


def released_entries(value: int, recipe, source) -> np.ndarray:
    """Entries on and above the diagonal of many releases, as they leave."""
    upper = np.triu_indices(DIMENSION)
    account = Account(GDP(1e6))
    return np.concatenate(
        [
            release(constant(value, recipe), recipe, GDP(1.0), account, source).noisy_gram[upper]
            for _ in range(RELEASES)
        ]
    )


def float_entries(value: int, recipe, rng: np.random.Generator) -> np.ndarray:
    """The same entries from a textbook mechanism: a float plus a float."""
    law = release(
        constant(0, recipe), recipe, GDP(1.0), Account(GDP(1.0)), SystemNoise()
    ).offdiagonal_sd
    count = RELEASES * DIMENSION * (DIMENSION + 1) // 2
    return value * unit_of(recipe) + rng.normal(0.0, law, size=count)


def unit_of(recipe) -> float:
    """Grid unit of released entries, which is public."""
    return float(recipe.grid_unit**2 / recipe.n_rows)


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


@pytest.fixture(scope="module")
def values(recipe) -> dict[str, int]:
    """Exact entries to compare: neighbouring integers, and as far as one row can move them."""
    return {"zero": 0, "one": 1, "row": recipe.l2_bound_squared}


@pytest.fixture(scope="module")
def released(recipe, values) -> dict[str, np.ndarray]:
    return {name: released_entries(value, recipe, SystemNoise()) for name, value in values.items()}


@pytest.mark.parametrize("name", ["zero", "one", "row"])
def test_everything_released_lies_on_one_public_grid(recipe, released, name):
    assert on_grid(released[name], unit_of(recipe))


@pytest.mark.parametrize("name", ["one", "row"])
def test_low_order_bits_are_indistinguishable(recipe, values, released, name):
    unit = unit_of(recipe)
    assert not told_apart(released["zero"], released[name], unit, values["row"] * unit / 4)


@pytest.mark.parametrize("name", ["zero", "one", "row"])
def test_even_and_odd_are_equally_likely(recipe, released, name):
    odd = np.rint(released[name] / unit_of(recipe)) % 2
    assert abs(odd.mean() - 0.5) < 6.5 * 0.5 / np.sqrt(odd.size)


def test_float_noise_leaves_the_grid(recipe):
    entries = float_entries(0, recipe, np.random.default_rng(1))
    assert not on_grid(entries, unit_of(recipe))


def test_float_noise_is_told_apart_by_its_low_order_bits(recipe, values):
    rng = np.random.default_rng(2)
    zero, row = (float_entries(values[name], recipe, rng) for name in ("zero", "row"))
    size = values["row"] * unit_of(recipe)
    # Near zero, a float reached from far away keeps the coarse spacing it had there.
    assert told_apart(zero, row, np.spacing(size) / CLASSES, size / 4)
