"""A dress rehearsal: the very estimator on made-up private tables, its errors recorded."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from publicmoments.planner.fits import Task
from publicmoments.planner.levels import TINY, Level, Spread
from publicmoments.planner.population import Population, World
from publicmoments.public import PublicMoments

__all__ = ["MOST_ROWS", "TABLES", "Outcome", "Rehearsal", "rehearse"]

Array = NDArray[np.float64]

MOST_ROWS = 50_000
"""Made-up tables have at most this many rows; the errors of longer ones are worked out."""

LEAST_SHARE = 0.2
"""A correction for chance leaves at least this share of a squared error."""

TABLES = 2
"""Tables of each population: what `Level.mean` makes of chance is for two."""


@dataclass(frozen=True)
class Outcome:
    """Squared errors at one budget: from the population, from the non-private fit; radius."""

    population: Level
    plain: Level
    population_spread: Spread
    plain_spread: Spread
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

    ``coef`` are the true coefficients, those of ``features`` features first. ``private`` are
    estimates less the truth for each budget and ``noise`` what noise does to them, which is looked
    at where the table is shorter than the real one; ``plain`` is that of the non-private fit, and
    ``expected`` holds the expected squared errors of a non-private fit of the real number of rows.
    """

    coef: Array
    features: int
    metric: Array = field(repr=False)
    private: Array
    noise: Array
    plain: Array
    public: Array | None
    expected: Array
    radii: Array


