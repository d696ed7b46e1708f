"""Plans: what a private fit will be worth, told before any budget is spent."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from rich.progress import Progress

from publicmoments.arrays import Array
from publicmoments.checks import fraction, non_negative, positive, positive_integer
from publicmoments.models.shell import check_public, check_switches, checked_budget
from publicmoments.planner.fits import FAMILIES, CoefLaw, Model, Task
from publicmoments.planner.forecasts import Plan
from publicmoments.planner.population import (
    KnownMoments,
    KnownRows,
    Population,
    Stated,
    features_of,
)
from publicmoments.planner.rehearsal import TABLES, rehearse
from publicmoments.privacy.budgets import GDP, Budget
from publicmoments.privacy.rounding import text_above
from publicmoments.public import PublicDesign, PublicMoments

REHEARSALS = 6
"""Made-up populations, by default."""

Metric = Literal["prediction", "coef"]

MU_RANGE = 1e-3, 1e3
ROW_RANGE = 10.0, 1e9
"""What is searched."""

STEPS = 7
"""Halvings of the logarithmic range: answers are within 12 % for budgets and 16 % for rows."""


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
    stated, chance = (r2, residual_sd, predictor_sd, response_mean), (rehearsals, random_state)
    what = n_features, model, alpha, fit_intercept
    question = PlanQuestion(public, *what, *stated, kurtosis, exposure, *chance)
    n_rows = _checked_rows(n_rows)
    budgets = _sorted_budgets(privacy)
    with _progress_bar("planning", len(budgets) * question.fits) as advance:
        return question.rehearsed(budgets, n_rows, advance)


def _sorted_budgets(privacy: object) -> list[Budget]:
    """Check the budgets and put the smallest first."""
    listed = list(privacy) if isinstance(privacy, Sequence) else [privacy]
    if not listed:
        raise ValueError("privacy must name at least one budget, got an empty sequence")
    return sorted((checked_budget(budget) for budget in listed), key=lambda b: b.to_gdp().mu)


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
    question, n_rows = PlanQuestion(public, **options), _checked_rows(n_rows)

    def refusal(wanted: float, best: float) -> str:
        return (
            f"no budget reaches an error of {wanted:.4g} with {n_rows} rows: the best possible is "
            f"about {best:.3g}, without noise; ask for a larger error, or plan more rows"
        )

    return GDP(_smallest(question, error, metric, MU_RANGE, lambda mu: (mu, n_rows), refusal))


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
    question, mu = PlanQuestion(public, **options), checked_budget(privacy).to_gdp().mu

    def refusal(wanted: float, best: float) -> str:
        return (
            f"no number of rows up to {ROW_RANGE[1]:.0e} reaches an error of {wanted:.4g} at mu "
            f"{text_above(mu, 3)}: the best possible is about {best:.3g}; ask for a larger error, "
            "or lower the penalty"
        )

    found = _smallest(question, error, metric, ROW_RANGE, lambda rows: (mu, round(rows)), refusal)
    return round(found)


def _smallest(
    question: PlanQuestion,
    error: object,
    metric: object,
    searched: tuple[float, float],
    case: Callable[[float], tuple[float, int]],
    refusal: Callable[[float, float], str],
) -> float:
    """
    Search for the least number whose case, a budget and rows, has the wanted error.

    The range is halved on the logarithmic scale; errors fall, and must be small enough at its top.
    """
    wanted, (low, high) = positive("error", error), searched
    if metric not in ("prediction", "coef"):
        raise ValueError(f'metric must be "prediction" or "coef", got metric={metric!r}')
    with _progress_bar("searching", (STEPS + 2) * question.fits) as advance:

        def expected(number: float) -> float:
            mu, n_rows = case(number)
            forecast = question.rehearsed([GDP(mu)], n_rows, advance).forecasts[0]
            return forecast.prediction_error if metric == "prediction" else forecast.error

        if not (best := expected(high)) <= wanted:
            raise ValueError(refusal(wanted, best))
        if expected(low) <= wanted:
            return low
        for _ in range(STEPS):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if expected(middle) <= wanted else (middle, high)
        return high


@dataclass(frozen=True, eq=False)
class PlanQuestion:
    """Everything a plan asks but the budgets and the number of rows; see `plan`."""

    public: PublicMoments | None
    n_features: int | None = None
    model: Model = "ridge"
    alpha: float = 0.0
    fit_intercept: bool = True
    r2: float | None = None
    residual_sd: float | None = None
    predictor_sd: float | None = None
    response_mean: float | None = None
    kurtosis: float | None = None
    exposure: float = 1.0
    rehearsals: int = REHEARSALS
    random_state: int = 0
    population: Population = field(init=False)

    def __post_init__(self) -> None:
        """Check the arguments, and put together what is known of the private population."""
        public, task, stated = self._checked_public(), self._checked_task(), self._stated()
        _check_chance(self.rehearsals, self.random_state)
        known, coef = _known(public, task)
        if known is not None and stated:
            raise ValueError(
                f"{next(iter(stated))} follows from the public responses; leave it out, or pass "
                "public moments without responses"
            )
        settle = _stated_linear if task.model == "ridge" else _stated_predictor
        law = known or settle(public, task, stated)
        if public.rows is not None and self.kurtosis is not None:
            raise ValueError("kurtosis follows from the public rows; leave it out")
        features = features_of(public, self.kurtosis)
        object.__setattr__(self, "population", Population(task, public, coef, features, law))

    @property
    def fits(self) -> int:
        """Tables that every budget is tried on."""
        return TABLES * self.rehearsals

    def rehearsed(
        self, budgets: Sequence[Budget], n_rows: int, progress: Callable[[], None]
    ) -> Plan:
        """Run the rehearsal."""
        chance = self.rehearsals, int(self.random_state)
        return rehearse(self.population, budgets, n_rows, *chance, progress)

    def _stated(self) -> dict[str, float]:
        """What is stated of responses, after a look at all numbers."""
        names = ("r2", "residual_sd", "predictor_sd", "response_mean", "kurtosis")
        stated = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        for name, value in stated.items():
            if name == "r2":
                fraction(name, value, "pass the share of the response that the features explain")
            else:
                positive(name, value)
        stated.pop("kurtosis", None)
        return stated

    def _checked_public(self) -> PublicMoments:
        """Return the public input, or moments of so many features."""
        public, n_features = self.public, self.n_features
        check_public(public)
        if (public is None) == (n_features is None):
            raise ValueError(
                "a plan needs either public or n_features, got "
                f"{'neither' if public is None else 'both'}; pass public=PublicMoments..., or "
                "n_features where only the number of features is known"
            )
        if public is None:
            d = positive_integer("n_features", n_features, "pass the number of features")
            return PublicMoments.identity(d)
        if public.response is not None and len(public.response.scale) != 1:
            raise ValueError(
                f"public must have one response, got {len(public.response.scale)}; make moments "
                "with the response that is to be planned for"
            )
        moments, rows = public.second_moment, public.rows
        if not np.any((np.diag(moments) if rows is None else np.ptp(rows, axis=0)) > 0.0):
            raise ValueError(
                "public must have a feature that varies, got none; without one there is nothing to "
                "plan"
            )
        return public

    def _checked_task(self) -> Task:
        """Return what is going to be fitted."""
        if (model := self.model) not in FAMILIES:
            raise ValueError(
                f"model must be one of {', '.join(map(repr, FAMILIES))}, got model={model!r}"
            )
        check_switches(fit_intercept=self.fit_intercept)
        exposure = positive("exposure", self.exposure)
        if exposure != 1.0 and model != "poisson":
            raise ValueError(
                f"exposure goes with model='poisson', got model={model!r}; leave it out"
            )
        alpha = non_negative("alpha", self.alpha)
        return Task(model, alpha, bool(self.fit_intercept), exposure)


def _known(
    public: PublicMoments, task: Task
) -> tuple[KnownRows | KnownMoments | None, Array | None]:
    """What public responses say, and the coefficients of the public data alone."""
    if public.rows is not None and public.response_rows is not None:
        X, y = np.asarray(public.rows), np.asarray(public.response_rows)[:, 0]
        if not task.family.allows(y).all():
            raise ValueError(
                f"public responses must be {task.family.range} for model={task.model!r}; give "
                "labels by their position among the classes"
            )
        law = KnownRows(CoefLaw.of_rows(task, X, y), y)
        return law, _public_coef(public, task) if task.model == "ridge" else task.plain_fit(X, y)
    coef = _public_coef(public, task) if task.model == "ridge" else None
    return (None, None) if coef is None else (KnownMoments(_design(public, task), coef), coef)


def _public_coef(public: PublicMoments, task: Task) -> Array | None:
    """Least squares of public moments, with the penalty; None without responses."""
    design = _design(public, task)
    if design.coef is None or design.residual_scale is None:
        return None
    coef, moment = np.array(design.coef[:, 0]), np.asarray(design.second_moment)
    if task.alpha == 0.0:
        return coef
    return np.asarray(np.linalg.solve(moment + task.penalty(len(coef)), moment @ coef))


def _design(public: PublicMoments, task: Task) -> PublicDesign:
    """Public design; what is wrong with it, the fit itself will say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return public.design(fit_intercept=task.fit_intercept)


