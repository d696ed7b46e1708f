"""Low-order bits of what is released say nothing about the exact sum."""

import numpy as np
import pytest

from audit.low_bits import CLASSES, DOORS, examine, on_grid, remainder_pvalue

RELEASES = 40
LEVEL = 1e-9


@pytest.fixture(scope="module", params=DOORS)
def door(request):
    """A way out for many entries that all are the same integer."""
    return DOORS[request.param]()


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


def told_apart(first, second, unit: float, within: float) -> bool:
    """Whether low-order bits of small entries tell two samples apart."""
    return remainder_pvalue(first, second, unit, within) < LEVEL


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


def test_the_audit_says_so_too(door, request):
    outcome = examine(request.node.callspec.params["door"], releases=10)
    assert outcome.sound
    assert outcome.entries >= 10_000