_Worlds: TypeAlias = list[list[_Run]]
"""Runs on the tables of each population."""


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
        Populations, of ``TABLES`` tables; every budget is tried on each.
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

    Chance: the error of the non-private fit is known to first order, and it is part of the error of
    the private one: its deviation from expectation on the tables drawn is taken off, as far as the
    two are correlated.
    """
    worlds = []
    with warnings.catch_warnings():
        # What the public data lack is told once, by the real fit.
        warnings.simplefilter("ignore")
        for k in range(repeats):
            rng = np.random.default_rng([seed, k])
            world = population.drawn(rng)
            worlds.append(
                [
                    _run(world, task, public, public_coef, mus, n_rows, rng, progress)
                    for _ in range(TABLES)
                ]
            )
    correction = population.features.inverse_bias
    return Rehearsal(
        tuple(_outcome(worlds, b, n_rows, correction) for b in range(len(mus))),
        _expected_level(worlds).with_coef(correction),
        None if public_coef is None else _level(worlds, _public),
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
        features=X.shape[1],
        metric=world.metric,
        private=fits[0] - world.coef,
        noise=(fits[0] - fits[-1]) / math.sqrt(2.0),
        plain=task.plain_fit(X, y) - world.coef,
        public=None if public_coef is None else public_coef - world.coef,
        expected=covariance / n_rows + np.outer(bias, bias),
        radii=radii,
    )


def _level(worlds: _Worlds, error: Callable[[_Run], Array]) -> Level:
    """Summarise errors of all runs."""
    return _mean_level(worlds, _outer(error))


def _spread(worlds: _Worlds, error: Callable[[_Run], Array]) -> Spread:
    """How far errors of all runs are apart."""
    return Spread.of(*_sizes(worlds, _outer(error)))


def _outer(error: Callable[[_Run], Array]) -> Callable[[_Run], Array]:
    """Squares and products of errors."""
    return lambda run: np.outer(error(run), error(run))


def _expected_level(worlds: _Worlds) -> Level:
    """Summarise expected squares of the non-private fit."""
    return _mean_level(worlds, lambda run: run.expected)


def _mean_level(worlds: _Worlds, squares: Callable[[_Run], Array]) -> Level:
    """Summarise squares and products of errors."""
    coefs = np.array([[np.diag(squares(run)) for run in runs] for runs in worlds])
    return Level.mean(*_sizes(worlds, squares), coefs)


def _sizes(worlds: _Worlds, squares: Callable[[_Run], Array]) -> tuple[Array, Array]:
    """Squared errors of predictions, and squared lengths of those of features."""
    found = [[(run, squares(run)) for run in runs] for runs in worlds]
    predictions = [[np.sum(run.metric * one) for run, one in those] for those in found]
    lengths = [[np.sum(np.diag(one)[: run.features]) for run, one in those] for those in found]
    return np.maximum(predictions, TINY), np.maximum(lengths, TINY)


def _public(run: _Run) -> Array:
    """Error of what is known before any private row, nothing at all without public responses."""
    return -run.coef if run.public is None else run.public


def _outcome(worlds: _Worlds, b: int, n_rows: int, correction: float) -> Outcome:
    """Summarise one budget."""

    def from_truth(run: _Run) -> Array:
        return np.asarray(run.private[b])

    def from_plain(run: _Run) -> Array:
        return np.asarray(run.private[b] - run.plain)

    private, apart = _level(worlds, from_truth), _level(worlds, from_plain)
    factor = _coef_factor(worlds, private, correction)
    if n_rows > MOST_ROWS:
        population, plain = _scaled(worlds, b, n_rows, apart)
    else:
        population, plain = _without_chance(worlds, b, private), apart
    radius = float(np.median([run.radii[b] for runs in worlds for run in runs]))
    return Outcome(
        population.with_coef(factor),
        plain.with_coef(factor),
        _spread(worlds, from_truth),
        _spread(worlds, from_plain),
        radius,
    )


def _coef_factor(worlds: _Worlds, private: Level, correction: float) -> Array:
    """
    Factors on squared errors of coefficients, which go with the inverse second moment.

    That is too large on average where few public rows tell it. The error before anything is learnt
    does not go with it. Where that has variance a and what is learnt has x, both together have
    1 / (1/a + 1/x): to first order this goes with x to the power of 1 - u, u being the share of a
    that is left. Without public responses a is that of no coefficients at all, and each has a
    share of its own. A public fit is wrong where public rows happen to vary little; private rows
    vary more there and say most of just that, so that less of it is left: about as much as in
    predictions.

    The length of the coefficients comes first, with the mean of the factors of its parts.
    """
    start, parts = _level(worlds, _public), worlds[0][0].features
    left = private.coef / np.maximum(start.coef, TINY)
    if worlds[0][0].public is not None:
        left = np.full_like(left, private.prediction / start.prediction)
    factors = correction ** (1.0 - np.minimum(left, 1.0))
    return np.append(np.average(factors[:parts], weights=private.coef[:parts] + TINY), factors)


def _without_chance(worlds: _Worlds, b: int, private: Level) -> Level:
    """
    Take off what the non-private fit has, on the tables drawn, beyond what is expected.

    With errors r e + f of the private fit, e those of the non-private one and f unrelated to them,
    r^2 times their squares is in the squares of the private ones.
    """
    plain, expected = _level(worlds, lambda run: run.plain), _expected_level(worlds)
    share = min(_correlation(worlds, b) ** 2 * private.prediction / plain.prediction, 1.0)
    squares = private.squares + share * (expected.squares - plain.squares)
    return Level(np.maximum(squares, LEAST_SHARE * private.squares))


def _correlation(worlds: _Worlds, b: int) -> float:
    """Correlation of the errors of the private and the non-private fit, none where negative."""
    cosines = []
    for run in (run for runs in worlds for run in runs):
        private, plain = run.private[b], run.plain
        squares = (private @ run.metric @ private) * (plain @ run.metric @ plain)
        cosines.append(float(private @ run.metric @ plain) / math.sqrt(max(squares, TINY)))
    return max(float(np.mean(cosines)), 0.0)


def _scaled(worlds: _Worlds, b: int, n_rows: int, apart: Level) -> tuple[Level, Level]:
    """Bring squared errors on tables of fewer rows to the real number of rows."""
    noise = _level(worlds, lambda run: run.noise[b])
    here, expected = _level(worlds, lambda run: run.plain), _expected_level(worlds)
    share = MOST_ROWS / n_rows
    rest = np.maximum(apart.squares - noise.squares, 0.0)
    plain = noise.squares + rest - (1.0 - share) * np.minimum(rest, here.squares)
    return Level(expected.squares + plain), Level(plain)