def _stated_predictor(public: PublicMoments, task: Task, stated: dict[str, float]) -> Stated:
    """Labels or counts as the user states them."""
    may = ["response_mean", "r2"] if task.model == "logistic" else ["response_mean"]
    if "predictor_sd" not in stated or set(stated) - {"predictor_sd", *may}:
        raise ValueError(
            f"without public responses, model={task.model!r} needs predictor_sd, the expected root "
            f"mean square of the linear predictor, and may have {' and '.join(may)}, got "
            f"{' and '.join(stated) or 'nothing'}; 1 is a moderate signal, 3 a strong one"
        )
    if "r2" in stated and public.rows is not None:
        raise ValueError(
            "r2 tells how far the classes are apart where nothing else does; with public rows "
            "leave it out"
        )
    mean = stated.get("response_mean")
    if mean is not None and task.model == "logistic" and not mean < 1.0:
        raise ValueError(
            f"response_mean must be between 0 and 1 for model='logistic', got {mean!r}; pass the "
            "expected share of the second class"
        )
    return Stated(stated["predictor_sd"], response_mean=mean, r2=stated.get("r2"))


def _stated_linear(public: PublicMoments, task: Task, stated: dict[str, float]) -> Stated:
    """Linear responses as the user states them."""
    if {"predictor_sd", "response_mean"} & set(stated) or len(stated) != 1:
        raise ValueError(
            "without public responses, a plan needs one of r2 and residual_sd, got "
            f"{' and '.join(stated) or 'neither'}; state what you expect of the fit, such as "
            "r2=0.5"
        )
    response = public.response
    scale = 1.0 if response is None else float(response.scale[0])
    level = 0.0
    if task.fit_intercept and response is not None and response.mean is not None:
        level = float(response.mean[0])
    square = max(scale**2 - level**2, 0.0)
    if not (sd := stated.get("residual_sd", 0.0)) ** 2 < square:
        raise ValueError(
            f"residual_sd must be below the size of the responses, {math.sqrt(square):.4g}, got "
            f"residual_sd={sd!r}; state the public response_scale, or less"
        )
    left = (1.0 - stated["r2"]) * square if "r2" in stated else sd**2
    return Stated(math.sqrt(square - left), math.sqrt(left), level)


