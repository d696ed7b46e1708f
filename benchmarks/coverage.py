"""How often intervals cover the truth: nominal 95 % intervals of the private regressions.

Draws simulated populations, private and public rows, fits every method at every budget, and counts
for each coefficient whether its interval covers the true one. Measuring, the CSV file and the page
are separable steps.

    python benchmarks/coverage.py [--repeats 500] [--first-seed 0] [--jobs 2] [--page-folder docs]
    python benchmarks/coverage.py --reuse --page-folder docs
"""

from __future__ import annotations

import argparse
import csv
import datetime
import os
import platform
import warnings
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
import plain
import settings
from pages.coverage import GOAL, SIMULATED
from pages.page import render, table_path
from pages.tables import Limit, Miss, Table, limits_table, table, write, write_text
from rich.console import Console
from rich.progress import Progress
from rich.table import Table as Shown
from scipy.special import ndtri
from scipy.stats import binom
from settings import Array
from utility import positive

import publicmoments
from publicmoments import GDP, LogisticRegression, PublicMoments, Ridge, release_moments
from publicmoments.datasets import LogisticPopulation
from publicmoments.families import Bernoulli

LEVEL = 0.95
LEAST, MOST = (percent / 100 for percent in GOAL)
BUDGETS, SIZES = (0.3, 1.0, 3.0), (2_000, 10_000, 50_000)
CONDITION, N_PUBLIC = 100.0, 200
REPEATS = 500

RESPONSES, MATRIX, MOMENTS = (
    "Ridge, public responses",
    "Ridge, matrix only",
    "release_moments(...).ridge(0)",
)
LABELS, NO_LABELS = (
    "LogisticRegression, public labels",
    "LogisticRegression, public rows without labels",
)
LEAST_SQUARES, LIKELIHOOD = "least squares, non-private", "logistic, non-private"
METHODS = (LEAST_SQUARES, RESPONSES, MATRIX, MOMENTS, LIKELIHOOD, LABELS, NO_LABELS)
NON_PRIVATE = (LEAST_SQUARES, LIKELIHOOD)

HEADINGS = (
    *("method", "n", "mu", "coverage", "error"),
    *("least", "most", "single error", "width", "missed"),
)


class Run(NamedTuple):
    """Which coefficients one fit covered, and its mean width over that of the non-private fit."""

    method: str
    n: int
    mu: float
    seed: int
    width: float
    covered: tuple[bool, ...]


class Cell(NamedTuple):
    """
    Coverage of a method at a size and a budget.

    Parameters
    ----------
    method : str
        The method.
    n : int
        Private rows.
    mu : float
        Budget; infinite for the non-private fits.
    mean, error : float
        Coverage over all draws and coefficients, and its standard error: coefficients of a draw are
        not independent, draws are.
    singles : tuple of float
        Coverage of every single coefficient.
    draws : int
        How many draws they are over.
    width : float
        Mean over draws of the mean width over that of the non-private intervals.
    """

    method: str
    n: int
    mu: float
    mean: float
    error: float
    singles: tuple[float, ...]
    draws: int
    width: float

    @property
    def private(self) -> bool:
        """Whether a budget was paid for it."""
        return self.method not in NON_PRIVATE

    @property
    def single_error(self) -> float:
        """Binomial standard error of the coverage of one coefficient, if it is the nominal one."""
        return float(np.sqrt(LEVEL * (1.0 - LEVEL) / self.draws))

    @property
    def outside(self) -> bool:
        """Whether the mean coverage misses the goal."""
        return not LEAST <= self.mean <= MOST

    @property
    def where(self) -> str:
        """Name of the cell."""
        budget = "" if np.isinf(self.mu) else f", mu {self.mu:g}"
        return f"{self.method}, n {self.n}{budget}"

    @property
    def figures(self) -> tuple[str, ...]:
        """The cell as text."""
        budget = "-" if np.isinf(self.mu) else f"{self.mu:g}"
        shares = (self.mean, self.error, min(self.singles), max(self.singles), self.single_error)
        percents = (f"{100 * share:.1f}" for share in shares)
        missed = "yes" if self.outside else ""
        return (self.method, str(self.n), budget, *percents, f"{self.width:.2f}", missed)


def measure(n: int, seed: int) -> list[Run]:
    """Every method at every budget, on one draw of each population."""
    warnings.simplefilter("ignore")
    return [*linear(n, seed), *logistic(n, seed)]


