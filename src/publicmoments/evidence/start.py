"""Where a fit starts: the fit of the public responses, or the constant model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from publicmoments.arrays import Array
from publicmoments.evidence.numerics import positive_inverse, positive_solution
from publicmoments.evidence.standins import StandIns
from publicmoments.families import Family

SHRINKAGES = np.geomspace(10.0, 1e-4, 16)
"""Penalties tried on the public fit, as shares of the curvature of a whitened column; of counts at
least what one row adds to it. Where slopes are bounded a row's worth of curvature in all pulls each
coefficient: labels that are separated, or all alike, ask for no end."""

LEAST_SHRINKAGE = 0.01
"""What is known of the public fit's error counts on at least this much curvature."""

LEAST_DISPERSION = 1e-6
"""Public responses that their fit goes through are taken to leave this much, in squared units."""

MOST_STEPS, MOST_HALVINGS, CONVERGED = 30, 12, 1e-7


@dataclass(frozen=True, eq=False)
class Start:
    """
    What is believed before the first gradient.

    Parameters
    ----------
    coef : ndarray of shape (p k,)
        Whitened coefficients.
    covariance : ndarray of shape (p k, p k)
        Of their error, up to a scale that releases will tell.
    dispersion : ndarray of shape (k,)
        Variance of a slope over the information of its row.
    informed : bool
        Whether public responses stand behind it: the scale is then at least 1.
    n_public : int or None
        Public rows behind the whitener.
    """

    coef: Array = field(repr=False)
    covariance: Array = field(repr=False)
    dispersion: Array
    informed: bool
    n_public: int | None


def public_start(
    family: Family,
    rows: Array,
    responses: Array,
    penalty: Array,
    constant: Array | None,
    offsets: Array | float = 0.0,
) -> Start:
    """
    Fit public responses, shrunk towards the constant model as far as leaving rows out asks for.

    Parameters
    ----------
    family : Family
        Of the responses.
    rows : ndarray of shape (n, p)
        Public rows in whitened coordinates.
    responses : ndarray of shape (n, columns)
        Theirs.
    penalty : ndarray of shape (p k, p k)
        Of the fit that is wanted.
    constant : ndarray of shape (p,) or None
        Direction in which all rows are one.
    offsets : ndarray of shape (n, 1) or float
        Added to their linear predictors.

    Returns
    -------
    Start
    """
    n, p = rows.shape
    k = family.n_predictors
    stand_ins = StandIns(family, rows, offsets)
    coef = np.zeros(p * k)
    free = np.eye(p) if constant is None else np.eye(p) - _projection(constant)
    shrunk = np.kron(free, np.eye(k))
    bounded = math.isfinite(family.slope_limit)
    weak = np.zeros((p * k, p * k))
    if bounded:
        values, vectors = np.linalg.eigh(penalty)
        weak = (vectors * np.maximum(stand_ins.spread(coef) / n - values, 0.0)) @ vectors.T
    if constant is not None:
        coef = minimised(stand_ins, responses, penalty + weak + 1e6 * shrunk, coef)
    unit = stand_ins.spread(coef)
    weak += 1e-9 * unit * np.eye(p * k)
    best, found, kept = np.inf, coef, SHRINKAGES[0]
    least = 0.0 if family.is_linear or bounded else 1.0 / n
    for share in np.maximum(SHRINKAGES, least):
        added = penalty + share * unit * shrunk + weak
        coef = minimised(stand_ins, responses, added, coef)
        loss = _left_out_loss(stand_ins, responses, added, coef)
        if loss < best:
            best, found, kept = loss, coef, share
    information = stand_ins.squares(family.information(stand_ins.predictors(found)))
    prior = max(kept, LEAST_SHRINKAGE) * unit * shrunk + weak
    dispersion = _dispersion(stand_ins, responses, found)
    scale = np.kron(np.ones((p, p)), np.sqrt(np.outer(dispersion, dispersion)))
    covariance = np.asarray(positive_inverse(information + penalty + prior) * scale / n)
    return Start(found, covariance, dispersion, True, n)


