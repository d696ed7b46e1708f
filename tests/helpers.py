"""What several tests of the private side do with rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from audit.door import Scripted, noise_from
from audit.listening import chain
from publicmoments.data import as_responses, as_table
from publicmoments.engines.dispatch import exact_sum
from publicmoments.engines.host import _Desk
from publicmoments.privacy import GDP, Account
from publicmoments.privacy.noise import NoiseSource, SystemNoise
from publicmoments.rows import grid
from publicmoments.rows.private_rows import PrivateRows
from publicmoments.rows.recipe import CountRecipe, Recipe
from publicmoments.session.door import Release, release
from publicmoments.session.queries import CountQuery, GramQuery, Query, SumQuery


def integer_rows(recipe: Recipe, X: Any, Y: Any) -> np.ndarray:
    """Integer rows of one block, one below the other, as an engine makes them."""
    rows = PrivateRows(as_table(np.array(X, dtype=float)), as_responses(np.array(Y)), False, True)
    return block_rows(recipe, rows, 0, rows.n_rows, rows.n_rows)


def block_rows(recipe: Recipe, rows: PrivateRows, start: int, stop: int, size: int) -> np.ndarray:
    """Integer rows of a block of a given size, padding included."""
    bounded = _Desk(rows, recipe, size).integers(start, stop)
    return np.ascontiguousarray(bounded.T.astype(float))


def query_of(recipe: Recipe) -> Query:
    """What a recipe is for."""
    kind = CountQuery if isinstance(recipe, CountRecipe) else SumQuery
    return (GramQuery if recipe.products else kind)("a sum", recipe)


def released(
    query: Query | Recipe, rows: PrivateRows, cost: GDP, account: Account, source: NoiseSource
) -> Release:
    """Sum the rows and release the sum."""
    asked = query if isinstance(query, Query) else query_of(query)
    return release(asked, exact_sum(rows, asked.recipe), cost, account, source)


@contextmanager
def untouched() -> Iterator[None]:
    """Fail when budget is spent, or noise of the operating system drawn."""

    def charge(self: Account, cost: GDP) -> None:
        pytest.fail("the account was charged")

    def draw(self: SystemNoise, count: int, noise_sd: float) -> None:
        pytest.fail("noise was drawn")

    with patch.object(Account, "charge", charge), patch.object(SystemNoise, "draw", draw):
        yield


def refusal_of(act: Callable[[], Any], model: Any = None) -> str:
    """
    Return the words of a refusal.

    Nothing private may be in it, in its causes or in any warning, nothing be spent and nothing left
    on the model, so that it does not pass for a fitted one.
    """
    with warnings.catch_warnings(record=True) as caught, untouched():
        warnings.simplefilter("always")
        with pytest.raises((TypeError, ValueError)) as info:
            act()
    texts = [str(warning.message) for warning in caught] + chain(info.value) + [repr(model)]
    # Digits of values that stand in private rows only.
    for digits in ("12345", "1.2345", "31337", "3.1337"):
        assert not any(digits in text for text in texts)
    assert model is None or set(vars(model)) == set(model.get_params())
    return str(info.value)


@contextmanager
def noise_off(**grid_bits: int) -> Iterator[None]:
    """
    Silence the noise of every fit.

    Grids may be made so fine that rounding cannot be seen: their bits by the names of `rows.grid`.
    """
    with ExitStack() as stack:
        stack.enter_context(noise_from(Scripted(private=False)))
        for name, bits in grid_bits.items():
            stack.enter_context(patch.object(grid, name, bits))
        yield


def redrawn_noise(release, rng):
    """The same release with another draw of its noise law on top."""
    p = len(release.noisy_gram)
    square = rng.standard_normal((p, p)) * release.offdiagonal_sd
    noise = (square + square.T) / np.sqrt(2.0)
    return replace(release, noisy_gram=release.noisy_gram + noise)
