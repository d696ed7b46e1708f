"""Where a generalised linear model starts from: public inputs only."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from publicmoments.families import Family
from publicmoments.models.belief import CoefBelief
from publicmoments.models.glm.passes import Start
from publicmoments.models.glm.stage import Stage, make_stage
from publicmoments.models.knowledge import FLAT, belief_without_fit
from publicmoments.models.solve import positive_inverse, positive_solution
from publicmoments.public import PublicDesign

__all__ = ["make_start"]

Array = NDArray[np.float64]

WEAK = 1e4
"""Prior variance of a whitened coefficient in the public fit, where labels alone would have none:
perfectly separated classes, or counts that are all zero."""

FIT_INFLATION = 1.1
"""Public fits are taken to be off by this much more variance than their sampling error."""

USELESS, USELESS_SPREAD = 0.01, 16.0
"""Chance that the public fit is far off, and how much more variance it then has."""

LEAST_WEIGHT = 12.0
"""Opinions whose log weight is this far below the best are dropped."""

MOST_STEPS = 100


def make_start(
    design: PublicDesign,
    family: Family,
    alpha: float,
    *,
    anchor: bool,
    responses: Array | None,
    scale: float,
) -> Start:
    """
    Set the stage, fit public responses where there are any, and state what is believed.

    Parameters
    ----------
    design : PublicDesign
        Public moments of the design.
    family : Family
        Of the responses.
    alpha : float
        Ridge penalty.
    anchor : bool
        Whether public data count as evidence on the coefficients.
    responses : ndarray of shape (rows, 1) or None
        Responses of the public rows, in the units of the family.
    scale : float
        Typical size of the linear predictor.

    Returns
    -------
    Start
    """
    stage = make_stage(design, family, alpha)
    k, p = family.n_predictors, design.n_columns
    inverse = np.asarray(design.whitener @ design.whitener.T)
    spread = belief_without_fit(np.asarray(design.second_moment), inverse, scale)
    prior = spread.transformed(np.asarray(design.unwhitener))
    prior = _for_each_predictor(prior, k)
    if not anchor:
        prior = CoefBelief.centred([np.eye(p * k) * FLAT], [0.0])
    if responses is None:
        return Start(stage, prior, None, 0.0)
    rows = stage.rows[: len(responses)]
    # Of many public rows only some are kept, and the fit knows no more than those.
    fitted, covariance = _public_fit(stage, rows, responses, len(responses))
    freedom = max(float(len(responses) - p * k), 1.0)
    if not anchor:
        return Start(stage, prior.moved(-fitted), responses, 0.0)
    return Start(stage, _after_fit(prior, fitted, covariance), responses, freedom)


def _for_each_predictor(belief: CoefBelief, k: int) -> CoefBelief:
    """Believe the same of each of k predictors."""
    if k == 1:
        return belief
    covariances = np.array([np.kron(matrix, np.eye(k)) for matrix in belief.covariances])
    return CoefBelief(belief.log_weights, np.zeros(covariances.shape[:2]), covariances)


def _after_fit(prior: CoefBelief, fitted: Array, covariance: Array) -> CoefBelief:
    """Condition on the public fit; keep a little doubt that it says anything."""
    even = CoefBelief(
        prior.log_weights - np.logaddexp.reduce(prior.log_weights), prior.means, prior.covariances
    )
    identity = np.eye(len(fitted))
    after = even.updated(identity, fitted, FIT_INFLATION * covariance)
    logs = after.log_weights - np.logaddexp.reduce(after.log_weights)
    likely = logs > logs.max() - LEAST_WEIGHT
    return CoefBelief(
        np.append(logs[likely] + math.log(1.0 - USELESS), math.log(USELESS)),
        np.concatenate([after.means[likely], [fitted]]),
        np.concatenate([after.covariances[likely], [USELESS_SPREAD * covariance]]),
    )


def _public_fit(stage: Stage, rows: Array, responses: Array, n: int) -> tuple[Array, Array]:
    """Fit the public responses with the penalty and a weak prior; return also the covariance."""
    family, k = stage.family, stage.family.n_predictors
    weak = np.eye(stage.size) / (n * WEAK)
    penalty = stage.full_penalty + weak
    coef = np.zeros(stage.size)

    def loss(at: Array) -> float:
        with np.errstate(over="ignore"):
            losses = family.loss(rows @ at.reshape(-1, k), responses)
        return float(np.mean(losses) + at @ penalty @ at / 2.0)

    value = loss(coef)
    for _ in range(MOST_STEPS):
        hessian, gradients = _pieces(family, rows, responses, coef)
        gradient = gradients.mean(axis=0)
        step = positive_solution(hessian + penalty, gradient + penalty @ coef)
        share = 1.0
        while not (new := loss(coef - share * step)) <= value and share > 1e-6:
            share /= 2.0
        if not new <= value:
            break
        coef, value = coef - share * step, new
        if np.linalg.norm(share * step) <= 1e-9 * (1.0 + np.linalg.norm(coef)):
            break
    hessian, gradients = _pieces(family, rows, responses, coef)
    inverse = positive_inverse(hessian + penalty)
    meat = gradients.T @ gradients / len(rows) * n / max(n - stage.size, 1) + weak
    return coef, np.asarray(inverse @ meat @ inverse / n)


def _pieces(family: Family, rows: Array, responses: Array, coef: Array) -> tuple[Array, Array]:
    """Mean curvature over public rows, and the gradient of each."""
    k, count = family.n_predictors, len(rows)
    predictors = rows @ coef.reshape(-1, k)
    slopes = family.slope(predictors, responses)
    even = np.full(count, 1.0 / count)
    stage = Stage(family, rows, even, np.zeros((rows.shape[1],) * 2), 0.0)
    hessian = stage.squares(np.ones(count), family.information(predictors))
    return hessian, (rows[:, :, None] * slopes[:, None, :]).reshape(count, -1)
