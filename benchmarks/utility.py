"""Accuracy of private regression beside its alternatives, at equal total budget.

Four parts: ridge regression, generalised linear models, tables that settled no constant, and these
with public rows from a subgroup. Each prints tables of median errors and says which of the stated
limits hold, writes one CSV line per run and, if asked to, a page of the documentation.

    python benchmarks/utility.py [--part glm] [--repeats 4] [--page-folder docs]
    python benchmarks/utility.py --part glm --reuse --page-folder docs
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import glm
import harness
import ridge
import wild
from rich.console import Console

PARTS = {part.name: part for part in (ridge.PART, glm.PART, wild.PART, wild.SHIFT)}


def positive(text: str) -> int:
    """Read a number of repeats or processes."""
    if not (number := int(text)) > 0:
        raise argparse.ArgumentTypeError(f"must be positive, got {number}")
    return number


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--part", choices=[*PARTS, "all"], default="all", help="what to measure")
    add(
        "--repeats",
        type=positive,
        help="draws of the data per setting; each part has its own default",
    )
    add("--first-seed", type=int, default=0, help="seed of the first draw")
    add("--jobs", type=positive, default=os.cpu_count(), help="processes")
    add("--output", type=Path, default=Path("results/utility"), help="folder of the CSV files")
    add("--page-folder", type=Path, help="also write tables and page, to this folder")
    add("--reuse", action="store_true", help="read the CSV files instead of measuring again")
    return parser.parse_args()


def main() -> None:
    """Measure or read, then show and write."""
    stated, console = arguments(), Console(width=None if os.isatty(1) else 200)
    for name in PARTS if stated.part == "all" else [stated.part]:
        part, path = PARTS[name], stated.output / f"{name}.csv"
        if not part.settings():
            console.print(f"{name} left out: set PUBLICMOMENTS_DATA to the folder of its data")
            continue
        if stated.reuse:
            if not path.is_file():
                raise SystemExit(f"{path} is not there; run without --reuse first")
            runs, made = harness.read_csv(path)
        else:
            seeds = harness.planned(part, stated.repeats, stated.first_seed)
            runs, made = harness.collect(part, seeds, stated.jobs), harness.provenance(part, seeds)
            harness.write_csv(path, part, runs, made)
            console.print(f"wrote {path}: {len(runs)} runs")
        harness.show(console, part, runs)
        if stated.page_folder:
            console.print(f"wrote {harness.write_page(stated.page_folder, part, runs, made)}")


if __name__ == "__main__":
    main()
