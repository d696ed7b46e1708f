"""What may be asked of private rows: how far one unit moves the answer, and the noise it gets."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from publicmoments.privacy.budgets import GDP
from publicmoments.privacy.laws import Law, NoiseLaw, gram_noise_law, vector_noise_law
from publicmoments.privacy.noise import NoiseSource, add_gram_noise, add_vector_noise
from publicmoments.privacy.unit import PrivacyUnit
from publicmoments.rows.recipe import CountRecipe, GramRecipe, Recipe, TotalRecipe

Cost: TypeAlias = Callable[[GDP], GDP]
"""What a query costs, given the total budget of its session."""

Integers = NDArray[np.int64]


def share_of(share: float) -> Cost:
    """Return the cost of a share of the squared budget, less what rounding of all could add."""
    return lambda total: GDP(math.sqrt(share) * total.mu * (1.0 - 2.0**-46))


def equal_part(parts: int) -> Cost:
    """Return the cost of one of so many queries that cost alike."""
    return lambda total: _equal_part(total, parts)


@lru_cache(maxsize=16)
def _equal_part(total: GDP, parts: int) -> GDP:
    """Split exactly, which takes as long as there are parts."""
    return total.split(*[1.0] * parts)[0]


def everything(total: GDP) -> GDP:
    """Return the whole budget: the cost of a session's only query."""
    return total


class GramLaw(Protocol):
    """Noise law of a Gram matrix for a squared bound on its rows, their length and a mu."""

    def __call__(self, l2_bound_squared: int, dimension: int, mu: float, /) -> NoiseLaw: ...  # noqa: D102


@dataclass(frozen=True)
class Demand:
    """
    Queries that a session is going to be asked, before their recipes are known.

    Parameters
    ----------
    law : callable
        Their noise law for a mu and a unit.
    cost : callable
        What each costs.
    times : int
        How many there are.
    """

    law: Callable[[float, PrivacyUnit], Law]
    cost: Cost
    times: int = 1

    def laws(self, total: GDP, unit: PrivacyUnit) -> list[Law]:
        """Noise laws of all of them for a total budget."""
        return [self.law(self.cost(total).mu, unit)] * self.times


@dataclass(frozen=True, eq=False)
class Query(ABC):
    """
    A sum over the bounded rows of a private table, by a public recipe.

    Parameters
    ----------
    statistic : str
        What is released, in words for the privacy card.
    recipe : Recipe
        How each row is bounded.
    """

    statistic: str
    recipe: Recipe = field(repr=False)

    @abstractmethod
    def squared_change(self, unit: PrivacyUnit) -> Fraction:
        """How far neighbours of a unit move the exact answer, squared, in grid units."""

    @abstractmethod
    def law(self, mu: float, unit: PrivacyUnit) -> Law:
        """Law of the noise that a release for ``mu`` gets."""

    @abstractmethod
    def noisy(self, exact: Integers, law: Law, source: NoiseSource) -> Integers:
        """Draw noise and add it."""

    @property
    def unit_of_answer(self) -> float:
        """What an integer of the answer stands for."""
        return self.recipe.grid_unit

    def of(self, exact: Integers) -> Integers:
        """Return the exact answer, given the exact sum by the recipe."""
        return exact


class SumQuery(Query):
    """The sum of rows: a gradient, or a cross moment."""

    def squared_change(self, unit: PrivacyUnit) -> Fraction:
        """As far as replacing rows within their bound does."""
        return unit.sum_square(self.recipe.l2_bound_squared)

    def law(self, mu: float, unit: PrivacyUnit) -> Law:
        """Noise of one sd in all entries."""
        return vector_noise_law(self.squared_change(unit), self.recipe.dimension, mu)

    def noisy(self, exact: Integers, law: Law, source: NoiseSource) -> Integers:
        """Add noise to each entry."""
        assert not isinstance(law, NoiseLaw), "a vector has a vector's noise"
        return add_vector_noise(exact, law, source)


class CountQuery(SumQuery):
    """A histogram: how many rows have a mark in which cell."""

    recipe: CountRecipe

    def squared_change(self, unit: PrivacyUnit) -> Fraction:
        """One mark is taken away, and one is added."""
        return unit.count_square(self.recipe.mark)


