"""What each constant of the estimators is worth: accuracy with it, and with it taken away.

    python benchmarks/constants.py [--repeats 3] [--jobs 2] [--page-folder docs]

Tables and splits are those of the benchmark on fourteen real tables, half of which decided
constants (choose); the others confirm.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import rivals
import wild
from pages.others import CONSTANTS as PAGE
from pages.page import render, table_path
from pages.tables import table, write

BUDGETS = (0.3, 1.0, 3.0, 10.0)
CONFIRM = ("hours", "food", "males", "benefits", "oldvisits", "stay", "medpar")
PACKAGE, LARGEST = "publicmoments", 1e6
"""Where the constants are; an error that stands for a fit that failed."""

ROOMS = ("evidence", "models", "planner")
"""What stands after the door."""


@dataclass(frozen=True)
class Constant:
    """A named number, and what takes its place where it is taken away."""

    module: str
    name: str
    without: Any
    meaning: str


CONSTANTS = (
    Constant("evidence.schedule", "LOOK", 0.02, "share of the look, at a fifth"),
    Constant("evidence.schedule", "COUNTS", 0.02, "share of the counts, at a fifth"),
    Constant(
        "evidence.schedule", "RESPONSES", 0.01, "share of the response's histogram, at a third"
    ),
    Constant("evidence.schedule", "GROWTH", 1.0, "all gradients alike"),
    Constant("evidence.schedule", "STEPS", 3, "half as many gradients with public responses"),
    Constant("evidence.schedule", "STEPS_UNINFORMED", 4, "half as many without public responses"),
    Constant("evidence.schedule", "STEPS_PER_DECADE", 0.0, "no more steps for more rows or budget"),
    Constant("evidence.schedule", "ROOM", 4.0, "more steps from ten times the rows on"),
    Constant(
        "evidence.look", "LEAST_RADIUS", 1.0, "rows of the look bounded at their typical length"
    ),
    Constant("evidence.look", "LOOK_NOISE", np.inf, "the look's radius does not grow"),
    Constant("evidence.look", "NOISE_MARGIN", 0.0, "no floor under second moments by noise"),
    Constant("evidence.numerics", "MARGIN", 0.0, "all beyond the expected counts as disagreement"),
    Constant("evidence.responses", "SIGNIFICANT", 1.0, "cells believed from one standard error on"),
    Constant("evidence.responses", "RAREST", 0.0, "classes may be as rare as noise has them"),
    Constant("evidence.standins", "LEAST_CURVATURE", 1e-6, "no floor under curvatures"),
    Constant("evidence.standins", "FREEDOM", 1_000, "Gaussian rows where only moments are public"),
    Constant(
        "evidence.start", "LEAST_SHRINKAGE", 1e-6, "covariance of the public fit without a floor"
    ),
    Constant("evidence.tails", "TAIL", 30.0, "no tail beyond what is seen"),
    Constant("evidence.tails", "SLOWEST_TAIL", 3.0, "intervals alone: no slower tails there"),
    Constant("evidence.tails", "COHERENCE", 0.0, "bias only from the difference of the two sides"),
    Constant("evidence.bounds", "ROW_COHERENCE", 0.0, "row weights of labels cost nothing"),
    Constant("evidence.posterior", "LARGEST_MOVE", np.inf, "moves of any length"),
    Constant(
        "evidence.posterior", "STAND_IN_ERROR", 0.0, "curvatures are taken to be right at first"
    ),
    Constant("evidence.posterior", "MOST_ERROR", 1e-3, "and nearly right after all"),
    Constant("models.estimator", "HINT", 1.0, "the histogram of responses hints at no sizes"),
    Constant("models.estimator", "WORSE", np.inf, "no step is taken back"),
)


def errors(task: tuple[str, int, Constant | None]) -> dict[tuple[float, str], float]:
    """Errors of one split at every budget and with both kinds of public knowledge."""
    name, seed, constant = task
    warnings.simplefilter("ignore")
    if constant is None:
        return _errors(name, seed)
    module = importlib.import_module(f"{PACKAGE}.{constant.module}")
    kept = getattr(module, constant.name)
    try:
        _put(module, constant.name, constant.without)
        return _errors(name, seed)
    finally:
        _put(module, constant.name, kept)


def _put(module: Any, name: str, value: Any) -> None:
    """Set a constant, and forget what was worked out with another."""
    setattr(module, name, value)
    for one in vars(module).values():
        if hasattr(one, "cache_clear"):
            one.cache_clear()


def _errors(name: str, seed: int) -> dict[tuple[float, str], float]:
    """Errors from the non-private fit."""
    setting = next(one for one in wild.matched_settings() if one.data == name)
    family, private, public = wild.split(setting, seed)
    target = rivals.non_private(family, private.X, private.y)
    found = {}
    for kind, known in wild.public_kinds(family, public).items():
        for mu in BUDGETS:
            try:
                away = wild.ours(family, private, known, mu, seed) - target
                square = np.mean((rivals.with_ones(private.X) @ away) ** 2)
                found[mu, kind] = float(min(np.sqrt(square), LARGEST))
            except (ArithmeticError, ValueError, np.linalg.LinAlgError):
                found[mu, kind] = LARGEST
    return found


def medians(
    names: list[str], repeats: int, constant: Constant | None, pool: ProcessPoolExecutor
) -> dict[tuple[str, float, str], float]:
    """Median errors by table, budget and kind of public knowledge."""
    tasks = [(name, seed, constant) for name in names for seed in range(repeats)]
    gathered: dict[tuple[str, float, str], list[float]] = {}
    for (name, _, _), found in zip(tasks, pool.map(errors, tasks), strict=True):
        for (mu, kind), error in found.items():
            gathered.setdefault((name, mu, kind), []).append(error)
    return {cell: float(np.median(values)) for cell, values in gathered.items()}


def line(
    constant: Constant,
    base: dict[tuple[str, float, str], float],
    without: dict[tuple[str, float, str], float],
) -> list[str]:
    """A row of the table: cost of a removal on both halves of the tables."""
    module = importlib.import_module(f"{PACKAGE}.{constant.module}")
    cells = [f"{constant.module}.{constant.name}", f"{getattr(module, constant.name)}"]
    cells.append(constant.meaning)
    for confirm in (False, True):
        ratios = [without[c] / base[c] for c in base if (c[0] in CONFIRM) == confirm]
        cells += [f"{np.exp(np.mean(np.log(ratios))):.2f}", f"{max(ratios):.2f}"]
    return cells


def others() -> list[list[str]]:
    """Further numbers with a name after the door: what is not measured here, by module."""
    measured, found = {(one.module, one.name) for one in CONSTANTS}, []
    root = Path(importlib.import_module(PACKAGE).__file__).parent
    for path in sorted(file for room in ROOMS for file in (root / room).rglob("*.py")):
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        names = [name for name in _numbers(path) if (module, name) not in measured]
        if names:
            found.append([module, " ".join(names)])
    return found


def _numbers(path: Path) -> list[str]:
    """Names in capitals that a module gives to numbers."""
    names = []
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(part, ast.Constant) and isinstance(part.value, (int, float))
            for part in ast.walk(node.value)
        ):
            names += [
                part.id
                for target in node.targets
                for part in ast.walk(target)
                if isinstance(part, ast.Name) and part.id.isupper()
            ]
    return names


HEADINGS = (
    *("constant", "value", "without it"),
    *("choose: mean", "choose: worst", "confirm: mean", "confirm: worst"),
)


def main() -> None:
    """Measure all constants, print a table, and write it with its page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--page-folder", type=Path)
    stated = parser.parse_args()
    names, lines = wild.available(), []
    with ProcessPoolExecutor(stated.jobs) as pool:
        base = medians(names, stated.repeats, None, pool)
        for constant in CONSTANTS:
            lines.append(line(constant, base, medians(names, stated.repeats, constant, pool)))
            print(*lines[-1], sep=", ", flush=True)
    if stated.page_folder:
        made = f"python benchmarks/constants.py --repeats {stated.repeats}; {date.today()}"
        folder = stated.page_folder
        write(table_path(folder, "constants"), table(made, HEADINGS, lines))
        write(table_path(folder, "constants-others"), table(made, ("module", "names"), others()))
        print(f"wrote {render(PAGE, folder)}")


if __name__ == "__main__":
    main()