def linear(n: int, seed: int) -> list[Run]:
    """The linear methods; the rows are those of the accuracy benchmark, of other seeds."""
    rng = np.random.default_rng([seed, 3, n])
    sample = settings.simulate_linear(rng, CONDITION, n, N_PUBLIC)
    X, y, X_public, y_public = sample.X, sample.y, sample.X_public, sample.y_public
    plain_fit, spread = least_squares_with_errors(X, y)
    runs = [judged(LEAST_SQUARES, n, np.inf, seed, plain_fit, sample.target, spread)]
    size = float(np.sqrt(np.mean(y_public**2)))
    moment = X_public.T @ X_public / N_PUBLIC
    known = {
        RESPONSES: PublicMoments.from_rows(X_public, response=y_public),
        MATRIX: PublicMoments.from_matrix(moment, n=N_PUBLIC, response_scale=size),
    }
    both = PublicMoments.from_rows(np.column_stack([X_public, y_public]))
    rows = np.column_stack([X, y])
    for mu in BUDGETS:
        stated = {"privacy": GDP(mu), "random_state": seed}
        ends = {
            method: Ridge(fit_intercept=False, public=public, **stated).fit(X, y).conf_int(LEVEL)
            for method, public in known.items()
        }
        released = release_moments(rows, public=both, **stated)
        ends[MOMENTS] = released.ridge(X.shape[1], 0.0, fit_intercept=False).conf_int(LEVEL)
        runs += [judged(m, n, mu, seed, e, sample.target, spread) for m, e in ends.items()]
    return runs


def logistic(n: int, seed: int) -> list[Run]:
    """The logistic methods."""
    rng = np.random.default_rng([seed, 4, n])
    population = LogisticPopulation.draw(rng, settings.GLM_DIMENSION, condition=CONDITION)
    private = settings.Rows(*population.sample(rng, n))
    public = settings.Rows(*population.sample(rng, N_PUBLIC))
    plain_fit, spread = likelihood_with_errors(private)
    runs = [judged(LIKELIHOOD, n, np.inf, seed, plain_fit, population.coef, spread)]
    # Labels that are all alike say nothing that public moments could hold.
    labels = public.y if 0.0 < public.y.mean() < 1.0 else None
    known = {
        LABELS: PublicMoments.from_rows(public.X, response=labels),
        NO_LABELS: PublicMoments.from_rows(public.X),
    }
    for mu in BUDGETS:
        for method, moments in known.items():
            model = LogisticRegression(
                fit_intercept=False, privacy=GDP(mu), public=moments, random_state=seed
            )
            ends = model.fit(private.X, private.y).conf_int(LEVEL)
            runs.append(judged(method, n, mu, seed, ends, population.coef, spread))
    return runs


def judged(
    method: str, n: int, mu: float, seed: int, ends: Array, truth: Array, spread: Array
) -> Run:
    """Compare intervals with the truth, and their widths with those of the non-private fit."""
    covered = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    width = float(np.mean((ends[:, 1] - ends[:, 0]) / (2.0 * ndtri(0.5 + LEVEL / 2.0) * spread)))
    return Run(method, n, mu, seed, width, tuple(bool(one) for one in covered))


def least_squares_with_errors(X: Array, y: Array) -> tuple[Array, Array]:
    """Intervals of ordinary least squares, and the standard errors."""
    coef = settings.least_squares(X, y)
    left = y - X @ coef
    variance = float(left @ left) / (len(X) - X.shape[1])
    return normal_ends(coef, np.sqrt(variance * np.diag(np.linalg.inv(X.T @ X))))


def likelihood_with_errors(rows: settings.Rows) -> tuple[Array, Array]:
    """Intervals of maximum likelihood, and the standard errors."""
    coef = plain.fit(Bernoulli(), rows, 0.0)
    curvature = Bernoulli().curvature(rows.X @ coef)
    information = (rows.X * curvature[:, None]).T @ rows.X
    return normal_ends(coef, np.sqrt(np.diag(np.linalg.inv(information))))


def normal_ends(coef: Array, spread: Array) -> tuple[Array, Array]:
    """Ends of normal intervals, and the standard errors."""
    reach = ndtri(0.5 + LEVEL / 2.0) * spread
    return np.column_stack([coef - reach, coef + reach]), spread


def collect(seeds: range, jobs: int) -> list[Run]:
    """Run everything in parallel, with a progress bar."""
    # The largest first, so that no process is left alone with one at the end.
    tasks = [(n, seed) for n in sorted(SIZES, reverse=True) for seed in seeds]
    runs: list[Run] = []
    with ProcessPoolExecutor(jobs) as pool, Progress(transient=True) as progress:
        bar = progress.add_task("coverage", total=len(tasks))
        for done in as_completed([pool.submit(measure, *task) for task in tasks]):
            runs.extend(done.result())
            progress.advance(bar)
    return sorted(runs)


def cells(runs: Iterable[Run]) -> list[Cell]:
    """Coverage of every method, size and budget."""
    groups = defaultdict(list)
    for run in runs:
        groups[METHODS.index(run.method), run.n, run.mu].append(run)
    result = []
    for (method, n, mu), those in sorted(groups.items()):
        covered = np.array([run.covered for run in those], dtype=np.float64)
        single, draws = covered.mean(axis=0), covered.mean(axis=1)
        result.append(
            Cell(
                method=METHODS[method],
                n=n,
                mu=mu,
                mean=float(draws.mean()),
                error=float(draws.std() / np.sqrt(len(draws))),
                singles=tuple(single.tolist()),
                draws=len(draws),
                width=float(np.mean([run.width for run in those])),
            )
        )
    return result


