"""How far private ridge regression strays: Theorems 4.2 and 4.3 as functions of a setting.

``mu`` is the published budget, of each of the two statistics.
"""

from __future__ import annotations

import math

from publicmoments.checks import non_negative, positive
from publicmoments.paper.scales import ridge_noise
from publicmoments.paper.settings import Setting, eigenvalue_floor
from publicmoments.paper.theory import inverse_error_bound, is_robust, robustness_condition

__all__ = ["explicit_ridge_error_bound", "ridge_error_bound"]


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
