"""Ridge regression as published: DP-PMTRR, DP-RR and AdaSSP."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar

import numpy as np

from publicmoments.arrays import Array
from publicmoments.checks import positive
from publicmoments.families.factors import ClippedResponse, Ones
from publicmoments.paper.published import (
    ChargedEstimator,
    Given,
    GuidedEstimator,
    LinearPrediction,
    NonNegative,
    OracleEstimator,
    Positive,
    Probability,
    Spending,
    mean_squares,
    usable,
)
from publicmoments.paper.settings import (
    oracle_radius,
    oracle_response_radius,
    response_radius,
    truncation_radius,
)
from publicmoments.privacy.laws import NoiseLaw, gram_noise_law
from publicmoments.public import PublicMoments
from publicmoments.rows.recipe import GramRecipe, TotalRecipe
from publicmoments.session.door import PrivateRows

DELTA = 1e-6
"""The delta that AdaSSP's confidence in its eigenvalue is stated for."""


def isometric_upper_triangle(l2_bound_squared: int, dimension: int, mu: float) -> NoiseLaw:
    """Noise of one sd, that of the Frobenius sensitivity, in each entry of the upper triangle."""
    noise_sd = gram_noise_law(l2_bound_squared, dimension, mu).diagonal_sd
    return NoiseLaw(noise_sd, noise_sd, dimension)


def response_scale(public: PublicMoments) -> float:
    """Root mean square of the public response; 1 where nothing is known of it."""
    return 1.0 if public.response is None else float(public.response.scale[0])


def _recipes(
    rows: PrivateRows, whitener: Array, radius: float, response_bound: float, scale: float = 1.0
) -> tuple[GramRecipe, TotalRecipe]:
    """Recipes of the second moment of bounded rows, and of their cross moment with responses."""
    n, origin = rows.n_rows, np.zeros((len(whitener), 1))
    factor = ClippedResponse(scale, response_bound)
    return (
        GramRecipe(whitener, origin, Ones(), radius, radius, n),
        TotalRecipe(whitener, origin, factor, radius, radius * response_bound, n),
    )


def _perturbed_ridge(
    spending: Spending,
    whitener: Array,
    radius: float,
    response_bound: float,
    scale: float,
    alpha: float,
) -> Array:
    """Release the second and cross moments of truncated rows, solve, and return to raw units."""
    moment, cross = _recipes(spending.rows, whitener, radius, response_bound, scale)
    matrix = spending.gram("second moment", moment) + alpha * whitener.T @ whitener
    vector = spending.total_of("cross moment", cross)
    return np.asarray(scale * (whitener @ np.linalg.solve(matrix, vector)))


def _positive_or_none(name: str, value: float | None) -> float | None:
    """Return a positive number, if there is one."""
    return None if value is None else positive(name, value)


@dataclass(eq=False, repr=False)
class PMTRidge(LinearPrediction, GuidedEstimator):
    """
    DP-PMTRR, Algorithm 2: ridge regression on rows truncated by public moments.

    Minimises, up to noise,

        1/(2n) ||y - X b||^2 + alpha/2 ||b||^2

    in whitened coordinates: b~ = (mean z z^T + alpha S_B^-1 + G)^-1 (mean z u + g), with z the rows
    whitened and shortened to `truncation_radius`, u the responses in units of their public scale
    and clipped to `response_radius`, and b = scale S_B^(-1/2) b~.

    Parameters
    ----------
    alpha : float, default=0.0
        Ridge penalty, lambda in the paper.
    eta : float, default=0.05
        Probability scale of the truncation, in (0, 1).
    privacy : GDP, ApproxDP or ZCDP
        Total budget of the fit. The published mu is that of each of the two statistics, so that
        ``GDP(total_mu(mu))`` states it.
    public : PublicMoments, optional
        Public second moments, with the response or its scale.
    random_state : int, numpy RandomState or Generator, optional
        Makes the noise reproducible. Such a fit has no privacy guarantee, and its card says so.
    on_invalid : {"raise", "ignore"}, default="raise"
        Private rows with cells of no use, such as NaN, text among numbers or labels that are no
        class: refuse, or count each such row as zeros. The latter is absolute: then no cell can
        cause an error, a warning or a message.
    ledger : Ledger, path or URL, optional
        Durable account that the budget is charged to before any noise is drawn.
    dataset : str, optional
        Name of the private data in the ledger; needed with one.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        0.0; the paper has no intercept.
    radius_, response_radius_ : float
        The published radii; public.
    card_ : Card
        The privacy card.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    **Formal guarantee.** The stated budget, for replacing one row; the number of rows is public.
    The noise is the published one, which is more than is needed: see `triangle_noise_law`.

    Examples
    --------
    >>> from publicmoments import GDP, PublicMoments
    >>> from publicmoments.datasets import simulate_linear
    >>> X, y, _ = simulate_linear(np.random.default_rng(0), 20_200, d=3)
    >>> public = PublicMoments.from_rows(X[:200], response=y[:200])
    >>> model = PMTRidge(privacy=GDP(10.0), public=public).fit(X[200:], y[200:])
    >>> model.card_.private
    True
    """

    alpha: NonNegative = 0.0

    needs_scale: ClassVar[bool] = True

    def _solve(self, given: Given) -> None:
        """Bound rows and responses by their published radii."""
        n, d, public = given.rows.n_rows, given.rows.n_design, given.public
        radius, bound = truncation_radius(d, n, self.eta), response_radius(n, self.eta)
        whitener, scale = public.design(fit_intercept=False).whitener, response_scale(public)
        with self._spending(given, 1, 1) as spending:
            self.coef_ = _perturbed_ridge(spending, whitener, radius, bound, scale, self.alpha)
        self.radius_, self.response_radius_ = radius, bound


