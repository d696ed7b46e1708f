"""The command line of the studies."""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from experiments.moments.results import Results
from experiments.moments.show import (
    picture,
    read_summaries,
    write_page,
    write_summaries,
    write_verdicts,
)
from experiments.moments.studies import Study, measured
from experiments.plumbing.commands import HERE, provenance

QUICK = 4
"""Repeats of a trial run."""


def main(*studies: Study, page: bool = False, arguments: list[str] | None = None) -> None:
    """
    Run studies from the command line.

    Parameters
    ----------
    *studies : Study
        All that can be chosen from.
    page : bool
        Whether to write the page of results, when none is left out.
    arguments : list of str, optional
        Instead of those of the command line.
    """
    parser = argparse.ArgumentParser(
        prog="python -m experiments.moments", description="Run the studies of second moments."
    )
    names = [study.name for study in studies]
    parser.add_argument("--studies", nargs="+", choices=names, metavar="NAME", help="only these")
    parser.add_argument("--quick", action="store_true", help="few repeats, into another folder")
    parser.add_argument(
        "--plot", action="store_true", help="only draw, and write the page, from tables there are"
    )
    parser.add_argument("--repeats", type=int, help="other than at full size")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--output", type=Path, help="folder of tables and pictures")
    options = parser.parse_args(arguments)
    console, started = Console(), time.perf_counter()
    chosen = [study for study in studies if not options.studies or study.name in options.studies]
    home = options.output or (HERE / "quick" if options.quick else HERE)
    folder = options.output or home / "results" / "moments"
    whole = page and len(chosen) == len(studies)
    if options.plot:
        for study in chosen:
            found, made = read_summaries(study, folder)
            picture(study, found, folder, made)
    else:
        results = [_finish(study, options, folder, console) for study in chosen]
        if whole:
            made = provenance("repeats as stated in the pictures")
            write_verdicts(results, folder, made)
    if whole:
        target = home / "MOMENTS.md"
        write_page(target, folder, studies)
        console.print(f"wrote {target.name}")
    console.print(f"{(time.perf_counter() - started) / 60:.1f} minutes", highlight=False)


def _finish(study: Study, options: argparse.Namespace, folder: Path, console: Console) -> Results:
    """Measure a study, write its table and picture, and say which claims hold."""
    repeats = options.repeats or (QUICK if options.quick else study.repeats)
    results, made = run(study, repeats, options.jobs, console), provenance(f"{repeats} repeats")
    found = results.summaries()
    write_summaries(study, found, folder, made)
    picture(study, found, folder, made)
    for claim in study.claims:
        console.print(f"{study.name}: {claim.text}: {claim.judge(results)}", highlight=False)
    return results


def run(study: Study, repeats: int, jobs: int, console: Console) -> Results:
    """Measure a study, its repeats in several processes."""
    results = Results(study)
    with Progress(console=console) as progress:
        bar = progress.add_task(study.name, total=repeats)
        if jobs == 1:
            for number in range(repeats):
                results.add(measured(study, number))
                progress.advance(bar)
            return results
        # Judges are closures, which cannot be sent to other processes, nor need they be.
        bare = replace(study, claims=())
        with ProcessPoolExecutor(jobs) as pool:
            for lines in pool.map(measured, [bare] * repeats, range(repeats)):
                results.add(lines)
                progress.advance(bar)
    return results
