"""When private Newton iterations converge: Lemmas 5.1 and 5.2, Theorems 5.3 to 5.5, as functions.

The three theorems share one argument. The loss has a Hessian of at least gamma (the
`eigenvalue_floor` of a setting, with tau_0 as its curvature) that changes by at most C per unit of
coefficients; started where the gradient is small, an update squares the error and adds a floor of
noise. Theorem 5.3 is logistic regression with public moments, 5.4 without, 5.5 other generalised
linear models with public moments. ``mu`` is the published budget, as in `logistic_noise`.
"""

from __future__ import annotations

import math

from publicmoments.checks import non_negative, positive, positive_integer
from publicmoments.paper.scales import logistic_noise
from publicmoments.paper.settings import Setting, eigenvalue_floor

MOST_NOISE = 1.0 / 18.0
"""The noise floor up to which the induction of Theorem 5.3 goes through."""


def logistic_curvature(reach: float) -> float:
    """
    tau_0 of logistic regression: the least p (1 - p) for linear predictors up to ``reach``.

    Parameters
    ----------
    reach : float
        Largest absolute linear predictor, as `predictor_reach` gives it.

    Returns
    -------
    float

    Notes
    -----
    The assumption before Lemma 5.1 takes the infimum over all coefficients, which is zero. It means
    something only for coefficients in a ball, and then falls like exp(-reach). The result is a
    worst case over rows; the smallest eigenvalue of a Hessian averages over them.

    Examples
    --------
    >>> logistic_curvature(0.0)
    0.25
    >>> round(logistic_curvature(12.0), 8)
    6.14e-06
    """
    odds = math.exp(-non_negative("reach", reach))
    return odds / (1.0 + odds) ** 2


def hessian_lipschitz(radius: float) -> float:
    """
    C of Lemma 5.2: radius^3 / (6 sqrt(3)), by which a logistic Hessian can change.

    Parameters
    ----------
    radius : float
        Bound on the length of a row.

    Returns
    -------
    float

    Notes
    -----
    1 / (6 sqrt(3)) is the largest p (1 - p) (1 - 2p). For rows of Algorithm 1 the lemma prints
    d (1 + log(n/eta)) for the squared radius; the algorithm's is d (1 + log(2n/eta)).

    Examples
    --------
    >>> round(hessian_lipschitz(12.0), 2)
    166.28
    """
    return positive("radius", radius) ** 3 / (6.0 * math.sqrt(3.0))


def start_gradient_bound(convexity: float, lipschitz: float, ball_radius: float) -> float:
    """
    Largest gradient to start from in Theorems 5.3 to 5.5: min(gamma r, gamma^2 / C).

    Parameters
    ----------
    convexity : float
        gamma, the `eigenvalue_floor` with tau_0 as its curvature.
    lipschitz : float
        C, `hessian_lipschitz` for logistic regression.
    ball_radius : float
        r, the distance from the minimiser within which the two hold.

    Returns
    -------
    float

    Notes
    -----
    The algorithms start at zero, where the gradient is at least gamma ||beta|| long, beta being the
    minimiser. The condition thus asks for ||beta|| <= gamma / C, with C of order (d log n)^{3/2}: a
    signal that is all but absent. Even without one, the gradient at zero has a norm of about
    sqrt(d / (4 n)) by chance.

    Examples
    --------
    >>> start_gradient_bound(convexity=0.25, lipschitz=200.0, ball_radius=1.0)
    0.0003125
    """
    convexity = positive("convexity", convexity)
    reach = positive("ball_radius", ball_radius)
    return min(convexity * reach, convexity**2 / positive("lipschitz", lipschitz))


def newton_condition(
    setting: Setting,
    n: int,
    mu: float,
    iterations: int,
    *,
    curvature: float,
    curvature_bound: float = 1.0,
) -> float:
    """
    What Theorems 5.3 to 5.5 want small enough.

    ``sqrt(T d log(2 T d / eta)) radius^2 curvature_bound / (mu n gamma)``

    Parameters
    ----------
    setting : Setting
        With public moments (5.3 and 5.5) or without (5.4).
    n : int
        Private rows.
    mu : float
        Published budget.
    iterations : int
        T, the number of noisy updates.
    curvature : float
        tau_0, the least weight of a row in the Hessian.
    curvature_bound : float
        M_b'' for Theorem 5.5; the others absorb their 1/4 in the O(.).

    Returns
    -------
    float
        Infinite where gamma is zero.

    Notes
    -----
    With public moments radius^2 is d (1 + log(2n/eta)), as printed. Theorem 5.5 prints log(T d/eta)
    here and log(2 T d/eta) in its error; both are the latter.

    "Small enough" is not quantified by the theorems. Their proof needs `newton_noise_floor`, which
    is larger by a factor of about C / (2 gamma^2).

    Examples
    --------
    >>> from publicmoments.paper import GuidedSetting
    >>> setting = GuidedSetting(d=10, eta=0.05, n_public=200)
    >>> round(newton_condition(setting, 100_000, 1.0, 4, curvature=0.25), 3)
    0.258
    """
    steps = positive_integer("iterations", iterations)
    gamma = eigenvalue_floor(setting, n, curvature)
    entries = steps * setting.d * math.log(2.0 * steps * setting.d / setting.eta)
    size = math.sqrt(entries) * setting.radius(n) ** 2 / (positive("mu", mu) * n)
    size *= positive("curvature_bound", curvature_bound)
    return size / gamma if gamma > 0.0 else math.inf