def provenance(seeds: range) -> str:
    """How, when and with what the figures were made."""
    return (
        f"python benchmarks/coverage.py --repeats {len(seeds)} --first-seed {seeds[0]}; "
        f"{datetime.date.today()}; seeds {seeds[0]} to {seeds[-1]}; publicmoments "
        f"{publicmoments.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    )


def write_csv(path: Path, runs: Iterable[Run], made: str) -> None:
    """One line per fit, with a header that says how it was made."""
    text = StringIO(newline="")
    text.write(f"# {made}\n")
    writer = csv.writer(text)
    writer.writerow(["method", "n", "mu", "seed", "width", "covered"])
    for method, n, mu, seed, width, covered in runs:
        writer.writerow([method, n, mu, seed, width, "".join("01"[one] for one in covered)])
    write_text(path, text.getvalue())


def read_csv(path: Path) -> tuple[list[Run], str]:
    """Fits of an earlier day, and how they were made."""
    with path.open(newline="") as file:
        made = file.readline().removeprefix("# ").rstrip()
        _, *lines = csv.reader(file)
    runs = [
        Run(method, int(n), float(mu), int(seed), float(width), tuple(c == "1" for c in covered))
        for method, n, mu, seed, width, covered in lines
    ]
    return runs, made


def outside(found: Iterable[Cell]) -> list[Miss]:
    """Name the private cells that miss the goal, the farthest first, with their coverage."""
    missed = [cell for cell in found if cell.outside and cell.private]
    missed.sort(key=lambda cell: max(LEAST - cell.mean, cell.mean - MOST), reverse=True)
    return [Miss(cell.where, f"{100 * cell.mean:.1f} %") for cell in missed]


def singles_outside(found: Iterable[Cell]) -> str:
    """Count single coefficients that miss the goal, beside what chance does to exact intervals."""
    those = [cell for cell in found if cell.private]
    single = np.array([one for cell in those for one in cell.singles])
    drawn = np.array([cell.draws for cell in those for _ in cell.singles])
    low = binom.cdf(np.ceil(np.round(LEAST * drawn, 6)) - 1, drawn, LEVEL).sum()
    high = binom.sf(np.floor(np.round(MOST * drawn, 6)), drawn, LEVEL).sum()
    return (
        f"Of the {len(single)} single coefficients of private cells, {np.sum(single < LEAST)} are "
        f"below {100 * LEAST:g} % and {np.sum(single > MOST)} above {100 * MOST:g} %; chance would "
        f"put {low:.0f} and {high:.0f} there if all covered {100 * LEVEL:g} %."
    )


def show(console: Console, found: list[Cell]) -> None:
    """Print the coverages."""
    view = Shown(title=f"coverage of {100 * LEVEL:g} % intervals, %", title_justify="left")
    for heading in HEADINGS:
        view.add_column(heading, justify="left" if heading == "method" else "right")
    for cell in found:
        view.add_row(*cell.figures)
    console.print(view)
    for name, figure, _ in outside(found):
        console.print(f"OUTSIDE {LEAST:.0%}-{MOST:.0%}  {name}: {figure}", highlight=False)
    console.print(singles_outside(found), highlight=False)


def tables(found: list[Cell], made: str) -> dict[str, Table]:
    """The tables that the documentation keeps, by name."""
    missed = outside(found)
    goal = f"coverage from {100 * LEAST:g} to {100 * MOST:g} % in every private cell"
    limit = Limit(goal, not missed, "everywhere", missed)
    comments = (made, singles_outside(found))
    return {
        "coverage": table(comments, HEADINGS, [cell.figures for cell in found]),
        "coverage-limits": limits_table(made, [limit]),
    }


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--repeats", type=positive, default=REPEATS, help="draws of the data per size")
    add("--first-seed", type=int, default=0, help="seed of the first draw")
    add("--jobs", type=positive, default=os.cpu_count(), help="processes")
    add("--output", type=Path, default=Path("results/coverage"), help="folder of the CSV file")
    add("--page-folder", type=Path, help="also write tables and page, to this folder")
    add("--reuse", action="store_true", help="read the CSV file instead of measuring again")
    return parser.parse_args()


def main() -> None:
    """Measure or read, then show and write."""
    stated, console = arguments(), Console(width=None if os.isatty(1) else 200)
    path = stated.output / "coverage.csv"
    if stated.reuse:
        if not path.is_file():
            raise SystemExit(f"{path} is not there; run without --reuse first")
        runs, made = read_csv(path)
    else:
        seeds = range(stated.first_seed, stated.first_seed + stated.repeats)
        runs, made = collect(seeds, stated.jobs), provenance(seeds)
        write_csv(path, runs, made)
        console.print(f"wrote {path}: {len(runs)} fits")
    found = cells(runs)
    show(console, found)
    if stated.page_folder:
        for name, one in tables(found, made).items():
            write(table_path(stated.page_folder, name), one)
        console.print(f"wrote {render(SIMULATED, stated.page_folder)}")


if __name__ == "__main__":
    main()
