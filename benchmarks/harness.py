"""What the parts of the accuracy benchmark share: runs, CSV files, medians, and their tables."""

from __future__ import annotations

import csv
import datetime
import platform
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pages.catalogue import PAGES
from pages.page import render, table_path
from pages.tables import Limit, Table, limits_table, table, write, write_text
from pages.tables import Miss as NamedMiss
from rich.console import Console
from rich.progress import Progress
from rich.table import Table as Shown

import publicmoments


@dataclass(frozen=True, order=True)
class Setting:
    """
    Where errors are measured, but for the budget.

    Parameters
    ----------
    data : str
        A real table, "simulated", or the name of another simulation.
    condition : float
        Condition number of a simulation's covariance; zero for a real table.
    n_public, n : int
        Public and private rows.
    """

    data: str
    condition: float
    n_public: int
    n: int

    @property
    def real(self) -> bool:
        """Whether the rows come from a real table."""
        return self.condition == 0.0

    def __str__(self) -> str:
        """Name the setting."""
        if self.real:
            return self.data
        which = "" if self.data == "simulated" else f"{self.data}, "
        return f"{which}cond {self.condition:g}, n_B {self.n_public}, n {self.n}"


class Run(NamedTuple):
    """Errors of one method on one draw of the data, one for each metric of the part."""

    setting: Setting
    mu: float
    seed: int
    method: str
    errors: tuple[float, ...]


class Miss(NamedTuple):
    """A cell in which a method is above its limit."""

    setting: Setting
    mu: float
    method: str
    error: float
    limit: float

    @property
    def named(self) -> NamedMiss:
        """The miss as text."""
        cell = f"{self.setting}, mu {self.mu:g}, {self.method}"
        return NamedMiss(cell, f"{self.error:.3g}", f"{self.limit:.3g}")


Medians = dict[tuple[str, Setting, float, str], float]
"""Median error by metric, setting, budget and method."""


class Metric(NamedTuple):
    """What stands above a table of medians, and how many digits its figures have."""

    title: str
    digits: int = 3


@dataclass(frozen=True)
class Part:
    """
    A part of the benchmark, with a CSV file and a page of its own.

    Parameters
    ----------
    name : str
        Name of the CSV file of its runs, without the ending.
    page : str
        Name of its page and of the tables behind that.
    methods : tuple of str
        In the order of the columns.
    metrics : dict
        What is measured in every run, in this order.
    settings : callable
        Returns all settings.
    repeats : callable
        Returns the number of draws of a setting, unless another is asked for.
    measure : callable
        Runs every method at every budget on one draw, given a setting and a seed.
    misses : callable
        Returns the cells that a star marks, given medians and a metric.
    verdicts : callable
        Returns the stated limits, given all runs and their medians.
    """

    name: str
    page: str
    methods: tuple[str, ...]
    metrics: dict[str, Metric]
    settings: Callable[[], list[Setting]]
    repeats: Callable[[Setting], int]
    measure: Callable[[Setting, int], list[Run]]
    misses: Callable[[Medians, str], list[Miss]]
    verdicts: Callable[[list[Run], Medians], list[Limit]]


def planned(part: Part, repeats: int | None, first_seed: int) -> dict[Setting, range]:
    """Seeds of every setting."""
    return {
        setting: range(first_seed, first_seed + (repeats or part.repeats(setting)))
        for setting in part.settings()
    }


def collect(part: Part, seeds: dict[Setting, range], jobs: int) -> list[Run]:
    """Run everything in parallel, with a progress bar."""
    tasks = [(setting, seed) for setting, those in seeds.items() for seed in those]
    runs: list[Run] = []
    with ProcessPoolExecutor(jobs) as pool, Progress(transient=True) as progress:
        bar = progress.add_task(part.name, total=len(tasks))
        for done in as_completed([pool.submit(part.measure, *task) for task in tasks]):
            runs.extend(done.result())
            progress.advance(bar)
    return sorted(runs)


def medians(part: Part, runs: Iterable[Run]) -> Medians:
    """Median errors over the draws."""
    values = defaultdict(list)
    for setting, mu, _, method, errors in runs:
        for metric, error in zip(part.metrics, errors, strict=True):
            values[metric, setting, mu, method].append(error)
    return {key: float(np.median(errors)) for key, errors in values.items()}


