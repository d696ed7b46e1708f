"""Noisy Newton iterations as published: DP-PMTLR, DP-PMTGLM and DP-LR."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin

from publicmoments.arrays import Array
from publicmoments.checks import positive_integer
from publicmoments.families import Bernoulli, Family, canonical_family
from publicmoments.families.factors import Residual, RootCurvature
from publicmoments.models.classes import BinaryPrediction, checked_classes
from publicmoments.paper.newton_theory import iterations as published_iterations
from publicmoments.paper.published import (
    Given,
    GuidedEstimator,
    NonNegative,
    OracleEstimator,
    Positive,
    PublishedEstimator,
    Spending,
)
from publicmoments.paper.settings import predictor_reach
from publicmoments.rows.recipe import GramRecipe, TotalRecipe


@dataclass(frozen=True)
class _Newton:
    """
    Noisy Newton iterations on truncated rows.

    Parameters
    ----------
    family : Family
        Of the responses.
    whitener : ndarray of shape (d, d)
        Rows are whitened from the right.
    radius : float
        Longest whitened row.
    slope_bound, curvature_bound : float
        Largest slope and curvature of a row's loss: R_y + M_b' and M_b''.
    alpha : float
        Ridge penalty on the coefficients in raw units.
    response_bound, coef_bound : float
        R_y and R_beta; infinite where the family needs neither.
    """

    family: Family
    whitener: Array
    radius: float
    slope_bound: float
    curvature_bound: float
    alpha: float
    response_bound: float = math.inf
    coef_bound: float = math.inf

    def path(self, spending: Spending, iterations: int) -> Array:
        """Make exactly ``iterations`` updates from zero; return all iterates in raw units."""
        coef = np.zeros(len(self.whitener))
        whitened = [coef]
        for _ in range(iterations):
            hessian, gradient = self._measured(spending, coef)
            coef = self._projected(coef - np.linalg.solve(hessian, gradient))
            whitened.append(coef)
        return np.stack(whitened) @ self.whitener.T

    def _measured(self, spending: Spending, coef: Array) -> tuple[Array, Array]:
        """Noisy Hessian and gradient of the penalised loss at some coefficients."""
        n, at = spending.rows.n_rows, coef[:, None]
        length = self.radius * math.sqrt(self.curvature_bound)
        hessian = GramRecipe(self.whitener, at, RootCurvature(self.family), self.radius, length, n)
        slope = Residual(self.family, response_bound=self.response_bound)
        length = self.radius * self.slope_bound
        gradient = TotalRecipe(self.whitener, at, slope, self.radius, length, n)
        penalty = self.alpha * self.whitener.T @ self.whitener
        return (
            spending.gram("Hessian", hessian) + penalty,
            spending.total_of("gradient", gradient) + penalty @ coef,
        )

    def _projected(self, coef: Array) -> Array:
        """Bring coefficients back into their ball, without which M_b' and M_b'' bound nothing."""
        length = float(np.linalg.norm(coef))
        return coef * (self.coef_bound / length) if length > self.coef_bound else coef


def _auto_or_count(name: str, iterations: int | Literal["auto"]) -> int | Literal["auto"]:
    """Return a number of updates, or "auto"."""
    if iterations == "auto":
        return iterations
    return positive_integer(name, iterations, 'pass "auto" or a positive integer')


def _canonical(_: str, family: object) -> Family:
    """Return a family with a canonical link."""
    return canonical_family(family)


def _two_classes(_: str, classes: object) -> tuple[Any, ...]:
    """Return two labels."""
    return checked_classes(classes, exactly=2)


@dataclass(eq=False, repr=False, kw_only=True)
class _NewtonEstimator(PublishedEstimator):
    """Estimators whose fit is a run of `_Newton`."""

    iterations: Annotated[int | Literal["auto"], _auto_or_count] = "auto"

    def _run(self, newton: _Newton, given: Given) -> None:
        """Make T updates, T from the number of rows or as stated."""
        updates = self.iterations
        if updates == "auto":
            updates = published_iterations(given.rows.n_rows)
        with self._spending(given, updates, updates) as spending:
            self.coef_path_ = newton.path(spending, updates)
        self.coef_, self.n_iter_ = self.coef_path_[-1], updates


@dataclass(eq=False, repr=False)
class _Logistic(BinaryPrediction, ClassifierMixin, _NewtonEstimator):  # type: ignore[misc]
    """Logistic regression on rows within some radius."""

    alpha: NonNegative = 0.0
    _: KW_ONLY
    classes: Annotated[tuple[Any, Any], _two_classes] = (0, 1)

    def _within(self, radius: float, whitener: Array, given: Given) -> None:
        """Fit: slopes are at most 1 and curvatures 1/4, as probabilities are what they are."""
        self._run(_Newton(Bernoulli(), whitener, radius, 1.0, 0.25, self.alpha), given)
        self.classes_ = np.array(self.classes)


