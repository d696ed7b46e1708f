"""Plans: what a private fit will be worth, told before any budget is spent."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from publicmoments.checks import non_negative, positive, positive_integer
from publicmoments.models.parameters import check_switches, checked_budget
from publicmoments.models.shell import check_public
from publicmoments.paper.settings import GuidedSetting
from publicmoments.paper.theory import is_robust, robustness_condition
from publicmoments.planner.fits import FAMILIES, Model, Task
from publicmoments.planner.knowledge import Stated, population_of, public_only
from publicmoments.planner.levels import Level
from publicmoments.planner.population import Population
from publicmoments.planner.rehearsal import TABLES, Rehearsal, rehearse
from publicmoments.planner.show import plot_plan, table_text
from publicmoments.planner.words import recommendation
from publicmoments.privacy.budgets import Budget
from publicmoments.public import PublicMoments

__all__ = ["Accuracy", "Forecast", "Plan", "plan"]

Array = NDArray[np.float64]

REHEARSALS = 6
"""Made-up tables, by default."""

NORMAL_95 = 1.959963984540054

PAPER_ETA = 0.05
"""Probability scale at which the paper's condition is judged, as in its simulations."""

SLOW_FITS = 100
"""From so many fits on, a plan shows its progress."""


@dataclass(frozen=True, eq=False)
class Accuracy:
    """
    How far coefficients are expected to be from those of the population.

    Errors are root mean squares over private tables and noise. Public data leave open what the
    population is: the geometric mean over those that they allow is given.

    Parameters
    ----------
    error : float
        Root mean square length of the error of the coefficients, without the intercept.
    prediction_error : float
        Root mean square error in the prediction metric, sqrt((b - t)' S (b - t)) with S the second
        moment of a row: what the error adds to linear predictors. The intercept counts.
    half_widths : ndarray of shape (n_features,) or (n_features + 1,)
        Half widths of 95 % intervals, the intercept last where there is one.
    """

    error: float
    prediction_error: float
    half_widths: Array


@dataclass(frozen=True, eq=False)
class Forecast(Accuracy):
    """
    What is expected of the private fit at one budget.

    Parameters
    ----------
    error, prediction_error, half_widths
        As in `Accuracy`.
    privacy : GDP, ApproxDP or ZCDP
        The budget, as it was stated.
    mu : float
        The same in Gaussian differential privacy.
    distance, prediction_distance : float
        Like the errors, but from the non-private fit of the same rows: what privacy costs.
    radius : float
        Bound on whitened rows that the last release is expected to have.
    condition : float or None
        The paper's stability condition, which should be at most 1/2; None without public rows
        behind the moments.
    robust : bool or None
        Whether it is.
    """

    privacy: Budget
    mu: float
    distance: float
    prediction_distance: float
    radius: float
    condition: float | None
    robust: bool | None


