"""The command line: run figures, write their tables and pictures, and say which claims hold."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

import publicmoments
from experiments.plumbing import plots
from experiments.plumbing.captions import caption
from experiments.plumbing.figures import THINNING, Figure
from experiments.plumbing.page import Judged, verdicts, write_page, write_verdicts
from experiments.plumbing.running import Outcome, run_figures
from experiments.plumbing.samples import DATA_SEED, available
from experiments.plumbing.store import Store, source_hash
from experiments.plumbing.tables import Summaries, read_summaries, summarise, write_tables

HERE = Path(__file__).resolve().parents[1]
QUICK = {300: 3, 100: 2}
"""Repeats of a trial run, by published repeats."""


def main(*figures: Figure, page: bool = False, arguments: list[str] | None = None) -> None:
    """
    Run figures from the command line.

    Parameters
    ----------
    *figures : Figure
        All that can be chosen from.
    page : bool
        Whether to write the page of results, when none of the figures is left out.
    arguments : list of str, optional
        Instead of those of the command line.
    """
    options = _parser(figures).parse_args(arguments)
    console = Console()
    chosen = [f for f in figures if not options.figures or f.name in options.figures]
    folder = options.output or HERE / ("quick/results" if options.quick else "results")
    started = time.perf_counter()
    if options.plot:
        for figure in chosen:
            _draw(figure, *read_summaries(folder, figure), folder, options.centre)
    else:
        entries = _run(chosen, folder, options, console)
        if page and len(entries) == len(figures):
            write_verdicts(folder, entries, provenance("repeats as stated for each figure"))
    if page and len(chosen) == len(figures):
        target = folder.parent / "RESULTS.md"
        write_page(target, folder, figures)
        console.print(f"wrote {_relative(target)}")
    console.print(f"{(time.perf_counter() - started) / 60:.1f} minutes", highlight=False)


def _run(
    chosen: list[Figure], folder: Path, options: argparse.Namespace, console: Console
) -> list[Judged]:
    """Measure figures, write their tables and pictures, and judge the claims about them."""
    for figure in [f for f in chosen if not all(available(p.design.data) for p in f.panels)]:
        console.print(f"{figure.name} left out: set PUBLICMOMENTS_DATA to the folder of its data")
        chosen.remove(figure)
    repeats = {figure.name: _repeats(figure, options) for figure in chosen}
    store = Store(folder / "units", source_hash())
    try:
        outcomes = run_figures(chosen, store, repeats, options.jobs, console)
    except KeyboardInterrupt:
        console.print("interrupted; the same command goes on from here")
        sys.exit(130)
    entries = [
        _finish(figure, outcomes[figure.name], repeats[figure.name], folder, options.centre)
        for figure in chosen
    ]
    _report(console, entries, outcomes, options.jobs)
    return entries


def _finish(figure: Figure, outcome: Outcome, repeats: int, folder: Path, centre: str) -> Judged:
    """Write a figure's tables and pictures."""
    made, summaries = provenance(f"repeats 0 to {repeats - 1}"), summarise(outcome)
    write_tables(folder, figure, outcome, made)
    _draw(figure, summaries, made, repeats, folder, centre)
    thinning = THINNING if any(panel.design.every for panel in figure.panels) else 1
    return Judged(figure, summaries, summarise(outcome, thinning), repeats)


def _draw(
    figure: Figure, summaries: Summaries, made: str, repeats: int, folder: Path, centre: str
) -> None:
    """Write a figure's pictures."""
    draw = figure.draw or plots.draw
    canvas = draw(figure, summaries, centre, caption(figure, repeats, centre))
    name = figure.name if centre == "mean" else f"{figure.name}-{centre}"
    plots.save(canvas, folder, name, made)


def provenance(repeats: str) -> str:
    """How, when and with what numbers were made."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "matplotlib"))
    words = " ".join(["python -m", _module(), *sys.argv[1:]])
    return (
        f"`{words}`; {datetime.date.today()}; data seed {DATA_SEED}, {repeats}; "
        f"publicmoments {publicmoments.__version__}, source {source_hash()[:12]}, {libraries}, "
        f"Python {platform.python_version()}"
    )


def _module() -> str:
    """Name of the module that was run."""
    parts = Path(sys.argv[0]).resolve().with_suffix("").parts
    if HERE.name not in parts:
        return HERE.name
    last = max(place for place, part in enumerate(parts) if part == HERE.name)
    return ".".join(part for part in parts[last:] if part != "__main__")


def _report(
    console: Console, entries: list[Judged], outcomes: dict[str, Outcome], jobs: int
) -> None:
    """Print costs and verdicts."""
    view = Table(title="cost and claims", title_justify="left")
    headings = ("figure", "repeats", "core s", f"full size, {jobs} cores, min", "claims")
    for heading in (*headings, "by mean", "by median"):
        view.add_column(heading, justify="left" if heading == "figure" else "right")
    total = 0.0
    for entry in entries:
        figure, outcome = entry.figure, outcomes[entry.figure.name]
        full = outcome.full_seconds / jobs / 60
        judged = [pair for p in figure.panels for _, pair in verdicts(p, entry.summaries)]
        counts = [str(sum(pair[k].holds for pair in judged)) for k in range(2)]
        view.add_row(
            figure.name,
            str(entry.repeats),
            f"{outcome.seconds:.0f}",
            f"{full:.2f}",
            str(len(judged)),
            *counts,
        )
        total += full
    view.add_row("all", "", "", f"{total:.2f}")
    console.print(view)


def _repeats(figure: Figure, options: argparse.Namespace) -> int:
    """Repeats of a figure: published, few, or as asked for."""
    return options.repeats or (QUICK[figure.repeats] if options.quick else figure.repeats)


def _relative(path: Path) -> Path:
    """A path as seen from where the command was given, if it is below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _parser(figures: tuple[Figure, ...]) -> argparse.ArgumentParser:
    """Options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description="Run the paper's experiments."
    )
    names = [figure.name for figure in figures]
    parser.add_argument("--figures", nargs="+", choices=names, metavar="NAME", help="only these")
    parser.add_argument("--quick", action="store_true", help="few repeats, into another folder")
    parser.add_argument(
        "--plot", action="store_true", help="only draw, and write the page, from tables there are"
    )
    parser.add_argument("--repeats", type=int, help="other than published")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument(
        "--centre",
        choices=("mean", "median"),
        default="mean",
        help="lines and bands: mean and sd as published, or median and 10-90 %% quantiles",
    )
    parser.add_argument("--output", type=Path, help="folder of tables and pictures")
    return parser
