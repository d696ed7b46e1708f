"""Plans: what a private fit will be worth, told before any budget is spent."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

from publicmoments.checks import positive
from publicmoments.models.shell import checked_budget
from publicmoments.planner.fits import Model
from publicmoments.planner.forecasts import Plan
from publicmoments.planner.question import REHEARSALS, Question, checked_rows, progress_bar
from publicmoments.privacy.budgets import GDP, Budget
from publicmoments.privacy.rounding import text_above
from publicmoments.public import PublicMoments


def plan(
    n_rows: int,
    privacy: Budget | Sequence[Budget],
    public: PublicMoments | None = None,
    *,
    n_features: int | None = None,
    model: Model = "ridge",
    alpha: float = 0.0,
    fit_intercept: bool = True,
    r2: float | None = None,
    residual_sd: float | None = None,
    predictor_sd: float | None = None,
    response_mean: float | None = None,
    kurtosis: float | None = None,
    exposure: float = 1.0,
    rehearsals: int = REHEARSALS,
    random_state: int = 0,
) -> Plan:
    """
    Predict what a private fit will be worth, before any private row is read.

    Parameters
    ----------
    n_rows : int
        Private rows, at least 2.
    privacy : GDP, ApproxDP or ZCDP, or a sequence of them
        Total budgets to compare.
    public : PublicMoments, optional
        The public input of the fit: rows with responses, rows, or moments only.
    n_features : int, optional
        Number of features, where nothing else is public.
    model : {"ridge", "logistic", "poisson"}
        What is going to be fitted.
    alpha : float, default=0.0
        Penalty, as in the estimators.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    r2, residual_sd : float, optional
        Without public responses, and for ridge regression: what you expect of the fit. Share of the
        variance of the response (of its mean square without an intercept) that features explain, or
        root mean square of what they leave. For logistic regression on public moments alone ``r2``
        may go with ``predictor_sd``: the share of the deviance that the fit would explain, as
        McFadden's pseudo R2. It is taken to be that of normal linear predictors without it; classes
        that are told apart better than those leave less to learn the coefficients from.
    predictor_sd : float, optional
        Likewise for the others: root mean square of the linear predictor in the population, about
        its mean where there is an intercept.
    response_mean : float, optional
        And the mean of their responses: the share of the second class, or the mean count per unit
        of exposure. Without it the linear predictor is taken to have mean 0.
    kurtosis : float, optional
        Where no rows are public: how heavy the tails of the features are, as the mean of
        ||z||^4 / (d (d + 2)) over whitened features z. It is 1 for Gaussian ones, 1.7 for the wine
        table of the accuracy benchmark, and taken to be 1.08 without it. No matrix shows it.
    exposure : float, default=1.0
        Mean exposure of private rows of counts, in units of the ``typical_exposure`` of
        `PoissonRegressor`.
    rehearsals : int, default=6
        Made-up populations, of two tables; at least 2. More of them leave less to chance.
    random_state : int, default=0
        Seed of the rehearsal.

    Returns
    -------
    Plan

    Notes
    -----
    A dress rehearsal: populations are drawn that the public data could have come from, their rows
    being public ones, resampled and smoothed, where there are any; two private tables from each;
    and the very estimator is run on them with seeded noise, the stated budget and the real public
    input. With few public rows the populations differ much, which allows for what
    is not known. No private row is used, so planning costs no privacy.

    Examples
    --------
    >>> import numpy as np
    >>> from publicmoments import GDP, PublicMoments, plan
    >>> rng = np.random.default_rng(0)
    >>> B = rng.normal(size=(100, 3))
    >>> public = PublicMoments.from_rows(B, response=B @ [1.0, 2.0, 3.0] + rng.normal(size=100))
    >>> p = plan(n_rows=10_000, privacy=[GDP(0.3), GDP(3)], public=public, rehearsals=3)
    >>> bool(p.forecasts[1].prediction_error < 1.5 * p.non_private.prediction_error)
    True
    """
    question = Question(
        public,
        n_features,
        model,
        alpha,
        fit_intercept,
        r2,
        residual_sd,
        predictor_sd,
        response_mean,
        kurtosis,
        exposure,
        rehearsals,
        random_state,
    )
    n_rows = checked_rows(n_rows)
    budgets = _sorted_budgets(privacy)
    with progress_bar("planning", len(budgets) * question.fits) as advance:
        return question.rehearsed(budgets, n_rows, advance)


def _sorted_budgets(privacy: object) -> list[Budget]:
    """Check the budgets and put the smallest first."""
    listed = list(privacy) if isinstance(privacy, Sequence) else [privacy]
    if not listed:
        raise ValueError("privacy must name at least one budget, got an empty sequence")
    return sorted((checked_budget(budget) for budget in listed), key=lambda b: b.to_gdp().mu)


Metric = Literal["prediction", "coef"]

MU_RANGE = 1e-3, 1e3
ROW_RANGE = 10.0, 1e9
"""What is searched."""

STEPS = 7
"""Halvings of the logarithmic range: answers are within 12 % for budgets and 16 % for rows."""


def smallest_budget(
    error: float,
    n_rows: int,
    public: PublicMoments | None = None,
    *,
    metric: Metric = "prediction",
    **options: Any,
) -> GDP:
    """
    Return the smallest budget whose expected error is at most the wanted one.

    Parameters
    ----------
    error : float
        Wanted root mean square error against the population.
    n_rows : int
        Private rows.
    public : PublicMoments, optional
        The public input of the fit.
    metric : {"prediction", "coef"}
        Error of predictions, or length of the error of the coefficients.
    **options
        As in `publicmoments.plan`: ``n_features``, ``model``, ``alpha``, ``fit_intercept``, ``r2``,
        ``residual_sd``, ``predictor_sd``, ``response_mean``, ``kurtosis``, ``exposure``,
        ``rehearsals`` and ``random_state``.

    Returns
    -------
    GDP
        Between mu 0.001 and 1000, within about 12 %.

    Raises
    ------
    ValueError
        Where no budget reaches the error; the message says what the best possible is.

    Examples
    --------
    >>> from publicmoments.planner import smallest_budget
    >>> budget = smallest_budget(0.1, 2_000, n_features=2, r2=0.5, rehearsals=2)
    >>> 0.01 < budget.mu < 10.0
    True
    """
    question, n_rows = Question(public, **options), checked_rows(n_rows)
    wanted = positive("error", error)
    with progress_bar("searching", (STEPS + 2) * question.fits) as advance:
        errors = _errors(question, metric, advance)
        best = errors(MU_RANGE[1], n_rows)
        if not best <= wanted:
            raise ValueError(
                f"no budget reaches an error of {wanted:.4g} with {n_rows} rows: the best possible "
                f"is about {best:.3g}, without noise; ask for a larger error, or plan more rows"
            )
        return GDP(_smallest(lambda mu: errors(mu, n_rows), wanted, *MU_RANGE))


def smallest_n(
    error: float,
    privacy: Budget,
    public: PublicMoments | None = None,
    *,
    metric: Metric = "prediction",
    **options: Any,
) -> int:
    """
    Return the smallest number of private rows whose expected error is at most the wanted one.

    Parameters
    ----------
    error : float
        Wanted root mean square error against the population.
    privacy : GDP, ApproxDP or ZCDP
        Total budget.
    public, metric, **options
        As in `smallest_budget`.

    Returns
    -------
    int
        Between 10 and 10^9, within about 16 %.

    Raises
    ------
    ValueError
        Where no number of rows reaches the error; the message says what the best possible is.

    Examples
    --------
    >>> from publicmoments import GDP
    >>> from publicmoments.planner import smallest_n
    >>> n = smallest_n(0.1, GDP(1.0), n_features=2, r2=0.5, rehearsals=4)
    >>> 100 < n < 10_000
    True
    """
    question, mu = Question(public, **options), checked_budget(privacy).to_gdp().mu
    wanted = positive("error", error)
    with progress_bar("searching", (STEPS + 2) * question.fits) as advance:
        errors = _errors(question, metric, advance)
        best = errors(mu, round(ROW_RANGE[1]))
        if not best <= wanted:
            raise ValueError(
                f"no number of rows up to {ROW_RANGE[1]:.0e} reaches an error of {wanted:.4g} at "
                f"mu {text_above(mu, 3)}: the best possible is about {best:.3g}; ask for a larger "
                "error, or lower the penalty"
            )
        return round(_smallest(lambda rows: errors(mu, round(rows)), wanted, *ROW_RANGE))


def _errors(
    question: Question, metric: object, advance: Callable[[], None]
) -> Callable[[float, int], float]:
    """Return the expected error as a function of the budget and the number of rows."""
    if metric not in ("prediction", "coef"):
        raise ValueError(f'metric must be "prediction" or "coef", got metric={metric!r}')

    def expected(mu: float, n_rows: int) -> float:
        forecast = question.rehearsed([GDP(mu)], n_rows, advance).forecasts[0]
        return forecast.prediction_error if metric == "prediction" else forecast.error

    return expected


def _smallest(errors: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    """Halve the range on the logarithmic scale; errors fall, and are small enough at its top."""
    if errors(low) <= wanted:
        return low
    for _ in range(STEPS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if errors(middle) <= wanted else (middle, high)
    return high
