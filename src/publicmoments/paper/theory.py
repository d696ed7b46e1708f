"""How stable a noisy second moment and its inverse are: Theorems 3.2 to 3.4 as functions.

Each statement is one function of a setting: with public moments it is that of Theorem 3.3 (and the
condition of 4.2), without them that of Theorem 3.4 (and the condition of 4.3). ``mu`` is the budget
of the matrix.

Where the paper loses a factor on the way from its lemmas to its statements, functions return what
the lemmas support unless ``as_published`` asks for the printed value.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from publicmoments.checks import fraction, non_negative, positive, positive_integer
from publicmoments.paper.scales import ridge_noise, second_moment_noise_sd
from publicmoments.paper.settings import GuidedSetting, OracleSetting, Setting, eigenvalue_floor

LOST_FACTOR = 2.0 * math.sqrt(2.0)
"""What the printed bound on the norm of the noise drops: the 2 of its scale, the sqrt(2) of its
lemma."""

MOST_ROWS = 2**60
"""Where the search for the required number of rows gives up."""


def noise_norm_bound(noise_sd: float, d: int, eta: float, *, as_published: bool = False) -> float:
    """
    Bound on the spectral norm of the noise matrix: noise_sd sqrt(2 d log(2 d / eta)).

    Parameters
    ----------
    noise_sd : float
        Standard deviation of its entries, as in `second_moment_noise_sd`.
    d : int
        Columns.
    eta : float
        Probability that the bound is exceeded, at most.
    as_published : bool
        Return the bound of Theorem 3.2, sqrt(d^3 log(2d/eta)) (1 + log(2n/eta)) / (mu n).

    Returns
    -------
    float

    Notes
    -----
    The lemma is sound. Put its scale 2 d (1 + log(2n/eta)) / (mu n) into it and the result is
    2 sqrt(2) times the published bound, in Theorem 3.2 and likewise in Theorem 3.4. What is left,
    noise_sd sqrt(d log(2d/eta)) / 2, is below the typical norm 2 noise_sd sqrt(d) unless
    2d/eta > e^16, about 9e6: the published bound fails most of the time at every customary eta.

    Examples
    --------
    >>> round(noise_norm_bound(noise_sd=1.0, d=10, eta=0.05), 2)
    10.95
    >>> round(noise_norm_bound(noise_sd=1.0, d=10, eta=0.05, as_published=True), 2)
    3.87
    """
    positive_integer("d", d)
    norm = positive("noise_sd", noise_sd) * math.sqrt(2.0 * d * _log_entries(d, eta))
    return norm / LOST_FACTOR if as_published else norm


def robustness_condition(
    setting: Setting, n: int, mu: float, *, as_published: bool = False
) -> float:
    """
    What Theorems 3.3, 3.4, 4.2 and 4.3 require to be at most 1/2: noise norm over eigenvalue floor.

    Parameters
    ----------
    setting : Setting
        With public moments (3.3 and 4.2) or without (3.4 and 4.3).
    n : int
        Private rows.
    mu : float
        Budget of the matrix.
    as_published : bool
        Use the published bound on the noise, which is 2 sqrt(2) times smaller.

    Returns
    -------
    float
        Infinite where the floor is zero.

    Notes
    -----
    Published: ``sqrt(d^3 log(2d/eta)) (1 + log(2n/eta)) / (mu n floor)``, and without public
    moments trace / d + log(n/eta) in place of 1 + log(2n/eta). The proofs need
    ||M^{-1}|| ||G|| <= 1/2 for the matrix M, which the published value does not give.

    Examples
    --------
    >>> setting = GuidedSetting(d=10, eta=0.05, n_public=200)
    >>> round(robustness_condition(setting, n=10_000, mu=1.0), 3)
    0.779
    >>> round(robustness_condition(setting, n=10_000, mu=1.0, as_published=True), 3)
    0.275
    """
    floor = eigenvalue_floor(setting, n)
    norm = _noise_norm(setting, n, mu, as_published)
    return norm / floor if floor > 0.0 else math.inf


def is_robust(condition: float) -> bool:
    """
    Whether a `robustness_condition` is met: at most 1/2.

    Parameters
    ----------
    condition : float
        Value of the condition; may be infinite.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_robust(0.5), is_robust(0.51), is_robust(float("inf"))
    (True, False, False)
    """
    return condition != math.inf and non_negative("condition", condition) <= 0.5


def required_rows(setting: Setting, mu: float, *, as_published: bool = False) -> int:
    """
    Smallest n from which on `robustness_condition` is at most 1/2.

    Parameters
    ----------
    setting : Setting
        With or without public moments.
    mu : float
        Budget of the matrix.
    as_published : bool
        As in `robustness_condition`.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If no n up to 2^60 is enough.

    Notes
    -----
    The condition falls with n once n >= 3: log(n/eta) / n does when n / eta > e. The search starts
    there and doubles, then bisects.

    Examples
    --------
    >>> required_rows(GuidedSetting(d=10, eta=0.05, n_public=200), mu=1.0)
    15614
    >>> required_rows(GuidedSetting(d=10, eta=0.05, n_public=200), mu=1.0, as_published=True)
    5555
    """
    positive("mu", mu)
    return _smallest_rows(
        lambda n: is_robust(robustness_condition(setting, n, mu, as_published=as_published))
    )


def inverse_error_bound(
    setting: Setting,
    n: int,
    mu: float,
    *,
    inverse_norm: float = 1.0,
    as_published: bool = False,
) -> float:
    """
    Bound on the error of the noisy inverse: inverse_norm 2 ||G|| / (a^2 + b^2).

    Here a is the sampled part and b the penalty's part of `eigenvalue_floor`.

    Parameters
    ----------
    setting : Setting
        With public moments (Theorem 3.3) or without (Theorem 3.4).
    n : int
        Private rows.
    mu : float
        Budget of the matrix.
    inverse_norm : float
        1 for the inverse in the setting's own coordinates; ||S_B^{-1}|| for the inverse recovered
        in the original ones.
    as_published : bool
        Return the printed bound, 4 sqrt(2) times smaller: the statements drop the 2 that their
        proofs have, besides 2 sqrt(2) of the noise.

    Returns
    -------
    float
        Infinite where the floor is zero.

    Notes
    -----
    Holds with probability 1 - O(eta) where `robustness_condition` is at most 1/2, and says nothing
    elsewhere.

    Examples
    --------
    >>> setting = GuidedSetting(d=10, eta=0.05, n_public=200)
    >>> round(inverse_error_bound(setting, n=100_000, mu=1.0), 3)
    0.381
    >>> round(inverse_error_bound(setting, n=100_000, mu=1.0, inverse_norm=50.0), 1)
    19.1
    """
    squares = setting.sampled_moment(n) ** 2 + setting.least_penalty**2
    norm = positive("inverse_norm", inverse_norm) * _noise_norm(setting, n, mu, as_published)
    if squares == 0.0:
        return math.inf
    return norm / squares if as_published else 2.0 * norm / squares


def simplified_inverse_error(
    setting: Setting, n: int, mu: float, *, inverse_norm: float = 1.0
) -> float:
    """
    Inverse error without the terms that vanish, as the paper compares the two settings.

    With q = sqrt(d^3 log(2d/eta)) / (mu n): ``q log(n/eta) ||S^{-1}||`` with public moments, and
    ``q ||S^{-1}|| (kappa + ||S^{-1}|| log(n/eta))`` without, kappa being the average condition
    number trace / (d lambda_min).

    Parameters
    ----------
    setting : Setting
        With or without public moments. Its penalty, public rows and constant play no part.
    n : int
        Private rows.
    mu : float
        Budget of the matrix.
    inverse_norm : float
        ||S^{-1}||, for the setting with public moments; the other knows its own.

    Returns
    -------
    float

    Notes
    -----
    For comparison only: constants are those of the printed bounds. The simplified conditions are
    these values divided by ||S^{-1}||.

    Examples
    --------
    >>> guided = GuidedSetting(d=10, eta=0.05, n_public=200)
    >>> oracle = OracleSetting(d=10, eta=0.05, trace=10.0, min_eigenvalue=0.02)
    >>> round(simplified_inverse_error(guided, 100_000, 1.0, inverse_norm=50.0), 3)
    0.562
    >>> round(simplified_inverse_error(oracle, 100_000, 1.0), 1)
    30.0
    """
    rate = _published_rate(setting, n, mu)
    inverse_norm = positive("inverse_norm", inverse_norm)
    log_rows = math.log(n / setting.eta)
    if isinstance(setting, GuidedSetting):
        return rate * log_rows * inverse_norm
    if isinstance(setting, OracleSetting):
        least = positive("min_eigenvalue", setting.min_eigenvalue)
        return rate * (setting.trace / setting.d + log_rows) / least**2
    raise TypeError(
        f"setting must be a GuidedSetting or an OracleSetting, got {type(setting).__name__}; "
        "no other has a simplified bound"
    )


def _log_entries(d: int, eta: float) -> float:
    """log(2 d / eta), the price of a bound on a d x d Gaussian matrix."""
    return math.log(2.0 * d / fraction("eta", eta))


def _noise_norm(setting: Setting, n: int, mu: float, as_published: bool) -> float:
    """Bound on the noise that a setting's second moment needs."""
    noise_sd = second_moment_noise_sd(setting.radius(n), n, mu)
    return noise_norm_bound(noise_sd, setting.d, setting.eta, as_published=as_published)


