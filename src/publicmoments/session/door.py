"""
The one door between exact and noisy.

Everything that leaves the private side leaves through `Session.ask`: an exact sum is taken, the
account is charged, a noisy sum comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from publicmoments.arrays import Array, RandomState
from publicmoments.data import Table
from publicmoments.engines.dispatch import exact_sum
from publicmoments.engines.host import KeptBlock
from publicmoments.privacy.account import Account
from publicmoments.privacy.budgets import GDP, Budget
from publicmoments.privacy.card import PassSummary
from publicmoments.privacy.claim import Claim, Spendable, claim, spendable
from publicmoments.privacy.laws import Law, NoiseLaw
from publicmoments.privacy.ledger import LedgerLike, open_account
from publicmoments.privacy.noise import NoiseSource, SeededNoise, SystemNoise, UnprotectedNoise
from publicmoments.privacy.unit import ONE_ROW, PrivacyUnit
from publicmoments.rows.grid import scaled_down
from publicmoments.rows.kernel import whitened_rows
from publicmoments.rows.private_rows import PrivateRows as PrivateRows
from publicmoments.session.queries import Cost, Demand, Integers, Query, laws_of


@dataclass(frozen=True, eq=False)
class Release:
    """
    A noisy sum over private rows, per row and in the units of the bounded rows.

    Parameters
    ----------
    values : ndarray
        Noisy mean over the rows: a vector, or a matrix where products were summed.
    query : Query
        What was asked; all of it is public.
    law : NoiseLaw or VectorNoiseLaw
        The noise in grid units.
    cost : GDP
        What was charged.
    rho : float
        What it costs in zero-concentrated DP, exactly; at most cost.mu^2 / 2.
    private : bool
        False for noise that protects nobody.
    """

    values: Array = field(repr=False)
    query: Query
    law: Law
    cost: GDP
    rho: float
    private: bool

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.query.recipe.n_rows

    @property
    def statistic(self) -> str:
        """What was released, in words."""
        return self.query.statistic

    @property
    def line(self) -> PassSummary:
        """What a privacy card says of it."""
        return PassSummary(
            statistic=self.statistic,
            mu=self.cost.mu,
            rho=self.rho,
            noise_sd=self.noise_sd,
            noise_sd_grid_units=self.law.noise_sd,
            times=1,
        )

    @property
    def noise_sd(self) -> float:
        """Noise sd of the entries; of a matrix, of its diagonal."""
        return self.law.noise_sd * _per_row(self.query)

    @property
    def offdiagonal_sd(self) -> float:
        """Noise sd of the other entries of a matrix."""
        law = self.law.offdiagonal_sd if isinstance(self.law, NoiseLaw) else self.law.noise_sd
        return law * _per_row(self.query)


def release(
    query: Query,
    exact: Integers,
    cost: GDP,
    account: Account,
    source: NoiseSource,
    unit: PrivacyUnit = ONE_ROW,
) -> Release:
    """
    Charge the account and return the answer to a query with noise.

    Parameters
    ----------
    query : Query
        What is asked.
    exact : ndarray of int64
        Exact sum over the integer rows of the query's recipe.
    cost : GDP
        Budget of this release.
    account : Account
        Where it is charged.
    source : NoiseSource
        Where the noise comes from.
    unit : PrivacyUnit
        Whom the guarantee is about.

    Returns
    -------
    Release

    Notes
    -----
    **Releases.** The noisy answer, and with it its own noise law.

    **Assumes.** Checked here: the budget suffices, and pays for the noise law. Owed by the caller:
    ``exact`` is the sum over what the recipe makes of the rows, and its numbers are public or were
    released before, on the same account.

    **Guarantee.** With system noise: (mu^2/2)-zCDP exactly, and mu-GDP up to the distance that
    ``law.gdp_extra_tv`` bounds, for neighbours of the unit. With other noise: none.

    **Why.** Neighbours move the answer by at most what `Query.squared_change` says; its noise law
    is fitted to that. The account is charged before a draw, so a crash can waste budget but never
    under-count it.

    **Numerics.** The answer and the noise are integers; only their sum is turned into a float.
    """
    law = query.law(cost.mu, unit)
    rho = law.cost(query.squared_change(unit))
    if not Fraction(rho) <= Fraction(cost.mu) ** 2 / 2:
        raise ValueError(f"the noise law costs rho={rho!r}, more than the charge mu={cost.mu!r}")
    answer = query.of(exact)
    account.charge(cost)
    noisy = query.noisy(answer, law, source)
    values = noisy.astype(np.float64) * _per_row(query)
    return Release(values, query, law, cost, rho, source.private)


@dataclass(eq=False)
class Session:
    """
    Private rows, the account they are paid from and the noise: whom a fit asks.

    Parameters
    ----------
    rows : PrivateRows
        The private side.
    account : Account
        Holds the budget of all that is asked.
    source : NoiseSource
        Where noise comes from.
    stated : GDP, ApproxDP or ZCDP
        The budget in the words of the user.
    bought : Spendable
        What it affords for the queries that were announced.
    unprotected : str or None
        Why a method is not private at all, if it is not.
    unit : PrivacyUnit
        Whom the guarantee is about.

    Attributes
    ----------
    releases : list of Release
        All that was asked, in order.

    Notes
    -----
    **Guarantee.** All answers together compose to at most the account's total, with the neighbours
    and the exactness that `release` states for each, and are no further from Gaussian noise than
    what was announced.

    **Why.** A recipe may depend on public inputs and on earlier answers, which adaptive composition
    covers; the account refuses an overdraft, and the session what was not announced.
    """

    rows: PrivateRows = field(repr=False)
    account: Account
    source: NoiseSource = field(repr=False)
    stated: Budget
    bought: Spendable
    unprotected: str | None = None
    unit: PrivacyUnit = ONE_ROW
    releases: list[Release] = field(default_factory=list, repr=False)
    _kept: KeptBlock = field(default_factory=KeptBlock, repr=False)
    _away: Fraction = field(default=Fraction(0), repr=False)

    @property
    def total(self) -> GDP:
        """Budget of all that is asked."""
        return self.account.total

    def ask(self, query: Query, cost: Cost) -> Release:
        """Sum the rows by the query's recipe, charge its cost, and return the answer with noise."""
        price = cost(self.total)
        away = self._away + Fraction(query.law(price.mu, self.unit).gdp_extra_tv)
        if not away <= self.bought.extra_tv:
            raise RuntimeError(
                f"a fit must ask for what it announced, got another {query.statistic}; nothing was "
                "charged for it"
            )
        exact = exact_sum(self.rows, query.recipe, kept=self._kept)
        answer = release(query, exact, price, self.account, self.source, self.unit)
        self.releases.append(answer)
        self._away = away
        return answer

    def claim(self) -> Claim:
        """State what all answers together guarantee; see `publicmoments.privacy.claim.claim`."""
        return claim(
            self.releases,
            self.bought,
            self.stated,
            self.source.private,
            self.unprotected,
            self.unit,
        )


