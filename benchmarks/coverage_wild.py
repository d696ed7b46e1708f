"""How often intervals cover the coefficients of real populations that settled no constant.

A table of `wild` is the population, and its non-private fit the truth. Draws of rows with
replacement are fitted with public rows of the same table, and each coefficient's nominal 95 %
interval either covers the truth or not. Beside ours: non-private intervals, classical ones and
those of a sandwich that allows for errors of any size.

    python benchmarks/coverage_wild.py [--repeats 40] [--jobs 2] [--page-folder docs]
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import rivals
import wild
from pages.coverage import KINDS, WILD
from pages.page import render, table_path
from pages.tables import Limit, Miss, Table, limits_table, table, write
from rich.console import Console
from rich.progress import Progress
from scipy.special import ndtri
from settings import Array, Rows
from utility import positive

import publicmoments
from publicmoments import PublicMoments
from publicmoments.families import CanonicalFamily, Gaussian

LEVEL, N, MU = 0.95, 5_000, 1.0
MEAN, LEAST = 0.92, 0.85
"""Goals: coverage over all coefficients of a table, and of its worst one."""

CLASSICAL, SANDWICH, OURS = KINDS


def covered(name: str, seed: int) -> dict[str, Array] | None:
    """Which coefficients each method covers in one draw; None where a public column is constant."""
    warnings.simplefilter("ignore")
    _, X, y = wild.table(name)
    family, rng = wild.FAMILIES[name], np.random.default_rng(seed)
    truth = rivals.non_private(family, X, y)
    drawn = rng.integers(0, len(X), N)
    n_public = min(wild.PUBLIC_ROWS, len(X) // wild.LEAST_SHARE)
    chosen = rng.choice(len(X), n_public, replace=False)
    if not (X[chosen].std(axis=0) > 1e-9).all():
        return None
    rows, public = Rows(X[drawn], y[drawn]), PublicMoments.from_rows(X[chosen], response=y[chosen])
    ends = {**_non_private(family, rows), OURS: _ours(family, rows, public, seed)}
    return {method: (low <= truth) & (truth <= high) for method, (low, high) in ends.items()}


def _ours(
    family: CanonicalFamily, rows: Rows, public: PublicMoments, seed: int
) -> tuple[Array, Array]:
    """Intervals of the library, intercept last."""
    model = wild.fitted(family, rows, public, MU, seed)
    low, high = np.asarray(model.conf_int(LEVEL), dtype=float).T
    return low, high


def _non_private(family: CanonicalFamily, rows: Rows) -> dict[str, tuple[Array, Array]]:
    """Normal intervals with both kinds of standard errors."""
    X, n = rivals.with_ones(rows.X), len(rows.X)
    coef = rivals.non_private(family, rows.X, rows.y)
    predictor = X @ coef
    residual = rows.y - family.mean(predictor)
    bread = np.linalg.pinv((X * family.curvature(predictor)[:, None]).T @ X / n)
    freedom = n - X.shape[1]
    dispersion = float(residual @ residual) / freedom if isinstance(family, Gaussian) else 1.0
    meat = (X * residual[:, None] ** 2).T @ X / n
    found = {}
    for method, covariance in ((CLASSICAL, dispersion * bread), (SANDWICH, bread @ meat @ bread)):
        half = ndtri((1.0 + LEVEL) / 2.0) * np.sqrt(np.diag(covariance) / n)
        found[method] = (coef - half, coef + half)
    return found


def collect(names: list[str], repeats: int, jobs: int) -> dict[tuple[str, str], Array]:
    """Coverage of each coefficient, by table and method."""
    kept = defaultdict(list)
    tasks = [(name, seed) for name in names for seed in range(repeats)]
    with ProcessPoolExecutor(jobs) as pool, Progress(transient=True) as progress:
        bar = progress.add_task("coverage", total=len(tasks))
        done = pool.map(covered, *zip(*tasks, strict=True))
        for (name, _), draw in zip(tasks, done, strict=True):
            for method, inside in (draw or {}).items():
                kept[name, method].append(inside)
            progress.advance(bar)
    return {key: np.mean(draws, axis=0) for key, draws in kept.items()}


def tables(found: dict[tuple[str, str], Array], made: str) -> dict[str, Table]:
    """The tables that the documentation keeps, by name."""
    lines, missed = [], []
    for name in sorted({name for name, _ in found}):
        shares = [one for kind in KINDS for one in _mean_and_least(found[name, kind])]
        lines.append([name, *(f"{share:.0%}" for share in shares)])
        mean, least = _mean_and_least(found[name, OURS])
        if not (mean >= MEAN and least >= LEAST):
            missed.append(Miss(name, f"mean {mean:.0%}, least {least:.0%}"))
    goal = f"mean at least {MEAN:.0%} and least at least {LEAST:.0%} on every table"
    heads = ("table", *(f"{kind}: {part}" for kind in KINDS for part in ("mean", "least")))
    return {
        "coverage-wild": table(made, heads, lines),
        "coverage-wild-limits": limits_table(made, [Limit(goal, not missed, "everywhere", missed)]),
    }


def _mean_and_least(shares: Array) -> tuple[float, float]:
    """Coverage over all coefficients, and of the worst one."""
    return float(shares.mean()), float(shares.min())


def main() -> None:
    """Measure, show and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=positive, default=40, help="draws of each table")
    parser.add_argument("--jobs", type=positive, default=os.cpu_count(), help="processes")
    parser.add_argument("--page-folder", type=Path, help="also write a page, to this folder")
    stated, names = parser.parse_args(), wild.available()
    if not names:
        raise SystemExit("set PUBLICMOMENTS_DATA to the folder that has the tables in wild/")
    found = collect(names, stated.repeats, stated.jobs)
    made = (
        f"python benchmarks/coverage_wild.py --repeats {stated.repeats}; {datetime.date.today()}; "
        f"publicmoments {publicmoments.__version__}, numpy {np.__version__}, "
        f"Python {platform.python_version()}"
    )
    for name, one in tables(found, made).items():
        for row in one.rows:
            Console().print(", ".join(row.values()), highlight=False)
        if stated.page_folder:
            write(table_path(stated.page_folder, name), one)
    if stated.page_folder:
        Console().print(f"wrote {render(WILD, stated.page_folder)}")


if __name__ == "__main__":
    main()
