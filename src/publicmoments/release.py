"""The one door between exact and noisy.

Everything that leaves the private side leaves through `release`: an exact sum goes in, the account
is charged, a noisy sum comes out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from publicmoments.engines import ExactSum, sum_rows
from publicmoments.privacy.account import Account
from publicmoments.privacy.budgets import GDP
from publicmoments.privacy.noise import NoiseSource, SeededNoise, SystemNoise, add_gram_noise
from publicmoments.privacy.noise_law import NoiseLaw, gram_noise_law
from publicmoments.rows import PrivateRows, RowRecipe, finest_grid, squared_bound
from publicmoments.tables import Table

__all__ = [
    "NoiseSource",
    "NoisyGram",
    "PrivateRows",
    "RowRecipe",
    "grid_bound",
    "measure",
    "noise_source",
    "private_rows",
    "release",
]


@dataclass(frozen=True, eq=False)
class NoisyGram:
    """
    A released Gram matrix, per row and in the units of the bounded rows.

    Parameters
    ----------
    noisy_gram : ndarray of shape (p + q, p + q)
        Noisy mean of r r^T.
    n_rows : int
        Number of rows.
    diagonal_sd, offdiagonal_sd : float
        Noise sd of its entries.
    cost : GDP
        What was charged.
    law : NoiseLaw
        The noise in grid units, from which the exact guarantee follows.
    recipe : RowRecipe
        How the rows were bounded: public.
    private : bool
        False for reproducible noise, which protects nobody.
    """

    noisy_gram: NDArray[np.float64] = field(repr=False)
    n_rows: int
    diagonal_sd: float
    offdiagonal_sd: float
    cost: GDP
    law: NoiseLaw
    recipe: RowRecipe
    private: bool


def release(
    exact: ExactSum, recipe: RowRecipe, cost: GDP, account: Account, source: NoiseSource
) -> NoisyGram:
    """
    Charge the account and return the sum with noise.

    Parameters
    ----------
    exact : ExactSum
        Exact sum of the recipe's integer rows.
    recipe : RowRecipe
        The recipe they were made with.
    cost : GDP
        Budget of this release.
    account : Account
        Where it is charged.
    source : NoiseSource
        Where the noise comes from.

    Returns
    -------
    NoisyGram

    Notes
    -----
    **Releases.** The noisy Gram matrix, and with it its own noise law.

    **Assumes.** Checked here: the budget suffices. Owed by the caller: ``exact`` is the sum of
    `integer_rows` under ``recipe``, whose numbers are public or were released before, on the same
    account.

    **Guarantee.** With system noise: (mu^2/2)-zCDP exactly, and mu-GDP up to the distance that
    ``law.gdp_extra_tv`` bounds, for replacing one row; the number of rows is public. With seeded
    noise: none.

    **Why.** Replacing a row changes the sum by at most sqrt(2) B in Frobenius norm, B the recipe's
    integer bound; `gram_noise_law` fits the noise to that. The account is charged before a draw,
    so a crash can waste budget but never under-count it.

    **Numerics.** The sum and the noise are integers; only their sum is turned into a float.
    """
    law = gram_noise_law(recipe.l2_bound_squared, recipe.dimension, cost.mu)
    account.charge(cost)
    noisy = add_gram_noise(exact.exact_gram, law, source)
    per_row = recipe.grid_unit**2 / exact.n_rows
    return NoisyGram(
        noisy_gram=noisy.astype(np.float64) * per_row,
        n_rows=exact.n_rows,
        diagonal_sd=law.diagonal_sd * per_row,
        offdiagonal_sd=law.offdiagonal_sd * per_row,
        cost=cost,
        law=law,
        recipe=recipe,
        private=source.private,
    )


def measure(
    rows: PrivateRows, recipe: RowRecipe, cost: GDP, account: Account, source: NoiseSource
) -> NoisyGram:
    """Sum the rows under a recipe and release the sum; the exact sum stays in here."""
    return release(sum_rows(rows, recipe), recipe, cost, account, source)


def grid_bound(n_rows: int, dimension: int) -> int:
    """Squared norm that bounds the integer rows of every recipe for a table of this shape."""
    return squared_bound(finest_grid(n_rows, dimension), dimension)


def private_rows(
    features: Table, responses: Table, *, fit_intercept: bool, ignore_invalid: bool
) -> PrivateRows:
    """Hand private tables over to this side of the door."""
    return PrivateRows(features, responses, fit_intercept, ignore_invalid)


def noise_source(
    random_state: int | np.random.Generator | np.random.RandomState | None,
) -> NoiseSource:
    """Return the operating system's noise, or a reproducible one that claims no privacy."""
    return SystemNoise() if random_state is None else SeededNoise(random_state)
