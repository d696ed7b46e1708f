"""Exact squares of mu: what composes by adding up, and the floats that bound their roots."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

from publicmoments.privacy.budgets import GDP, ZCDP, Budget
from publicmoments.privacy.laws import gdp_beside
from publicmoments.privacy.rounding import float_above, float_below

# Bits of the integer root: more than the 53 of a float, so that no float lies between it and the
# true root.
_ROOT_BITS = 128


def allowed_square(budget: Budget, extra: Fraction | None = Fraction(0)) -> Fraction:
    """
    Return the largest sum of squared mu that keeps a budget.

    Parameters
    ----------
    budget : GDP, ApproxDP or ZCDP
        The budget.
    extra : Fraction or None
        Distance of all noise together from rounded Gaussian noise; None where it is not known.

    Returns
    -------
    Fraction

    Notes
    -----
    For zCDP that is 2 rho without any rounding: mu-GDP mechanisms are (mu^2/2)-zCDP, discrete noise
    is so exactly, and rhos add up, so that two halves of a zCDP budget fill it exactly. A GDP cap
    bounds mu, and distances are told beside it. An (epsilon, delta) cap has to pay for distances
    from its delta: see `publicmoments.privacy.laws.extra_delta`. Where they are not known it
    allows nothing.

    Examples
    --------
    >>> from publicmoments.privacy.budgets import ApproxDP
    >>> cap = ApproxDP(1.0, 1e-6)
    >>> allowed_square(cap, Fraction(1, 10**7)) < allowed_square(cap), allowed_square(cap, None)
    (True, Fraction(0, 1))
    """
    if isinstance(budget, ZCDP):
        return 2 * Fraction(budget.rho)
    if isinstance(budget, GDP):
        return Fraction(budget.mu) ** 2
    left = None if extra is None else gdp_beside(budget, float_above(extra))
    return Fraction(0) if left is None else Fraction(left.mu) ** 2


def room(spent_squared: Fraction, cap_squared: Fraction | None) -> float:
    """Largest mu that fits between what is spent and the cap; inf without a cap."""
    return math.inf if cap_squared is None else root_below(cap_squared - spent_squared)


def root_below(square: Fraction) -> float:
    """Largest float whose square is at most ``square``; 0.0 for what is not positive."""
    if not square > 0:
        return 0.0
    size = square.numerator.bit_length() - square.denominator.bit_length()
    shift = max(_ROOT_BITS - size // 2, 0)
    root = math.isqrt((square.numerator << 2 * shift) // square.denominator)
    try:
        return float_below(Fraction(root, 1 << shift))
    except OverflowError:
        return sys.float_info.max


def root_above(square: Fraction) -> float:
    """Smallest float whose square is at least ``square``; inf beyond the largest float."""
    root = root_below(square)
    return root if Fraction(root) ** 2 >= square else math.nextafter(root, math.inf)
