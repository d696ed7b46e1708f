"""What is asked of the planner, checked before anything is rehearsed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from publicmoments.checks import non_negative, positive, positive_integer
from publicmoments.models.parameters import check_switches
from publicmoments.models.shell import check_public
from publicmoments.paper.settings import GuidedSetting
from publicmoments.paper.theory import robustness_condition
from publicmoments.planner.fits import FAMILIES, Model, Task
from publicmoments.planner.forecasts import Accuracy
from publicmoments.planner.knowledge import Stated, population_of, public_only
from publicmoments.planner.levels import Level
from publicmoments.planner.population import Population
from publicmoments.planner.rehearsal import TABLES, Rehearsal, rehearse
from publicmoments.public import PublicMoments

__all__ = ["REHEARSALS", "Options", "Question", "checked_rows", "progress_bar"]

Array = NDArray[np.float64]

REHEARSALS = 6
"""Made-up populations, by default."""

NORMAL_95 = 1.959963984540054

PAPER_ETA = 0.05
"""Probability scale at which the paper's condition is judged, as in its simulations."""

SLOW_FITS = 100
"""From so many fits on, a plan shows its progress."""


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
            rehearsals=_checked_rehearsals(rehearsals),
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
        return Accuracy(*level.sizes, NORMAL_95 * np.sqrt(level.coef))

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


def _checked_rehearsals(rehearsals: object) -> int:
    """Return a number of populations that can be compared with each other."""
    number = positive_integer("rehearsals", rehearsals, "pass 2 or more")
    if not number >= 2:
        raise ValueError(
            f"rehearsals must be at least 2, got rehearsals={number}; one population says nothing "
            "of how far others are from it"
        )
    return number


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
