"""Published radii: how long rows, responses and linear predictors may be.

Theorem and algorithm numbers are the paper's, here and in the modules beside this one.
"""

from __future__ import annotations

import math

from publicmoments.checks import fraction, positive, positive_integer


def truncation_radius(d: int, n: int, eta: float) -> float:
    """
    Radius of Algorithm 1: sqrt(d (1 + log(2 n / eta))).

    Parameters
    ----------
    d, n : int
        Columns and private rows.
    eta : float
        Probability scale in (0, 1); smaller keeps more rows whole.

    Returns
    -------
    float

    Notes
    -----
    Corollary 3.1 states that all whitened rows lie inside with probability 1 - 3 eta, up to a
    constant on the radius that Algorithm 1 takes as 1. For Gaussian rows that is enough when
    d >= 2. It is not when d = 1: the expected number of values outside is close to
    sqrt(eta n / (pi e log(2n/eta))), which grows with n: 1.9 for n = 10,000 and eta = 0.05, so that
    all values are inside with probability 0.15 only.

    Examples
    --------
    >>> round(truncation_radius(d=10, n=10_000, eta=0.05), 4)
    11.7895
    """
    positive_integer("d", d)
    positive_integer("n", n)
    return math.sqrt(d * (1.0 + math.log(2.0 * n / fraction("eta", eta))))


def response_radius(n: int, eta: float) -> float:
    """
    Radius of the scaled responses in Algorithm 2: sqrt(1 + log(2 n / eta)).

    Parameters
    ----------
    n : int
        Private rows.
    eta : float
        Probability scale in (0, 1).

    Returns
    -------
    float

    Notes
    -----
    This is `truncation_radius` for d = 1, the case in which the radius is too small to keep every
    Gaussian value whole.

    Examples
    --------
    >>> round(response_radius(n=10_000, eta=0.05), 4)
    3.7282
    """
    return truncation_radius(1, n, eta)


def oracle_radius(trace: float, d: int, n: int, eta: float) -> float:
    """
    Radius without public data: sqrt(trace + d log(n / eta)), Theorems 3.4 and 4.3, Algorithm 5.

    Parameters
    ----------
    trace : float
        Trace of the second-moment matrix of the rows.
    d, n : int
        Columns and private rows.
    eta : float
        Probability scale in (0, 1).

    Returns
    -------
    float

    Notes
    -----
    **Not private.** The trace is that of the private rows' own distribution; taking it from the
    rows, as the experiments do, spends a budget nobody has accounted for. A private user supplies
    a bound.

    The two terms have different units. Rows measured in small units (trace much above d log(n/eta))
    have a radius near the root mean square of their length, and about half of them lie outside.

    Examples
    --------
    >>> round(oracle_radius(trace=10.0, d=10, n=10_000, eta=0.05), 4)
    11.4918
    """
    positive("trace", trace)
    positive_integer("d", d)
    positive_integer("n", n)
    return math.sqrt(trace + d * math.log(n / fraction("eta", eta)))


def oracle_response_radius(second_moment: float, n: int, eta: float) -> float:
    """
    Radius of the responses without public data: sqrt(second_moment + log(n / eta)).

    Parameters
    ----------
    second_moment : float
        Mean of the squared responses.
    n : int
        Private rows.
    eta : float
        Probability scale in (0, 1).

    Returns
    -------
    float

    Notes
    -----
    From the second remark after Theorem 4.3, and not private for the reason `oracle_radius` gives.
    The theorem itself uses `oracle_radius` times ||beta||, which needs the unknown coefficients.

    Examples
    --------
    >>> round(oracle_response_radius(second_moment=4.0, n=10_000, eta=0.05), 4)
    4.0257
    """
    return oracle_radius(positive("second_moment", second_moment), 1, n, eta)


def predictor_reach(radius: float, coef_bound: float) -> float:
    """
    Largest absolute linear predictor of Algorithm 4: coef_bound * radius.

    Parameters
    ----------
    radius : float
        Bound on the length of a row.
    coef_bound : float
        R_beta, the bound on the length of the transformed coefficients.

    Returns
    -------
    float
        The bounds M_b' and M_b'' are the largest |b'(t)| and |b''(t)| for |t| up to this.

    Notes
    -----
    The reach holds only while the coefficients stay inside their ball; the published loop does not
    project them onto it, and must.

    Examples
    --------
    >>> predictor_reach(radius=12.0, coef_bound=0.5)
    6.0
    """
    return positive("radius", radius) * positive("coef_bound", coef_bound)
