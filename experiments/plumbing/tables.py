"""Tables of a figure: one line per measurement, and one per setting."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.pages.tables import read
from experiments.plumbing.figures import Cell, Figure, shown
from experiments.plumbing.methods import METHODS
from experiments.plumbing.running import Outcome
from publicmoments.io.atomic import write_atomically

RAW = "raw"
"""Folder of measurements, which git ignores: summaries are enough to draw a figure again."""

SETTING = ("panel", "n", "mu", "lambda")


class Key(NamedTuple):
    """Where an error was measured, but for the repeat."""

    panel: str
    cell: Cell
    method: str
    iteration: int | None


@dataclass(frozen=True)
class Summary:
    """Errors of one setting over the repeats."""

    count: int
    mean: float
    sd: float
    median: float
    q10: float
    q90: float


Summaries = dict[Key, Summary]


def summarise(outcome: Outcome, thinning: int = 1) -> Summaries:
    """Summaries of every setting, in the order of measurement, of one in so many repeats."""
    errors: dict[Key, list[float]] = defaultdict(list)
    for panel, lines in outcome.lines.items():
        for line in lines:
            if line.repeat % thinning:
                continue
            cell = Cell(line.n, line.mu, line.alpha)
            errors[Key(panel, cell, line.method, line.iteration)].append(line.error)
    return {key: summary(np.array(values)) for key, values in errors.items()}


def summary(errors: np.ndarray) -> Summary:
    """Mean, sd, median and the quantiles that hold four fifths; infinite errors are kept."""
    finite = bool(np.all(np.isfinite(errors)))
    # Between infinite values there is nothing to interpolate.
    method = "linear" if finite else "nearest"
    q10, median, q90 = np.quantile(errors, (0.1, 0.5, 0.9), method=method)
    mean = float(errors.mean()) if finite else float("inf")
    sd = float(errors.std(ddof=1)) if finite and len(errors) > 1 else 0.0 if finite else mean
    return Summary(len(errors), mean, sd, float(median), float(q10), float(q90))


def write_tables(folder: Path, figure: Figure, outcome: Outcome, made: str) -> list[Path]:
    """Write summaries, and measurements where git does not look; return both paths."""
    short = folder / f"{figure.name}-summary.csv"
    _write(short, _csv(_summary_rows(summarise(outcome)), made))
    full = folder / RAW / f"{figure.name}.csv"
    _write(full, _csv(_measurement_rows(outcome), made))
    return [short, full]


def read_summaries(folder: Path, figure: Figure) -> tuple[Summaries, str, int]:
    """Summaries of a figure, how they were made, and the number of repeats."""
    kept = read(folder / f"{figure.name}-summary.csv")
    names = {
        (panel.name, METHODS[method].label): method
        for panel in figure.panels
        for method in panel.design.methods
    }
    found: Summaries = {}
    for row in kept.rows:
        cell = Cell(int(row["n"]), float(row["mu"]), float(row["lambda"]))
        iteration = int(row["iteration"]) if row["iteration"] else None
        method = names[row["panel"], row["method"]]
        numbers = (float(row[name.name]) for name in fields(Summary)[1:])
        found[Key(row["panel"], cell, method, iteration)] = Summary(int(row["count"]), *numbers)
    return found, kept.made, max(values.count for values in found.values())


def _measurement_rows(outcome: Outcome) -> list[list[object]]:
    """A header and one row per measurement."""
    rows: list[list[object]] = [[*SETTING, "repeat", "method", "iteration", "error"]]
    for panel, lines in outcome.lines.items():
        for line in lines:
            setting = _setting(panel, Cell(line.n, line.mu, line.alpha))
            label = METHODS[line.method].label
            rows.append([*setting, line.repeat, label, line.iteration, f"{line.error:.5g}"])
    return rows


def _summary_rows(summaries: Summaries) -> list[list[object]]:
    """A header and one row per setting."""
    names = [field.name for field in fields(Summary)]
    rows: list[list[object]] = [[*SETTING, "method", "iteration", *names]]
    for key, values in summaries.items():
        count, *rest = astuple(values)
        numbers = [count, *(f"{value:.5g}" for value in rest)]
        label = METHODS[key.method].label
        rows.append([*_setting(key.panel, key.cell), label, key.iteration, *numbers])
    return rows


def _setting(panel: str, cell: Cell) -> list[object]:
    """Columns that say where an error was measured."""
    return [panel, cell.n, shown(cell.mu), shown(cell.alpha)]


def _csv(rows: list[list[object]], made: str) -> bytes:
    """Rows under comments that say how they were made and what mu is."""
    text = io.StringIO(newline="")
    text.write(f"# {made}\n# mu is published, per statistic; every method has sqrt(2) mu in all\n")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _write(path: Path, content: bytes) -> None:
    """Write a file and the folder it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)
