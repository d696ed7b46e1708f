"""The spending account of one fit, kept in memory."""

from __future__ import annotations

import math
import threading

from publicmoments.privacy.budgets import GDP

# Shares of a budget recombine to it within a few rounding errors; this is far above those and far
# below any privacy loss that matters.
_TOLERANCE = 1e-12


class BudgetExceeded(RuntimeError):
    """
    A charge would exceed what is left; nothing has been spent or drawn.

    It is no `ValueError`: nothing is wrong with the input, and whoever mends bad input must not
    look at the rows again because of it.
    """


class Account:
    """
    Spend a total budget by Gaussian composition, refusing what would exceed it.

    Parameters
    ----------
    total : GDP
        Everything the fit may reveal.

    Notes
    -----
    **Releases.** Nothing; an account sees budgets only.

    **Assumes.** Checked here: total and costs are GDP budgets. Owed by the caller: a charge comes
    before its noise is drawn, and each mechanism's cost is its true mu.

    **Guarantee.** The composition of all accepted charges is at most ``total``, within 1e-12
    relative. A crash after a charge wastes budget and never under-counts it.

    **Why.** Mechanisms of mu_1, ..., mu_k-GDP, each chosen with knowledge of the outputs before it,
    compose to sqrt(mu_1^2 + ... + mu_k^2)-GDP (Dong, Roth and Su 2022). The costs here
    are compared with a total fixed in advance, so choosing them adaptively is covered as well:
    Gaussian mechanisms admit such a filter (Smith and Thakurta 2022).

    **Numerics.** The root of the sum of squares is taken over all charges at once, so that errors
    do not accumulate. A lock makes concurrent charges safe.

    Examples
    --------
    >>> account = Account(GDP(5.0))
    >>> account.charge(GDP(3.0))
    >>> account.spent, account.remaining
    (3.0, 4.0)
    """

    def __init__(self, total: GDP) -> None:
        self._total = _gdp("total", total)
        self._charges: list[float] = []
        self._lock = threading.Lock()

    @property
    def total(self) -> GDP:
        """The total budget."""
        return self._total

    @property
    def spent(self) -> float:
        """Everything charged so far, as mu; 0.0 at the start."""
        with self._lock:
            return math.hypot(*self._charges)

    @property
    def remaining(self) -> float:
        """The largest single charge still accepted, as mu; 0.0 when all is spent."""
        return _left(self._total.mu, self.spent)

    def charge(self, cost: GDP) -> None:
        """
        Record a cost, or refuse it. Call this before drawing any noise.

        Parameters
        ----------
        cost : GDP
            What the next release costs.

        Raises
        ------
        BudgetExceeded
            If the composition of this cost with the earlier ones exceeds the total.
        """
        mu = _gdp("cost", cost).mu
        with self._lock:
            spent = math.hypot(*self._charges)
            if not math.hypot(*self._charges, mu) <= self._total.mu * (1 + _TOLERANCE):
                raise BudgetExceeded(
                    f"cost must fit in what is left, got mu={mu!r} with "
                    f"mu={_left(self._total.mu, spent)!r} left of mu={self._total.mu!r}; "
                    "lower the cost or start with a larger budget"
                )
            self._charges.append(mu)

    def __repr__(self) -> str:
        """Show total and spent mu."""
        return f"Account(total={self._total!r}, spent={self.spent!r})"


def _gdp(name: str, budget: object) -> GDP:
    """Accept a GDP budget only: others must be converted knowingly."""
    if not isinstance(budget, GDP):
        raise TypeError(
            f"{name} must be a GDP budget, got {type(budget).__name__}; convert it with to_gdp()"
        )
    return budget


def _left(total: float, spent: float) -> float:
    """sqrt(total^2 - spent^2), never negative."""
    return math.sqrt(max(total - spent, 0.0) * (total + spent))
