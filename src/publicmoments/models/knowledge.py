"""What is known of the regression: from public moments at first, from releases as they come."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from publicmoments.models.belief import CoefBelief
from publicmoments.planner.bounds import Bounds, BoundsRequest, Situation, choose_bounds
from publicmoments.public import PublicDesign
from publicmoments.release import RowRecipe

__all__ = ["FLAT", "Knowledge", "belief_without_fit", "initial_knowledge", "plan_pass"]

Array = NDArray[np.float64]

SPREADS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2)
"""Candidate shares of the response that the coefficients explain, for the beliefs without a fit."""

FLAT = 1e8
"""Prior variance, relative to the response, that stands for no opinion."""

MOST_INFLATION = 3.0


@dataclass(frozen=True, eq=False)
class Knowledge:
    """
    Current knowledge of a linear model with p design columns and q responses.

    Parameters
    ----------
    whitener, unwhitener : ndarray of shape (p, p)
        Z = X @ whitener has second moment near the identity.
    effective_n : float
        How well the second moment is known: as from this many rows; 0 when it is a guess.
    coef : ndarray of shape (p, q)
        Current coefficients.
    beliefs : tuple of CoefBelief
        For each response, the law of the true coefficients less the current ones.
    scale : ndarray of shape (q,)
        Root mean square of y - x @ coef that is expected of private rows.
    noise_scale : ndarray of shape (q,) or None
        Root mean square of the residuals about the true coefficients, where public rows told it.
    rows, responses : ndarray or None
        Public rows, and their responses where there is a public fit.
    response_scale : ndarray of shape (q,)
        Root mean square of the responses, public or assumed.
    """

    whitener: Array = field(repr=False)
    unwhitener: Array = field(repr=False)
    effective_n: float
    coef: Array
    beliefs: tuple[CoefBelief, ...] = field(repr=False)
    scale: Array
    noise_scale: Array | None
    rows: Array | None = field(repr=False)
    responses: Array | None = field(repr=False)
    response_scale: Array

    @property
    def second_moment(self) -> Array:
        """Second moment of a design row."""
        return np.asarray(self.unwhitener.T @ self.unwhitener)

    @property
    def inflation(self) -> float:
        """Expected mean of ||z||^2 / p, that of an inverted Wishart matrix."""
        p, n = len(self.coef), self.effective_n
        if n == 0:
            return 1.0
        return min(n / (n - p - 1), MOST_INFLATION) if n > p + 1 else MOST_INFLATION

    @property
    def moment_variance(self) -> float:
        """Variance of an off-diagonal entry of the true second moment of z, likewise."""
        p, n = len(self.coef), self.effective_n
        return FLAT if n == 0 else self.inflation**2 / max(n - p - 3, 2.0)

    @property
    def tail(self) -> float:
        """Fourth moment of the public rows, as a multiple of that of Gaussian ones; at least 1."""
        if self.rows is None:
            return 1.0
        p = len(self.coef)
        squared = np.sum((self.rows @ self.whitener) ** 2, axis=1)
        return max(float(np.mean(squared**2)) / (p * (p + 2)), 1.0)

    def prediction_error(self, k: int) -> float:
        """Expected squared error of predictions for response k."""
        return float(np.trace(self.unwhitener @ self.beliefs[k].covariance @ self.unwhitener.T))


def initial_knowledge(design: PublicDesign, n_responses: int, anchor: bool) -> Knowledge:
    """
    Turn public moments into knowledge.

    With public responses the start is the public fit, off by its own sampling error, of covariance
    residual variance x (n S)^{-1}. Without, it is zero, and the coefficients explain some share of
    the response, spread over directions alike after whitening, in raw units, or in units of the
    columns' sizes. ``anchor=False`` keeps the start but has no opinion on how far off it is.
    """
    p, q = design.n_columns, n_responses
    response_scale = (
        np.ones(q) if design.response_scale is None else np.asarray(design.response_scale)
    )
    inverse = design.whitener @ design.whitener.T
    coef, scale, noise_scale = np.zeros((p, q)), response_scale, None
    if design.coef is not None and design.n is not None and design.residual_scale is not None:
        coef, noise_scale = np.array(design.coef), np.asarray(design.residual_scale)
        beliefs = [_belief_in_fit(inverse * s**2 / design.n, design.n - p) for s in noise_scale]
        scale = np.minimum(noise_scale * math.sqrt(1 + p / max(design.n - p - 1, 1)), scale)
    else:
        beliefs = [belief_without_fit(design.second_moment, inverse, s) for s in response_scale]
    if not anchor:
        beliefs = [CoefBelief.centred([inverse * FLAT * s**2], [0.0]) for s in response_scale]
    return Knowledge(
        whitener=np.asarray(design.whitener),
        unwhitener=np.asarray(design.unwhitener),
        effective_n=float(design.n) if anchor and design.n is not None else 0.0,
        coef=coef,
        beliefs=tuple(beliefs),
        scale=scale,
        noise_scale=noise_scale,
        rows=design.rows,
        responses=design.responses if noise_scale is not None else None,
        response_scale=response_scale,
    )


def _belief_in_fit(covariance: Array, freedom: int) -> CoefBelief:
    """Sampling error of a fit whose residual variance was itself estimated, on few rows badly."""
    freedom = max(freedom, 1)
    factors = freedom / chi2.ppf([0.9, 0.5, 0.1, 0.01], freedom)
    return CoefBelief.centred(
        [covariance * factor for factor in factors], [math.log(w) for w in (0.25, 0.5, 0.2, 0.05)]
    )


def belief_without_fit(second_moment: Array, inverse: Array, scale: float) -> CoefBelief:
    """Mixture over directions and sizes; sizes far from the response's own are less likely."""
    p = len(second_moment)
    shapes = (inverse, np.eye(p), np.diag(1.0 / np.diag(second_moment)))
    covariances, log_weights = [], []
    for shape in shapes:
        explained = float(np.sum(shape * second_moment))
        for spread in SPREADS:
            covariances.append(shape * (spread * scale**2 / explained))
            log_weights.append(-0.5 * abs(math.log10(spread)))
    return CoefBelief.centred(covariances, log_weights)


def plan_pass(
    knowledge: Knowledge,
    n_rows: int,
    mu: float,
    *,
    final: bool,
    fit_intercept: bool,
    request: BoundsRequest,
) -> tuple[RowRecipe, Bounds]:
    """Choose bounds for a pass and write them down as a recipe; nothing private is used."""
    p, q = knowledge.coef.shape
    error = max(knowledge.prediction_error(k) / knowledge.scale[k] ** 2 for k in range(q))
    rows = residuals = None
    if knowledge.rows is not None and knowledge.responses is not None:
        rows = knowledge.rows @ knowledge.whitener
        residuals = (knowledge.responses - knowledge.rows @ knowledge.coef) / knowledge.scale
    situation = Situation(p, q, n_rows, mu, knowledge.inflation, error / p, rows, residuals, final)
    bounds = choose_bounds(situation, request)
    recipe = RowRecipe(
        whitener=knowledge.whitener,
        coef=knowledge.coef,
        scale=knowledge.scale,
        x_radius=bounds.x_radius,
        response_bound=bounds.response_bound,
        weight=bounds.weight,
        fit_intercept=fit_intercept,
        n_rows=n_rows,
    )
    return recipe, bounds
