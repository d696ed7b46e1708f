"""Published radii, and the two settings that the theorems compare: with public moments or without.

Theorem and algorithm numbers are the paper's, here and in the modules beside this one.

A setting knows how long rows may be and how small the eigenvalues of their second moments can get.
Both depend on public quantities only, or on what an oracle tells of the private distribution.

The O(.) of the theorems stands for a constant of sampling that the paper leaves open. It is the
explicit argument ``constant`` here and multiplies (sqrt(d) + sqrt(log(1/eta))).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from publicmoments.checks import fraction, non_negative, positive, positive_integer
from publicmoments.public import PublicMoments

GAUSSIAN_CONSTANT = math.sqrt(2.0)
"""The sampling constant for rows that are Gaussian with mean zero: the singular values of n such
rows, whitened, leave sqrt(n) +- (sqrt(d) + sqrt(2 log(1/eta))) with probability at most eta on each
side. Other sub-Gaussian rows have a larger one, which grows with their sub-Gaussian norm."""


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


def moment_bounds(
    n_public: int, d: int, eta: float, *, constant: float = GAUSSIAN_CONSTANT
) -> tuple[float, float]:
    """
    L and U of Theorem 3.1, between which the eigenvalues of the whitened second moment lie.

    With s = constant (sqrt(d) + sqrt(log(1/eta))),
    ``L = n_B / (sqrt(n_B) + s)^2`` and ``U = n_B / (sqrt(n_B) - s)^2``.

    Parameters
    ----------
    n_public, d : int
        Public rows n_B, and columns.
    eta : float
        Probability scale: the bounds hold with probability at least 1 - 2 eta.
    constant : float
        Stands for the O(.); see ``GAUSSIAN_CONSTANT``.

    Returns
    -------
    lower, upper : float
        Bounds on the eigenvalues of S_B^{-1/2} S S_B^{-1/2}, where S is the true second-moment
        matrix and S_B that of the public rows. The upper one is infinite when sqrt(n_B) <= s, where
        the theorem says nothing.

    Examples
    --------
    >>> lower, upper = moment_bounds(n_public=200, d=10, eta=0.05)
    >>> round(lower, 3), round(upper, 2)
    (0.451, 3.83)
    >>> moment_bounds(n_public=20, d=10, eta=0.05)[1]
    inf
    """
    root = math.sqrt(positive_integer("n_public", n_public))
    spread = _spread(d, eta, constant)
    upper = (root / (root - spread)) ** 2 if root > spread else math.inf
    return (root / (root + spread)) ** 2, upper


@dataclass(frozen=True, kw_only=True)
class Setting(ABC):
    """
    What a theorem needs to know besides n and mu; use `GuidedSetting` or `OracleSetting`.

    Parameters
    ----------
    d : int
        Columns.
    eta : float
        Probability scale in (0, 1).
    penalty : float
        lambda of the objective, whose second moments are means over rows.
    constant : float
        Stands for the O(.) of sampling.
    """

    d: int
    eta: float
    penalty: float = 0.0
    constant: float = GAUSSIAN_CONSTANT

    def __post_init__(self) -> None:
        """Check the parameters."""
        positive_integer("d", self.d)
        fraction("eta", self.eta)
        non_negative("penalty", self.penalty)
        non_negative("constant", self.constant)

    @abstractmethod
    def radius(self, n: int) -> float:
        """Bound on the length of a row when there are n of them."""

    @property
    @abstractmethod
    def least_moment(self) -> float:
        """Smallest eigenvalue of the second-moment matrix that private rows are drawn from."""

    @property
    @abstractmethod
    def least_penalty(self) -> float:
        """Smallest eigenvalue that the penalty adds."""

    def sampled_moment(self, n: int) -> float:
        """
        Smallest eigenvalue that n private rows show: least_moment (1 - s / sqrt(n))^2.

        The square is meant for n large enough; where s exceeds sqrt(n) there is no floor but zero.
        """
        spread = _spread(self.d, self.eta, self.constant)
        kept = max(0.0, 1.0 - spread / math.sqrt(positive_integer("n", n)))
        return self.least_moment * kept**2


@dataclass(frozen=True, kw_only=True)
class GuidedSetting(Setting):
    """
    Rows whitened by public moments: Theorems 3.3 and 4.2.

    Parameters
    ----------
    n_public : int
        Public rows.
    public_norm : float
        Largest eigenvalue of the public second-moment matrix. Matters only with a penalty.

    Examples
    --------
    >>> setting = GuidedSetting(d=10, eta=0.05, n_public=200)
    >>> round(setting.radius(10_000), 2), round(setting.least_moment, 3)
    (11.79, 0.451)
    """

    n_public: int
    public_norm: float = 1.0

    @classmethod
    def of(cls, public: PublicMoments, eta: float, penalty: float) -> GuidedSetting | None:
        """Return the setting of public moments; None where no number of rows stands behind them."""
        if public.n is None:
            return None
        d, norm = len(public.second_moment), float(np.linalg.eigvalsh(public.second_moment)[-1])
        norm = max(norm, 1e-300)
        return cls(d=d, eta=eta, penalty=penalty, n_public=public.n, public_norm=norm)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        positive_integer("n_public", self.n_public)
        positive("public_norm", self.public_norm)

    def radius(self, n: int) -> float:
        """Radius of Algorithm 1."""
        return truncation_radius(self.d, n, self.eta)

    @property
    def least_moment(self) -> float:
        """L of Theorem 3.1."""
        return moment_bounds(self.n_public, self.d, self.eta, constant=self.constant)[0]

    @property
    def least_penalty(self) -> float:
        """The penalty is lambda S_B^{-1} in whitened coordinates: lambda / ||S_B||."""
        return self.penalty / self.public_norm


@dataclass(frozen=True, kw_only=True)
class OracleSetting(Setting):
    """
    Rows as they are, bounded by what the private distribution says: Theorems 3.4 and 4.3.

    Parameters
    ----------
    trace, min_eigenvalue : float
        Of the true second-moment matrix. Taken from private rows they are not private.

    Examples
    --------
    >>> setting = OracleSetting(d=10, eta=0.05, trace=10.0, min_eigenvalue=0.01)
    >>> round(setting.radius(10_000), 2), setting.least_moment
    (11.49, 0.01)
    """

    trace: float
    min_eigenvalue: float

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        positive("trace", self.trace)
        non_negative("min_eigenvalue", self.min_eigenvalue)
        if not self.min_eigenvalue * self.d <= self.trace * (1.0 + 1e-9):
            raise ValueError(
                f"min_eigenvalue must be at most trace / d = {self.trace / self.d!r}, got "
                f"min_eigenvalue={self.min_eigenvalue!r}; no matrix has these two values"
            )

    def radius(self, n: int) -> float:
        """Radius of Theorem 3.4."""
        return oracle_radius(self.trace, self.d, n, self.eta)

    @property
    def least_moment(self) -> float:
        """Smallest eigenvalue of the second-moment matrix itself."""
        return self.min_eigenvalue

    @property
    def least_penalty(self) -> float:
        """The penalty is lambda I: lambda."""
        return self.penalty


def eigenvalue_floor(setting: Setting, n: int, curvature: float = 1.0) -> float:
    """
    Smallest eigenvalue of the penalised moment matrix or Hessian, with high probability.

    ``curvature L (1 - s / sqrt(n))^2 + lambda / ||S_B||`` with public moments, and
    ``curvature lambda_min(S) (1 - s / sqrt(n))^2 + lambda`` without.

    Parameters
    ----------
    setting : Setting
        With or without public moments.
    n : int
        Private rows.
    curvature : float
        1 for the second moments of Theorems 3.3 and 3.4; tau_0, the smallest weight of a row in the
        Hessian, for gamma_L and gamma_Sigma of Lemma 5.1.

    Returns
    -------
    float

    Notes
    -----
    As printed, (1 - s / sqrt(n))^2 grows again when sqrt(n) < s. There it means nothing, and is
    zero here.

    Examples
    --------
    >>> setting = GuidedSetting(d=10, eta=0.05, n_public=200, penalty=0.1, public_norm=2.0)
    >>> round(eigenvalue_floor(setting, n=10_000), 4)
    0.4406
    >>> eigenvalue_floor(setting, n=10)
    0.05
    """
    curvature = positive("curvature", curvature)
    return curvature * setting.sampled_moment(n) + setting.least_penalty


def _spread(d: int, eta: float, constant: float) -> float:
    """How far singular values of a sample stray from sqrt(n)."""
    root = math.sqrt(positive_integer("d", d)) + math.sqrt(math.log(1.0 / fraction("eta", eta)))
    return non_negative("constant", constant) * root
