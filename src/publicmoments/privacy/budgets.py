"""Budgets: what a user allows a fit to reveal, in three dialects of differential privacy.

All three speak of neighbours that differ by **replacing one row**; the number of rows is public.
The budget of a fit is the total of everything it releases. Gaussian DP is the currency of the
library: each budget knows its ``mu``, the most Gaussian DP that can be spent without exceeding it.

| from | to | kind of statement |
| --- | --- | --- |
| GDP | ApproxDP | exact: one point of the curve, which as a whole is equivalent to mu-GDP |
| GDP | ZCDP | exact for the Gaussian mechanism, one-way in general |
| ZCDP | ApproxDP | one-way: an upper bound on epsilon |
| ApproxDP, ZCDP | GDP | inward: spending that mu keeps the budget; the converse does not hold |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, TypeVar

from publicmoments.checks import fraction, positive
from publicmoments.privacy.curves import gdp_delta, gdp_epsilon, gdp_mu
from publicmoments.privacy.rounding import float_above

_HINT = "pass a positive budget"
_DELTA_HINT = "pass a delta well below 1/n for n private rows, such as 1e-6"
_SMALLEST = math.ulp(0.0)
# Told apart from a NaN the caller passed by identity, so that the message can say what is missing.
_NO_DELTA = float("nan")


@dataclass(frozen=True, slots=True)
class GDP:
    """
    Gaussian differential privacy with parameter ``mu``.

    Parameters
    ----------
    mu : float
        In (0, inf). Telling neighbouring data sets apart is at least as hard as telling N(0, 1)
        from N(mu, 1).

    Examples
    --------
    >>> GDP(1.0).to_zcdp()
    ZCDP(rho=0.5)
    >>> compose(GDP(3.0), GDP(4.0))
    GDP(mu=5.0)
    """

    mu: float

    def __post_init__(self) -> None:
        """Validate and store as float."""
        object.__setattr__(self, "mu", positive("mu", self.mu, _HINT))

    def to_gdp(self) -> GDP:
        """Return the budget itself (exact)."""
        return self

    def to_approx_dp(self, *, delta: float | None = None, epsilon: float | None = None) -> ApproxDP:
        """
        Read the (epsilon, delta) curve at one given coordinate (exact).

        Parameters
        ----------
        delta, epsilon : float, optional
            Exactly one of the two.

        Returns
        -------
        ApproxDP
            The other coordinate is the smallest valid one, rounded up to the smallest positive
            float where it is zero.

        Examples
        --------
        >>> round(GDP(1.0).to_approx_dp(delta=1e-6).epsilon, 4)
        4.8866
        """
        if delta is not None and epsilon is None:
            return ApproxDP(max(gdp_epsilon(self.mu, delta), _SMALLEST), delta)
        if epsilon is not None and delta is None:
            return ApproxDP(epsilon, max(gdp_delta(self.mu, epsilon), _SMALLEST))
        raise TypeError(
            "to_approx_dp takes exactly one of delta and epsilon; "
            "pass delta=1e-6 to read epsilon, or epsilon=1.0 to read delta"
        )

    def to_zcdp(self) -> ZCDP:
        """
        Return rho = mu^2 / 2, rounded up in the last bit.

        Every mu-GDP mechanism is (mu^2/2)-zCDP (Dong, Roth and Su 2022, by way of
        Renyi divergence). The Gaussian mechanism attains it; in general the way back does not hold.
        """
        return ZCDP(float_above(Fraction(self.mu) ** 2 / 2))

    def split(self, *shares: float) -> list[GDP]:
        """
        Split into budgets whose squares are in proportion to ``shares``.

        Parameters
        ----------
        *shares : float
            Positive weights; they need not add up to one.

        Returns
        -------
        list of GDP
            Their composition equals this budget up to rounding, and never exceeds it.

        Examples
        --------
        >>> [round(part.mu, 3) for part in GDP(1.0).split(1, 3)]
        [0.5, 0.866]
        """
        whole = Fraction(self.mu) ** 2

        def fits(mus: list[float]) -> bool:
            return _squares(mus) <= whole and math.hypot(*mus) <= self.mu

        parts = [self.mu * math.sqrt(weight) for weight in _normalised(shares)]
        return [GDP(mu) for mu in _shrunk(parts, fits)]

    @staticmethod
    def _compose(budgets: Sequence[GDP]) -> GDP:
        """Root of the sum of squares."""
        return GDP(math.hypot(*(budget.mu for budget in budgets)))


@dataclass(frozen=True, slots=True)
class ApproxDP:
    """
    Approximate differential privacy, (epsilon, delta).

    Parameters
    ----------
    epsilon : float
        In (0, inf).
    delta : float
        In (0, 1). Required: choose it well below 1/n for n private rows.

    Examples
    --------
    >>> budget = ApproxDP(1.0, delta=1e-6)
    >>> round(budget.mu, 4)
    0.2367
    """

    epsilon: float
    delta: float = _NO_DELTA

    def __post_init__(self) -> None:
        """Validate and store as floats."""
        object.__setattr__(self, "epsilon", positive("epsilon", self.epsilon, _HINT))
        if self.delta is _NO_DELTA:
            raise TypeError(
                f"ApproxDP needs a delta beside epsilon={self.epsilon!r}; pass one well below 1/n "
                f"for n private rows, such as ApproxDP({self.epsilon!r}, delta=1e-6)"
            )
        object.__setattr__(self, "delta", fraction("delta", self.delta, _DELTA_HINT))

    @property
    def mu(self) -> float:
        """Largest mu such that every mu-GDP mechanism is (epsilon, delta)-DP (exact curve)."""
        return gdp_mu(self.epsilon, self.delta)

    def to_gdp(self) -> GDP:
        """
        Return the largest GDP budget inside this one (inward).

        Spending it keeps the (epsilon, delta) promise, and no larger mu would. A mechanism known
        only to be (epsilon, delta)-DP need not be GDP at all.
        """
        return GDP(self.mu)

    def split(self, *shares: float) -> list[GDP]:
        """
        Split through the exact ``mu``, as `GDP.split` does.

        The parts are GDP budgets: composing those is exact, whereas adding up epsilons and deltas
        would waste most of the budget.
        """
        return self.to_gdp().split(*shares)

    @staticmethod
    def _compose(budgets: Sequence[ApproxDP]) -> ApproxDP:
        """Basic composition: sums of the epsilons and of the deltas."""
        return ApproxDP(
            math.fsum(budget.epsilon for budget in budgets),
            math.fsum(budget.delta for budget in budgets),
        )


@dataclass(frozen=True, slots=True)
class ZCDP:
    """
    Zero-concentrated differential privacy with parameter ``rho``.

    Parameters
    ----------
    rho : float
        In (0, inf). The Renyi divergence of order alpha between neighbours is at most rho alpha.

    Examples
    --------
    >>> ZCDP(0.5).mu
    1.0
    """

    rho: float

    def __post_init__(self) -> None:
        """Validate and store as float."""
        object.__setattr__(self, "rho", positive("rho", self.rho, _HINT))

    @property
    def mu(self) -> float:
        """sqrt(2 rho), rounded down: every mechanism of this mu-GDP is rho-zCDP."""
        mu = 2.0 * math.sqrt(self.rho / 2.0)
        while Fraction(mu) ** 2 > 2 * Fraction(self.rho):
            mu = math.nextafter(mu, 0.0)
        return mu

    def to_gdp(self) -> GDP:
        """
        Return the largest GDP budget inside this one (inward).

        Spending it keeps rho-zCDP; a mechanism known only to be rho-zCDP need not be mu-GDP.
        """
        return GDP(self.mu)

    def to_approx_dp(self, delta: float) -> ApproxDP:
        """
        Return an epsilon such that rho-zCDP implies (epsilon, delta)-DP (one-way).

        Parameters
        ----------
        delta : float
            In (0, 1).

        Returns
        -------
        ApproxDP
            epsilon = min over alpha > 1 of
            rho alpha + log(1 / (alpha delta)) / (alpha - 1) + log(1 - 1 / alpha).

        Notes
        -----
        Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", 2020: their
        conversion from Renyi DP, with the Renyi bound rho alpha. Each alpha gives a valid epsilon,
        so an imperfect minimiser costs accuracy and never validity. For a Gaussian mechanism
        `GDP.to_approx_dp` is exact and smaller.

        Examples
        --------
        >>> round(ZCDP(0.5).to_approx_dp(1e-6).epsilon, 4)
        5.2215
        """
        delta = fraction("delta", delta, _DELTA_HINT)

        def epsilon(log_excess: float) -> float:
            return _renyi_epsilon(self.rho, delta, math.exp(log_excess))

        # Centred on alpha - 1 = sqrt(log(1/delta) / rho), the minimiser of the leading terms.
        centre = 0.5 * math.log(-math.log(delta) / self.rho)
        best = _minimiser(epsilon, centre - 15.0, centre + 15.0)
        return ApproxDP(max(epsilon(best), _SMALLEST), delta)

    def split(self, *shares: float) -> list[ZCDP]:
        """
        Split into budgets in proportion to ``shares``.

        Parameters
        ----------
        *shares : float
            Positive weights; they need not add up to one.

        Returns
        -------
        list of ZCDP
            Their sum equals this budget up to rounding, and never exceeds it.
        """
        whole = Fraction(self.rho)
        parts = [self.rho * weight for weight in _normalised(shares)]
        return [ZCDP(rho) for rho in _shrunk(parts, lambda rhos: _total(rhos) <= whole)]

    @staticmethod
    def _compose(budgets: Sequence[ZCDP]) -> ZCDP:
        """Sum of the rhos."""
        return ZCDP(math.fsum(budget.rho for budget in budgets))


Budget: TypeAlias = GDP | ApproxDP | ZCDP
"""Any of the three ways to state a budget."""

_B = TypeVar("_B", GDP, ApproxDP, ZCDP)


def compose(*budgets: _B) -> _B:
    """
    Return the budget that covers several releases about the same rows.

    Parameters
    ----------
    *budgets : GDP, ApproxDP or ZCDP
        At least one, all of the same kind.

    Returns
    -------
    GDP, ApproxDP or ZCDP
        Root of the sum of squares for GDP (exact), sum for ZCDP, basic composition (sums of
        epsilons and of deltas) for ApproxDP.

    Raises
    ------
    TypeError
        If there is none, or the kinds differ.

    Examples
    --------
    >>> compose(ZCDP(0.25), ZCDP(0.5))
    ZCDP(rho=0.75)
    """
    kinds = {type(budget) for budget in budgets}
    if len(kinds) != 1 or not kinds <= {GDP, ApproxDP, ZCDP}:
        names = ", ".join(sorted(kind.__name__ for kind in kinds)) or "nothing"
        raise TypeError(
            f"compose needs one or more budgets of one kind, got {names}; "
            "convert them first, for example with to_gdp()"
        )
    return type(budgets[0])._compose(budgets)


def _normalised(shares: Sequence[float]) -> list[float]:
    """Positive weights scaled to sum to one."""
    if not shares:
        raise ValueError("split needs at least one share; pass positive weights such as 1, 2")
    weights = [positive("share", share, "pass positive weights") for share in shares]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _shrunk(parts: list[float], fits: Callable[[list[float]], bool]) -> list[float]:
    """Step all parts toward zero, one float at a time, until they fit."""
    while not fits(parts):
        parts = [math.nextafter(part, 0.0) for part in parts]
    return parts


def _squares(numbers: Sequence[float]) -> Fraction:
    """Exact sum of squares."""
    return sum((Fraction(number) ** 2 for number in numbers), Fraction(0))


def _total(numbers: Sequence[float]) -> Fraction:
    """Exact sum."""
    return sum((Fraction(number) for number in numbers), Fraction(0))


def _minimiser(function: Callable[[float], float], lower: float, upper: float) -> float:
    """Ternary search for the minimiser of a function with a single dip."""
    for _ in range(80):
        third = (upper - lower) / 3
        if function(lower + third) <= function(upper - third):
            upper -= third
        else:
            lower += third
    return (lower + upper) / 2


def _renyi_epsilon(rho: float, delta: float, excess: float) -> float:
    """Epsilon that a Renyi bound of rho alpha gives at alpha = 1 + excess, rounded up."""
    alpha = 1.0 + excess
    terms = (
        rho * alpha,
        -(math.log(delta) + math.log1p(excess)) / excess,
        -math.log1p(1.0 / excess),
    )
    return math.fsum(terms) + 2.0**-48 * math.fsum(abs(term) for term in terms)
