"""All releases explained together: the coefficients, and how far off they may be."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import stats

from publicmoments.arrays import Array
from publicmoments.evidence.numerics import floored_power, positive_inverse, positive_solution
from publicmoments.evidence.standins import StandIns
from publicmoments.evidence.start import Start

LARGEST_MOVE = 2.0
"""Largest change of a stand-in's linear predictor between two releases of a curved family."""

ROUNDS, REVISED = 12, (3, 6, 9)
"""Rounds of fitting, and those in which the error of the curvature is estimated anew."""

STAND_IN_ERROR, MOST_ERROR = 2.0, 4.0
"""Relative variance of gradients worked out on stand-ins: twice p over their number, at most 4."""

LEAST_DOUBT, MOST_DOUBT, DOUBTS = 1e-4, 1e12, 161
"""Scales tried on the covariance of the start; at least 1 where public responses stand behind."""


@dataclass(frozen=True, eq=False)
class Observation:
    """
    A released gradient.

    Parameters
    ----------
    coef : ndarray of shape (p k,)
        Where it was taken.
    gradient : ndarray of shape (p k,)
        Noisy mean of bounded slopes times rows, with the sign of a descent.
    noise_sd : float
        Noise of its entries.
    bias : float
        What the bound is taken to have moved an entry by.
    kept : float or ndarray of shape (m,)
        Share of the curvature that the bound leaves, of all stand-ins or of each.
    cut : ndarray of shape (p k,)
        What the bound takes from public rows: the direction of a bias, where anything tells it.
    unsure : ndarray of shape (p k, p k)
        Root of the covariance of what it may take besides.
    """

    coef: Array = field(repr=False)
    gradient: Array = field(repr=False)
    noise_sd: float
    bias: float
    kept: float | Array = field(repr=False)
    cut: Array = field(repr=False)
    unsure: Array = field(repr=False)

    @property
    def mean_kept(self) -> float:
        """Share of the curvature that the bound leaves."""
        return float(np.mean(self.kept))


@dataclass(frozen=True, eq=False)
class ErrorParts:
    """
    Covariance of the error of coefficients, by what causes it.

    Parameters
    ----------
    noise : ndarray of shape (m, m)
        The noise of the releases.
    sampling : ndarray of shape (m, m)
        The finite number of private rows, and what is not known after all.
    bias : ndarray of shape (m, m)
        What bounds cut off.
    """

    noise: Array = field(repr=False)
    sampling: Array = field(repr=False)
    bias: Array = field(repr=False)

    @property
    def total(self) -> Array:
        """Covariance of the whole error."""
        return np.asarray(self.noise + self.sampling + self.bias)

    def mixed(self, matrix: Array) -> ErrorParts:
        """Those of linear combinations of the coefficients."""
        parts = (self.noise, self.sampling, self.bias)
        return ErrorParts(*(np.asarray(matrix @ part @ matrix.T) for part in parts))


@dataclass(frozen=True, eq=False)
class Posterior:
    """
    What releases say of the coefficients.

    Parameters
    ----------
    coef : ndarray of shape (p k,)
        Estimate.
    precision : ndarray of shape (p k, p k)
        Of the estimate, the start included.
    prior : ndarray of shape (p k, p k)
        Precision of the start, discounted.
    doubt : float
        Factor by which the covariance of the start was widened.
    gains : tuple of ndarray
        What a unit of each released gradient moves the estimate by.
    """

    coef: Array = field(repr=False)
    precision: Array = field(repr=False)
    prior: Array = field(repr=False)
    doubt: float
    gains: tuple[Array, ...] = field(repr=False)

    def errors(self, observations: list[Observation], own_sampling: Array) -> ErrorParts:
        """
        Split the error of the estimate by its causes.

        Parameters
        ----------
        observations : list of Observation
            That the estimate was made from.
        own_sampling : ndarray of shape (p k, p k)
            Covariance of the coefficients of the private rows about those of the population.

        Returns
        -------
        ErrorParts

        Notes
        -----
        The estimate is linear in what was released. Noise is independent from release to release.
        What bounds cut off is not: it adds up, in the direction that public rows show and, as they
        are few, in all directions a little. The start errs by its discounted covariance, and as far
        as it is believed the private rows are not.
        """
        size = len(self.coef)
        noise, cut = np.zeros((size, size)), np.zeros((size, size))
        moved = np.zeros(size)
        for gain, seen in zip(self.gains, observations, strict=True):
            noise += seen.noise_sd**2 * gain @ gain.T
            cut += gain @ seen.unsure
            moved += gain @ seen.cut
        inverse = positive_inverse(self.precision)
        started = inverse @ self.prior
        learned = np.eye(size) - started
        rest = started @ inverse + learned @ own_sampling @ learned.T
        return ErrorParts(noise, (rest + rest.T) / 2, cut @ cut.T + np.outer(moved, moved))