def cells(table: Medians) -> list[tuple[Setting, float]]:
    """Every setting and budget of a table of medians."""
    return sorted({(setting, mu) for _, setting, mu, _ in table})


def best(table: Medians, metric: str, setting: Setting, mu: float, methods: Iterable[str]) -> float:
    """Smallest median among methods; one that does not apply to the data has none."""
    keys = [(metric, setting, mu, method) for method in methods]
    return min(table[key] for key in keys if key in table)


def no_miss(bad: list[Miss], metric: str) -> Limit:
    """The verdict that no cell of a metric is above its limit."""
    named = [miss.named for miss in bad]
    return Limit(f"no cell above 1.05 x best rival, {metric}", not bad, "none", named)


def provenance(part: Part, seeds: dict[Setting, range]) -> str:
    """How, when and with what the figures were made."""
    most = max(seeds.values(), key=len)
    fewer = "".join(
        f", {setting} to {those[-1]}" for setting, those in seeds.items() if len(those) < len(most)
    )
    repeats = "" if fewer else f" --repeats {len(most)}"
    return (
        f"python benchmarks/utility.py --part {part.name}{repeats} --first-seed {most[0]}; "
        f"{datetime.date.today()}; seeds {most[0]} to {most[-1]}{fewer}; publicmoments "
        f"{publicmoments.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    )


def write_csv(path: Path, part: Part, runs: Iterable[Run], made: str) -> None:
    """One line per run, with a header that says how it was made."""
    text = StringIO(newline="")
    text.write(f"# {made}\n")
    writer = csv.writer(text)
    writer.writerow(["data", "condition", "n_public", "n", "mu", "seed", "method", *part.metrics])
    for s, mu, seed, method, errors in runs:
        writer.writerow([s.data, s.condition, s.n_public, s.n, mu, seed, method, *errors])
    write_text(path, text.getvalue())


def read_csv(path: Path) -> tuple[list[Run], str]:
    """Runs of an earlier day, and how they were made."""
    with path.open(newline="") as file:
        made = file.readline().removeprefix("# ").rstrip()
        _, *lines = csv.reader(file)
    runs = [
        Run(
            Setting(data, float(condition), int(n_public), int(n)),
            float(mu),
            int(seed),
            method,
            tuple(map(float, errors)),
        )
        for data, condition, n_public, n, mu, seed, method, *errors in lines
    ]
    return runs, made


def medians_table(part: Part, known: Medians, made: str) -> Table:
    """Medians of each metric, setting and budget, and which of ours is above its limit there."""
    lines = []
    for metric, (_, digits) in part.metrics.items():
        missed: dict[tuple[Setting, float], list[str]] = defaultdict(list)
        for miss in part.misses(known, metric):
            missed[miss.setting, miss.mu].append(miss.method)
        for setting, mu in cells(known):
            values = [known.get((metric, setting, mu, method)) for method in part.methods]
            figures = ["-" if value is None else f"{value:.{digits}g}" for value in values]
            lines.append([metric, setting, f"{mu:g}", *figures, "; ".join(missed[setting, mu])])
    return table(made, ("metric", "setting", "mu", *part.methods, "missed"), lines)


def show(console: Console, part: Part, runs: list[Run]) -> None:
    """Print the medians and the verdicts."""
    known = medians(part, runs)
    found = medians_table(part, known, "")
    for metric, (title, _) in part.metrics.items():
        view = Shown(title=f"medians, {title}", title_justify="left")
        for heading in found.columns[1:]:
            view.add_column(heading, justify="left" if heading == "setting" else "right")
        for row in found.where(metric=metric):
            view.add_row(*list(row.values())[1:])
        console.print(view)
    for what, holds, figures, misses in part.verdicts(runs, known):
        told = "; ".join(f"{cell}: {figure} > {limit}" for cell, figure, limit in misses) or figures
        console.print(f"{'holds ' if holds else 'MISSED'}  {what}: {told}", highlight=False)


def write_page(folder: Path, part: Part, runs: list[Run], made: str) -> Path | None:
    """Write the tables, and the page that shows them."""
    known = medians(part, runs)
    write(table_path(folder, part.page), medians_table(part, known, made))
    limits = limits_table(made, part.verdicts(runs, known))
    write(table_path(folder, f"{part.page}-limits"), limits)
    return render(PAGES[part.page], folder)
