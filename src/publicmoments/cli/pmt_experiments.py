"""``pmt experiments``: the paper's figures, where the repository is at hand."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from publicmoments.cli.failures import INTERRUPTED, CommandError
from publicmoments.cli.parsing import Commands, add_command

if TYPE_CHECKING:
    from publicmoments.cli.screen import Screen

STANDARD_ERROR = 2
"""Its file descriptor."""


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "experiments",
        _experiments,
        "run the paper's experiments, inside the repository of publicmoments",
        "  pmt experiments --quick\n  pmt experiments --figures figure_01 figure_06",
    )
    parser.add_argument("--quick", action="store_true", help="few repeats, about two minutes")
    parser.add_argument("--figures", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--jobs", type=int, help="processes")
    parser.add_argument("--output", metavar="FOLDER", help="folder of tables and pictures")


def _experiments(options: argparse.Namespace, screen: Screen) -> None:
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
    screen.answer({"repository": str(root), "arguments": arguments})


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
