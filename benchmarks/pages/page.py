"""What a page is made of, and writing it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from .pictures import save
from .tables import Table, read, write_text

Tables = dict[str, Table]

SECONDS = re.compile(r"; [\d,]+ s(?=;|$)")
"""How long it took, which a table tells and a page need not."""

COMMAND = "python -m benchmarks.pages"
"""Writes all pages from the tables that are there."""


@dataclass(frozen=True)
class Page:
    """
    A page of results.

    Parameters
    ----------
    name, title : str
        Stem of the page and its picture, and heading.
    lead : str
        What was measured.
    tables : tuple of str
        Stems of its CSV files.
    picture : callable
        Draws it, if there is what it shows.
    caption : str
        How the picture is to be read.
    body : callable
        What the figures say, in paragraphs.
    """

    name: str
    title: str
    lead: str
    tables: tuple[str, ...]
    picture: Callable[[Tables], Figure | None]
    caption: str
    body: Callable[[Tables], list[str]]


def table_path(folder: Path, name: str) -> Path:
    """Where a table of a page is; ``folder`` is that of the pages."""
    return folder / "results" / f"{name}.csv"


def render(page: Page, folder: Path) -> Path | None:
    """Write a page and its picture from the tables that are there; None where there are none."""
    places = {name: table_path(folder, name) for name in page.tables}
    tables = {name: read(path) for name, path in places.items() if path.is_file()}
    if not tables:
        return None
    shown, image = [], f"images/{page.name}.png"
    if (canvas := page.picture(tables)) is not None:
        save(canvas, folder / image)
        shown = [f"![{page.title}]({image})", f"*{page.caption}*"]
    links = ", ".join(f"[{name}.csv](results/{name}.csv)" for name in tables)
    ending = f"`{COMMAND} {page.name}` writes this page from them."
    parts = [
        f"# {page.title}",
        page.lead,
        *shown,
        *page.body(tables),
        f"## All figures\n\n{links}. {made(tables)} {ending}",
    ]
    path = folder / f"{page.name}.md"
    write_text(path, "\n\n".join(part.strip() for part in parts) + "\n")
    return path


def made(tables: Tables) -> str:
    """How tables were made, each way once; what all ways end with is said at the end."""
    ways = list(dict.fromkeys(SECONDS.sub("", one.made) for one in tables.values() if one.made))
    if len(ways) < 2:
        return "".join(f"Made by `{way}`." for way in ways)
    parts = [way.split("; ") for way in ways]
    shared = 0
    while shared < min(map(len, parts)) - 1 and len({way[-1 - shared] for way in parts}) == 1:
        shared += 1
    firsts = [f"`{'; '.join(way[: len(way) - shared])}`" for way in parts]
    ending = "; ".join(parts[0][len(parts[0]) - shared :])
    return f"Made by {', '.join(firsts)}{f'; {ending}' if ending else ''}."
