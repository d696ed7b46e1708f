"""How right plans are: the error that a plan states beside the one that fits then have.

Plans are made from public rows with their responses; the error is the root mean square, over
private rows, of the difference between the linear predictors of the private and of the plain fit.
Populations are simulated or the fourteen tables of `wild`; each split has a plan of its own.

    python benchmarks/plans.py [--repeats 4] [--jobs 2] [--page-folder docs]
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import rivals
import wild
from pages.coverage import PLANS
from pages.page import render, table_path
from pages.tables import Limit, Table, limits_table, table, write
from rich.console import Console
from rich.progress import Progress
from settings import Array, Rows
from utility import positive

import publicmoments
from publicmoments import GDP, PublicMoments, plan
from publicmoments.families import Bernoulli, CanonicalFamily, Gaussian, Poisson

BUDGETS = (0.3, 1.0, 3.0, 10.0)
GOALS = {"simulated": (1.5, 1.0), "wild": (2.0, 0.9)}
"""Largest factor between planned and realised errors, and the share of cells within it."""

MODELS: dict[type[CanonicalFamily], str] = {
    Gaussian: "ridge",
    Bernoulli: "logistic",
    Poisson: "poisson",
}
SIMULATED = {
    f"{MODELS[type(family)]}, d {d}, n {n}": (family, d, n)
    for family in (Gaussian(), Bernoulli(), Poisson())
    for d, n in ((5, 2_000), (5, 20_000), (15, 20_000))
}
PUBLIC_ROWS = 200


def simulated(name: str, seed: int) -> tuple[CanonicalFamily, Rows, Rows]:
    """Private and public rows of a population with correlated Gaussian features."""
    family, d, n = SIMULATED[name]
    rng = np.random.default_rng([seed, d, n])
    mixing = rng.normal(size=(d, d)) / np.sqrt(d) + np.eye(d)
    X = rng.normal(size=(n + PUBLIC_ROWS, d)) @ mixing
    coef = np.linalg.solve(mixing, rng.normal(size=d) / np.sqrt(d))
    predictor = X @ coef - 0.5
    if isinstance(family, Gaussian):
        y = predictor + rng.normal(size=len(X))
    elif isinstance(family, Bernoulli):
        y = (predictor + rng.logistic(size=len(X)) > 0.0).astype(float)
    else:
        y = rng.poisson(np.exp(0.5 * predictor)).astype(float)
    return family, Rows(X[PUBLIC_ROWS:], y[PUBLIC_ROWS:]), Rows(X[:PUBLIC_ROWS], y[:PUBLIC_ROWS])


def ratios(task: tuple[str, str, int]) -> tuple[Array, Array]:
    """Squared realised and planned errors of one split, at each budget."""
    warnings.simplefilter("ignore")
    kind, name, seed = task
    if kind == "wild":
        setting = next(one for one in wild.matched_settings() if one.data == name)
        family, private, public = wild.split(setting, seed)
    else:
        family, private, public = simulated(name, seed)
    moments = PublicMoments.from_rows(public.X, response=public.y)
    model, budgets = MODELS[type(family)], [GDP(mu) for mu in BUDGETS]
    told = plan(len(private.X), budgets, moments, model=model, random_state=seed)
    target = rivals.non_private(family, private.X, private.y)
    realised = []
    for mu in BUDGETS:
        away = rivals.with_ones(private.X) @ (
            wild.ours(family, private, moments, mu, seed) - target
        )
        realised.append(float(np.mean(away**2)))
    planned = [one.prediction_distance**2 for one in told.forecasts]
    return np.array(realised), np.array(planned)


def collect(repeats: int, jobs: int) -> dict[tuple[str, str], Array]:
    """Ratio of realised to planned errors: geometric mean over splits, for each budget."""
    names = [("simulated", name) for name in SIMULATED]
    names += [("wild", name) for name in wild.available()]
    tasks = [(*name, seed) for name in names for seed in range(repeats)]
    found: dict[tuple[str, str], list[Array]] = {}
    with ProcessPoolExecutor(jobs) as pool, Progress(transient=True) as progress:
        bar = progress.add_task("plans", total=len(tasks))
        for (kind, name, _), (realised, planned) in zip(
            tasks, pool.map(ratios, tasks), strict=True
        ):
            found.setdefault((kind, name), []).append(np.log(realised / planned) / 2.0)
            progress.advance(bar)
    return {key: np.exp(np.mean(values, axis=0)) for key, values in found.items()}


def tables(found: dict[tuple[str, str], Array], made: str) -> dict[str, Table]:
    """The tables that the documentation keeps, by name."""
    limits = []
    for kind, (factor, share) in GOALS.items():
        cells = np.concatenate([values for key, values in found.items() if key[0] == kind])
        within = float(np.mean(np.abs(np.log(cells)) <= np.log(factor)))
        goal = f"{kind}, within a factor {factor:g} in at least {share:.0%} of cells"
        limits.append(Limit(goal, within >= share, f"{within:.0%} of {len(cells)}"))
    heads = ("population", *(f"mu {mu:g}" for mu in BUDGETS))
    lines = [[name, *(f"{value:.2f}" for value in values)] for (_, name), values in found.items()]
    return {"plans": table(made, heads, lines), "plans-limits": limits_table(made, limits)}


def main() -> None:
    """Measure, show and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=positive, default=4, help="splits of each population")
    parser.add_argument("--jobs", type=positive, default=os.cpu_count(), help="processes")
    parser.add_argument("--page-folder", type=Path, help="also write a page, to this folder")
    stated = parser.parse_args()
    made = (
        f"python benchmarks/plans.py --repeats {stated.repeats}; {datetime.date.today()}; "
        f"publicmoments {publicmoments.__version__}, numpy {np.__version__}, "
        f"Python {platform.python_version()}"
    )
    for name, one in tables(collect(stated.repeats, stated.jobs), made).items():
        for row in one.rows:
            Console().print(", ".join(row.values()), highlight=False)
        if stated.page_folder:
            write(table_path(stated.page_folder, name), one)
    if stated.page_folder:
        Console().print(f"wrote {render(PLANS, stated.page_folder)}")


if __name__ == "__main__":
    main()
