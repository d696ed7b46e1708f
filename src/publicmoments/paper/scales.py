"""Published noise scales, and what they cost together.

A noise scale follows from the bounds on a row and from nothing else, so an algorithm that truncates
at a radius should ask here for the noise that belongs to that same radius.

``mu`` is the *published* budget, which the paper states per statistic: an algorithm that releases a
matrix and a vector costs sqrt(2) mu in total. `total_mu` and `published_mu` convert. Neighbours
replace one row, and the number of rows n is public.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from publicmoments.checks import non_negative, positive, positive_integer


class NoiseScales(NamedTuple):
    """
    Standard deviations of the noise on a symmetric matrix and on a vector.

    Parameters
    ----------
    matrix_sd : float
        Of every entry on and above the diagonal, independent; the lower half repeats the upper.
    vector_sd : float
        Of every entry of the vector.
    """

    matrix_sd: float
    vector_sd: float


def second_moment_noise_sd(radius: float, n: int, mu: float) -> float:
    """
    Noise on a mean of z z^T: 2 radius^2 / (mu n), Theorems 3.2 and 3.4.

    Parameters
    ----------
    radius : float
        Bound on the length of a row z.
    n : int
        Private rows.
    mu : float
        Budget of this one statistic.

    Returns
    -------
    float
        Standard deviation of each entry on and above the diagonal.

    Notes
    -----
    **Guarantee.** mu-GDP; one statistic, so the total is mu.

    **Why.** Replacing a row moves the mean by at most (||z||^2 + ||w||^2) / n <= 2 radius^2 / n in
    Frobenius norm, hence also in the l2 norm of the upper triangle that is released. Neither step
    is tight: the Frobenius sensitivity is sqrt(2) radius^2 / n when d >= 2.

    Examples
    --------
    >>> second_moment_noise_sd(radius=10.0, n=1000, mu=0.5)
    0.4
    """
    return _noise_sd(2.0 * positive("radius", radius) ** 2, n, mu)


def ridge_noise(radius: float, response_radius: float, n: int, mu: float) -> NoiseScales:
    """
    Noise of DP-PMTRR (Algorithm 2) and DP-RR (Theorem 4.3).

    ``matrix_sd = 2 radius^2 / (mu n)`` and ``vector_sd = 2 radius response_radius / (mu n)``.

    Parameters
    ----------
    radius, response_radius : float
        Bounds on rows and responses: `truncation_radius` and `response_radius` for DP-PMTRR. For
        DP-RR, `oracle_radius` with either that radius times ||beta|| (the theorem) or
        `oracle_response_radius` (the remark after it).
    n : int
        Private rows.
    mu : float
        Published budget, of each of the two statistics.

    Returns
    -------
    NoiseScales

    Notes
    -----
    **Guarantee.** Each statistic is mu-GDP, together sqrt(2) mu-GDP.

    **Why.** The matrix is that of `second_moment_noise_sd`. Replacing a row moves the mean of z y
    by at most 2 radius response_radius / n. The remark prints its vector scale without the factor
    2 / mu, which is restored here; without it the release is 2-GDP whatever mu.

    Examples
    --------
    >>> ridge_noise(radius=10.0, response_radius=3.0, n=1000, mu=0.5)
    NoiseScales(matrix_sd=0.4, vector_sd=0.12)
    """
    response_radius = positive("response_radius", response_radius)
    return NoiseScales(
        second_moment_noise_sd(radius, n, mu), _noise_sd(2.0 * radius * response_radius, n, mu)
    )


def logistic_noise(radius: float, n: int, mu: float, iterations: int) -> NoiseScales:
    """
    Noise of each update of DP-PMTLR (Algorithm 3) and DP-LR (Algorithm 5).

    ``matrix_sd = sqrt(T) radius^2 / (2 mu n)`` and ``vector_sd = 2 sqrt(T) radius / (mu n)``.

    Parameters
    ----------
    radius : float
        Bound on rows: `truncation_radius` for DP-PMTLR, `oracle_radius` for DP-LR.
    n : int
        Private rows.
    mu : float
        Published budget: of all T Hessians together, and again of all T gradients.
    iterations : int
        T, the number of noisy updates.

    Returns
    -------
    NoiseScales

    Notes
    -----
    **Guarantee.** Each of the 2 T releases is mu / sqrt(T)-GDP, an update sqrt(2/T) mu-GDP and all
    T updates sqrt(2) mu-GDP. The published loop runs t = 0, ..., T, one update more than is paid
    for, and costs sqrt(2 (T + 1) / T) mu: twice mu when T = 1. Run exactly T.

    **Why.** |y - p| <= 1, so replacing a row moves the gradient by at most 2 radius / n;
    p (1 - p) <= 1/4, so it moves the Hessian by at most radius^2 / (2 n). The penalty is public.

    Examples
    --------
    >>> logistic_noise(radius=10.0, n=1000, mu=0.5, iterations=4)
    NoiseScales(matrix_sd=0.2, vector_sd=0.08)
    """
    radius = positive("radius", radius)
    return NoiseScales(
        _noise_sd(radius**2 / 2.0, n, mu, iterations), _noise_sd(2.0 * radius, n, mu, iterations)
    )


def glm_noise(
    radius: float,
    n: int,
    mu: float,
    iterations: int,
    *,
    mean_bound: float,
    curvature_bound: float,
    response_bound: float,
) -> NoiseScales:
    """
    Noise of each update of DP-PMTGLM (Algorithm 4).

    ``matrix_sd = 2 sqrt(T) radius^2 M_b'' / (mu n)`` and
    ``vector_sd = 2 sqrt(T) radius (R_y + M_b') / (mu n)``.

    Parameters
    ----------
    radius : float
        Bound on rows, `truncation_radius`.
    n : int
        Private rows.
    mu : float
        Published budget, as in `logistic_noise`.
    iterations : int
        T, the number of noisy updates.
    mean_bound, curvature_bound : float
        M_b' and M_b'': the largest |b'(t)| and |b''(t)| for |t| up to `predictor_reach`.
    response_bound : float
        R_y, the bound that responses are clipped to.

    Returns
    -------
    NoiseScales

    Notes
    -----
    **Guarantee.** sqrt(2) mu-GDP over T updates, composed as in `logistic_noise`. Owed by the
    caller: responses clipped to +-R_y, and coefficients projected onto the ball of radius R_beta
    before every update.

    **Why.** A row's gradient is (y - b') z, at most (R_y + M_b') radius long; its Hessian is
    b'' z z^T. The algorithm prints M_b' as the largest b'; the proof needs the largest |b'|, which
    is the same for the usual families.

    Examples
    --------
    >>> glm_noise(10.0, 1000, 0.5, 4, mean_bound=1.0, curvature_bound=0.25, response_bound=1.0)
    NoiseScales(matrix_sd=0.2, vector_sd=0.16)
    """
    radius = positive("radius", radius)
    length = positive("response_bound", response_bound) + non_negative("mean_bound", mean_bound)
    curvature_bound = positive("curvature_bound", curvature_bound)
    return NoiseScales(
        _noise_sd(2.0 * radius**2 * curvature_bound, n, mu, iterations),
        _noise_sd(2.0 * radius * length, n, mu, iterations),
    )


def gradient_noise_sd(clip: float, n: int, mu: float, iterations: int) -> float:
    """
    Noise of each step of DP-GD: 2 clip sqrt(T) / (mu n).

    Parameters
    ----------
    clip : float
        Bound on the length of one row's gradient.
    n : int
        Private rows.
    mu : float
        Budget of all steps.
    iterations : int
        T, the number of noisy steps.

    Returns
    -------
    float

    Notes
    -----
    **Guarantee.** Each step is mu / sqrt(T)-GDP and the whole is mu-GDP: one statistic, so here the
    published mu is the total. At one and the same mu, the algorithms with a matrix and a vector
    spend sqrt(2) times as much.

    **Why.** Replacing a row moves the mean gradient by at most 2 clip / n.

    Examples
    --------
    >>> gradient_noise_sd(clip=1.0, n=1000, mu=0.5, iterations=100)
    0.04
    """
    return _noise_sd(2.0 * positive("clip", clip), n, mu, iterations)


def total_mu(
    mu: float, statistics: int = 2, *, iterations: int = 1, updates: int | None = None
) -> float:
    """
    Budget that a published mu amounts to: mu sqrt(statistics updates / iterations).

    Parameters
    ----------
    mu : float
        Published budget.
    statistics : int
        Statistics that carry mu each: 2 for ridge, logistic and generalised linear models, 1 for
        the second moment alone and for gradient descent.
    iterations : int
        T, the number of updates that the noise was set for.
    updates : int, optional
        Updates really made; T by default. The published loops make T + 1.

    Returns
    -------
    float

    Notes
    -----
    **Why.** mu-GDP composes as the root of the sum of squares: of ``updates * statistics`` releases
    of budget mu / sqrt(T) each.

    Examples
    --------
    >>> round(total_mu(1.0), 4)
    1.4142
    >>> total_mu(1.0, iterations=1, updates=2)
    2.0
    """
    positive_integer("iterations", iterations)
    updates = iterations if updates is None else positive_integer("updates", updates)
    releases = positive_integer("statistics", statistics) * updates
    return positive("mu", mu) * math.sqrt(releases / iterations)


def published_mu(total: float, statistics: int = 2) -> float:
    """
    Published mu that spends a total budget: total / sqrt(statistics), the inverse of `total_mu`.

    Parameters
    ----------
    total : float
        Budget of the whole fit.
    statistics : int
        As in `total_mu`.

    Returns
    -------
    float

    Examples
    --------
    >>> round(published_mu(1.0), 4)
    0.7071
    """
    return positive("total", total) / math.sqrt(positive_integer("statistics", statistics))


def _noise_sd(row_change: float, n: int, mu: float, iterations: int = 1) -> float:
    """Scale of Gaussian noise where replacing a row moves the sum by at most ``row_change``."""
    steps = positive_integer("iterations", iterations)
    return math.sqrt(steps) * row_change / (positive("mu", mu) * positive_integer("n", n))