def explained(
    stand_ins: StandIns,
    start: Start,
    observations: list[Observation],
    penalty: Array,
    coef: Array,
) -> Posterior:
    """
    Weigh the start and all released gradients.

    Parameters
    ----------
    stand_ins : StandIns
        Where curvature is worked out.
    start : Start
        What was believed before.
    observations : list of Observation
        Released gradients.
    penalty : ndarray of shape (p k, p k)
        Ridge penalty in whitened coordinates.
    coef : ndarray of shape (p k,)
        Where to look first.

    Returns
    -------
    Posterior

    Notes
    -----
    The gradient at b tells H (t - b) about coefficients t, with H the mean curvature in between;
    what small changes of t make of it depends on the curvature at t. It counts by its noise, by its
    bias, and by an error of H that is relative to what it tells: so far from t it counts little.
    That error is read off the gradients themselves, as what the fit leaves of them beyond noise and
    bias. The scale of the start's covariance is the likeliest one.
    """
    linear = stand_ins.family.is_linear
    least = STAND_IN_ERROR * stand_ins.rows.shape[1] / (start.n_public or len(stand_ins.rows))
    wrong = least
    fixed = [stand_ins.curvature(coef, seen.kept) for seen in observations] if linear else None
    posterior = None
    pulls = [seen.mean_kept * penalty for seen in observations]
    for turn in range(ROUNDS):
        there = fixed or [stand_ins.between(seen.coef, coef, seen.kept) for seen in observations]
        here = fixed or [stand_ins.curvature(coef, seen.kept) for seen in observations]
        far, near = ([h + p for h, p in zip(some, pulls, strict=True)] for some in (there, here))
        predicted = [h @ (coef - seen.coef) for h, seen in zip(far, observations, strict=True)]
        if turn in REVISED and len(observations) > 1:
            wrong = _curvature_error(predicted, observations, penalty, least)
        posterior = _weighed(predicted, near, start, observations, penalty, coef, wrong)
        before = coef
        coef = posterior.coef if linear else largest_moved(stand_ins, coef, posterior.coef)
        settled = np.linalg.norm(coef - before) <= 1e-7 * (1.0 + np.linalg.norm(coef))
        if settled and turn > (REVISED[0] if linear else REVISED[-1]):
            break
    assert posterior is not None, "there are rounds"
    return replace(posterior, coef=coef)


def largest_moved(stand_ins: StandIns, before: Array, coef: Array) -> Array:
    """Move from where the last gradient was taken, but no further than stand-ins can vouch for."""
    move = coef - before
    return before + move * min(1.0, LARGEST_MOVE / max(stand_ins.largest_move(move), 1e-300))


def surprise(doubt: float, size: int) -> float:
    """Normal score of the scale that the covariance of a start was found to need."""
    return float(stats.norm.isf(np.clip(stats.chi2.sf(doubt * size, size), 1e-300, 1.0 - 1e-15)))


def told(seen: Observation, penalty: Array) -> Array:
    """A released gradient, less the pull of the penalty where it was taken."""
    return np.asarray(seen.gradient - seen.mean_kept * (penalty @ seen.coef))


def _curvature_error(
    predicted: list[Array], observations: list[Observation], penalty: Array, least: float
) -> float:
    """Relative variance of what curvature predicts of gradients, from what is left of these."""
    numerator, denominator = 0.0, 0.0
    for expected, seen in zip(predicted, observations, strict=True):
        length = float(expected @ expected)
        left = float(np.sum((told(seen, penalty) - expected) ** 2))
        beyond = max(left - len(expected) * (seen.noise_sd**2 + seen.bias**2), 0.0)
        numerator, denominator = numerator + beyond * length, denominator + length**2
    return max(least, min(numerator / max(denominator, 1e-300), MOST_ERROR))


