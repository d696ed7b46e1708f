"""``pmt report``: a page about a model or a release."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from publicmoments.cli.outputs import checked_output, open_artefact
from publicmoments.cli.parsing import Commands, add_command, add_output

if TYPE_CHECKING:
    from publicmoments.cli.screen import Screen


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


def _report(options: argparse.Namespace, screen: Screen) -> None:
    """Load and write."""
    output = checked_output(options.output, force=options.force, inputs=[options.model])
    from publicmoments.report.html import write_report

    write_report(open_artefact(options.model), output)
    screen.text(f"wrote {output}")
    screen.answer({"output": str(output)})
