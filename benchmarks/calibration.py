"""Calibration of the planner: planned errors beside those of the accuracy benchmark.

For every seed a plan is made from the public data of that seed alone, and its errors are set beside
the realised ones, read from the CSV files of `utility.py`. Writes one CSV line per plan and cell
and, if asked to, a page of the documentation.

    python benchmarks/calibration.py [--part glm] [--repeats 4] [--page-folder docs]
    python benchmarks/calibration.py --reuse --page-folder docs
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import glm
import harness
import numpy as np
import plain
import ridge
import settings
from harness import Part, Run, Setting
from rich.console import Console
from rich.table import Table
from utility import positive

import publicmoments
from publicmoments import GDP, Plan, PublicMoments, plan

REHEARSALS = 2
RIDGE_REPEATS = 30
SIMULATED_GOAL, REAL_GOAL = 1.2, 1.5
METRICS = {"prediction": harness.Metric("prediction metric"), "l2": harness.Metric("l2 metric")}


class Cell(NamedTuple):
    """Planned and realised root mean squares of one method in one cell, for one metric."""

    setting: Setting
    mu: float
    method: str
    metric: str
    planned: float
    realised: float
    plans: int
    runs: int

    @property
    def ratio(self) -> float:
        """Planned over realised."""
        return self.planned / self.realised

    @property
    def missed(self) -> bool:
        """Whether the ratio is beyond the goal, either way."""
        goal = REAL_GOAL if self.setting.real else SIMULATED_GOAL
        return not 1.0 / goal <= self.ratio <= goal

    def __str__(self) -> str:
        """Give the figures."""
        where = f"{self.setting}, mu {self.mu:g}, {self.method}, {self.metric}"
        return f"{where}: planned {self.planned:.3g}, realised {self.realised:.3g}"


@dataclass(frozen=True)
class Subject:
    """
    A part of the accuracy benchmark whose errors are planned.

    Parameters
    ----------
    part : Part
        Of the accuracy benchmark.
    methods : tuple of str
        Those that are planned.
    measure : callable
        Returns the planned errors, given a setting and a seed.
    paired : bool
        Whether populations differ so much from seed to seed that only errors of the same seeds can
        be compared; else all realised ones count.
    repeats : callable
        Returns the number of seeds of a setting, unless another is asked for.
    """

    part: Part
    methods: tuple[str, ...]
    measure: Callable[[Setting, int], list[Run]]
    paired: bool
    repeats: Callable[[Setting], int]


def ridge_measure(setting: Setting, seed: int) -> list[Run]:
    """Planned errors of the linear model; simulations compare with the truth."""
    return planned_runs(setting, seed, ridge_plans, against_population=not setting.real)


def glm_measure(setting: Setting, seed: int) -> list[Run]:
    """Planned errors of the generalised linear models, against the non-private fit."""
    return planned_runs(setting, seed, glm_plans, against_population=False)


def planned_runs(
    setting: Setting,
    seed: int,
    plans: Callable[[Setting, int], dict[str, Plan]],
    *,
    against_population: bool,
) -> list[Run]:
    """Planned errors of one seed."""
    warnings.simplefilter("ignore")
    runs = []
    for method, made in plans(setting, seed).items():
        for f in made.forecasts:
            errors = (f.prediction_distance, f.distance)
            if against_population:
                errors = (f.prediction_error, f.error)
            runs.append(Run(setting, f.mu, seed, method, errors))
    return runs


def ridge_plans(setting: Setting, seed: int) -> dict[str, Plan]:
    """Plans for the linear model: with public responses, and from a matrix with the true r2."""
    rng = np.random.default_rng([seed, 1])
    if setting.real:
        sample = settings.split_linear(rng, setting.data, setting.n_public)
    else:
        sample = settings.simulate_linear(rng, setting.condition, setting.n, setting.n_public)
    B, y, n = sample.X_public, sample.y_public, setting.n_public
    matrix = PublicMoments.from_matrix(
        B.T @ B / n, n=n, response_scale=float(np.sqrt(np.mean(y**2)))
    )
    explained = float(sample.target @ sample.metric @ sample.target)
    left = float(np.mean((sample.y - sample.X @ sample.target) ** 2))
    asked = {"n_rows": setting.n, "privacy": [GDP(mu) for mu in ridge.BUDGETS]}
    asked |= {"fit_intercept": False, "rehearsals": REHEARSALS, "random_state": seed}
    full = PublicMoments.from_rows(B, response=y)
    return {
        ridge.MATRIX: plan(public=matrix, r2=explained / (explained + left), **asked),
        ridge.FULL: plan(public=full, **asked),
    }


def glm_plans(setting: Setting, seed: int) -> dict[str, Plan]:
    """Plans for labels and counts: with public ones, and from a matrix with the true signal."""
    sample, problem = glm.draw(setting, seed), glm.PROBLEMS[setting.data]
    known = glm.knowledge(sample.public)
    target = plain.fit(problem.family, sample.private, problem.alpha)
    signal = float(np.sqrt(np.mean((sample.private.X @ target) ** 2)))
    asked: dict[str, Any] = {"n_rows": setting.n, "privacy": [GDP(mu) for mu in glm.BUDGETS]}
    asked |= {"model": "poisson" if setting == glm.COUNTS else "logistic", "alpha": problem.alpha}
    asked |= {"fit_intercept": False, "rehearsals": REHEARSALS, "random_state": seed}
    return {
        glm.MATRIX: plan(public=known[glm.MATRIX], predictor_sd=signal, **asked),
        glm.LABELS: plan(public=known[glm.LABELS], **asked),
    }


SUBJECTS = {
    "ridge": Subject(
        part=ridge.PART,
        methods=(ridge.MATRIX, ridge.FULL),
        measure=ridge_measure,
        paired=False,
        repeats=lambda _: RIDGE_REPEATS,
    ),
    "glm": Subject(
        part=glm.PART,
        methods=(glm.MATRIX, glm.LABELS),
        measure=glm_measure,
        paired=True,
        repeats=glm.PART.repeats,
    ),
}


def planner_part(name: str) -> Part:
    """The part of a subject as the harness runs and writes it."""
    subject = SUBJECTS[name]
    return Part(
        name=name,
        page="calibration.md",
        title="Calibration of the planner",
        introduction=INTRODUCTION,
        methods=subject.methods,
        metrics=METRICS,
        settings=subject.part.settings,
        repeats=subject.repeats,
        measure=subject.measure,
        misses=lambda table, metric: [],
        verdicts=lambda runs, table: [],
    )


def compare(name: str, planned: list[Run], realised: list[Run]) -> list[Cell]:
    """Root mean squares over seeds: all realised ones, or those that were planned."""
    subject = SUBJECTS[name]
    order = [list(subject.part.metrics).index(metric) for metric in METRICS]
    seeds = defaultdict(set)
    plans, errors = defaultdict(list), defaultdict(list)
    for setting, mu, seed, method, values in planned:
        plans[setting, mu, method].append(values)
        seeds[setting].add(seed)
    for setting, mu, seed, method, values in realised:
        if not subject.paired or seed in seeds[setting]:
            errors[setting, mu, method].append([values[k] for k in order])
    cells = []
    for key in sorted(plans.keys() & errors.keys()):
        sizes = [np.sqrt(np.mean(np.square(runs), axis=0)) for runs in (plans[key], errors[key])]
        for k, metric in enumerate(METRICS):
            counts = len(plans[key]), len(errors[key])
            cells.append(Cell(*key, metric, float(sizes[0][k]), float(sizes[1][k]), *counts))
    return cells


def provenance(stated: argparse.Namespace) -> str:
    """How, when and with what the plans were made."""
    repeats = f" --repeats {stated.repeats}" if stated.repeats else ""
    part = "" if stated.part == "all" else f" --part {stated.part}"
    return (
        f"python benchmarks/calibration.py{part}{repeats} --first-seed {stated.first_seed}; "
        f"{datetime.date.today()}; {REHEARSALS} rehearsals a plan; publicmoments "
        f"{publicmoments.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    )


HEADINGS = ("setting", "mu", "method", "planned", "realised", "ratio", "plans", "runs")

INTRODUCTION = (
    "Errors that `publicmoments.plan` expects, beside those that the accuracy benchmark realised,",
    "both as root mean squares over seeds: `plans` and `runs` say how many. Populations of the",
    "generalised linear models differ much from seed to seed: there the seeds are the same. The",
    "plan of a seed uses the public data of that seed alone; without public responses the user's",
    "part is played by the truth: `r2` for the linear model, `predictor_sd` for the others. Errors",
    "are those of the accuracy benchmark: against the true coefficients in simulations of the",
    "linear model, against the non-private fit of the same rows everywhere else.",
    "",
    f"The goal is a ratio within a factor {SIMULATED_GOAL:g} in simulations and {REAL_GOAL:g} on",
    "real tables; a star marks a cell beyond it. A root mean square over few seeds can be ruled by",
    "one of them.",
)


def page(cells: list[Cell], made: list[str]) -> str:
    """The comparison as a page of the documentation."""
    lines = ["# Calibration of the planner", "", *INTRODUCTION, ""]
    lines += [f"Made by `{one}`." for one in made]
    lines += ["", "## Cells beyond the goal", ""]
    for metric in METRICS:
        for real in (False, True):
            those = [c for c in cells if c.metric == metric and c.setting.real == real]
            missed = [c for c in those if c.missed]
            where = "real tables" if real else "simulations"
            lines.append(f"- {metric}, {where}: {len(missed)} of {len(those)} cells")
    lines += ["", *(f"- {cell}" for cell in cells if cell.missed)]
    for metric, (title, _) in METRICS.items():
        lines += ["", f"## {title[0].upper()}{title[1:]}", ""]
        lines.append("| setting | mu | method | planned | realised | ratio | plans | runs |")
        lines.append("| --- | --: | --- | --: | --: | --: | --: | --: |")
        lines += [f"| {' | '.join(figures(c))} |" for c in cells if c.metric == metric]
    return "\n".join(lines) + "\n"


def figures(cell: Cell) -> list[str]:
    """One line of a table."""
    star = "*" if cell.missed else ""
    return [
        str(cell.setting),
        f"{cell.mu:g}",
        cell.method,
        f"{cell.planned:.3g}",
        f"{cell.realised:.3g}",
        f"{cell.ratio:.2f}{star}",
        str(cell.plans),
        str(cell.runs),
    ]


def show(console: Console, cells: list[Cell]) -> None:
    """Print the comparison."""
    for metric, (title, _) in METRICS.items():
        view = Table(title=title, title_justify="left")
        for heading in HEADINGS:
            view.add_column(
                heading, justify="left" if heading in ("setting", "method") else "right"
            )
        those = [cell for cell in cells if cell.metric == metric]
        for cell in those:
            view.add_row(*figures(cell))
        console.print(view)
        console.print(f"{sum(cell.missed for cell in those)} of {len(those)} beyond the goal")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--part", choices=[*SUBJECTS, "all"], default="all", help="what to plan")
    add("--repeats", type=positive, help="seeds per setting; each part has its own default")
    add("--first-seed", type=int, default=0, help="first seed; the accuracy files must have it")
    add("--jobs", type=positive, default=os.cpu_count(), help="processes")
    add("--accuracy", type=Path, default=Path("results/utility"), help="folder of realised errors")
    add("--output", type=Path, default=Path("results/calibration"), help="folder of the CSV files")
    add("--page-folder", type=Path, help="also write the comparison as Markdown, to this folder")
    add("--reuse", action="store_true", help="read the CSV files instead of planning again")
    return parser.parse_args()


def read(path: Path, hint: str) -> tuple[list[Run], str]:
    """Read a CSV file, or say how to make it."""
    if not path.is_file():
        raise SystemExit(f"{path} is not there; {hint}")
    return harness.read_csv(path)


def main() -> None:
    """Plan or read, then compare, show and write."""
    stated, console = arguments(), Console(width=None if os.isatty(1) else 160)
    cells: list[Cell] = []
    sources: list[str] = []
    for name in SUBJECTS if stated.part == "all" else [stated.part]:
        hint = f"run python benchmarks/utility.py --part {name} first"
        realised, source = read(stated.accuracy / f"{name}.csv", hint)
        path, part = stated.output / f"{name}.csv", planner_part(name)
        if stated.reuse:
            planned, made = read(path, "run without --reuse first")
        else:
            seeds = harness.planned(part, stated.repeats, stated.first_seed)
            planned, made = harness.collect(part, seeds, stated.jobs), provenance(stated)
            harness.write_csv(path, part, planned, made)
        cells += compare(name, planned, realised)
        sources += [made, source]
    show(console, cells)
    if stated.page_folder:
        harness.write_text(stated.page_folder / "calibration.md", page(cells, sources))
        console.print(f"wrote {stated.page_folder / 'calibration.md'}")


if __name__ == "__main__":
    main()