def _checked_rows(n_rows: object) -> int:
    """Return a number of private rows that can be planned for."""
    hint = "pass the number of private rows"
    return _at_least_two("n_rows", n_rows, hint, "one row cannot be hidden")


def _at_least_two(name: str, value: object, hint: str, reason: str) -> int:
    """Return a whole number of at least 2, or say why 1 is not enough."""
    if not (number := positive_integer(name, value, hint)) >= 2:
        raise ValueError(f"{name} must be at least 2, got {name}={number}; {reason}")
    return number


@contextmanager
def _progress_bar(what: str, total: int) -> Iterator[Callable[[], None]]:
    """Show progress from a hundred fits on; it goes away when done."""
    with Progress(transient=True, disable=total < 100) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)


def _check_chance(rehearsals: object, random_state: object) -> None:
    """Refuse numbers of populations that cannot be compared, and seeds that are none."""
    reason = "one population says nothing of how far others are from it"
    _at_least_two("rehearsals", rehearsals, "pass 2 or more", reason)
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer):
        raise TypeError(
            f"random_state must be a non-negative integer, got {type(random_state).__name__}; "
            "plans are reproducible, another seed rehearses on other tables"
        )
    if not random_state >= 0:
        raise ValueError(f"random_state must be at least 0, got random_state={random_state!r}")
