"""Noisy first-order methods: DP-GD, and elastic net by proximal steps on truncated rows."""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin

from publicmoments.arrays import RandomState
from publicmoments.checks import fraction, non_negative, positive, positive_integer, share
from publicmoments.data import as_table
from publicmoments.families import Family, Gaussian, canonical_family
from publicmoments.families.factors import Residual
from publicmoments.models.penalty import elastic_net_coef
from publicmoments.models.shell import check_public, match_responses, matched_moments, one_response
from publicmoments.paper.published import LinearPrediction, PublishedEstimator
from publicmoments.paper.radii import response_radius, truncation_radius
from publicmoments.paper.ridge_fits import response_scale
from publicmoments.privacy.budgets import Budget
from publicmoments.public import PublicMoments
from publicmoments.rows.recipe import TotalRecipe


class NoisyGradientDescent(LinearPrediction, RegressorMixin, PublishedEstimator):  # type: ignore[misc]
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
    random_state, on_invalid
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

    def __init__(
        self,
        alpha: float = 0.0,
        *,
        family: Family | None = None,
        iterations: int = 1000,
        clip: float = 1.0,
        step: float = 0.09,
        privacy: Budget | None = None,
        random_state: RandomState = None,
        on_invalid: Literal["raise", "ignore"] = "raise",
    ) -> None:
        self.alpha = alpha
        self.family = family
        self.iterations = iterations
        self.clip = clip
        self.step = step
        self.privacy = privacy
        self.random_state = random_state
        self.on_invalid = on_invalid

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model; see `PMTRidge.fit`."""
        alpha, clip = non_negative("alpha", self.alpha), positive("clip", self.clip)
        step = positive("step", self.step)
        steps = positive_integer("iterations", self.iterations)
        if not step * alpha < 2.0:
            raise ValueError(
                f"step * alpha must be below 2, or steps diverge, got step={step!r} and "
                f"alpha={alpha!r}; pass a smaller step"
            )
        family = Gaussian() if self.family is None else canonical_family(self.family)
        privacy = self._checked_budget()
        features, responses = as_table(X, "X"), one_response(y)
        rows = self._private_rows(features, responses, fit_intercept=False)
        n, d = rows.n_rows, rows.n_design
        slope, plain = Residual(family), np.eye(d)
        coef, path = np.zeros(d), [np.zeros(d)]
        with self._spending(rows, privacy, grams=0, vectors=steps) as spending:
            for _ in range(steps):
                recipe = TotalRecipe(plain, coef[:, None], slope, math.inf, clip, n)
                gradient = spending.total_of("gradient", recipe)
                coef = coef - step * (gradient + alpha * coef)
                path.append(coef)
        self.coef_path_ = np.stack(path)
        self._keep(features, coef, spending, None)
        return self


class PMTElasticNet(LinearPrediction, RegressorMixin, PublishedEstimator):  # type: ignore[misc]
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
    eta, privacy, public, random_state, on_invalid
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

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        eta: float = 0.05,
        iterations: int = 20,
        step: float = 0.5,
        privacy: Budget | None = None,
        public: PublicMoments | None = None,
        random_state: RandomState = None,
        on_invalid: Literal["raise", "ignore"] = "raise",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.eta = eta
        self.iterations = iterations
        self.step = step
        self.privacy = privacy
        self.public = public
        self.random_state = random_state
        self.on_invalid = on_invalid

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model; see `PMTRidge.fit`."""
        alpha, eta = non_negative("alpha", self.alpha), fraction("eta", self.eta)
        l1_ratio = share("l1_ratio", self.l1_ratio)
        step = positive("step", self.step)
        steps = positive_integer("iterations", self.iterations)
        check_public(self.public)
        privacy = self._checked_budget()
        features, responses = as_table(X, "X"), one_response(y)
        rows = self._private_rows(features, responses, fit_intercept=False)
        public = matched_moments(self.public, features, 1)
        match_responses(responses, public)
        n, d = rows.n_rows, rows.n_design
        radius, response_bound = truncation_radius(d, n, eta), response_radius(n, eta)
        bound = radius * response_bound
        design, scale = public.design(fit_intercept=False), response_scale(public)
        slope = Residual(Gaussian(), scale=scale, bound=response_bound)
        coef, path = np.zeros(d), [np.zeros(d)]
        with self._spending(rows, privacy, grams=0, vectors=steps) as spending:
            for _ in range(steps):
                whitened = design.unwhitener @ coef / scale
                recipe = TotalRecipe(design.whitener, whitened[:, None], slope, radius, bound, n)
                gradient = spending.total_of("gradient", recipe)
                target = scale * (whitened - step * gradient)
                coef = elastic_net_coef(design.unwhitener, target, step * alpha, l1_ratio)
                path.append(coef)
        self.coef_path_ = np.stack(path)
        self._keep(features, coef, spending, public)
        self.radius_, self.response_radius_ = radius, response_bound
        return self