def _published_rate(setting: Setting, n: int, mu: float) -> float:
    """sqrt(d^3 log(2d/eta)) / (mu n), the factor that all printed bounds share."""
    size = math.sqrt(setting.d**3 * _log_entries(setting.d, setting.eta))
    return size / (positive("mu", mu) * positive_integer("n", n))


def _smallest_rows(holds: Callable[[int], bool]) -> int:
    """Smallest n such that ``holds`` is true from n on, given that it stays true once true at 3."""
    high = 3
    while not holds(high):
        high *= 2
        if high > MOST_ROWS:
            raise ValueError(
                "no number of rows up to 2**60 meets the condition; raise mu or the penalty"
            )
    low = high // 2
    while high > 3 and high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    while high <= 3 and high > 1 and holds(high - 1):
        high -= 1
    return high


def ridge_error_bound(
    setting: Setting,
    n: int,
    mu: float,
    *,
    moment_norm: float,
    coef_norm: float,
    recovery_norm: float = 1.0,
    factor: float = 1.0,
) -> float:
    """
    Printed error bound of DP-PMTRR (Theorem 4.2) and DP-RR (Theorem 4.3), its O(.) made a factor.

    ``factor recovery_norm ||S|| ||beta|| inverse_error_bound``, the last as published.

    Parameters
    ----------
    setting : Setting
        With public moments (4.2) or without (4.3).
    n : int
        Private rows.
    mu : float
        Published budget, of each statistic.
    moment_norm, coef_norm : float
        ||S|| of the rows and ||beta|| of the true coefficients.
    recovery_norm : float
        ||S_B^{-1}|| for the recovered coefficients of Theorem 4.2, ||S_B^{-1/2}|| / s_B for the
        transformed ones, 1 for Theorem 4.3.
    factor : float
        Stands for the O(.).

    Returns
    -------
    float

    Notes
    -----
    The proof leaves out the noise on the vector as being of smaller order, which it is not when the
    signal is weak: with beta = 0 the bound is zero and the error is not, whatever the factor.
    `explicit_ridge_error_bound` keeps the term.

    Examples
    --------
    >>> from publicmoments.paper import GuidedSetting
    >>> setting = GuidedSetting(d=10, eta=0.05, n_public=200)
    >>> round(ridge_error_bound(setting, 100_000, 1.0, moment_norm=2.0, coef_norm=3.0), 3)
    0.404
    """
    signal = non_negative("coef_norm", coef_norm) * positive("moment_norm", moment_norm)
    signal *= positive("recovery_norm", recovery_norm) * positive("factor", factor)
    return signal * inverse_error_bound(setting, n, mu, as_published=True)


