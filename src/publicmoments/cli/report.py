"""``pmt report``: a page about a model or a release."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from publicmoments.cli.files import checked_output, open_artefact
from publicmoments.cli.parsing import Commands, add_command, add_output

if TYPE_CHECKING:
    from publicmoments.cli.screen import Screen
    from publicmoments.planner.plans import Plan

__all__ = ["add_to", "write_page"]


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "report",
        _report,
        "write a page in HTML about a model or a release; costs no budget",
        "  pmt report model.json -o report.html\n  pmt report moments.pmr -o report.html",
    )
    parser.add_argument("model", metavar="MODEL", help="a file of pmt fit, release or combine")
    add_output(parser, "where to write the page")


def write_page(model: Any, path: Path, plan: Plan | None = None) -> None:
    """Write a page about a model, complete or not at all."""
    from publicmoments.report.html import write_report

    neighbour = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
    try:
        write_report(model, neighbour, plan=plan)
        os.replace(neighbour, path)
    except BaseException:
        neighbour.unlink(missing_ok=True)
        raise


def _report(options: argparse.Namespace, screen: Screen) -> None:
    """Load and write."""
    output = checked_output(options.output, force=options.force, inputs=[options.model])
    write_page(open_artefact(options.model), output)
    screen.text(f"wrote {output}")
    screen.answer({"output": str(output)})