@dataclass(eq=False, repr=False)
class OracleRidge(LinearPrediction, OracleEstimator):
    """
    DP-RR, Theorem 4.3: ridge regression without public data; an oracle, not private.

    The radius sqrt(Tr(S) + d log(n/eta)) takes the trace from the private rows themselves, as the
    paper's experiments do; so does the radius of the responses. There is no way to charge such a
    fit to a ledger, and its card says that nothing is guaranteed.

    Parameters
    ----------
    alpha : float, default=0.0
        Ridge penalty.
    eta : float, default=0.05
        Probability scale of the truncation, in (0, 1).
    coef_norm : float, optional
        Norm of the true coefficients, with which responses are bounded as in the theorem; without
        it, as in the remark after it, by their own second moment.
    privacy : GDP, ApproxDP or ZCDP
        The budget that the noise is made for; compare with methods of the same total.
    random_state, on_invalid
        As in `PMTRidge`.

    Attributes
    ----------
    coef_, intercept_, card_, n_features_in_, feature_names_in_
        As in `PMTRidge`. Neither they nor anything else of the fit is private; the radii, which
        hold an exact statistic of the rows, are not kept.

    Examples
    --------
    >>> from publicmoments import GDP
    >>> from publicmoments.datasets import simulate_linear
    >>> X, y, _ = simulate_linear(np.random.default_rng(0), 10_000, d=3)
    >>> OracleRidge(privacy=GDP(10.0)).fit(X, y).card_.private
    False
    """

    alpha: NonNegative = 0.0
    _: KW_ONLY
    coef_norm: Annotated[float | None, _positive_or_none] = None

    def _solve(self, given: Given) -> None:
        """Take the radii from the private rows."""
        n, d = given.rows.n_rows, given.rows.n_design
        trace, square = mean_squares(given.rows)
        radius = oracle_radius(usable("X", trace), d, n, self.eta)
        if self.coef_norm is None:
            bound = oracle_response_radius(usable("y", square), n, self.eta)
        else:
            bound = radius * self.coef_norm
        with self._spending(given, 1, 1) as spending:
            self.coef_ = _perturbed_ridge(spending, np.eye(d), radius, bound, 1.0, self.alpha)


@dataclass(eq=False, repr=False)
class AdaSSP(LinearPrediction, ChargedEstimator):
    """
    AdaSSP: perturbed sufficient statistics with a penalty that adapts to the noise.

    A third of the budget (in squared mu) buys the smallest eigenvalue of X'X, a third X'X and a
    third X'y; what the eigenvalue lacks for the noisy inverse to be stable is added as a penalty.
    Wang (2018), "Revisiting differentially private linear regression", under neighbours that
    replace one row.

    Parameters
    ----------
    x_bound, y_bound : float
        Bounds on the length of a row and on a response, which must be public; longer ones are
        shortened.
    failure : float, default=0.05
        Probability with which the penalty may fail to cover the noise.
    privacy : GDP, ApproxDP or ZCDP
        Total budget of the fit.
    random_state, on_invalid, ledger, dataset
        As in `PMTRidge`.

    Attributes
    ----------
    coef_, intercept_, card_, n_features_in_, feature_names_in_
        As in `PMTRidge`.
    penalty_ : float
        The penalty that was added to X'X / n; released.

    Examples
    --------
    >>> from publicmoments import GDP
    >>> from publicmoments.datasets import simulate_linear
    >>> X, y, _ = simulate_linear(np.random.default_rng(0), 10_000, d=3)
    >>> AdaSSP(x_bound=8.0, y_bound=20.0, privacy=GDP(1.0)).fit(X, y).card_.private
    True
    """

    x_bound: Positive = 1.0
    y_bound: Positive = 1.0
    _: KW_ONLY
    failure: Probability = 0.05

    def _solve(self, given: Given) -> None:
        """Let the smallest eigenvalue say what penalty is needed."""
        d = given.rows.n_design
        moment, cross = _recipes(given.rows, np.eye(d), self.x_bound, self.y_bound)
        with self._spending(given, 1, 2, isometric_upper_triangle) as spending:
            smallest, noise_sd = spending.smallest_eigenvalue(moment)
            noisy = spending.gram("second moment", moment)
            vector = spending.total_of("cross moment", cross)
        # With the noise sd of the eigenvalue for the scale of all three, as the three share alike.
        certain = smallest - math.sqrt(math.log(6.0 / DELTA)) * noise_sd
        wanted = math.sqrt(d * math.log(2.0 * d * d / self.failure)) * noise_sd
        self.penalty_ = max(0.0, wanted - max(0.0, certain))
        self.coef_ = np.asarray(np.linalg.solve(noisy + self.penalty_ * np.eye(d), vector))
