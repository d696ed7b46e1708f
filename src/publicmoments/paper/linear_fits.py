"""Linear models as published: DP-PMTRR, DP-RR, AdaSSP, and by noisy steps DP-GD, elastic net."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Self

import numpy as np

from publicmoments.arrays import Array
from publicmoments.checks import positive, share
from publicmoments.families import CanonicalFamily, Family, Gaussian, canonical_family
from publicmoments.families.factors import ClippedResponse, Ones, Residual
from publicmoments.models.penalty import elastic_net_coef
from publicmoments.paper.published import (
    ChargedEstimator,
    Count,
    Given,
    GuidedEstimator,
    LinearPrediction,
    NonNegative,
    OracleEstimator,
    Positive,
    Probability,
    PublishedEstimator,
    mean_squares,
    usable,
)
from publicmoments.paper.settings import oracle_response_radius, response_radius
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


def _canonical_or_gaussian(_: str, family: Family | None) -> CanonicalFamily:
    """Return the stated family, or the Gaussian one."""
    return Gaussian() if family is None else canonical_family(family)


def _positive_or_none(name: str, value: float | None) -> float | None:
    """Return a positive number, if there is one."""
    return None if value is None else positive(name, value)


@dataclass(eq=False, repr=False)
class _PerturbedRidge(LinearPrediction, PublishedEstimator):
    """Ridge regression on the noisy moments of rows and responses within some bounds."""

    alpha: NonNegative = 0.0

    def _within(
        self, radius: float, response_bound: float, whitener: Array, scale: float, given: Given
    ) -> None:
        """Release the second and cross moments, solve, and return to raw units."""
        moment, cross = _recipes(given.rows, whitener, radius, response_bound, scale)
        with self._spending(given, 1, 1) as spending:
            matrix = spending.gram("second moment", moment)
            vector = spending.total_of("cross moment", cross)
        solved = np.linalg.solve(matrix + self.alpha * whitener.T @ whitener, vector)
        self.coef_ = np.asarray(scale * (whitener @ solved))


@dataclass(eq=False, repr=False)
class PMTRidge(_PerturbedRidge, GuidedEstimator):
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

    needs_scale: ClassVar[bool] = True

    def _solve(self, given: Given) -> None:
        """Bound rows and responses by their published radii."""
        rows, public = given.rows, given.public
        self.radius_ = self._radius(rows)
        self.response_radius_ = response_radius(rows.n_rows, self.eta)
        whitener, scale = public.design(fit_intercept=False).whitener, response_scale(public)
        self._within(self.radius_, self.response_radius_, whitener, scale, given)


@dataclass(eq=False, repr=False)
class OracleRidge(_PerturbedRidge, OracleEstimator):
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

    _: KW_ONLY
    coef_norm: Annotated[float | None, _positive_or_none] = None

    def _solve(self, given: Given) -> None:
        """Take the radii from the private rows."""
        rows, radius = given.rows, self._radius(given.rows)
        if self.coef_norm is None:
            square = usable("y", mean_squares(rows)[1])
            bound = oracle_response_radius(square, rows.n_rows, self.eta)
        else:
            bound = radius * self.coef_norm
        self._within(radius, bound, np.eye(rows.n_design), 1.0, given)


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


@dataclass(eq=False, repr=False)
class NoisyGradientDescent(LinearPrediction, ChargedEstimator):
    """
    DP-GD: gradient descent with clipped gradients and noise in every step.

    Each step is b <- b - step (mean of the rows' gradients, each shortened to ``clip``, + noise
    + alpha b). After Avella-Medina, Bradshaw and Loh (2023).

    Parameters
    ----------
    alpha : float, default=0.0
        Ridge penalty.
    family : Family, optional
        Family of the responses; Gaussian, that is least squares, by default. `predict` returns the
        linear predictor whatever the family.
    iterations : int, default=1000
        T, the number of steps.
    clip : float, default=1.0
        Longest gradient of a row.
    step : float, default=0.09
        Step size. The defaults are those of the paper's simulation.
    privacy : GDP, ApproxDP or ZCDP
        Total budget of the fit; with one statistic, it is the published mu.
    random_state, on_invalid, ledger, dataset
        As in `PMTRidge`.

    Attributes
    ----------
    coef_, intercept_, card_, n_features_in_, feature_names_in_
        As in `PMTRidge`.
    coef_path_ : ndarray of shape (iterations + 1, n_features)
        Coefficients after each step; released.

    Examples
    --------
    >>> from publicmoments import GDP
    >>> from publicmoments.datasets import simulate_linear
    >>> X, y, _ = simulate_linear(np.random.default_rng(0), 5_000, d=3)
    >>> NoisyGradientDescent(iterations=50, privacy=GDP(1.0)).fit(X, y).card_.private
    True
    """

    alpha: NonNegative = 0.0
    _: KW_ONLY
    family: Annotated[Family | None, _canonical_or_gaussian] = None
    iterations: Count = 1000
    clip: Positive = 1.0
    step: Positive = 0.09

    def _checked(self) -> Self:
        """Check the parameters, and that steps shrink what is penalised."""
        chosen = super()._checked()
        if not chosen.step * chosen.alpha < 2.0:
            raise ValueError(
                f"step * alpha must be below 2, or steps diverge, got step={chosen.step!r} and "
                f"alpha={chosen.alpha!r}; pass a smaller step"
            )
        return chosen

    def _solve(self, given: Given) -> None:
        """Clip gradients, and nothing else."""
        assert self.family is not None, "checked parameters have a family"
        n, d = given.rows.n_rows, given.rows.n_design
        slope, plain = Residual(self.family), np.eye(d)
        coef, path = np.zeros(d), [np.zeros(d)]
        with self._spending(given, 0, self.iterations) as spending:
            for _ in range(self.iterations):
                recipe = TotalRecipe(plain, coef[:, None], slope, math.inf, self.clip, n)
                gradient = spending.total_of("gradient", recipe)
                coef = coef - self.step * (gradient + self.alpha * coef)
                path.append(coef)
        self.coef_, self.coef_path_ = coef, np.stack(path)


@dataclass(eq=False, repr=False)
class PMTElasticNet(LinearPrediction, GuidedEstimator):
    """
    Elastic net by noisy proximal gradient steps on rows truncated by public moments.

    Minimises, up to noise, scikit-learn's objective

        1/(2n) ||y - X b||^2 + alpha l1_ratio ||b||_1 + alpha (1 - l1_ratio)/2 ||b||^2

    as the end of the paper's Section 4 proposes: rows are truncated as by `pmt`, residuals clipped
    to `response_radius`, so that no gradient of a row is longer than the product of the two radii.
    A step descends in whitened coordinates; its proximal part is solved with the penalty on the
    coefficients in raw units, which needs public numbers only.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty.
    l1_ratio : float, default=0.5
        Share of the absolute penalty, in [0, 1]; 1 is the lasso.
    iterations : int, default=20
        T, the number of steps.
    step : float, default=0.5
        Step size in whitened coordinates, where curvatures are near one.
    eta, privacy, public, random_state, on_invalid, ledger, dataset
        As in `PMTRidge`. With one statistic, the total is the published mu.

    Attributes
    ----------
    coef_, intercept_, radius_, response_radius_, card_, n_features_in_, feature_names_in_
        As in `PMTRidge`.
    coef_path_ : ndarray of shape (iterations + 1, n_features)
        Coefficients after each step; released.

    Examples
    --------
    >>> from publicmoments import GDP, PublicMoments
    >>> from publicmoments.datasets import simulate_linear
    >>> X, y, _ = simulate_linear(np.random.default_rng(0), 5_200, d=3)
    >>> public = PublicMoments.from_rows(X[:200], response=y[:200])
    >>> model = PMTElasticNet(0.1, privacy=GDP(10.0), public=public).fit(X[200:], y[200:])
    >>> model.coef_path_.shape
    (21, 3)
    """

    alpha: NonNegative = 1.0
    _: KW_ONLY
    l1_ratio: Annotated[float, share] = 0.5
    iterations: Count = 20
    step: Positive = 0.5

    needs_scale: ClassVar[bool] = True

    def _solve(self, given: Given) -> None:
        """Bound rows and residuals by their published radii."""
        n, d = given.rows.n_rows, given.rows.n_design
        radius, response_bound = self._radius(given.rows), response_radius(n, self.eta)
        bound, alpha = radius * response_bound, self.step * self.alpha
        design = given.public.design(fit_intercept=False)
        scale, back = response_scale(given.public), design.unwhitener
        slope = Residual(Gaussian(), scale=scale, bound=response_bound)
        coef, path = np.zeros(d), [np.zeros(d)]
        with self._spending(given, 0, self.iterations) as spending:
            for _ in range(self.iterations):
                whitened = back @ coef / scale
                recipe = TotalRecipe(design.whitener, whitened[:, None], slope, radius, bound, n)
                gradient = spending.total_of("gradient", recipe)
                target = scale * (whitened - self.step * gradient)
                coef = elastic_net_coef(back, target, alpha, self.l1_ratio)
                path.append(coef)
        self.coef_, self.coef_path_ = coef, np.stack(path)
        self.radius_, self.response_radius_ = radius, response_bound
