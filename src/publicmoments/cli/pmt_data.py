"""``pmt data``: the public tables of the paper."""

from __future__ import annotations

import argparse
import csv
import io
from typing import TYPE_CHECKING, Any

from publicmoments.cli.outputs import checked_output, write_text
from publicmoments.cli.parsing import Commands, add_command, add_output

if TYPE_CHECKING:
    from publicmoments.cli.screen import Screen

TABLES = {
    "wine": ("4898", "11", "quality", "white wine, from laboratory measurements"),
    "power-plant": ("9568", "4", "PE", "electrical output, from ambient variables"),
    "bank": ("45211", "42", "y", "term deposits, from telephone calls"),
    "banknote": ("1372", "4", "class", "genuine or forged, from photographs"),
}
"""Rows, features, response and content of each table."""


def add_to(commands: Commands) -> None:
    """Add the commands."""
    group: Any = commands.add_parser(
        "data",
        help="the public tables of the paper",
        description="The four public tables of the paper, from the UCI repository.",
        epilog="examples:\n  pmt data list\n  pmt data fetch wine -o wine.csv",
    )
    actions = group.add_subparsers(metavar="ACTION", required=True)
    add_command(actions, "list", _list, "list the tables", "  pmt data list")
    fetch = add_command(
        actions,
        "fetch",
        _fetch,
        "download a table once, check it and write it as CSV",
        "  pmt data fetch wine -o wine.csv",
    )
    fetch.add_argument("name", choices=tuple(TABLES), metavar="NAME", help=", ".join(TABLES))
    add_output(fetch, "where to write the table as CSV")


def _list(options: argparse.Namespace, screen: Screen) -> None:
    """List the tables."""
    screen.table(
        "",
        ["name", "rows", "features", "response", "content"],
        [[name, *facts] for name, facts in TABLES.items()],
    )
    headings = ("rows", "features", "response", "content")
    screen.answer(
        {
            "tables": [
                {"name": name, **dict(zip(headings, facts, strict=True))}
                for name, facts in TABLES.items()
            ]
        }
    )


def _fetch(options: argparse.Namespace, screen: Screen) -> None:
    """Write one table."""
    output = checked_output(options.output, force=options.force)
    from publicmoments import datasets

    load = getattr(datasets, f"load_{options.name.replace('-', '_')}")
    dataset = load()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*dataset.columns, dataset.response])
    writer.writerows([*x, y] for x, y in zip(dataset.X.tolist(), dataset.y.tolist(), strict=True))
    write_text(output, text.getvalue())
    screen.text(f"{dataset!r}\nwrote {output}")
    screen.answer(
        {
            "output": str(output),
            "n_rows": len(dataset),
            "columns": list(dataset.columns),
            "response": dataset.response,
            "doi": dataset.doi,
        }
    )
