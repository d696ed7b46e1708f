"""What commands say: to people by rich, to pipes as plain text, to programs as JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


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

    def answer(self, document: Mapping[str, Any]) -> None:
        """Write the whole answer, for programs."""
        if self.as_json:
            print(json.dumps(_finite(document), indent=1, allow_nan=False))

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
