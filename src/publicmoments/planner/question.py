"""What is asked of the planner, checked before anything is rehearsed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from rich.progress import Progress

from publicmoments.arrays import Array
from publicmoments.checks import fraction, non_negative, positive, positive_integer
from publicmoments.models.shell import check_public, check_switches
from publicmoments.planner.features import features_of
from publicmoments.planner.fits import FAMILIES, Model, Posterior, Task
from publicmoments.planner.forecasts import Plan
from publicmoments.planner.population import KnownMoments, KnownRows, Population, Stated
from publicmoments.planner.rehearsal import TABLES, rehearse
from publicmoments.privacy.budgets import Budget
from publicmoments.public import PublicDesign, PublicMoments

REHEARSALS = 6
"""Made-up populations, by default."""


@dataclass(frozen=True, eq=False)
class Question:
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
        if self.r2 is not None:
            fraction("r2", self.r2, "pass the share of the response that the features explain")
        names = ("residual_sd", "predictor_sd", "response_mean", "kurtosis")
        for name in names:
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        given = {name: getattr(self, name) for name in ("r2", *names[:-1])}
        return {name: value for name, value in given.items() if value is not None}

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
        law = KnownRows(Posterior.of_rows(task, X, y), y)
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
    """Show progress from a hundred fits on; it goes away when done."""
    with Progress(transient=True, disable=total < 100) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)


def _check_chance(rehearsals: object, random_state: object) -> None:
    """Refuse numbers of populations that cannot be compared, and seeds that are none."""
    number = positive_integer("rehearsals", rehearsals, "pass 2 or more")
    if not number >= 2:
        raise ValueError(
            f"rehearsals must be at least 2, got rehearsals={number}; one population says nothing "
            "of how far others are from it"
        )
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer):
        raise TypeError(
            f"random_state must be a non-negative integer, got {type(random_state).__name__}; "
            "plans are reproducible, another seed rehearses on other tables"
        )
    if not random_state >= 0:
        raise ValueError(f"random_state must be at least 0, got random_state={random_state!r}")
