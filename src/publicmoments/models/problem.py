"""What is to be fitted, what a fit asks, and what it finds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from publicmoments.arrays import Array
from publicmoments.evidence.look import Look
from publicmoments.evidence.posterior import (
    ErrorParts,
    Posterior,
)
from publicmoments.evidence.responses import OFFSETS, response_edges
from publicmoments.evidence.schedule import Schedule, schedule
from publicmoments.evidence.tails import (
    Bound,
    signed_edges,
)
from publicmoments.families import Family
from publicmoments.public import PublicDesign
from publicmoments.rows.recipe import CoarseTotalRecipe, TotalRecipe
from publicmoments.session.door import Release
from publicmoments.session.queries import (
    Demand,
    count_demand,
    gram_demand,
    share_of,
    sum_demand,
)

FINE_BUDGET = 2.0**20
"""From this mu times the root of n on, rounding on the coarser grid could be seen."""


@dataclass(frozen=True, eq=False)
class Problem:
    """
    What is to be fitted, and what public data say of it.

    Parameters
    ----------
    family : Family
        Of the responses, with one predictor for each.
    design : PublicDesign
        Public moments of the design.
    scale : float or tuple of float
        Units of the responses.
    offset : bool
        Whether the last column of the private responses is an offset.
    public_responses : ndarray of shape (n, columns) or None
        Responses of the public rows in their units.
    public_offsets : ndarray of shape (n, 1) or float
        Their offsets.
    l1 : float
        Absolute penalty in raw units.
    ridge : float or None
        Squared penalty in raw units; None has it chosen at the end.
    anchor : bool
        Whether public responses count as evidence.
    steps : int or None
        Gradients that the user insists on.
    """

    family: Family
    design: PublicDesign
    scale: float | tuple[float, ...]
    offset: bool
    public_responses: Array | None = field(repr=False)
    public_offsets: Array | float = field(repr=False)
    l1: float
    ridge: float | None
    anchor: bool
    steps: int | None

    @property
    def by_rows(self) -> bool:
        """Whether public rows come with responses that count."""
        return self.anchor and self.public_responses is not None

    @property
    def by_moments(self) -> bool:
        """Whether a public linear fit is known from moments alone."""
        known = self.design.coef is not None and self.design.rows is None
        return self.anchor and known and self.family.is_linear

    def schedule(self, mu: float, n_rows: int) -> Schedule:
        """How a budget is split."""
        return schedule(
            mu,
            n_rows,
            self.design.n_columns,
            informed=self.by_rows or self.by_moments,
            counted=self.counted,
            steps=self.steps,
        )

    def demands(self, mu: float, n_rows: int) -> list[Demand]:
        """All that a fit will ask whose schedule is made for ``mu``."""
        plan, family, p = self.schedule(mu, n_rows), self.family, self.design.n_columns
        demands = [gram_demand(n_rows, p, share_of(plan.look))]
        if plan.responses:
            cost = share_of(plan.responses / self.n_histograms)
            cells = len(response_edges(family.alone, self.offset))
            demands += [count_demand(n_rows, cells, cost, family.n_responses)]
            demands += [count_demand(n_rows, len(OFFSETS), cost)] * self.offset
        if self.counted:
            cells = len(signed_edges(1.0, sides_of(family)))
            demands += [count_demand(n_rows, cells, share_of(plan.counts), len(plan.steps))]
        size, kind = p * family.n_predictors, self.recipe(mu, n_rows)
        return demands + [sum_demand(n_rows, size, share_of(s), kind=kind) for s in plan.steps]

    @property
    def n_histograms(self) -> int:
        """Histograms where nothing public is known of the responses: of these and the offset."""
        return self.family.n_responses + self.offset

    @property
    def counted(self) -> bool:
        """Whether influences are counted: unless slopes are bounded anyway."""
        return not math.isfinite(self.family.slope_limit)

    def recipe(self, mu: float, n_rows: int) -> type[TotalRecipe]:
        """Grid of the gradients: a fine one where rounding on the coarse one could be seen."""
        fine = mu * math.sqrt(n_rows) > FINE_BUDGET
        return TotalRecipe if fine else CoarseTotalRecipe


@dataclass(frozen=True, eq=False)
class Step:
    """A released gradient, its bound and what was expected of it."""

    released: Release
    bound: Bound


@dataclass(frozen=True, eq=False)
class Fitted:
    """
    What a fit found.

    Parameters
    ----------
    coef : ndarray of shape (p, k)
        Coefficients in raw units of the design, and family units of the response.
    whitened : ndarray of shape (p k,)
        The same in whitened coordinates.
    whitener : ndarray of shape (p, p)
        ``coef = whitener @ whitened``.
    posterior : Posterior
        What releases say.
    errors : ErrorParts
        Of the whitened coefficients.
    look : Look
        The released second moment beside the public one.
    steps : tuple of Step
        Released gradients.
    spread : ndarray of shape (k,)
        Mean squared slope over the information of a row: the residual variance of a linear fit.
    start_z : float
        Distance of the public fit from the releases in standard errors; 0 without one.
    alpha : float
        Squared penalty in raw units.
    """

    coef: Array = field(repr=False)
    whitened: Array = field(repr=False)
    whitener: Array = field(repr=False)
    posterior: Posterior = field(repr=False)
    errors: ErrorParts = field(repr=False)
    look: Look = field(repr=False)
    steps: tuple[Step, ...]
    spread: Array
    start_z: float
    alpha: float


def sides_of(family: Family) -> int:
    """Signs that influences are counted by."""
    return 2 if family.n_predictors == 1 else 1
