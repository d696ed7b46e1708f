"""The one door between exact and noisy.

Everything that leaves the private side leaves through this module: an exact sum goes in, the
account is charged, a noisy sum comes out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.engines import ExactGram, ExactTotal, sum_gram, sum_total
from publicmoments.privacy.account import Account
from publicmoments.privacy.budgets import GDP
from publicmoments.privacy.noise import (
    NoiseSource,
    SeededNoise,
    SystemNoise,
    UnprotectedNoise,
    add_gram_noise,
    add_vector_noise,
)
from publicmoments.privacy.noise_law import (
    NoiseLaw,
    VectorNoiseLaw,
    gram_noise_law,
    vector_noise_law,
)
from publicmoments.rows import (
    CoarseTotalRecipe,
    CountRecipe,
    Factor,
    GramRecipe,
    PrivateRows,
    Recipe,
    RowRecipe,
    TotalRecipe,
    finest_grid,
    squared_bound,
)
from publicmoments.tables import Table

__all__ = [
    "CoarseTotalRecipe",
    "CountRecipe",
    "Factor",
    "GramLaw",
    "GramRecipe",
    "NoiseSource",
    "NoisyGram",
    "NoisyTotal",
    "PrivateRows",
    "RowRecipe",
    "Session",
    "TotalRecipe",
    "gram_grid_bound",
    "grid_bound",
    "measure_gram",
    "measure_smallest_eigenvalue",
    "measure_total",
    "noise_source",
    "private_rows",
    "release_gram",
    "release_total",
    "session_laws",
    "total_grid_bound",
]

GramLaw = Callable[[int, int, float], NoiseLaw]


@dataclass(frozen=True, eq=False)
class NoisyGram:
    """
    A released Gram matrix, per row and in the units of the bounded rows.

    Parameters
    ----------
    noisy_gram : ndarray of shape (dimension, dimension)
        Noisy mean of r r^T.
    n_rows : int
        Number of rows.
    diagonal_sd, offdiagonal_sd : float
        Noise sd of its entries.
    cost : GDP
        What was charged.
    rho : float
        What it costs in zero-concentrated DP, exactly; at most cost.mu^2 / 2.
    law : NoiseLaw
        The noise in grid units.
    recipe : Recipe
        How the rows were bounded: public.
    private : bool
        False for noise that protects nobody.
    """

    noisy_gram: NDArray[np.float64] = field(repr=False)
    n_rows: int
    diagonal_sd: float
    offdiagonal_sd: float
    cost: GDP
    rho: float
    law: NoiseLaw
    recipe: Any
    private: bool

    @property
    def noise_sd(self) -> float:
        """Noise sd of the diagonal, the largest there is."""
        return self.diagonal_sd


@dataclass(frozen=True, eq=False)
class NoisyTotal:
    """
    A released sum of rows, per row and in the units of the bounded rows.

    Parameters
    ----------
    noisy_mean : ndarray of shape (dimension,)
        Noisy mean of the bounded rows.
    n_rows : int
        Number of rows.
    noise_sd : float
        Noise sd of its entries.
    cost, rho, law, recipe, private
        As in `NoisyGram`.
    """

    noisy_mean: NDArray[np.float64] = field(repr=False)
    n_rows: int
    noise_sd: float
    cost: GDP
    rho: float
    law: VectorNoiseLaw
    recipe: Any
    private: bool


def release_gram(
    exact: ExactGram,
    recipe: Recipe,
    cost: GDP,
    account: Account,
    source: NoiseSource,
    law_for: GramLaw = gram_noise_law,
) -> NoisyGram:
    """
    Charge the account and return a Gram matrix with noise.

    Parameters
    ----------
    exact : ExactGram
        Exact sum over the recipe's integer rows.
    recipe : Recipe
        The recipe they were made with.
    cost : GDP
        Budget of this release.
    account : Account
        Where it is charged.
    source : NoiseSource
        Where the noise comes from.
    law_for : callable, optional
        Noise law for a squared bound, a dimension and a mu.

    Returns
    -------
    NoisyGram

    Notes
    -----
    **Releases.** The noisy Gram matrix, and with it its own noise law.

    **Assumes.** Checked here: the budget suffices, and pays for the noise law. Owed by the caller:
    ``exact`` is the sum over what ``recipe`` makes of the rows, and its numbers are public or were
    released before, on the same account.

    **Guarantee.** With system noise: (mu^2/2)-zCDP exactly, and mu-GDP up to the distance that
    ``law.gdp_extra_tv`` bounds, for replacing one row; the number of rows is public. With other
    noise: none.

    **Why.** Replacing a row changes the sum by at most sqrt(2) B in Frobenius norm, B the recipe's
    integer bound; `gram_noise_law` fits the noise to that. The account is charged before a draw,
    so a crash can waste budget but never under-count it.

    **Numerics.** The sum and the noise are integers; only their sum is turned into a float.
    """
    law = law_for(recipe.l2_bound_squared, recipe.dimension, cost.mu)
    rho = _paid(law.rho(recipe.l2_bound_squared), cost)
    account.charge(cost)
    noisy = add_gram_noise(exact.exact_gram, law, source)
    per_row = recipe.grid_unit**2 / exact.n_rows
    return NoisyGram(
        noisy_gram=noisy.astype(np.float64) * per_row,
        n_rows=exact.n_rows,
        diagonal_sd=law.diagonal_sd * per_row,
        offdiagonal_sd=law.offdiagonal_sd * per_row,
        cost=cost,
        rho=rho,
        law=law,
        recipe=recipe,
        private=source.private,
    )


def release_total(
    exact: ExactTotal, recipe: Recipe, cost: GDP, account: Account, source: NoiseSource
) -> NoisyTotal:
    """
    Charge the account and return a sum of rows with noise.

    Parameters, assumptions and guarantee are those of `release_gram`. Replacing a row moves the sum
    by at most 2 sqrt(B), to which `vector_noise_law` fits the noise.
    """
    if exact.exact_total.shape != (recipe.dimension,) or exact.n_rows != recipe.n_rows:
        raise ValueError("the sum must be one over the recipe's own rows")
    bound = recipe.l2_bound_squared
    return _noisy_vector(exact.exact_total, bound, recipe, recipe.grid_unit, cost, account, source)


def measure_gram(
    rows: PrivateRows,
    recipe: Recipe,
    cost: GDP,
    account: Account,
    source: NoiseSource,
    law_for: GramLaw = gram_noise_law,
) -> NoisyGram:
    """Sum the products under a recipe and release the sum; the exact sum stays in here."""
    return release_gram(sum_gram(rows, recipe), recipe, cost, account, source, law_for)


def measure_total(
    rows: PrivateRows, recipe: Recipe, cost: GDP, account: Account, source: NoiseSource
) -> NoisyTotal:
    """Sum the rows under a recipe and release the sum; the exact sum stays in here."""
    return release_total(sum_total(rows, recipe), recipe, cost, account, source)


def measure_smallest_eigenvalue(
    rows: PrivateRows, recipe: Recipe, cost: GDP, account: Account, source: NoiseSource
) -> NoisyTotal:
    """
    Release the smallest eigenvalue of the Gram matrix, per row, as a vector of one entry.

    Notes
    -----
    **Guarantee.** As for `release_total`.

    **Why.** Replacing a row changes the matrix by r r^T - q q^T, whose eigenvalues lie in [-B, B];
    by Weyl's inequality no eigenvalue moves by more than B. Rounding it to an integer adds 1. The
    eigenvalues come from a float computation, whose backward error is taken as d 2^-48 times the
    trace, well above LAPACK's, and the trace is at most n B: twice that is added. A change
    of D is that of rows of length D / 2.
    """
    d, bound = recipe.dimension, recipe.l2_bound_squared
    change = bound + 1 + 2 * math.ceil(Fraction(d * recipe.n_rows * bound, 2**48))
    exact_gram = sum_gram(rows, recipe).exact_gram
    smallest = np.rint(np.linalg.eigvalsh(exact_gram.astype(np.float64))[:1]).astype(np.int64)
    squared = math.ceil(Fraction(change, 2) ** 2)
    unit = recipe.grid_unit**2
    return _noisy_vector(smallest, squared, recipe, unit, cost, account, source)


@dataclass(frozen=True, eq=False)
class Session:
    """
    Private rows, the account they are paid from and the noise: what an iterative fit asks.

    Parameters
    ----------
    rows : PrivateRows
        The private side.
    account : Account
        Holds the budget of all that is asked.
    source : NoiseSource
        Where noise comes from.

    Notes
    -----
    **Guarantee.** All answers together compose to at most the account's total, with the neighbours
    and the exactness that `release_gram` and `release_total` state for each.

    **Why.** A recipe may depend on public inputs and on earlier answers, which adaptive composition
    covers; the account refuses an overdraft.
    """

    rows: PrivateRows = field(repr=False)
    account: Account
    source: NoiseSource = field(repr=False)

    def gram(self, recipe: GramRecipe, share: float) -> NoisyGram:
        """Release a Gram matrix for a share of the squared budget."""
        return measure_gram(self.rows, recipe, self._cost(share), self.account, self.source)

    def total(self, recipe: TotalRecipe | CountRecipe, share: float) -> NoisyTotal:
        """Release a sum of rows for a share of the squared budget."""
        return measure_total(self.rows, recipe, self._cost(share), self.account, self.source)

    def _cost(self, share: float) -> GDP:
        """Budget of a share."""
        return _part(self.account.total, share)


def grid_bound(n_rows: int, dimension: int) -> int:
    """Squared norm that bounds the integer rows of every `RowRecipe` for a table of this shape."""
    return squared_bound(finest_grid(n_rows, dimension), dimension)


def gram_grid_bound(n_rows: int, dimension: int) -> int:
    """Squared norm that bounds the integer rows of every `GramRecipe` for a table of this shape."""
    return int(4 ** finest_grid(n_rows, dimension))


def total_grid_bound(n_rows: int, kind: type[TotalRecipe] = TotalRecipe) -> int:
    """Squared norm that bounds the integer rows of every recipe of this kind for so many rows."""
    return int(4 ** kind.bits_for(n_rows))


def session_laws(
    total: GDP,
    n_rows: int,
    design: tuple[int, int],
    look: float,
    histograms: Sequence[tuple[float, int]],
    steps: Sequence[float],
    kind: type[TotalRecipe],
) -> list[NoiseLaw | VectorNoiseLaw]:
    """
    Noise laws of a second moment, of histograms and of gradients.

    Parameters
    ----------
    total : GDP
        Budget of all of them.
    n_rows : int
        Private rows.
    design : tuple of int
        Columns of the design, and predictors.
    look : float
        Share of the squared budget for the moment.
    histograms : sequence of (float, int)
        Share and cells of each histogram.
    steps : sequence of float
        Share of each gradient.
    kind : type
        Of the gradients' recipes.
    """
    p, k = design
    mark, gradient = total_grid_bound(n_rows, CoarseTotalRecipe), total_grid_bound(n_rows, kind)

    def mu(share: float) -> float:
        return _part(total, share).mu

    laws: list[NoiseLaw | VectorNoiseLaw] = [
        gram_noise_law(gram_grid_bound(n_rows, p), p, mu(look))
    ]
    laws += [vector_noise_law(-(-mark // 2), cells, mu(share)) for share, cells in histograms]
    return laws + [vector_noise_law(gradient, p * k, mu(share)) for share in steps]


def _part(total: GDP, share: float) -> GDP:
    """Budget of a share of the square, less what rounding of all of them could add."""
    return GDP(math.sqrt(share) * total.mu * (1.0 - 2.0**-46))


def private_rows(
    features: Table, responses: Table, *, fit_intercept: bool, ignore_invalid: bool
) -> PrivateRows:
    """Hand private tables over to this side of the door."""
    return PrivateRows(features, responses, fit_intercept, ignore_invalid)


def noise_source(
    random_state: int | np.random.Generator | np.random.RandomState | None,
    *,
    protects: bool = True,
) -> NoiseSource:
    """
    Return the operating system's noise, or a reproducible one that claims no privacy.

    Nor does any source claim privacy for a method that does not protect: one that reads its bounds
    from the private rows.
    """
    source = SystemNoise() if random_state is None else SeededNoise(random_state)
    return source if protects else UnprotectedNoise(source)


def _noisy_vector(
    exact: NDArray[np.int64],
    l2_bound_squared: int,
    recipe: Recipe,
    grid_unit: float,
    cost: GDP,
    account: Account,
    source: NoiseSource,
) -> NoisyTotal:
    """Charge the account and return a vector with the noise that its bound asks for."""
    law = vector_noise_law(l2_bound_squared, len(exact), cost.mu)
    rho = _paid(law.rho(l2_bound_squared), cost)
    account.charge(cost)
    noisy = add_vector_noise(exact, law, source)
    per_row = grid_unit / recipe.n_rows
    return NoisyTotal(
        noisy_mean=noisy.astype(np.float64) * per_row,
        n_rows=recipe.n_rows,
        noise_sd=law.noise_sd * per_row,
        cost=cost,
        rho=rho,
        law=law,
        recipe=recipe,
        private=source.private,
    )


def _paid(rho: float, cost: GDP) -> float:
    """Refuse a noise law that costs more than is charged."""
    if not Fraction(rho) <= Fraction(cost.mu) ** 2 / 2:
        raise ValueError(f"the noise law costs rho={rho!r}, more than the charge mu={cost.mu!r}")
    return rho
