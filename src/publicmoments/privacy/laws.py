"""Laws of the noise on integer matrices and vectors, and what a release with them costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from publicmoments.checks import non_negative, positive, positive_integer
from publicmoments.privacy.budgets import GDP, ApproxDP
from publicmoments.privacy.rounding import float_above, float_below
from publicmoments.privacy.unit import ONE_ROW, PrivacyUnit, gram_sensitivity

ENTRY_LIMIT = 2**62
"""Entries and draws are each below this in size, so that their sum stays in 64-bit integers."""

MIN_SD_FOR_GDP = 10.0
"""Smallest noise sd, in grid units, for which the distance to GDP is bounded here."""

MIN_NOISE_SD = 2.0**-40
"""Smallest noise sd, in grid units: a draw is then zero but for a chance of exp(-2^79)."""

MAX_NOISE_SD = 2.0**56
"""Largest noise sd, in grid units: 64 of them reach the limit on entries."""


@dataclass(frozen=True, slots=True)
class NoiseLaw:
    """
    Law of the noise of a symmetric integer matrix.

    Independent discrete Gaussians on and above the diagonal, mirrored below it.

    Parameters
    ----------
    diagonal_sd : float
        Noise sd s of the diagonal entries, in grid units.
    offdiagonal_sd : float
        Noise sd of the other entries, in grid units; s / sqrt(2) makes the noise isotropic in the
        Frobenius norm, which counts these entries twice.
    dimension : int
        Number of rows and columns.
    """

    diagonal_sd: float
    offdiagonal_sd: float
    dimension: int

    def __post_init__(self) -> None:
        """Validate and store as plain numbers."""
        object.__setattr__(self, "dimension", positive_integer("dimension", self.dimension))
        for name in ("diagonal_sd", "offdiagonal_sd"):
            object.__setattr__(self, name, checked_noise_sd(name, getattr(self, name)))

    @property
    def noise_sd(self) -> float:
        """Noise sd of the diagonal."""
        return self.diagonal_sd

    def rho(self, l2_bound_squared: float) -> float:
        """
        Cost in zero-concentrated DP of releasing a Gram matrix with this noise.

        Parameters
        ----------
        l2_bound_squared : int or float
            B with ||r||^2 <= B for every integer row r.

        Returns
        -------
        float
            max(1 / s^2, 1 / (2 t^2)) D^2 / 2, with s and t the noise sd on and off the diagonal and
            D the Frobenius sensitivity.

        Notes
        -----
        **Releases.** Nothing.

        **Assumes.** Checked here: B is positive and finite. Owed by the caller: as for
        `gram_sensitivity`, and rows of integers.

        **Guarantee.** The noisy Gram matrix is rho-zCDP for replacing one row, with n public.
        This holds exactly, with no remainder for the grid.

        **Why.** A discrete Gaussian of sd s moved by an integer k has Renyi divergence at most
        alpha k^2 / (2 s^2) (Canonne, Kamath and Steinke 2020), and independent entries add up:
        alpha [sum_i D_ii^2 / (2 s^2) + sum_{i<j} D_ij^2 / (2 t^2)]. As ||D||_F^2 counts each
        off-diagonal entry twice, this is at most alpha ||D||_F^2 max(1 / (2 s^2), 1 / (4 t^2)).

        **Numerics.** Computed in rational arithmetic and rounded up once.

        Examples
        --------
        >>> gram_noise_law(100, dimension=3, mu=1.0).rho(100) <= 0.5
        True
        """
        return self.cost(ONE_ROW.gram_square(l2_bound_squared, self.dimension))

    def cost(self, squared_change: Fraction) -> float:
        """Cost where the matrix moves by so much, squared, in Frobenius norm; see `rho`."""
        precision = 1 / Fraction(self.diagonal_sd) ** 2
        if self.dimension >= 2:
            precision = max(precision, 1 / (2 * Fraction(self.offdiagonal_sd) ** 2))
        return float_above(precision * squared_change / 2)

    @property
    def gdp_extra_tv(self) -> float:
        """
        Upper bound on the total-variation distance of this noise from rounded Gaussian noise.

        Returns
        -------
        float
            tau = sum over the d (d + 1) / 2 independent entries of 1 / (48 sd^2).

        Raises
        ------
        ValueError
            If a noise sd is below ``MIN_SD_FOR_GDP``, where the bound is not established.

        Notes
        -----
        Continuous Gaussian noise rounded to integers, added to an integer matrix, is a
        post-processing of the Gaussian mechanism, hence mu-GDP. For one entry of sd s let f be the
        continuous density, q(k) its mass on [k - 1/2, k + 1/2] and p(k) the discrete Gaussian.

        1. q(k) - f(k) = int K(v) f''(k + v) dv over |v| <= 1/2 with K(v) = (1/2 - |v|)^2 / 2, whose
           integral is 1/24. Summing over k puts the 1-periodic extension of K under the integral;
           replacing that by its mean costs at most sup|Q| TV(|f''|), where Q, the periodic
           antiderivative of K - 1/24, has sup sqrt(3)/216. With int |f''| = 4 / (s^2 sqrt(2 pi e))
           and TV(|f''|) < 1.5101 / s^3,
           sum_k |q(k) - f(k)| <= 0.04033 / s^2 + 0.01211 / s^3.
        2. p is proportional to f on the integers, so sum_k |p(k) - f(k)| = |1 - sum_k f(k)|, which
           by Poisson summation is 2 sum_j exp(-2 pi^2 s^2 j^2) < 2.1 exp(-2 pi^2 s^2).
        3. Half the sum of both is below 1 / (48 s^2) once s >= 9.1; 10 is required. The true
           distance is close to 1 / (49.6 s^2).

        The distance between products is at most the sum of the distances.
        """
        d = self.dimension
        diagonal = _extra_tv(d, self.diagonal_sd)
        return diagonal + _extra_tv(d * (d - 1) // 2, self.offdiagonal_sd) if d >= 2 else diagonal


@dataclass(frozen=True, slots=True)
class VectorNoiseLaw:
    """
    Law of the noise of an integer vector: independent discrete Gaussians of one sd.

    Parameters
    ----------
    noise_sd : float
        Noise sd of every entry, in grid units.
    dimension : int
        Number of entries.
    """

    noise_sd: float
    dimension: int

    def __post_init__(self) -> None:
        """Validate and store as plain numbers."""
        object.__setattr__(self, "dimension", positive_integer("dimension", self.dimension))
        object.__setattr__(self, "noise_sd", checked_noise_sd("noise_sd", self.noise_sd))

    def cost(self, squared_change: Fraction) -> float:
        """
        Cost in zero-concentrated DP of releasing a vector with this noise.

        Parameters
        ----------
        squared_change : Fraction
            D^2: how far neighbours move the vector, squared.

        Returns
        -------
        float
            D^2 / (2 s^2), s the noise sd.

        Notes
        -----
        **Guarantee.** The noisy vector is rho-zCDP for these neighbours, exactly.

        **Why.** A discrete Gaussian of sd s moved by an integer k has Renyi divergence at most
        alpha k^2 / (2 s^2) (Canonne, Kamath and Steinke 2020), and independent entries add up.

        **Numerics.** Computed in rational arithmetic and rounded up once.

        Examples
        --------
        >>> VectorNoiseLaw(noise_sd=200.0, dimension=3).cost(ONE_ROW.sum_square(10_000))
        0.5
        """
        return float_above(squared_change / (2 * Fraction(self.noise_sd) ** 2))

    @property
    def gdp_extra_tv(self) -> float:
        """Upper bound on the distance from rounded Gaussian noise; see `NoiseLaw.gdp_extra_tv`."""
        return _extra_tv(self.dimension, self.noise_sd)


@lru_cache(maxsize=256, typed=True)
def gram_noise_law(
    l2_bound_squared: int, dimension: int, mu: float, unit: PrivacyUnit = ONE_ROW
) -> NoiseLaw:
    """
    Noise law that makes one release of a Gram matrix cost ``mu``.

    Parameters
    ----------
    l2_bound_squared : int
        B with ||r||^2 <= B for every integer row r, in squared grid units.
    dimension : int
        Length d of a row.
    mu : float
        Budget of the release as Gaussian DP.
    unit : PrivacyUnit
        Whom the guarantee is about.

    Returns
    -------
    NoiseLaw
        Noise sd s = D / mu on the diagonal and s / sqrt(2) off it, D the Frobenius sensitivity.

    Notes
    -----
    **Releases.** Nothing.

    **Assumes.** Checked here: B and d are positive integers, mu is positive and finite, the noise
    sd lies in [``MIN_NOISE_SD``, ``MAX_NOISE_SD``]. Owed by the caller: as for `gram_sensitivity`,
    and rows of integers.

    **Guarantee.** An exact Gram matrix plus one draw of this noise is (mu^2/2)-zCDP exactly, and
    mu-GDP up to the total-variation distance `NoiseLaw.gdp_extra_tv`; neighbours are the unit's.

    **Why.** In the coordinates (D_ii, sqrt(2) D_ij) the Frobenius norm is the Euclidean norm, and
    the noise has sd s in each of them: this is the Gaussian mechanism at sensitivity D = s mu.
    Noise of sd s in every entry would be sqrt(2) too large off the diagonal.

    **Numerics.** Both noise sds are rounded outward until `NoiseLaw.cost`, in exact arithmetic, is
    at most mu^2 / 2.

    Examples
    --------
    >>> law = gram_noise_law(10_000, dimension=2, mu=0.5)
    >>> round(law.diagonal_sd, 3), round(law.offdiagonal_sd, 3)
    (28284.271, 20000.0)
    """
    bound = positive_integer("l2_bound_squared", l2_bound_squared)
    if not bound < ENTRY_LIMIT:
        raise ValueError("l2_bound_squared must be below 2**62; use a coarser grid")
    mu = positive("mu", mu, "pass a positive budget")
    noise_sd = gram_sensitivity(bound, dimension, unit) / mu
    change = unit.gram_square(bound, dimension)
    law = NoiseLaw(noise_sd, _over_sqrt2(noise_sd), dimension)
    allowed = float_below(Fraction(mu) ** 2 / 2)
    while law.cost(change) > allowed:
        noise_sd = math.nextafter(noise_sd, math.inf)
        law = NoiseLaw(noise_sd, _over_sqrt2(noise_sd), dimension)
    return law


def triangle_noise_law(l2_bound_squared: int, dimension: int, mu: float) -> NoiseLaw:
    """
    Noise law of the published algorithms for a Gram matrix at ``mu``: sd 2 B / mu in each entry.

    Parameters
    ----------
    l2_bound_squared : int
        B with ||r||^2 <= B for every integer row r.
    dimension : int
        Length of a row.
    mu : float
        Budget that the publication states for it.

    Returns
    -------
    NoiseLaw

    Notes
    -----
    **Guarantee.** mu-GDP and (mu^2/2)-zCDP, as for `gram_noise_law`, which needs less noise: the
    triangle inequality bounds a change of sqrt(2) B by 2 B, and the Frobenius norm counts entries
    off the diagonal twice where the release has them once. `NoiseLaw.rho` tells the true cost,
    mu^2 / 4.

    Examples
    --------
    >>> triangle_noise_law(10_000, dimension=2, mu=0.5)
    NoiseLaw(diagonal_sd=40000.0, offdiagonal_sd=40000.0, dimension=2)
    """
    bound = positive_integer("l2_bound_squared", l2_bound_squared)
    noise_sd = 2.0 * bound / positive("mu", mu, "pass a positive budget")
    return NoiseLaw(noise_sd, noise_sd, dimension)


@lru_cache(maxsize=256, typed=True)
def vector_noise_law(squared_change: Fraction, dimension: int, mu: float) -> VectorNoiseLaw:
    """
    Noise law that makes one release of an integer vector cost ``mu``.

    Parameters
    ----------
    squared_change : Fraction
        D^2: how far neighbours move the vector, squared, in squared grid units.
    dimension : int
        Length of the vector.
    mu : float
        Budget of the release as Gaussian DP.

    Returns
    -------
    VectorNoiseLaw
        Noise sd D / mu.

    Notes
    -----
    **Releases.** Nothing.

    **Assumes.** Checked here: D^2 and the dimension are positive, mu is positive and finite, the
    noise sd lies in [``MIN_NOISE_SD``, ``MAX_NOISE_SD``]. Owed by the caller: an exact integer
    vector that neighbours move by at most D; `PrivacyUnit` says by how much.

    **Guarantee.** The exact vector plus one draw of this noise is (mu^2/2)-zCDP exactly, and mu-GDP
    up to the total-variation distance ``gdp_extra_tv``, for the neighbours that D is for.

    **Why.** The Gaussian mechanism at sensitivity D.

    **Numerics.** The noise sd is rounded outward until `VectorNoiseLaw.cost`, in exact arithmetic,
    is at most mu^2 / 2.

    Examples
    --------
    >>> vector_noise_law(ONE_ROW.sum_square(10_000), dimension=2, mu=0.5)
    VectorNoiseLaw(noise_sd=400.0, dimension=2)
    """
    positive("squared_change", squared_change, "pass how far neighbours move the vector")
    mu = positive("mu", mu, "pass a positive budget")
    noise_sd = math.sqrt(squared_change) / mu
    law = VectorNoiseLaw(noise_sd, dimension)
    allowed = float_below(Fraction(mu) ** 2 / 2)
    while law.cost(squared_change) > allowed:
        noise_sd = math.nextafter(noise_sd, math.inf)
        law = VectorNoiseLaw(noise_sd, dimension)
    return law


Law: TypeAlias = NoiseLaw | VectorNoiseLaw
"""Law of the noise of any release."""


def extra_delta(extra_tv: float, epsilon: float) -> float:
    """
    Delta to add to the Gaussian curve at ``epsilon`` because the noise is discrete.

    Parameters
    ----------
    extra_tv : float
        tau, the distance of all noise together from rounded Gaussian noise.
    epsilon : float
        In [0, inf).

    Returns
    -------
    float
        (1 + exp(epsilon)) tau, rounded up, and at most 1.0.

    Notes
    -----
    Let P, Q be the outputs on two neighbours and P', Q' those with rounded continuous noise,
    each within tau of its partner. For every event A,
    P(A) <= P'(A) + tau <= exp(epsilon) Q'(A) + delta + tau
    <= exp(epsilon) Q(A) + delta + (1 + exp(epsilon)) tau.

    Examples
    --------
    >>> extra_delta(NoiseLaw(2.0**40, 2.0**39.5, 10).gdp_extra_tv, 1.0) < 1e-22
    True
    """
    epsilon = non_negative("epsilon", epsilon)
    if non_negative("extra_tv", extra_tv) == 0.0:
        return 0.0
    log_extra = math.log(extra_tv) + epsilon + math.log1p(math.exp(-epsilon))
    # The error of each function is below 2^-51 of numbers below 2^10.
    return min(math.exp(min(log_extra, 0.0)) * (1.0 + 2.0**-40), 1.0)


def gdp_beside(budget: ApproxDP, extra_tv: float) -> GDP | None:
    """
    Return the largest GDP budget that keeps an (epsilon, delta) one beside an extra distance.

    Parameters
    ----------
    budget : ApproxDP
        What must hold of all noise together.
    extra_tv : float
        Its distance from rounded Gaussian noise; see `extra_delta`.

    Returns
    -------
    GDP or None
        None where the extra alone is too much.

    Examples
    --------
    >>> gdp_beside(ApproxDP(1.0, 1e-6), 0.0) == ApproxDP(1.0, 1e-6).to_gdp()
    True
    >>> gdp_beside(ApproxDP(1.0, 1e-6), 1e-6) is None
    True
    """
    aside = extra_delta(extra_tv, budget.epsilon)
    if aside == 0.0:
        return budget.to_gdp()
    left = math.nextafter(budget.delta - aside, -math.inf)
    return ApproxDP(budget.epsilon, left).to_gdp() if left > 0.0 else None


def _extra_tv(count: int, noise_sd: float) -> float:
    """Bound of `NoiseLaw.gdp_extra_tv` for some entries of one noise sd."""
    if not noise_sd >= MIN_SD_FOR_GDP:
        raise ValueError(
            f"noise sd must be at least {MIN_SD_FOR_GDP} grid units for a GDP statement, "
            f"got {noise_sd!r}; use a finer grid, or state the guarantee as zCDP"
        )
    return count / (48.0 * noise_sd * noise_sd)


def checked_noise_sd(name: str, noise_sd: object) -> float:
    """Return a noise sd that 64-bit integers can hold and that does not vanish."""
    number = positive(name, noise_sd)
    if not MIN_NOISE_SD <= number <= MAX_NOISE_SD:
        raise ValueError(
            f"{name} must be between 2**-40 and 2**56 grid units, got {name}={number!r}; "
            "change the grid or the budget"
        )
    return number


def _over_sqrt2(noise_sd: float) -> float:
    """Smallest float t near noise_sd / sqrt(2) with 2 t^2 >= noise_sd^2."""
    result = noise_sd / math.sqrt(2.0)
    while 2 * Fraction(result) ** 2 < Fraction(noise_sd) ** 2:
        result = math.nextafter(result, math.inf)
    return result
