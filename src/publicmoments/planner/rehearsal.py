"""A dress rehearsal: the very estimator on made-up private tables, its errors summarised."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtri, stdtrit

from publicmoments.arrays import Array
from publicmoments.paper.settings import GuidedSetting
from publicmoments.paper.theory import is_robust, robustness_condition
from publicmoments.planner.forecasts import Accuracy, Forecast, Plan, Ranges
from publicmoments.planner.population import Population, World
from publicmoments.privacy.budgets import Budget

MOST_ROWS = 20_000
"""Made-up tables have at most this many rows; the errors of longer ones are worked out."""

RANGE_SHARE = 0.8
"""Share of fits whose error lies in the range that is told."""

TABLES = 2
"""Private tables of each population: the fewest that show chance."""


@dataclass(frozen=True, eq=False)
class _Runs:
    """
    Errors of fits of tables of ``m`` rows, for K populations and T tables.

    Parameters
    ----------
    features : int
        Coefficients without the intercept.
    metric : ndarray of shape (K, p, p)
        Second moments of design rows.
    expected : ndarray of shape (K, p, p)
        Expected squares and products of errors of a non-private fit of all rows.
    public : ndarray of shape (K, 1, p)
        Errors of the public fit.
    plain : ndarray of shape (K, T, p)
        Errors of non-private fits.
    private : ndarray of shape (budgets, K, T, p)
        Errors of private fits.
    bounds : ndarray of shape (budgets, K, T)
        Bounds of their last releases.
    share : float
        Rows of a made-up table over those of the real one.
    """

    features: int
    metric: Array = field(repr=False)
    expected: Array = field(repr=False)
    public: Array = field(repr=False)
    plain: Array = field(repr=False)
    private: Array = field(repr=False)
    bounds: Array = field(repr=False)
    share: float

    def squares(self, errors: Array, sampling: float = 0.0) -> Array:
        """
        Squares of errors, and of so much of what a non-private fit is expected to have.

        The last axis has that in the prediction metric, the length without the intercept, and that
        of each coefficient.
        """
        products = errors[..., :, None] * errors[..., None, :]
        products = products + sampling**2 * self.expected[:, None]
        prediction = np.sum(products * self.metric[:, None], axis=(-2, -1))
        each = np.diagonal(products, axis1=-2, axis2=-1)
        length = np.sum(each[..., : self.features], axis=-1)
        squares = np.concatenate([np.stack([prediction, length], -1), each], -1)
        return np.asarray(np.maximum(squares, 1e-150))

    def forecast(self, b: int, budget: Budget, condition: float | None) -> Forecast:
        """
        Summarise one budget.

        The error of the private fit is s times that of the non-private one and a rest, s found by
        least squares. What the non-private error is expected to be, with all rows, is known to
        first order and takes the place of what it happened to be.
        """
        private, plain = self.private[b], self.plain
        weighed = np.einsum("kij,ktj->kti", self.metric, plain)
        share = float(np.sum(private * weighed) / max(np.sum(plain * weighed), 1e-300))
        share = min(max(share, 0.0), 1.0)
        rest, chance = private - share * plain, math.sqrt(self.share) * plain
        single = self.squares(rest + share * chance), self.squares(rest - (1.0 - share) * chance)
        distance = _accuracy(self.squares(rest, 1.0 - share))
        return Forecast(
            **vars(_accuracy(self.squares(rest, share))),
            privacy=budget,
            mu=budget.to_gdp().mu,
            distance=distance.error,
            prediction_distance=distance.prediction_error,
            ranges=Ranges(*(_range(squares[..., k]) for squares in single for k in (1, 0))),
            bound=float(np.median(self.bounds[b])),
            condition=condition,
            robust=None if condition is None else is_robust(condition),
        )


def rehearse(
    population: Population,
    budgets: Sequence[Budget],
    n_rows: int,
    rehearsals: int,
    seed: int,
    progress: Callable[[], None],
) -> Plan:
    """
    Run the estimator on made-up tables and summarise its errors.

    Parameters
    ----------
    population : Population
        Where tables are drawn from, and what the fit knows.
    budgets : sequence of GDP, ApproxDP or ZCDP
        Every budget is tried on each table.
    n_rows : int
        Private rows of the real fit.
    rehearsals : int
        Populations, of ``TABLES`` tables.
    seed : int
        Of the tables and of the noise.
    progress : callable
        Called after every fit.

    Returns
    -------
    Plan

    Notes
    -----
    Noise per row goes with 1 / (mu n). Where n is large a table of m < n rows is drawn and given
    the budget mu n / m: noise, and with it the distance from the non-private fit, is then that of
    the real fit. What remains, the sampling error, is scaled: its square goes with 1 / n.
    """
    runs = _rehearsed(population, budgets, n_rows, rehearsals, seed, progress)
    conditions = [_condition(population, budget.to_gdp().mu, n_rows) for budget in budgets]
    told = enumerate(zip(budgets, conditions, strict=True))
    no_fit = population.public_coef is None
    return Plan(
        n_rows=n_rows,
        model=population.task.model,
        forecasts=tuple(runs.forecast(b, *one) for b, one in told),
        non_private=_accuracy(runs.squares(np.zeros_like(runs.public), 1.0)),
        public_only=None if no_fit else _accuracy(runs.squares(runs.public)),
        columns=population.columns,
        rehearsals=rehearsals,
    )


def _rehearsed(
    population: Population,
    budgets: Sequence[Budget],
    n_rows: int,
    rehearsals: int,
    seed: int,
    progress: Callable[[], None],
) -> _Runs:
    """Draw populations and their tables, and fit each of these with every budget."""
    task, m, p = population.task, min(n_rows, MOST_ROWS), len(population.columns)
    known = 0.0 if population.public_coef is None else population.public_coef
    metric, expected = np.empty((2, rehearsals, p, p))
    public, plain = np.empty((rehearsals, 1, p)), np.empty((rehearsals, TABLES, p))
    bounds = np.empty((len(budgets), rehearsals, TABLES))
    private = np.empty((*bounds.shape, p))
    for k in range(rehearsals):
        rng = np.random.default_rng([seed, k])
        world = population.drawn(rng)
        metric[k], expected[k] = _moments(world, rng, n_rows)
        public[k] = known - world.coef
        for t in range(TABLES):
            (X, y), noise = world.sample(rng, m), int(rng.integers(2**31))
            plain[k, t] = task.plain_fit(X, y) - world.coef
            for b, budget in enumerate(budgets):
                mu = budget.to_gdp().mu * n_rows / m
                coef, bounds[b, k, t] = task.private_fit(X, y, mu, population.public, noise)
                private[b, k, t] = coef - world.coef
                progress()
    d, share = len(population.public.second_moment), m / n_rows
    return _Runs(d, metric, expected, public, plain, private, bounds, share)


def _condition(population: Population, mu: float, n_rows: int) -> float | None:
    """
    The paper's condition for its second moment; half of the squared budget pays for the matrix.

    None where no number of public rows stands behind the moments. The probability scale is that of
    the paper's simulations.
    """
    setting = GuidedSetting.of(population.public, 0.05, population.task.alpha)
    return None if setting is None else robustness_condition(setting, n_rows, mu / math.sqrt(2.0))


def _moments(world: World, rng: np.random.Generator, n_rows: int) -> tuple[Array, Array]:
    """
    Second moment of design rows, and expected squares of errors of a non-private fit.

    With H the mean curvature at the coefficients, J the mean square of the score and P the penalty,
    these are (H + P)^-1 J (H + P)^-1 over the rows beyond those that the fit itself uses up, and
    the square of the bias (H + P)^-1 P coef.
    """
    task, (X, y) = world.task, world.sample(rng, MOST_ROWS)
    rows, penalty = task.design(X), task.penalty(len(world.coef))
    predictor = rows @ world.coef
    curvature = task.exposure * task.family.curvature(predictor)
    score = rows * (y - task.exposure * task.family.mean(predictor))[:, None]
    hessian = (rows * curvature[:, None]).T @ rows / len(rows)
    inverse = np.linalg.pinv(hessian + penalty, rcond=1e-15, hermitian=True)
    free = max(n_rows - float(np.sum(inverse * hessian)), 1.0)
    bias = inverse @ penalty @ world.coef
    covariance = inverse @ (score.T @ score / len(rows)) @ inverse / free
    return rows.T @ rows / len(rows), covariance + np.outer(bias, bias)


def _accuracy(squares: Array) -> Accuracy:
    """
    Geometric mean over populations of mean squares over tables.

    The logarithm of a mean of few squares is too small on average; a jackknife mends that. A
    coefficient has the mean over populations of its share in the error of predictions, which does
    not depend on the units of other columns.
    """
    means = np.mean(squares, axis=1)
    logs = np.log(means) + np.log(means) - np.mean(np.log(squares), axis=1)
    prediction, length = np.exp(np.mean(logs[:, :2], axis=0))
    each = prediction * np.mean(means[:, 2:] / means[:, :1], axis=0)
    half_widths = ndtri(0.975) * np.sqrt(each)
    return Accuracy(math.sqrt(length), math.sqrt(prediction), half_widths)


def _range(squares: Array) -> tuple[float, float]:
    """
    Where the error of one more fit is expected: logarithms of squared errors are taken as normal.

    Fits of one population are alike, so that there are as many free ones as populations, less one.
    """
    logs = np.log(squares)
    wide = float(np.std(logs, ddof=1)) * math.sqrt(1.0 + 1.0 / logs.size)
    reach = float(stdtrit(len(logs) - 1, (1.0 + RANGE_SHARE) / 2.0)) * wide
    middle = float(np.mean(logs))
    return math.exp((middle - reach) / 2.0), math.exp((middle + reach) / 2.0)