def explicit_ridge_error_bound(
    setting: Setting, n: int, mu: float, *, response_radius: float, cross_norm: float = 1.0
) -> float:
    """
    Error bound of ridge regression in the setting's coordinates, with nothing left out.

    ``cross_norm inverse_error_bound + 2 ||g|| / floor``, with
    ``||g|| <= vector_sd (sqrt(d) + sqrt(2 log(1/eta)))``.

    Parameters
    ----------
    setting : Setting
        With or without public moments.
    n : int
        Private rows.
    mu : float
        Published budget, of each statistic.
    response_radius : float
        Bound on the responses, as in `ridge_noise`.
    cross_norm : float
        Bound on the norm of the mean of z y. With public moments and responses of unit second
        moment it is near 1 at most, by the Cauchy-Schwarz inequality.

    Returns
    -------
    float
        Infinite where `robustness_condition` exceeds 1/2 and the proof does not go through.

    Notes
    -----
    The two terms of the proof of Theorem 4.2 with the constants of its lemmas. Holds with
    probability 1 - O(eta).

    Examples
    --------
    >>> from publicmoments.paper import GuidedSetting
    >>> setting = GuidedSetting(d=10, eta=0.05, n_public=200)
    >>> round(explicit_ridge_error_bound(setting, 100_000, 1.0, response_radius=4.0), 3)
    0.408
    >>> explicit_ridge_error_bound(setting, 1_000, 1.0, response_radius=4.0)
    inf
    """
    cross_norm = non_negative("cross_norm", cross_norm)
    scales = ridge_noise(setting.radius(n), response_radius, n, mu)
    if not is_robust(robustness_condition(setting, n, mu)):
        return math.inf
    length = math.sqrt(setting.d) + math.sqrt(2.0 * math.log(1.0 / setting.eta))
    vector_error = 2.0 * scales.vector_sd * length / eigenvalue_floor(setting, n)
    return cross_norm * inverse_error_bound(setting, n, mu) + vector_error
