"""The exact trade-off curve of Gaussian differential privacy.

A mechanism is mu-GDP when telling two neighbouring data sets apart from its output is at least as
hard as telling N(0, 1) from N(mu, 1). It is then (epsilon, delta)-DP for exactly the pairs on

    delta = Phi(a) - exp(epsilon) Phi(b),  a = -epsilon / mu + mu / 2,  b = a - mu

(Dong, Roth and Su, "Gaussian differential privacy", 2022). The three functions here
read that curve in its three directions.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import erfcx, erfinv, ndtr

from publicmoments.checks import fraction, non_negative, positive

_SQRT2 = math.sqrt(2.0)
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
# Below this mu the two Mills ratios are too close to subtract; their difference is integrated.
_SMALL_MU = 0.1
# Above this argument 1 - t M(t) is summed from its asymptotic series instead of subtracted.
_LARGE_ARGUMENT = 50.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_ROUNDING = 2.0**-52


def gdp_delta(mu: float, epsilon: float) -> float:
    """
    Smallest delta for which every mu-GDP mechanism is (epsilon, delta)-DP.

    Parameters
    ----------
    mu : float
        GDP parameter, in (0, inf).
    epsilon : float
        In [0, inf).

    Returns
    -------
    float
        delta in [0, 1]; 0.0 where the true value is below the smallest positive float.

    Notes
    -----
    Since exp(epsilon) phi(b) = phi(a), delta = phi(a) [M(-a) - M(-b)] with the Mills ratio
    M(t) = (1 - Phi(t)) / phi(t) = sqrt(pi / 2) erfcx(t / sqrt 2). No exponential of epsilon is
    formed, so large epsilon cannot overflow.

    Examples
    --------
    >>> round(gdp_delta(1.0, 1.0), 6)
    0.126937
    """
    return math.exp(_log_delta(positive("mu", mu), non_negative("epsilon", epsilon)))


def gdp_epsilon(mu: float, delta: float) -> float:
    """
    Smallest epsilon for which every mu-GDP mechanism is (epsilon, delta)-DP.

    Parameters
    ----------
    mu : float
        GDP parameter, in (0, inf).
    delta : float
        In (0, 1).

    Returns
    -------
    float
        epsilon in [0, inf); 0.0 where delta alone covers the mechanism. The last bits are rounded
        upward: the curve evaluated at the result never exceeds ``delta``.

    Examples
    --------
    >>> round(gdp_epsilon(1.0, 1e-6), 4)
    4.8866
    >>> gdp_epsilon(0.01, 0.1)
    0.0
    """
    mu, delta = positive("mu", mu), fraction("delta", delta)
    goal = math.log(delta)

    def excess(epsilon: float) -> float:
        return _log_delta(mu, epsilon) - goal

    if excess(0.0) <= 0:
        return 0.0
    # mu-GDP is (mu^2/2)-zCDP, which gives this epsilon: an upper end for the bracket.
    upper = mu * (mu / 2 + math.sqrt(-2.0 * goal)) * (1 + 1e-9)
    return _bisect(excess, kept=upper, broken=0.0)


def gdp_mu(epsilon: float, delta: float) -> float:
    """
    Largest mu for which every mu-GDP mechanism is (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : float
        In [0, inf).
    delta : float
        In (0, 1).

    Returns
    -------
    float
        mu in (0, inf). The last bits are rounded downward: the curve of the result evaluated at
        ``epsilon`` never exceeds ``delta``.

    Examples
    --------
    >>> round(gdp_mu(1.0, 1e-6), 4)
    0.2367
    """
    epsilon, delta = non_negative("epsilon", epsilon), fraction("delta", delta)
    goal = math.log(delta)

    def excess(mu: float) -> float:
        return _log_delta(mu, epsilon) - goal

    # Two values that surely satisfy the budget: the zCDP route, and delta spent at epsilon = 0.
    width = math.sqrt(-2.0 * goal)
    by_zcdp = 2.0 * epsilon / (math.sqrt(width * width + 2.0 * epsilon) + width)
    by_total_variation = 2.0 * _SQRT2 * float(erfinv(delta))
    lower = max(by_zcdp, by_total_variation) * (1 - 1e-9)
    upper = 2.0 * lower
    while excess(upper) <= 0:
        upper *= 2.0
    return _bisect(excess, kept=lower, broken=upper)


def _bisect(excess: Callable[[float], float], kept: float, broken: float) -> float:
    """
    Return the kept end of the shortest bracket of the root of a monotone function.

    ``excess`` is at most zero at ``kept`` and positive at ``broken``; both stay so, which makes the
    result err on the safe side. Halving takes some sixty evaluations of a cheap function.
    """
    while abs(broken - kept) > _ROUNDING * abs(kept):
        middle = kept + (broken - kept) / 2
        if middle in (kept, broken):
            break
        if excess(middle) <= 0:
            kept = middle
        else:
            broken = middle
    return kept


def _log_delta(mu: float, epsilon: float) -> float:
    """Log of the curve; -inf where delta is zero to any precision."""
    a = mu / 2 - epsilon / mu
    if a == -math.inf:
        return -math.inf
    log_density = -0.5 * a * a - _LOG_SQRT_2PI
    if mu <= _SMALL_MU:
        return log_density + math.log(_mills_drop(-a, mu))
    if a > 0:
        # M(-a) may overflow here, while Phi(a) is of order one and can be used as it is.
        missing = float(ndtr(-a)) + math.exp(log_density) * _mills(mu - a)
        return math.log1p(-missing)
    return log_density + math.log(_mills(-a) - _mills(mu - a))


def _mills(t: float) -> float:
    """Mills ratio of the standard normal."""
    return math.sqrt(math.pi / 2) * float(erfcx(t / _SQRT2))


def _mills_drop(t: float, width: float) -> float:
    """M(t) - M(t + width) for a short width, as the integral of -M' = 1 - t M(t)."""
    points = t + width * (_NODES + 1) / 2
    slopes = [_mills_slope(float(point)) for point in points]
    return width / 2 * float(np.dot(_WEIGHTS, slopes))


def _mills_slope(t: float) -> float:
    """1 - t M(t), without cancellation at large t."""
    if t < _LARGE_ARGUMENT:
        return 1.0 - t * _mills(t)
    u = 1.0 / (t * t)
    return u * (1.0 - u * (3.0 - u * (15.0 - u * (105.0 - u * 945.0))))
