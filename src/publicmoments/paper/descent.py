"""Noisy first-order methods: DP-GD, and elastic net by proximal steps on truncated rows."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Self

import numpy as np

from publicmoments.checks import share
from publicmoments.families import CanonicalFamily, Family, Gaussian, canonical_family
from publicmoments.families.factors import Residual
from publicmoments.models.penalty import elastic_net_coef
from publicmoments.paper.published import (
    ChargedEstimator,
    Count,
    Given,
    GuidedEstimator,
    LinearPrediction,
    NonNegative,
    Positive,
)
from publicmoments.paper.ridge_fits import response_scale
from publicmoments.paper.settings import response_radius, truncation_radius
from publicmoments.rows.recipe import TotalRecipe


def _canonical_or_gaussian(_: str, family: Family | None) -> CanonicalFamily:
    """Return the stated family, or the Gaussian one."""
    return Gaussian() if family is None else canonical_family(family)


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
        radius, response_bound = truncation_radius(d, n, self.eta), response_radius(n, self.eta)
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