@dataclass(frozen=True, eq=False)
class GramQuery(Query):
    """
    The sum of products of rows: a second moment, or a Hessian.

    Parameters
    ----------
    statistic, recipe
        As in `Query`.
    law_for : callable, optional
        Noise law of a published algorithm, for a squared bound, a length and a mu; by default the
        least noise that the unit needs.
    """

    law_for: GramLaw | None = None

    def squared_change(self, unit: PrivacyUnit) -> Fraction:
        """As far as replacing rows within their bound does, in Frobenius norm."""
        return unit.gram_square(self.recipe.l2_bound_squared, self.recipe.dimension)

    def law(self, mu: float, unit: PrivacyUnit) -> Law:
        """Noise on and above the diagonal."""
        recipe = self.recipe
        return _gram_law(self.law_for, recipe.l2_bound_squared, recipe.dimension, mu, unit)

    def noisy(self, exact: Integers, law: Law, source: NoiseSource) -> Integers:
        """Add symmetric noise."""
        assert isinstance(law, NoiseLaw), "a matrix has a matrix's noise"
        return add_gram_noise(exact, law, source)

    @property
    def unit_of_answer(self) -> float:
        """Square of the grid unit."""
        return self.recipe.grid_unit**2


class EigenvalueQuery(SumQuery):
    """The smallest eigenvalue of the sum of products of rows, as a vector of one entry."""

    def squared_change(self, unit: PrivacyUnit) -> Fraction:
        """As far as Weyl's inequality lets replacing rows move it, and rounding."""
        recipe = self.recipe
        return unit.eigenvalue_square(recipe.l2_bound_squared, recipe.dimension, recipe.n_rows)

    def law(self, mu: float, unit: PrivacyUnit) -> Law:
        """Noise on one number."""
        return vector_noise_law(self.squared_change(unit), 1, mu)

    @property
    def unit_of_answer(self) -> float:
        """Square of the grid unit."""
        return self.recipe.grid_unit**2

    def of(self, exact: Integers) -> Integers:
        """Compute the eigenvalue, rounded to an integer."""
        return np.rint(np.linalg.eigvalsh(exact.astype(np.float64))[:1]).astype(np.int64)


def gram_demand(
    n_rows: int, dimension: int, cost: Cost, times: int = 1, law_for: GramLaw | None = None
) -> Demand:
    """Say that Gram matrices of rows of some length will be asked for."""
    bound = int(4 ** GramRecipe.bits_for(n_rows, dimension))

    def law(mu: float, unit: PrivacyUnit) -> Law:
        return _gram_law(law_for, bound, dimension, mu, unit)

    return Demand(law, cost, times)


def sum_demand(
    n_rows: int,
    dimension: int,
    cost: Cost,
    times: int = 1,
    kind: type[TotalRecipe] = TotalRecipe,
) -> Demand:
    """Say that sums of rows will be asked for, on the grid of a kind of recipe."""
    bound = int(4 ** kind.bits_for(n_rows, dimension))
    return Demand(
        lambda mu, unit: vector_noise_law(unit.sum_square(bound), dimension, mu), cost, times
    )


def count_demand(n_rows: int, cells: int, cost: Cost, times: int = 1) -> Demand:
    """Say that histograms will be asked for."""
    mark = int(2 ** CountRecipe.bits_for(n_rows, cells))
    return Demand(
        lambda mu, unit: vector_noise_law(unit.count_square(mark), cells, mu), cost, times
    )


def laws_of(demands: Sequence[Demand], total: GDP, unit: PrivacyUnit) -> list[Law]:
    """Noise laws of all that will be asked, for a total budget."""
    return [law for demand in demands for law in demand.laws(total, unit)]


def _gram_law(
    law_for: GramLaw | None, bound: int, dimension: int, mu: float, unit: PrivacyUnit
) -> Law:
    """Noise of a Gram matrix: what an algorithm publishes, or the least there is."""
    if law_for is not None:
        return law_for(bound, dimension, mu)
    return gram_noise_law(bound, dimension, mu, unit)