def _weighed(
    predicted: list[Array],
    slopes: list[Array],
    start: Start,
    observations: list[Observation],
    penalty: Array,
    coef: Array,
    wrong: float,
) -> Posterior:
    """Solve the weighted equations once: what is predicted of gradients, and how it changes."""
    size = len(coef)
    information, target = np.zeros((size, size)), np.zeros(size)
    weights = []
    for expected, slope, seen in zip(predicted, slopes, observations, strict=True):
        lost = wrong * float(expected @ expected) / size
        weights.append(1.0 / max(seen.noise_sd**2 + seen.bias**2 + lost, 1e-300))
        information += weights[-1] * slope @ slope
        target += weights[-1] * slope @ (told(seen, penalty) - expected + slope @ coef)
    apart = positive_solution(information, target) - start.coef
    doubt = _likeliest_scale(start, information, apart)
    prior = positive_inverse(start.covariance) / doubt
    precision = prior + information
    inverse = positive_inverse(precision)
    gains = tuple(w * inverse @ h for w, h in zip(weights, slopes, strict=True))
    return Posterior(inverse @ (target + prior @ start.coef), precision, prior, doubt, gains)


def _likeliest_scale(start: Start, information: Array, apart: Array) -> float:
    """
    Scale of the start's covariance that best explains how far releases are from the start.

    Along the common axes of both, the distance has variance 1 + scale w in units of its own error.
    """
    root = floored_power(start.covariance, 0.5)
    ratios, axes = np.linalg.eigh(root.T @ information @ root)
    ratios = np.maximum(ratios, 1e-300)
    squares = (axes.T @ (root.T @ (information @ apart))) ** 2 / ratios
    scales = np.geomspace(1.0 if start.informed else LEAST_DOUBT, MOST_DOUBT, DOUBTS)[:, None]
    variances = 1.0 + scales * ratios
    surprise = np.sum(np.log(variances) + squares / variances, axis=1)
    return float(scales[int(np.argmin(surprise)), 0])


PENALTIES = np.geomspace(1e-6, 1e3, 73)
"""Penalties tried besides none, as multiples of the mean curvature over the mean penalty."""


@dataclass(frozen=True, eq=False)
class Shrunk:
    """A penalty, the coefficients that it leaves, and what they err by."""

    alpha: float
    coef: Array = field(repr=False)
    errors: ErrorParts = field(repr=False)


def shrunk(coef: Array, errors: ErrorParts, hessian: Array, unit_penalty: Array) -> Shrunk:
    """
    Shrink by the ridge penalty with the least predicted error of predictions.

    Parameters
    ----------
    coef : ndarray of shape (m,)
        Estimate without a penalty.
    errors : ErrorParts
        Its error.
    hessian : ndarray of shape (m, m)
        Curvature, in which errors of predictions are measured.
    unit_penalty : ndarray of shape (m, m)
        Penalty for alpha = 1.

    Returns
    -------
    Shrunk

    Notes
    -----
    With A = (H + alpha P)^-1 H the error is A e - (I - A) t for true coefficients t and the
    estimate's own error e, of covariance E: its squared size is tr(H A E A') + |(I - A) t|_H^2. The
    latter is that of the estimate, less what e adds to it. Post-processing: nothing is paid.

    Examples
    --------
    >>> one = np.eye(1)
    >>> sure = ErrorParts(1e-6 * one, 0.0 * one, 0.0 * one)
    >>> bool(shrunk(np.ones(1), sure, one, one).alpha < 1e-3)
    True
    """
    total, size = errors.total, len(coef)
    unit = float(np.trace(hessian)) / max(float(np.trace(unit_penalty)), 1e-300)
    best, found = np.inf, (0.0, np.eye(size))
    for alpha in np.append(0.0, unit * PENALTIES):
        kept = positive_solution(hessian + alpha * unit_penalty, hessian)
        lost = np.eye(size) - kept
        bias = lost @ coef
        squared = float(bias @ hessian @ bias) - float(np.sum(hessian * (lost @ total @ lost.T)))
        spread = float(np.sum(hessian * (kept @ total @ kept.T)))
        predicted = spread + max(squared, 0.0)
        if predicted < best:
            best, found = predicted, (float(alpha), np.asarray(kept))
    alpha, kept = found
    return Shrunk(alpha, kept @ coef, errors.mixed(kept))
