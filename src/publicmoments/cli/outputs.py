"""What commands say and write: to people by rich, to pipes as plain text, to programs as JSON.

Files are looked at before any budget is spent, and appear complete or not at all.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from publicmoments.cli.failures import CommandError


class Screen:
    """
    Where a command writes its answer.

    Parameters
    ----------
    as_json : bool
        Whether the answer is one JSON document and nothing else.

    Examples
    --------
    >>> screen = Screen(as_json=False)
    >>> screen.text("done")
    done
    >>> screen.table("", ["name", "rows"], [["wine", "4898"]])
    name  rows
    wine  4898
    """

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def text(self, text: str) -> None:
        """Write a line or several, as they are."""
        if not self.as_json:
            print(text)

    def panel(self, title: str, text: str) -> None:
        """Write a text with a title: in a frame on a terminal."""
        if self.as_json:
            return
        if not sys.stdout.isatty():
            print(f"\n{title}\n{text}")
            return
        from rich.console import Console
        from rich.panel import Panel

        Console(markup=False, highlight=False).print(Panel(text, title=title, expand=False))

    def table(
        self, title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], note: str = ""
    ) -> None:
        """Write a table, its first column to the left and the others to the right."""
        if self.as_json:
            return
        if not sys.stdout.isatty():
            lines = [title] if title else []
            lines += _aligned([list(headings), *map(list, rows)])
            print("\n".join(lines + ([note] if note else [])))
            return
        from rich.console import Console
        from rich.table import Table

        view = Table(title=title or None, title_justify="left", caption=note or None)
        for k, heading in enumerate(headings):
            view.add_column(heading, justify="right" if k else "left")
        for row in rows:
            view.add_row(*row)
        Console(markup=False, highlight=False).print(view)

    def answer(self, **facts: Any) -> None:
        """Write the whole answer, for programs."""
        if self.as_json:
            print(json.dumps(_finite(facts), indent=1, allow_nan=False))

    def done(self, output: Path | None, **facts: Any) -> None:
        """Say which file was written, if one was, and write the whole answer."""
        if output is not None:
            self.text(f"wrote {output}")
        self.answer(output=None if output is None else str(output), **facts)

    def loud(self, text: str) -> None:
        """Write a warning that must not be overlooked, whatever the form of the answer."""
        frame = "!" * min(len(text) + 4, 100)
        print(f"{frame}\n! {text}\n{frame}", file=sys.stderr)


def _aligned(cells: list[list[str]]) -> list[str]:
    """Pad cells to the width of their column."""
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if k else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def _finite(value: Any) -> Any:
    """JSON has no infinity and no NaN: null stands for them."""
    if isinstance(value, Mapping):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def checked_output(options: argparse.Namespace, *inputs: str | None) -> Path:
    """
    Return a path that can be written, without touching what is there.

    Parameters
    ----------
    options : Namespace
        With ``output``, what the user named, and ``force``, whether an existing file may be
        replaced.
    *inputs : str or None
        What the command reads, which it must not replace.

    Returns
    -------
    Path
    """
    path = options.output
    target = Path(path).expanduser()
    folder = target.parent
    if target.is_dir():
        raise CommandError(f"{path} is a folder; add the name of a file")
    if not folder.is_dir():
        raise CommandError(f"the folder of {path} does not exist; make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CommandError(f"the folder of {path} cannot be written to; choose another one")
    for source in inputs:
        if source is not None and _belongs(target, Path(source).expanduser()):
            raise CommandError(f"{path} is or belongs to what is read; write somewhere else")
    if target.exists() and not options.force:
        raise CommandError(f"{path} exists; pass --force to replace it, or name another file")
    return target


def optional_output(options: argparse.Namespace, *inputs: str | None) -> Path | None:
    """Check the output where one is named; see `checked_output`."""
    return None if options.output is None else checked_output(options, *inputs)


def write_text(path: Path, text: str) -> None:
    """Write a text file, complete or not at all."""
    from publicmoments.io.atomic import write_atomically

    write_atomically(path, text.encode())


def csv_text(headings: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    r"""
    Lay out as CSV, numbers with all their digits.

    Examples
    --------
    >>> csv_text(["name", "rows"], [["wine, white", 0.1]])
    'name,rows\n"wine, white",0.1\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)
    return text.getvalue()


def _belongs(target: Path, source: Path) -> bool:
    """Whether a file is the source, or would lie in it if that is a folder."""
    return target.resolve() == source.resolve() or source.resolve() in target.resolve().parents