@contextmanager
def open_session(
    rows: PrivateRows,
    stated: Budget,
    demands: Sequence[Demand],
    *,
    random_state: RandomState = None,
    ledger: LedgerLike = None,
    dataset: str | None = None,
    model: str = "",
    target: str = "",
    unprotected: str | None = None,
    unit: PrivacyUnit = ONE_ROW,
) -> Iterator[Session]:
    """
    Open the session of a fit, paid for by the ledger where there is one.

    Parameters
    ----------
    rows : PrivateRows
        The private side.
    stated : GDP, ApproxDP or ZCDP
        The budget in the words of the user.
    demands : sequence of Demand
        All that will be asked, on the longest path where what is asked depends on answers.
    random_state : int, generator or None
        None for the operating system's noise; else reproducible noise, that claims no privacy.
    ledger, dataset
        As in `publicmoments.privacy.open_account`.
    model, target : str
        What is fitted, and what it predicts; for the ledger.
    unprotected : str, optional
        Why a method is not private whatever its noise: one that reads its bounds from private rows.
    unit : PrivacyUnit
        Whom the guarantee is about.

    Yields
    ------
    Session
    """
    source = noise_source(random_state, protects=unprotected is None)
    bought = spendable(stated, lambda total: laws_of(demands, total, unit))
    with open_account(
        ledger,
        dataset,
        bought.total,
        stated=stated,
        private=source.private,
        extra_tv=bought.extra_tv,
        model=model,
        target=target,
    ) as account:
        yield Session(rows, account, source, stated, bought, unprotected, unit)


def noise_source(random_state: RandomState, *, protects: bool) -> NoiseSource:
    """
    Return the operating system's noise, or a reproducible one that claims no privacy.

    Nor does any source claim privacy for a method that does not protect.
    """
    source = SystemNoise() if random_state is None else SeededNoise(random_state)
    return source if protects else UnprotectedNoise(source)


def private_rows(
    features: Table, responses: Table, *, fit_intercept: bool, ignore_invalid: bool
) -> PrivateRows:
    """Hand private tables of two rows or more over to this side of the door."""
    if features.n_rows < 2:
        raise ValueError(
            f"Found array with {features.n_rows} sample(s) (shape=({features.n_rows}, "
            f"{features.n_columns})) while a minimum of 2 is required; one row cannot be hidden"
        )
    return PrivateRows(features, responses, fit_intercept, ignore_invalid)


def truncated_rows(rows: Array, whitener: Array, radius: float) -> Array:
    """
    Whiten rows and shorten those outside a radius, for whoever passed them in.

    Nothing is released: the result is as private as the rows.
    """
    columns = np.array(rows).T
    divisors = scaled_down(columns)
    whitened = whitened_rows(whitener.T @ columns, radius, divisors)
    return np.ascontiguousarray((whitened.z * whitened.kept).T)


def _per_row(query: Query) -> float:
    """What an integer of an answer stands for, per row."""
    return query.unit_of_answer / query.recipe.n_rows