def newton_error_bound(
    setting: Setting,
    n: int,
    mu: float,
    iterations: int,
    *,
    curvature: float,
    curvature_bound: float = 1.0,
    factor: float = 1.0,
) -> float:
    """
    Distance to the minimiser after T updates, Theorems 5.3 to 5.5: factor condition / gamma.

    Parameters
    ----------
    setting, n, mu, iterations, curvature, curvature_bound
        As in `newton_condition`.
    factor : float
        Stands for the O(.).

    Returns
    -------
    float

    Notes
    -----
    Theorem 5.5 prints the bound without M_b'', to which its noise is proportional; it is kept here.
    None of the three has a term for the noise on the gradient, so none depends on R_y.

    Examples
    --------
    >>> from publicmoments.paper import GuidedSetting
    >>> setting = GuidedSetting(d=10, eta=0.05, n_public=200)
    >>> round(newton_error_bound(setting, 100_000, 1.0, 4, curvature=0.25), 2)
    2.39
    """
    condition = newton_condition(
        setting, n, mu, iterations, curvature=curvature, curvature_bound=curvature_bound
    )
    gamma = eigenvalue_floor(setting, n, curvature)
    return positive("factor", factor) * condition / gamma if gamma > 0.0 else math.inf


def newton_noise_floor(
    setting: Setting,
    n: int,
    mu: float,
    iterations: int,
    *,
    curvature: float,
    factor: float = 1.0,
) -> float:
    """
    Noise floor C_pri of logistic iterations, in the proofs of Theorems 5.3 and 5.4.

    ``factor C matrix_sd sqrt(d log(T d / eta)) / gamma^3``

    Parameters
    ----------
    setting, n, mu, iterations, curvature
        As in `newton_condition`.
    factor : float
        Stands for the O(.).

    Returns
    -------
    float
        In the units of C / (2 gamma^2) times the norm of the gradient, which starts at most 1/2.

    Notes
    -----
    The proof goes on to simplify C_pri to `newton_condition` / gamma, which loses C / (2 gamma):
    above 300 at d = 10 and n = 10,000. The error after T updates is (1/2)^(2^T) + 3 C_pri, given
    C_pri <= 1/18.

    Examples
    --------
    >>> from publicmoments.paper import GuidedSetting
    >>> setting = GuidedSetting(d=10, eta=0.05, n_public=200)
    >>> round(newton_noise_floor(setting, 10**8, 1.0, 4, curvature=0.25), 2)
    4.48
    """
    gamma = eigenvalue_floor(setting, n, curvature)
    radius = setting.radius(n)
    noise_sd = logistic_noise(radius, n, mu, iterations).matrix_sd
    entries = math.sqrt(setting.d * math.log(iterations * setting.d / setting.eta))
    size = positive("factor", factor) * hessian_lipschitz(radius) * noise_sd * entries
    return size / gamma**3 if gamma > 0.0 else math.inf


def is_convergent(noise_floor: float) -> bool:
    """
    Whether `newton_noise_floor` lets the induction of Theorem 5.3 go through: at most 1/18.

    Parameters
    ----------
    noise_floor : float
        C_pri; may be infinite.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_convergent(0.05), is_convergent(0.06), is_convergent(float("inf"))
    (True, False, False)
    """
    return noise_floor != math.inf and non_negative("noise_floor", noise_floor) <= MOST_NOISE


def iterations(n: int, constant: float = 1.0) -> int:
    """
    T = O(log log n) of Theorems 5.3 to 5.5: ceil(constant log2(log2(n))), at least 1.

    Parameters
    ----------
    n : int
        Private rows.
    constant : float
        Stands for the O(.). With 1, T is the least with (1/2)^(2^T) <= 1/n: quadratic convergence
        from 1/2 down to the order of the noise.

    Returns
    -------
    int

    Examples
    --------
    >>> iterations(10_000), iterations(65_536), iterations(65_537)
    (4, 4, 5)
    """
    constant = positive("constant", constant)
    if positive_integer("n", n) <= 2:
        return 1
    return max(1, math.ceil(constant * math.log2(math.log2(n))))


def iterations_to_floor(noise_floor: float) -> int:
    """
    Least T with (1/2)^(2^T) <= noise_floor, so that more updates gain nothing.

    Parameters
    ----------
    noise_floor : float
        C_pri in (0, 1/2), as `newton_noise_floor` gives it.

    Returns
    -------
    int
        log2(log2(1 / C_pri)) rounded up.

    Notes
    -----
    The proof of Theorem 5.3 prints T > log2(log(2) / C_pri), which has lost a logarithm: it is of
    order log n, not log log n.

    Examples
    --------
    >>> iterations_to_floor(1e-4)
    4
    """
    if not positive("noise_floor", noise_floor) < 0.5:
        raise ValueError(
            f"noise_floor must be in (0, 1/2), got noise_floor={noise_floor!r}; "
            "above it no number of updates helps"
        )
    return max(1, math.ceil(math.log2(-math.log2(noise_floor))))
