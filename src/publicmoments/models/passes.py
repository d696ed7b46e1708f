"""A fit as a sequence of passes: plan, measure, learn."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from publicmoments.models.agreement import PublicFit, public_fit
from publicmoments.models.belief import CoefBelief
from publicmoments.models.knowledge import Knowledge, plan_pass
from publicmoments.models.learning import learned, read_release, residual_variances
from publicmoments.planner.bounds import Bounds, BoundsRequest, pass_shares
from publicmoments.privacy.account import Account
from publicmoments.privacy.budgets import GDP
from publicmoments.privacy.noise_law import NoiseLaw, gram_noise_law
from publicmoments.privacy.rounding import float_above
from publicmoments.release import NoiseSource, PrivateRows, grid_bound, measure_gram

__all__ = ["LARGE_TABLE", "Measured", "PassRecord", "pass_laws", "run_passes"]

LARGE_TABLE, LITTLE_NOISE, ALONE = 200_000, 0.1, 0.75
"""Rows from which a pass takes long enough for a fit to end after the first, if that will do: if
with this share of the squared budget its noise variance is below a tenth of the sampling variance,
a twentieth of a standard error. The rest is for the case that public inputs turn out to be wrong.
"""


@dataclass(frozen=True)
class PassRecord:
    """What one pass was planned to do and what it cost; nothing in it is private."""

    bounds: Bounds
    scale: tuple[float, ...]
    cost: GDP
    law: NoiseLaw
    rho: float
    noise_sd: float


@dataclass(frozen=True)
class HeldBack:
    """
    Budget that another first release would have spent.

    Whether it is spent is decided by a release, so that no claim may be smaller for its sake.
    """

    cost: GDP

    @property
    def rho(self) -> float:
        """What it would have cost, rounded up."""
        return float_above(Fraction(self.cost.mu) ** 2 / 2)


@dataclass(frozen=True, eq=False)
class Measured:
    """
    Knowledge after the last pass, the record of every pass, and how public data fitted.

    ``priors`` are the beliefs that were conditioned on the passes: those before the first one or,
    for responses that were started again, those before the next. ``variances`` are those of the
    responses about the fit. ``held_back`` is budget that was not needed.
    """

    knowledge: Knowledge
    priors: tuple[CoefBelief, ...]
    variances: NDArray[np.float64]
    records: tuple[PassRecord, ...]
    public_fit: PublicFit
    private: bool
    held_back: tuple[HeldBack, ...] = ()


def pass_laws(total: GDP, n_rows: int, dimension: int, passes: int) -> list[NoiseLaw]:
    """Return the noise laws of passes over rows of some dimension."""
    bound = grid_bound(n_rows, dimension)
    costs = total.split(*pass_shares(passes))
    return [gram_noise_law(bound, dimension, cost.mu) for cost in costs]


def run_passes(
    knowledge: Knowledge,
    rows: PrivateRows,
    account: Account,
    passes: int,
    *,
    restart_passes: int | None = None,
    request: BoundsRequest,
    source: NoiseSource,
) -> Measured:
    """
    Measure the rows in a fixed number of passes, each bounded by what the ones before it taught.

    Parameters
    ----------
    knowledge : Knowledge
        From public inputs.
    rows : PrivateRows
        The private side.
    account : Account
        Holds the budget of all passes together.
    passes : int
        How many; a public number.
    restart_passes : int, optional
        How many to spend the rest of the budget on, if the first pass shows that the public fit
        is of no use; by default as many as are left.
    request : BoundsRequest
        Bounds the user insists on.
    source : NoiseSource
        Where noise comes from.

    Returns
    -------
    Measured

    Notes
    -----
    **Releases.** One noisy Gram matrix a pass, and what follows from them.

    **Guarantee.** The passes compose to at most its total, with the neighbours and the exactness
    that `publicmoments.release.release_gram` states for each.

    **Why.** A pass subtracts the fit so far, so that its rows are residuals: their scale, and with
    it the noise, falls from pass to pass. In a large table the first pass may leave no noise to
    speak of; the rest of the budget is then held back, and claimed all the same. Each recipe, and
    whether there is another, depends on public inputs and on earlier releases only, which adaptive
    composition covers. The account would refuse an overdraft.
    """
    plan = partial(plan_pass, fit_intercept=rows.fit_intercept, request=request)
    costs = account.total.split(*pass_shares(passes))
    opening = None
    if restart_passes is not None and rows.n_rows >= LARGE_TABLE:
        alone, rest = account.total.split(ALONE, 1.0 - ALONE)
        recipe, bounds = plan(knowledge, rows.n_rows, alone.mu, final=True)
        if bounds.noise <= LITTLE_NOISE * len(knowledge.coef) / rows.n_rows:
            costs, opening = [alone, rest], (recipe, bounds)
    records: list[PassRecord] = []
    held_back: tuple[HeldBack, ...] = ()
    priors = list(knowledge.beliefs)
    freedom = knowledge.effective_n - len(knowledge.coef)
    while costs:
        cost = costs.pop(0)
        final = not costs
        recipe, bounds = opening or plan(knowledge, rows.n_rows, cost.mu, final=final)
        released = measure_gram(rows, recipe, cost, account, source)
        scale = tuple(float(s) for s in knowledge.scale)
        lesson = read_release(knowledge, released, bounds, final=final or opening is not None)
        if not records:
            fit = public_fit(knowledge, lesson, released, bounds)
            if fit.outgrown and costs and restart_passes is not None:
                costs = GDP(account.remaining).split(*pass_shares(restart_passes))
                lesson = read_release(knowledge, released, bounds, final=False)
                opening = None
            elif opening is not None:
                costs, final = [], True
                held_back = (HeldBack(rest),)
        variances = residual_variances(knowledge, lesson, released, bounds, freedom)
        knowledge = learned(knowledge, lesson, released, bounds, final=final)
        if not final:
            for k in np.flatnonzero(lesson.outgrown):
                priors[k] = knowledge.beliefs[k]
        records.append(
            PassRecord(bounds, scale, cost, released.law, released.rho, released.diagonal_sd)
        )
    return Measured(
        knowledge, tuple(priors), variances, tuple(records), fit, source.private, held_back
    )
