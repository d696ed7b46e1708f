"""A fit of a published algorithm: its releases in order, and the card that comes of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from publicmoments.models.guarantee import Law, Spendable, claim, spendable
from publicmoments.paper.scales import published_mu
from publicmoments.privacy.account import Account
from publicmoments.privacy.budgets import GDP, Budget
from publicmoments.privacy.noise_law import triangle_noise_law, vector_noise_law
from publicmoments.privacy.rounding import text_above
from publicmoments.public import PublicMoments
from publicmoments.release import (
    GramLaw,
    GramRecipe,
    NoiseSource,
    NoisyGram,
    NoisyTotal,
    PrivateRows,
    TotalRecipe,
    gram_grid_bound,
    measure_gram,
    measure_smallest_eigenvalue,
    measure_total,
    total_grid_bound,
)
from publicmoments.report.card import Card, PassSummary

__all__ = ["Spending", "affordable"]

Array = NDArray[np.float64]


@dataclass
class Spending:
    """
    Releases of one fit, charged to one account.

    The total is shared evenly by the releases, as the paper does: an algorithm that makes T updates
    with a matrix and a vector each has 2 T of them.

    Parameters
    ----------
    rows : PrivateRows
        The private side.
    bought : Spendable
        Budget of all releases together.
    account : Account
        Where they are charged.
    releases : int
        How many there are.
    source : NoiseSource
        Where noise comes from.
    gram_law : callable, optional
        Noise law of matrices; the published one by default.
    """

    rows: PrivateRows
    bought: Spendable
    account: Account
    releases: int
    source: NoiseSource
    gram_law: GramLaw = triangle_noise_law
    made: list[tuple[str, NoisyGram | NoisyTotal]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        """Share the budget."""
        self._costs = self.bought.total.split(*[1.0] * self.releases)

    def gram(self, statistic: str, recipe: GramRecipe) -> Array:
        """Release a mean of products."""
        released = measure_gram(
            self.rows, recipe, self._costs.pop(), self.account, self.source, self.gram_law
        )
        self.made.append((statistic, released))
        return released.noisy_gram

    def total_of(self, statistic: str, recipe: TotalRecipe) -> Array:
        """Release a mean of rows."""
        released = measure_total(self.rows, recipe, self._costs.pop(), self.account, self.source)
        self.made.append((statistic, released))
        return released.noisy_mean

    def smallest_eigenvalue(self, recipe: GramRecipe) -> tuple[float, float]:
        """Release the smallest eigenvalue of a mean of products; return its noise sd too."""
        released = measure_smallest_eigenvalue(
            self.rows, recipe, self._costs.pop(), self.account, self.source
        )
        self.made.append(("smallest eigenvalue", released))
        return float(released.noisy_mean[0]), released.noise_sd

    def as_published(self) -> str:
        """State the total in the paper's words, which count a budget per kind of statistic."""
        kinds = len({statistic for statistic, _ in self.made})
        mu = published_mu(self.bought.total.mu, kinds)
        each = f"each of its {kinds} kinds of statistics" if kinds > 1 else "its one statistic"
        return f"The publication states this budget as mu = {text_above(mu, 6)}, for {each}."

    def card(
        self,
        privacy: Budget,
        public: PublicMoments | None,
        notes: tuple[str, ...] = (),
        unprotected: str | None = None,
    ) -> Card:
        """
        Write the card of the fit; ``unprotected`` says why a method is not private at all.

        The noise of such a method has the size of a radius that was read from the private rows. Its
        card states the noise in units of the bound, so that it does not tell the radius.
        """
        made = [released for _, released in self.made]
        if unprotected is not None:
            notes = (*notes, "The noise is stated in units of the bound, which is not told.")
        return Card(
            **claim(made, self.bought, privacy, self.source.private, unprotected),
            n_rows=self.rows.n_rows,
            n_features=self.rows.n_design,
            n_responses=self.rows.n_responses,
            passes=_summaries(self.made, relative=unprotected is not None),
            public_fingerprint=None if public is None or public.assumed else public.fingerprint,
            notes=notes,
        )


def affordable(privacy: Budget, n_rows: int, grams: int, vectors: int, d: int) -> Spendable:
    """Return what a stated budget buys for so many matrices and vectors."""

    def laws(total: GDP) -> list[Law]:
        mu = total.split(*[1.0] * (grams + vectors))[0].mu
        matrix = triangle_noise_law(gram_grid_bound(n_rows, d), d, mu)
        vector = vector_noise_law(total_grid_bound(n_rows), d, mu)
        return [*[matrix] * grams, *[vector] * vectors]

    return spendable(privacy, laws)


def _summaries(
    made: list[tuple[str, NoisyGram | NoisyTotal]], *, relative: bool
) -> tuple[PassSummary, ...]:
    """One line for each kind of release: the releases of a loop differ in their values only."""
    lines: dict[tuple[str, float], PassSummary] = {}
    for statistic, released in made:
        stated_sd, grid_sd = _noise_sds(released, relative)
        line = PassSummary(
            statistic=statistic,
            mu=released.cost.mu,
            rho=released.rho,
            noise_sd=stated_sd,
            noise_sd_grid_units=grid_sd,
            times=1,
        )
        key = statistic, line.noise_sd
        lines[key] = replace(line, times=lines[key].times + 1) if key in lines else line
    return tuple(lines.values())


def _noise_sds(released: NoisyGram | NoisyTotal, relative: bool) -> tuple[float, float]:
    """Noise sd per row, in units of the rows or else of what bounds them; and in grid units."""
    bound, grid = released.recipe.l2_bound_squared, released.law.noise_sd
    if isinstance(released, NoisyTotal):
        bound = math.sqrt(bound)
    return grid / bound / released.n_rows if relative else released.noise_sd, grid
