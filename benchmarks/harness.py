"""What the parts of the accuracy benchmark share: runs, CSV files, medians, tables and pages."""

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
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import publicmoments
from publicmoments.io.atomic import write_atomically


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

    def __str__(self) -> str:
        """Give the figures."""
        where = f"{self.setting}, mu {self.mu:g}, {self.method}"
        return f"{where}: {self.error:.3g} > {self.limit:.3g}"


class Verdict(NamedTuple):
    """A stated limit, whether it holds, and the figures."""

    what: str
    holds: bool
    figures: str


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
    name, page, title : str
        Name of the CSV file without its ending, name of the page, and the heading of that.
    introduction : tuple of str
        Lines of the page, above the figures.
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
    picture : callable, optional
        Draws medians.
    """

    name: str
    page: str
    title: str
    introduction: tuple[str, ...]
    methods: tuple[str, ...]
    metrics: dict[str, Metric]
    settings: Callable[[], list[Setting]]
    repeats: Callable[[Setting], int]
    measure: Callable[[Setting, int], list[Run]]
    misses: Callable[[Medians, str], list[Miss]]
    verdicts: Callable[[list[Run], Medians], list[Verdict]]
    picture: Callable[[Medians], Any] | None = None

    @property
    def image(self) -> str:
        """Where the picture is, as seen from the page."""
        return f"images/accuracy-{self.name}.png"


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


def no_miss(bad: list[Miss], metric: str) -> Verdict:
    """The verdict that no cell of a metric has a star."""
    figures = "; ".join(map(str, bad)) or "none"
    return Verdict(f"no cell above 1.05 x best rival, {metric}", not bad, figures)


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


def starred(part: Part, table: Medians, metric: str) -> list[list[str]]:
    """Setting, budget and figures of each cell as text; a star marks a limit that is missed."""
    missed = {(miss.setting, miss.mu, miss.method) for miss in part.misses(table, metric)}
    digits = part.metrics[metric].digits

    def figure(setting: Setting, mu: float, method: str) -> str:
        value = table.get((metric, setting, mu, method))
        star = "*" if (setting, mu, method) in missed else ""
        return "-" if value is None else f"{value:.{digits}g}{star}"

    return [
        [str(setting), f"{mu:g}", *(figure(setting, mu, method) for method in part.methods)]
        for setting, mu in cells(table)
    ]


def show(console: Console, part: Part, runs: list[Run]) -> None:
    """Print the medians and the verdicts."""
    table = medians(part, runs)
    for metric, (title, _) in part.metrics.items():
        view = Table(title=f"medians, {title}", title_justify="left")
        for heading in ("setting", "mu", *part.methods):
            view.add_column(heading, justify="left" if heading == "setting" else "right")
        for line in starred(part, table, metric):
            view.add_row(*line)
        console.print(view)
    for what, holds, figures in part.verdicts(runs, table):
        console.print(f"{'holds ' if holds else 'MISSED'}  {what}: {figures}", highlight=False)


def page(part: Part, runs: list[Run], made: str) -> str:
    """The medians and the verdicts as a page of the documentation."""
    table = medians(part, runs)
    lines = [f"# {part.title}", "", *part.introduction, "", f"Made by `{made}`."]
    if part.picture is not None:
        lines += ["", f"![{part.title}]({part.image})"]
    lines += ["", "## Limits", ""]
    for what, holds, figures in part.verdicts(runs, table):
        lines.append(f"- {'Holds' if holds else '**Missed**'}: {what}: {figures}")
    for metric, (title, _) in part.metrics.items():
        lines += ["", f"## {title[0].upper()}{title[1:]}", ""]
        lines.append("| setting | mu | " + " | ".join(part.methods) + " |")
        lines.append("| --- |" + " --: |" * (len(part.methods) + 1))
        lines += ["| " + " | ".join(line) + " |" for line in starred(part, table, metric)]
    return "\n".join(lines) + "\n"


def write_page(folder: Path, part: Part, runs: list[Run], made: str) -> Path:
    """Write the page, and the picture that it shows."""
    write_text(folder / part.page, page(part, runs, made))
    if part.picture is not None:
        (folder / part.image).parent.mkdir(parents=True, exist_ok=True)
        part.picture(medians(part, runs)).savefig(folder / part.image, dpi=140)
    return folder / part.page


def write_text(path: Path, text: str) -> None:
    """Write a file, complete or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.encode())