@dataclass(frozen=True, eq=False)
class Plan:
    """
    A table of what to expect, made by `plan`.

    Parameters
    ----------
    n_rows : int
        Private rows.
    model : str
        "ridge", "logistic" or "poisson".
    forecasts : tuple of Forecast
        One for each budget, from the smallest.
    non_private : Accuracy
        Of the fit without privacy.
    public_only : Accuracy or None
        Of the fit of the public rows alone; None without public responses.
    columns : tuple of str
        Names of the coefficients.
    rehearsals : int
        Made-up populations behind the figures.

    Examples
    --------
    >>> from publicmoments import GDP, plan
    >>> p = plan(n_rows=5_000, privacy=[GDP(0.1), GDP(1)], n_features=3, r2=0.5, rehearsals=3)
    >>> p.forecasts[1].error < p.forecasts[0].error
    True
    >>> print(p.recommendation[:10])
    With mu 1,
    """

    n_rows: int
    model: Model
    forecasts: tuple[Forecast, ...]
    non_private: Accuracy
    public_only: Accuracy | None
    columns: tuple[str, ...]
    rehearsals: int

    @property
    def recommendation(self) -> str:
        """What to make of the figures, in words."""
        return recommendation(self)

    def table(self) -> str:
        """
        Return the figures as a table in plain text.

        Returns
        -------
        str
        """
        return table_text(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """
        Return the figures by column, one row for each budget, ready for a data frame.

        Returns
        -------
        dict of lists

        Examples
        --------
        >>> from publicmoments import GDP, plan
        >>> p = plan(n_rows=1_000, privacy=GDP(1), n_features=2, r2=0.5, rehearsals=2)
        >>> sorted(p.to_dict())[:3]
        ['condition', 'distance', 'error']
        """
        names = ["mu", "error", "prediction_error", "distance", "prediction_distance", "radius"]
        names += ["condition", "robust"]
        columns: dict[str, list[Any]] = {
            name: [getattr(forecast, name) for forecast in self.forecasts] for name in names
        }
        for k, column in enumerate(self.columns):
            columns[f"half_width {column}"] = [float(f.half_widths[k]) for f in self.forecasts]
        return columns

    def plot(self, target: str | os.PathLike[str] | Any = None) -> Any:
        """
        Plot the error of predictions against the budget; needs matplotlib, the extra [plot].

        Parameters
        ----------
        target : path or matplotlib axes, optional
            A file to write, or axes to draw in; new ones by default.

        Returns
        -------
        matplotlib axes
        """
        return plot_plan(self, target)

    def __str__(self) -> str:
        """Table and recommendation."""
        return f"{self.table()}\n\n{self.recommendation}"


class Options(TypedDict, total=False):
    """Keyword arguments that all questions to the planner share; see `plan`."""

    n_features: int | None
    model: Model
    alpha: float
    fit_intercept: bool
    r2: float | None
    residual_sd: float | None
    predictor_sd: float | None
    response_mean: float | None
    kurtosis: float | None
    exposure: float
    rehearsals: int
    random_state: int


@dataclass(frozen=True, eq=False)
class Question:
    """Everything a plan asks but the budgets and the number of rows, checked."""

    public: PublicMoments
    task: Task
    population: Population
    public_coef: Array | None
    rehearsals: int
    seed: int

    @classmethod
    def checked(
        cls,
        public: PublicMoments | None,
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
    ) -> Question:
        """Check the arguments of a plan."""
        check_public(public)
        if (public is None) == (n_features is None):
            raise ValueError(
                "a plan needs either public or n_features, got "
                f"{'neither' if public is None else 'both'}; pass public=PublicMoments..., or "
                "n_features where only the number of features is known"
            )
        if model not in FAMILIES:
            raise ValueError(
                f"model must be one of {', '.join(map(repr, FAMILIES))}, got model={model!r}"
            )
        check_switches(fit_intercept=fit_intercept)
        if public is None:
            public = PublicMoments.identity(
                positive_integer("n_features", n_features, "pass the number of features")
            )
        if positive("exposure", exposure) != 1.0 and model != "poisson":
            raise ValueError(
                f"exposure goes with model='poisson', got model={model!r}; leave it out"
            )
        task = Task(model, non_negative("alpha", alpha), bool(fit_intercept), float(exposure))
        stated = Stated(r2, residual_sd, predictor_sd, response_mean, kurtosis).checked()
        population = population_of(public, task, stated)
        return cls(
            public=public,
            task=task,
            population=population,
            public_coef=public_only(public, task),
            rehearsals=positive_integer("rehearsals", rehearsals, "pass 2 or more"),
            seed=_checked_seed(random_state),
        )

    @property
    def fits(self) -> int:
        """Tables that every budget is tried on."""
        return TABLES * self.rehearsals

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the coefficients."""
        d = len(self.public.second_moment)
        names = self.public.columns or tuple(f"x{k}" for k in range(d))
        return (*names, "intercept") if self.task.fit_intercept else names

    def rehearsed(
        self, mus: Sequence[float], n_rows: int, progress: Callable[[], None] = lambda: None
    ) -> Rehearsal:
        """Run the rehearsal."""
        return rehearse(
            self.population,
            self.task,
            self.public,
            public_coef=self.public_coef,
            mus=mus,
            n_rows=n_rows,
            repeats=self.rehearsals,
            seed=self.seed,
            progress=progress,
        )

    def accuracy(self, level: Level) -> Accuracy:
        """Turn mean squares into lengths and half widths."""
        return Accuracy(*_sizes(level, self.task), NORMAL_95 * np.sqrt(level.coef))

    def condition(self, mu: float, n_rows: int) -> float | None:
        """
        The paper's condition for its second moment; half of the squared budget pays for the matrix.

        None where no number of public rows stands behind the moments.
        """
        if self.public.n is None:
            return None
        moment = np.asarray(self.public.second_moment)
        setting = GuidedSetting(
            d=len(moment),
            eta=PAPER_ETA,
            n_public=self.public.n,
            penalty=self.task.alpha,
            public_norm=max(float(np.linalg.eigvalsh(moment)[-1]), 1e-300),
        )
        return robustness_condition(setting, n_rows, mu / math.sqrt(2.0))


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
        Likewise for the others: root mean square of the linear predictor that the fit would have
        without privacy, about its mean where there is an intercept.
    response_mean : float, optional
        And the mean of their responses: the share of the second class, or the mean count per unit
        of exposure. Without it the linear predictor is taken to have mean 0.
    kurtosis : float, optional
        Where no rows are public: how heavy the tails of the features are, as the mean of
        ||z||^4 / (d (d + 2)) over whitened features z. It is 1 for Gaussian ones, 1.7 for the wine
        table of the accuracy benchmark, and taken to be 1.08 without it. Heavy tails cost accuracy,
        and no matrix shows them.
    exposure : float, default=1.0
        Mean exposure of private rows of counts, in units of the ``typical_exposure`` of
        `PoissonRegressor`.
    rehearsals : int, default=6
        Made-up populations, of two tables. The relative chance error of the figures is near
        1 / sqrt(4 k) for k populations that are alike and one coefficient, and less for several
        together.
    random_state : int, default=0
        Seed of the rehearsal.

    Returns
    -------
    Plan

    Notes
    -----
    A dress rehearsal: populations are drawn that the public data could have come from, two private
    tables from each, and the very estimator is run on them with seeded noise, the stated budget and
    the real public input. With few public rows the populations differ much, which allows for what
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
    question = Question.checked(
        public,
        n_features=n_features,
        model=model,
        alpha=alpha,
        fit_intercept=fit_intercept,
        r2=r2,
        residual_sd=residual_sd,
        predictor_sd=predictor_sd,
        response_mean=response_mean,
        kurtosis=kurtosis,
        exposure=exposure,
        rehearsals=rehearsals,
        random_state=random_state,
    )
    n_rows = checked_rows(n_rows)
    budgets = _sorted_budgets(privacy)
    mus = [budget.to_gdp().mu for budget in budgets]
    with progress_bar("planning", len(mus) * question.fits) as advance:
        rehearsal = question.rehearsed(mus, n_rows, advance)
    forecasts = []
    for budget, mu, outcome in zip(budgets, mus, rehearsal.outcomes, strict=True):
        condition = question.condition(mu, n_rows)
        accuracy = question.accuracy(outcome.population)
        distance, prediction_distance = _sizes(outcome.plain, question.task)
        forecasts.append(
            Forecast(
                accuracy.error,
                accuracy.prediction_error,
                accuracy.half_widths,
                privacy=budget,
                mu=mu,
                distance=distance,
                prediction_distance=prediction_distance,
                radius=outcome.radius,
                condition=condition,
                robust=None if condition is None else is_robust(condition),
            )
        )
    return Plan(
        n_rows=n_rows,
        model=model,
        forecasts=tuple(forecasts),
        non_private=question.accuracy(rehearsal.plain),
        public_only=None if rehearsal.public is None else question.accuracy(rehearsal.public),
        columns=question.columns,
        rehearsals=question.rehearsals,
    )


def checked_rows(n_rows: object) -> int:
    """Return a number of private rows that can be planned for."""
    number = positive_integer("n_rows", n_rows, "pass the number of private rows")
    if number < 2:
        raise ValueError(
            f"n_rows must be at least 2, got n_rows={number}; one row cannot be hidden"
        )
    return number


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[], None]]:
    """Show progress where there is much to do; it goes away when done."""
    with Progress(transient=True, disable=total < SLOW_FITS) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)


def _checked_seed(random_state: object) -> int:
    """Return the seed of a rehearsal, which is always reproducible."""
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer):
        raise TypeError(
            f"random_state must be a non-negative integer, got {type(random_state).__name__}; "
            "plans are reproducible, another seed rehearses on other tables"
        )
    if not random_state >= 0:
        raise ValueError(f"random_state must be at least 0, got random_state={random_state!r}")
    return int(random_state)


def _sorted_budgets(privacy: object) -> list[Budget]:
    """Check the budgets and put the smallest first."""
    listed = list(privacy) if isinstance(privacy, Sequence) else [privacy]
    if not listed:
        raise ValueError("privacy must name at least one budget, got an empty sequence")
    return sorted((checked_budget(budget) for budget in listed), key=lambda b: b.to_gdp().mu)


def _sizes(level: Level, task: Task) -> tuple[float, float]:
    """Root mean square length without the intercept, and error of predictions."""
    features = level.coef[: len(level.coef) - task.fit_intercept]
    return math.sqrt(float(np.sum(features))), math.sqrt(level.prediction)
