"""Plans the other way round: the smallest budget, or the fewest rows, for a wanted accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from publicmoments.checks import positive
from publicmoments.models.parameters import checked_budget
from publicmoments.planner.question import Question, checked_rows, progress_bar
from publicmoments.privacy.budgets import GDP, Budget
from publicmoments.privacy.rounding import text_above
from publicmoments.public import PublicMoments

__all__ = ["smallest_budget", "smallest_n"]

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
