"""``pmt data``, ``pmt experiments``, ``pmt demo``: the paper's tables and figures, and a walk."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from publicmoments.cli import parsing
from publicmoments.cli.failures import INTERRUPTED, CommandError
from publicmoments.cli.outputs import Screen, checked_output, csv_text, write_text
from publicmoments.cli.parsing import command, flag, group, option

HEADINGS = ("name", "rows", "features", "response", "content")
TABLES = {
    "wine": ("4898", "11", "quality", "white wine, from laboratory measurements"),
    "power-plant": ("9568", "4", "PE", "electrical output, from ambient variables"),
    "bank": ("45211", "42", "y", "term deposits, from telephone calls"),
    "banknote": ("1372", "4", "class", "genuine or forged, from photographs"),
}
"""Rows, features, response and content of each table."""

STANDARD_ERROR = 2
"""Its file descriptor."""

DEMO_FOLDER = "publicmoments-demo"


@command("list", "list the tables", "  pmt data list")
def _list(options: argparse.Namespace, screen: Screen) -> None:
    """List the tables."""
    lines = [[name, *facts] for name, facts in TABLES.items()]
    screen.table("", HEADINGS, lines)
    screen.answer(tables=[dict(zip(HEADINGS, line, strict=True)) for line in lines])


@command(
    "fetch",
    "download a table once, check it and write it as CSV",
    "  pmt data fetch wine -o wine.csv",
    option("name", ", ".join(TABLES), choices=tuple(TABLES), metavar="NAME"),
    parsing.output("where to write the table as CSV"),
)
def _fetch(options: argparse.Namespace, screen: Screen) -> None:
    """Write one table."""
    output = checked_output(options)
    from publicmoments import datasets

    dataset = getattr(datasets, f"load_{options.name.replace('-', '_')}")()
    rows = ([*x, y] for x, y in zip(dataset.X.tolist(), dataset.y.tolist(), strict=True))
    text = csv_text([*dataset.columns, dataset.response], rows)
    write_text(output, text)
    screen.text(repr(dataset))
    screen.done(
        output,
        n_rows=len(dataset),
        columns=list(dataset.columns),
        response=dataset.response,
        doi=dataset.doi,
    )


data_group = group(
    "data",
    "the public tables of the paper",
    "  pmt data list\n  pmt data fetch wine -o wine.csv",
    _list,
    _fetch,
    description="The four public tables of the paper, from the UCI repository.",
)


@command(
    "experiments",
    "run the paper's experiments, inside the repository of publicmoments",
    "  pmt experiments --quick\n  pmt experiments --figures figure_01 figure_06",
    flag("--quick", "few repeats, about two minutes"),
    option("--figures", "only these", nargs="+", metavar="NAME"),
    option("--jobs", "processes", type=int),
    option("--output", "folder of tables and pictures", metavar="FOLDER"),
)
def experiments_command(options: argparse.Namespace, screen: Screen) -> None:
    """Run the package of experiments in a process of its own."""
    root = _repository()
    arguments = ["--quick"] if options.quick else []
    arguments += ["--figures", *options.figures] if options.figures else []
    arguments += ["--jobs", str(options.jobs)] if options.jobs is not None else []
    if options.output is not None:
        arguments += ["--output", str(Path(options.output).expanduser().resolve())]
    done = subprocess.run(
        [sys.executable, "-m", "experiments", *arguments],
        cwd=root,
        # What the experiments say goes beside a JSON answer, not into it.
        stdout=STANDARD_ERROR if screen.as_json else None,
        check=False,
    )
    if done.returncode == INTERRUPTED:
        raise KeyboardInterrupt
    if done.returncode != 0:
        raise CommandError("the experiments did not finish; see their own message above")
    screen.answer(repository=str(root), arguments=arguments)


def _repository() -> Path:
    """Find the repository that the command is given in."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        inside = (folder / "experiments" / "__main__.py").is_file()
        if inside and (folder / "src" / "publicmoments").is_dir():
            return folder
    raise CommandError(
        "the experiments are part of the repository, not of the package; clone the repository of "
        "publicmoments and run pmt experiments inside it"
    )


@command(
    "demo",
    "plan, fit, summarise and report on made-up hospital data",
    "  pmt demo\n  pmt demo --output elsewhere",
    option(
        "-o --output",
        f"where to write; ./{DEMO_FOLDER} by default. Files of an earlier demo are replaced",
        default=DEMO_FOLDER,
        metavar="FOLDER",
    ),
)
def demo_command(options: argparse.Namespace, screen: Screen) -> None:
    """Make the folder, and walk."""
    folder = Path(options.output).expanduser()
    try:
        folder.mkdir(exist_ok=True)
    except (FileExistsError, FileNotFoundError):
        raise CommandError(
            f"{options.output} cannot be made as a folder; name another one"
        ) from None
    from publicmoments.cli.demo import walk

    walk(folder, screen)