def moments_start(coef: Array, residual_scale: Array, n_public: int | None) -> Start:
    """Start of a linear fit whose public fit comes from moments alone, of shape (p, q)."""
    p = len(coef)
    rows = float(n_public or 1e9)
    dispersion = np.asarray(residual_scale**2, dtype=np.float64)
    covariance = np.asarray(np.kron(np.eye(p), np.diag(dispersion)) / rows)
    return Start(coef.ravel(), covariance, dispersion, True, n_public)


def constant_start(p: int, intercepts: Array, constant: Array | None, dispersion: Array) -> Start:
    """Start from the constant model; other coefficients may be as large as responses allow."""
    coef = np.zeros((p, len(dispersion)))
    if constant is not None:
        coef = np.outer(constant, intercepts)
    covariance = np.kron(np.eye(p), np.diag(dispersion)) / p
    return Start(coef.ravel(), covariance, dispersion, False, None)


def _projection(direction: Array) -> Array:
    """Onto a direction."""
    return np.outer(direction, direction) / float(direction @ direction)


def minimised(stand_ins: StandIns, responses: Array, penalty: Array, coef: Array) -> Array:
    """Minimise the mean loss of public rows and a penalty by damped Newton steps."""
    family, rows = stand_ins.family, stand_ins.rows

    def objective(at: Array) -> float:
        with np.errstate(over="ignore"):
            losses = family.loss(stand_ins.linear(at), responses)
        return float(losses.sum() / len(rows) + at @ penalty @ at / 2.0)

    value = objective(coef)
    for _ in range(MOST_STEPS):
        predictors = stand_ins.predictors(coef)
        slopes = family.slope(predictors, responses)
        gradient = (rows.T @ slopes / len(rows)).ravel() + penalty @ coef
        step = positive_solution(
            stand_ins.squares(family.information(predictors)) + penalty, gradient
        )
        for _ in range(MOST_HALVINGS):
            new = objective(coef - step)
            if new <= value + 1e-12 * abs(value):
                break
            step = step / 2.0
        else:
            break
        coef, value = coef - step, new
        if float(gradient @ step) < CONVERGED * (1.0 + abs(value)):
            break
    return coef


def _left_out_loss(stand_ins: StandIns, responses: Array, penalty: Array, coef: Array) -> float:
    """Mean loss of each row under the fit of the others, to first order."""
    family, rows = stand_ins.family, stand_ins.rows
    n, k = len(rows), family.n_predictors
    predictors = stand_ins.predictors(coef)
    information = family.information(predictors)
    inverse = positive_inverse(stand_ins.squares(information) + penalty)
    blocks = inverse.reshape(rows.shape[1], k, rows.shape[1], k)
    leverage = np.einsum("na,aibj,nb->nij", rows, blocks, rows, optimize=True) / n
    slopes = family.slope(predictors, responses)
    left = np.eye(k) - np.einsum("nij,njl->nil", leverage, information)
    share = np.maximum(np.einsum("nii->n", left) / k, 0.05)
    moved = np.einsum("nij,nj->ni", leverage, slopes) / share[:, None]
    with np.errstate(over="ignore"):
        return float(np.mean(family.loss(predictors + moved, responses)))


def _dispersion(stand_ins: StandIns, responses: Array, coef: Array) -> Array:
    """Mean squared slope over its expectation, for each predictor."""
    family, n, p = stand_ins.family, len(stand_ins.rows), stand_ins.rows.shape[1]
    if np.isfinite(family.slope_limit):
        return np.ones(family.n_predictors)
    predictors = stand_ins.predictors(coef)
    slopes = family.slope(predictors, responses)
    expected = np.einsum("njj->nj", family.information(predictors))
    ratio = np.sum(slopes**2 / np.maximum(expected, 1e-12), axis=0) / max(n - p, n / 4)
    return np.asarray(np.maximum(ratio, LEAST_DISPERSION))
