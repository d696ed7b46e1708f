"""
Low-order bits: what is released lies on one public grid, and its remainders tell nothing.

The door is given exact sums that are the same integer everywhere: 0, 1, and as much as one row can
add. Their releases must all be multiples of the grid unit, with remainders of the same law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

from publicmoments.families.factors import Ones
from publicmoments.privacy import GDP, Account
from publicmoments.privacy.noise import SystemNoise
from publicmoments.rows.recipe import CoarseTotalRecipe, CountRecipe, GramRecipe, TotalRecipe
from publicmoments.session.door import release
from publicmoments.session.queries import CountQuery, GramQuery, SumQuery

__all__ = ["CLASSES", "DOORS", "Bits", "examine", "on_grid", "remainder_pvalue"]

Array = NDArray[np.float64]
CLASSES = 16
DIMENSION, N_ROWS = 30, 100


class GramDoor:
    """Gram matrices with the same integer everywhere, and their entries as they are released."""

    def __init__(self, recipe: GramRecipe) -> None:
        self.recipe = recipe
        self.unit = recipe.grid_unit**2 / recipe.n_rows
        self.one_row = recipe.l2_bound_squared

    def entries(self, value: int) -> tuple[Array, float]:
        """Entries on and above the diagonal of one release, and the claimed sd of most."""
        d = self.recipe.dimension
        exact, query = np.full((d, d), value), GramQuery("a matrix", self.recipe)
        released = release(query, exact, GDP(1.0), Account(GDP(1.0)), SystemNoise())
        return released.values[np.triu_indices(d)], released.offdiagonal_sd


class TotalDoor:
    """Totals with the same integer everywhere, and their entries as they are released."""

    def __init__(self, recipe: TotalRecipe) -> None:
        self.recipe = recipe
        self.unit = recipe.grid_unit / recipe.n_rows
        counted = isinstance(recipe, CountRecipe)
        self.query = (CountQuery if counted else SumQuery)("a sum", recipe)
        self.one_row = math.isqrt(recipe.l2_bound_squared)

    def entries(self, value: int) -> tuple[Array, float]:
        """Entries of one release, and their claimed sd."""
        exact, query = np.full(self.recipe.dimension, value), self.query
        released = release(query, exact, GDP(1.0), Account(GDP(1.0)), SystemNoise())
        return released.values, released.noise_sd


def _gram_recipe() -> GramRecipe:
    p = DIMENSION
    return GramRecipe(np.eye(p), np.zeros((p, 1)), Ones(), 4.0, 5.0, N_ROWS)


def _total_recipe(kind: type[TotalRecipe]) -> TotalRecipe:
    return kind(np.eye(1), np.zeros((1, 500)), Ones(), 4.0, 5.0, N_ROWS)


def _count_recipe() -> CountRecipe:
    edges = np.arange(500.0)
    return CountRecipe(
        np.eye(1), np.zeros((1, 1)), Ones(), math.inf, 1.0, N_ROWS, edges=edges, influence=True
    )


DOORS = {
    "gram": lambda: GramDoor(_gram_recipe()),
    "total": lambda: TotalDoor(_total_recipe(TotalRecipe)),
    "coarse total": lambda: TotalDoor(_total_recipe(CoarseTotalRecipe)),
    "counts": lambda: TotalDoor(_count_recipe()),
}


@dataclass(frozen=True)
class Bits:
    """Outcome for one door: entries looked at, whether all are on the grid, smallest p-value."""

    name: str
    entries: int
    on_grid: bool
    pvalue: float

    @property
    def sound(self) -> bool:
        """Whether nothing was told apart."""
        return self.on_grid and self.pvalue > 1e-9


def on_grid(entries: Array, unit: float) -> bool:
    """Whether all entries are multiples of a unit, but for the rounding of the quotient."""
    quotients = entries / unit
    return bool(np.all(np.abs(quotients - np.rint(quotients)) <= 1e-15 * np.abs(quotients) * 4))


def remainder_pvalue(first: Array, second: Array, unit: float, within: float) -> float:
    """
    P-value for equal remainders by 16 of small entries, counted in units.

    Only entries of small size are looked at, where both samples have about the same density.
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
    return float(chi2_contingency(table).pvalue)


def examine(name: str, releases: int) -> Bits:
    """Compare releases of 0 with releases of 1 and of a whole row."""
    door = DOORS[name]()
    zero, one, row = (
        np.concatenate([door.entries(value)[0] for _ in range(releases)])
        for value in (0, 1, door.one_row)
    )
    within = door.one_row * door.unit / 4
    return Bits(
        name=name,
        entries=3 * zero.size,
        on_grid=all(on_grid(entries, door.unit) for entries in (zero, one, row)),
        pvalue=min(remainder_pvalue(zero, other, door.unit, within) for other in (one, row)),
    )
