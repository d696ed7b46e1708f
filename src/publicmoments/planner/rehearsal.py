"""A dress rehearsal: the very estimator on made-up private tables, its errors recorded."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from publicmoments.planner.fits import Task
from publicmoments.planner.population import Population, World
from publicmoments.public import PublicMoments

__all__ = ["MOST_ROWS", "Level", "Outcome", "Rehearsal", "rehearse"]

Array = NDArray[np.float64]

MOST_ROWS = 50_000
"""Made-up tables have at most this many rows; the errors of longer ones are worked out."""

LEAST_SHARE = 0.2
"""A correction for chance leaves at least this share of a squared error."""

TINY = 1e-150
"""Smallest squared error that is told from none."""


@dataclass(frozen=True)
class Level:
    """
    Squared errors, against the population or against the non-private fit.

    Errors are root mean squares over tables and noise, and their mean over populations. What public
    data allow may hold a few populations with errors far beyond all others, which would rule a mean
    of squares.

    Parameters
    ----------
    prediction : float
        In the prediction metric.
    coef : ndarray of shape (p,)
        Of each coefficient.
    """

    prediction: float
    coef: Array

    @classmethod
    def mean(cls, predictions: Array, coefs: Array) -> Level:
        """
        Average squared errors, one row for each population.

        A population counts by its error of predictions, for the coefficients as well.
        """
        lengths = np.sqrt(predictions)
        length = float(np.mean(lengths))
        return cls(length**2, length * np.mean(coefs / lengths[:, None], axis=0))

    def times(self, factor: float) -> Level:
        """Return the same with all errors multiplied."""
        return Level(factor * self.prediction, factor * self.coef)

    def with_coef(self, factor: float) -> Level:
        """Return the same with the errors of coefficients multiplied."""
        return Level(self.prediction, factor * self.coef)


@dataclass(frozen=True)
class Outcome:
    """Squared errors at one budget: from the population, from the non-private fit; radius."""

    population: Level
    plain: Level
    radius: float


@dataclass(frozen=True)
class Rehearsal:
    """Outcomes of all budgets, the non-private level and, with public responses, the public one."""

    outcomes: tuple[Outcome, ...]
    plain: Level
    public: Level | None


@dataclass(frozen=True, eq=False)
class _Run:
    """
    Errors on one table.

    ``coef`` are the true coefficients. ``private`` and ``again`` are estimates less the truth for
    each budget, ``again`` with other noise (None where the table is as long as the real one);
    ``plain`` is that of the non-private fit, and ``expected`` holds the expected squared errors of
    a non-private fit of the real number of rows.
    """

    coef: Array
    metric: Array = field(repr=False)
    private: Array
    again: Array | None
    plain: Array
    public: Array | None
    expected: Array
    radii: Array


def rehearse(
    population: Population,
    task: Task,
    public: PublicMoments,
    *,
    public_coef: Array | None,
    mus: Sequence[float],
    n_rows: int,
    repeats: int,
    seed: int,
    progress: Callable[[], None] = lambda: None,
) -> Rehearsal:
    """
    Run the estimator on made-up tables and summarise its errors.

    Parameters
    ----------
    population : Population
        Where tables are drawn from.
    task : Task
        What is fitted.
    public : PublicMoments
        The public input that the real fit will have.
    public_coef : ndarray or None
        Coefficients of the public data alone.
    mus : sequence of float
        Budgets.
    n_rows : int
        Private rows of the real fit.
    repeats : int
        Tables; every budget is tried on each.
    seed : int
        Of the tables and of the noise.
    progress : callable
        Called after every fit.

    Returns
    -------
    Rehearsal

    Notes
    -----
    Noise depends on mu n, sampling on n. Where n is large a table of m < n rows is drawn and given
    the budget mu n / m. Two fits that differ in their noise alone tell what noise does; of the rest
    of the distance to the non-private fit, what could be due to sampling is brought from m rows to
    n, and anything beyond it is left as it is.

    Chance: one table of each population is drawn. The mean of lengths of such errors is below their
    root mean square, which is made up for. The error of the non-private fit is known to first
    order, and it is part of the error of the private one: its deviation from expectation on the
    tables drawn is taken off, as far as the two are correlated.
    """
    runs = []
    with warnings.catch_warnings():
        # What the public data lack is told once, by the real fit.
        warnings.simplefilter("ignore")
        for k in range(repeats):
            rng = np.random.default_rng([seed, k])
            runs.append(
                _run(population.drawn(rng), task, public, public_coef, mus, n_rows, rng, progress)
            )
    correction = population.features.inverse_bias
    return Rehearsal(
        tuple(_outcome(runs, b, n_rows, correction) for b in range(len(mus))),
        _expected_level(runs).with_coef(correction),
        None if public_coef is None else _level(runs, [run.public for run in runs]),
    )


def _run(
    world: World,
    task: Task,
    public: PublicMoments,
    public_coef: Array | None,
    mus: Sequence[float],
    n_rows: int,
    rng: np.random.Generator,
    progress: Callable[[], None],
) -> _Run:
    """Draw a table and fit it at every budget; all budgets share the seed of the noise."""
    m = min(n_rows, MOST_ROWS)
    X, y = world.sample(rng, m)
    seeds = rng.integers(2**31, size=2 if m < n_rows else 1)
    fits = np.empty((len(seeds), len(mus), len(world.coef)))
    radii = np.empty(len(mus))
    for b, mu in enumerate(mus):
        for s, noise_seed in enumerate(seeds):
            fits[s, b], radii[b] = task.private_fit(X, y, mu * n_rows / m, public, int(noise_seed))
            progress()
    covariance, bias = task.plain_moments(X, world.coef)
    covariance = covariance * world.residual_sd**2
    return _Run(
        coef=world.coef,
        metric=world.metric,
        private=fits[0] - world.coef,
        again=fits[1] - world.coef if m < n_rows else None,
        plain=task.plain_fit(X, y) - world.coef,
        public=None if public_coef is None else public_coef - world.coef,
        expected=covariance / n_rows + np.outer(bias, bias),
        radii=radii,
    )


def _level(runs: list[_Run], errors: Sequence[Array | None]) -> Level:
    """Summarise errors, one vector for each run."""
    known = [
        (run.metric, error) for run, error in zip(runs, errors, strict=True) if error is not None
    ]
    predictions = np.array([max(error @ metric @ error, TINY) for metric, error in known])
    coefs = np.array([error**2 for _, error in known])
    return Level.mean(predictions, coefs).times(_chance(predictions, coefs.shape[1]))


def _chance(squares: Array, p: int) -> float:
    """
    Mean square of an error over the square of its mean length, in one population.

    It is that of p normal parts. Where errors differ less than such ones do, as they do where
    nothing is learnt, it is what they show.
    """
    normal = p / 2.0 * math.exp(2.0 * (math.lgamma(p / 2.0) - math.lgamma((p + 1.0) / 2.0)))
    return min(normal, float(np.mean(squares) / np.mean(np.sqrt(squares)) ** 2))


def _expected_level(runs: list[_Run]) -> Level:
    """Summarise expected squares of the non-private fit."""
    predictions = np.array([max(np.sum(run.metric * run.expected), TINY) for run in runs])
    return Level.mean(predictions, np.array([np.diag(run.expected) for run in runs]))


def _outcome(runs: list[_Run], b: int, n_rows: int, correction: float) -> Outcome:
    """Summarise one budget."""
    private = _level(runs, [run.private[b] for run in runs])
    apart = _level(runs, [run.private[b] - run.plain for run in runs])
    factor = _coef_factor(runs, private, correction)
    if runs[0].again is not None:
        population, plain = _scaled(runs, b, n_rows, apart)
    else:
        population, plain = _without_chance(runs, b, private), apart
    radius = float(np.median([run.radii[b] for run in runs]))
    return Outcome(population.with_coef(factor), plain.with_coef(factor), radius)


def _coef_factor(runs: list[_Run], private: Level, correction: float) -> float:
    """
    Factor on squared errors of coefficients, whose errors go with the inverse second moment.

    That is too large on average where few public rows tell it. The error before anything is learnt,
    of the public fit or of no coefficients at all, does not go with it.
    """
    start = _level(runs, [-run.coef if run.public is None else run.public for run in runs])
    unlearnt = min(private.prediction / start.prediction, 1.0)
    return correction + (1.0 - correction) * unlearnt


def _without_chance(runs: list[_Run], b: int, private: Level) -> Level:
    """
    Take off what the non-private fit has, on the tables drawn, beyond what is expected.

    With errors r e + f of the private fit, e those of the non-private one and f unrelated to them,
    r^2 times their squares is in the squares of the private ones.
    """
    plain, expected = _level(runs, [run.plain for run in runs]), _expected_level(runs)
    share = min(_correlation(runs, b) ** 2 * private.prediction / plain.prediction, 1.0)
    prediction = private.prediction + share * (expected.prediction - plain.prediction)
    coef = private.coef + share * (expected.coef - plain.coef)
    return Level(
        max(prediction, LEAST_SHARE * private.prediction),
        np.maximum(coef, LEAST_SHARE * private.coef),
    )


def _correlation(runs: list[_Run], b: int) -> float:
    """Correlation of the errors of the private and the non-private fit, none where negative."""
    cosines = []
    for run in runs:
        private, plain = run.private[b], run.plain
        squares = (private @ run.metric @ private) * (plain @ run.metric @ plain)
        cosines.append(float(private @ run.metric @ plain) / math.sqrt(max(squares, TINY)))
    return max(float(np.mean(cosines)), 0.0)


def _scaled(runs: list[_Run], b: int, n_rows: int, apart: Level) -> tuple[Level, Level]:
    """Bring squared errors on tables of fewer rows to the real number of rows."""
    pairs = [(run, run.again[b]) for run in runs if run.again is not None]
    noise = _level(runs, [(run.private[b] - again) / math.sqrt(2.0) for run, again in pairs])
    here, expected = _level(runs, [run.plain for run in runs]), _expected_level(runs)
    share = MOST_ROWS / n_rows
    rest = max(apart.prediction - noise.prediction, 0.0)
    rests = np.maximum(apart.coef - noise.coef, 0.0)
    plain = Level(
        noise.prediction + rest - (1.0 - share) * min(rest, here.prediction),
        noise.coef + rests - (1.0 - share) * np.minimum(rests, here.coef),
    )
    return Level(expected.prediction + plain.prediction, expected.coef + plain.coef), plain