@dataclass(eq=False, repr=False)
class PMTLogisticRegression(_Logistic, GuidedEstimator):
    """
    DP-PMTLR, Algorithm 3: logistic regression by noisy Newton on rows truncated by public moments.

    Minimises, up to noise,

        mean(log(1 + exp(x.b)) - y x.b) + alpha/2 ||b||^2

    from zero, in exactly ``iterations`` updates, each with a noisy Hessian and a noisy gradient of
    the whitened and truncated rows.

    Parameters
    ----------
    alpha : float, default=0.0
        Ridge penalty, lambda in the paper.
    classes : pair, default=(0, 1)
        The two labels, which are public; the second is the one whose odds are modelled.
    eta : float, default=0.05
        Probability scale of the truncation, in (0, 1).
    iterations : "auto" or int, default="auto"
        T; "auto" is ceil(log2(log2(n))). The published loop makes one more than it pays for.
    privacy : GDP, ApproxDP or ZCDP
        Total budget of the fit, sqrt(2) times the published mu.
    public : PublicMoments, optional
        Public second moments.
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
    coef_path_ : ndarray of shape (iterations + 1, n_features)
        Coefficients after each update; released, as the noise of each covers them.
    classes_ : ndarray of shape (2,)
        The stated classes.
    n_iter_ : int
        Updates made; public.
    intercept_, radius_, card_, n_features_in_, feature_names_in_
        As in `PMTRidge`.

    Examples
    --------
    >>> from publicmoments import GDP, PublicMoments
    >>> from publicmoments.datasets import simulate_logistic
    >>> X, y, _ = simulate_logistic(np.random.default_rng(0), 20_200, d=3)
    >>> public = PublicMoments.from_rows(X[:200])
    >>> model = PMTLogisticRegression(privacy=GDP(20.0), public=public).fit(X[200:], y[200:])
    >>> model.predict(X[:3]).shape, model.coef_path_.shape
    ((3,), (5, 3))
    """

    def _solve(self, given: Given) -> None:
        """Bound rows by the published radius."""
        self.radius_ = self._radius(given.rows)
        self._within(self.radius_, given.public.design(fit_intercept=False).whitener, given)


@dataclass(eq=False, repr=False)
class OracleLogisticRegression(_Logistic, OracleEstimator):
    """
    DP-LR, Algorithm 5: noisy Newton without public data; an oracle, not private.

    The radius sqrt(Tr(S) + d log(n/eta)) takes the trace from the private rows themselves. There is
    no way to charge such a fit to a ledger, and its card says that nothing is guaranteed.

    Parameters
    ----------
    alpha, classes, eta, iterations, random_state, on_invalid
        As in `PMTLogisticRegression`.
    privacy : GDP, ApproxDP or ZCDP
        The budget that the noise is made for; compare with methods of the same total.

    Attributes
    ----------
    coef_, coef_path_, classes_, n_iter_, intercept_, card_, n_features_in_, feature_names_in_
        As in `PMTLogisticRegression`, but not private.

    Examples
    --------
    >>> from publicmoments import GDP
    >>> from publicmoments.datasets import simulate_logistic
    >>> X, y, _ = simulate_logistic(np.random.default_rng(0), 10_000, d=3)
    >>> OracleLogisticRegression(alpha=0.1, privacy=GDP(20.0)).fit(X, y).card_.private
    False
    """

    def _solve(self, given: Given) -> None:
        """Take the radius from the private rows."""
        self._within(self._radius(given.rows), np.eye(given.rows.n_design), given)


@dataclass(eq=False, repr=False)
class PMTGLM(RegressorMixin, _NewtonEstimator, GuidedEstimator):  # type: ignore[misc]
    """
    DP-PMTGLM, Algorithm 4: a canonical generalised linear model by noisy Newton.

    Minimises, up to noise, mean(b(x.b) - y x.b) + alpha/2 ||b||^2 over coefficients whose whitened
    norm is at most ``coef_bound``, onto which every iterate is projected.

    Parameters
    ----------
    family : Family
        `Gaussian`, `Bernoulli` or `Poisson` of `publicmoments.families`.
    alpha : float, default=0.0
        Ridge penalty, lambda in the paper.
    response_bound : float, default=1.0
        R_y; responses are clipped to it on both sides.
    coef_bound : float, default=1.0
        R_beta, the bound on the whitened coefficients. M_b' and M_b'' follow from it, for a Poisson
        family as exp(coef_bound radius): keep it small.
    eta, iterations, privacy, public, random_state, on_invalid, ledger, dataset
        As in `PMTLogisticRegression`.

    Attributes
    ----------
    coef_, coef_path_, n_iter_, intercept_, radius_, card_, n_features_in_, feature_names_in_
        As in `PMTLogisticRegression`.

    Examples
    --------
    >>> from publicmoments import GDP, PublicMoments
    >>> from publicmoments.datasets import simulate_poisson
    >>> from publicmoments.families import Poisson
    >>> X, y, _, _ = simulate_poisson(np.random.default_rng(0), 20_200, d=3)
    >>> public = PublicMoments.from_rows(X[:200])
    >>> model = PMTGLM(Poisson(), response_bound=20.0, privacy=GDP(20.0), public=public)
    >>> model.fit(X[200:], y[200:]).predict(X[:3]).shape
    (3,)
    """

    family: Annotated[Family, _canonical]
    alpha: NonNegative = 0.0
    _: KW_ONLY
    response_bound: Positive = 1.0
    coef_bound: Positive = 1.0

    def _solve(self, given: Given) -> None:
        """Bound rows by the published radius, slopes and curvatures by what follows from it."""
        family = canonical_family(self.family)
        self.radius_ = self._radius(given.rows)
        reach = predictor_reach(self.radius_, self.coef_bound)
        newton = _Newton(
            family,
            given.public.design(fit_intercept=False).whitener,
            self.radius_,
            self.response_bound + family.largest_mean(reach),
            family.largest_curvature(reach),
            self.alpha,
            self.response_bound,
            self.coef_bound,
        )
        self._run(newton, given)

    def predict(self, X: ArrayLike) -> Array:
        """
        Predict mean responses.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self.family.mean(self._feature_values(X) @ self.coef_)
