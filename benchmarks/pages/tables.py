"""Tables of results: text in CSV files, under lines that say how the figures were made."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

Row = dict[str, str]

LIMIT_COLUMNS = ("limit", "holds", "cell", "figure", "at most")
MOST_SHOWN = 3
"""Misses of one limit that a page names, and limits that hold."""


@dataclass(frozen=True)
class Table:
    """
    A table and where it comes from.

    Parameters
    ----------
    comments : tuple of str
        Lines above the table; the first says how, when and with what it was made.
    columns : tuple of str
        Headings.
    rows : list of dict
        Cells by heading, as text.
    """

    comments: tuple[str, ...]
    columns: tuple[str, ...]
    rows: list[Row]

    @property
    def made(self) -> str:
        """How, when and with what the figures were made."""
        return self.comments[0] if self.comments else ""

    def values(self, column: str) -> list[str]:
        """Different values of a column, in their order."""
        return list(dict.fromkeys(row[column] for row in self.rows))

    def where(self, **wanted: str) -> list[Row]:
        """Rows that have some values."""
        return [row for row in self.rows if all(row[key] == wanted[key] for key in wanted)]

    def row(self, **wanted: str) -> Row:
        """The one row that has some values."""
        (found,) = self.where(**wanted)
        return found


def table(
    made: str | Sequence[str], columns: Sequence[str], cells: Iterable[Iterable[object]]
) -> Table:
    """A table from lines of cells of any type."""
    comments = (made,) if isinstance(made, str) else tuple(made)
    rows = [dict(zip(columns, map(str, line), strict=True)) for line in cells]
    return Table(comments, tuple(columns), rows)


def write(path: Path, one: Table) -> None:
    """Write a table."""
    text = io.StringIO(newline="")
    for comment in one.comments:
        text.write(f"# {comment}\n")
    writer = csv.DictWriter(text, one.columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(one.rows)
    write_text(path, text.getvalue())


def read(path: Path) -> Table:
    """Read a table."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    count = next((k for k, line in enumerate(lines) if not line.startswith("# ")), len(lines))
    comments = tuple(line[2:].rstrip("\n") for line in lines[:count])
    reader = csv.DictReader(io.StringIO("".join(lines[count:]), newline=""))
    return Table(comments, tuple(reader.fieldnames or ()), list(reader))


def write_text(path: Path, text: str) -> None:
    """Write a file, complete or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8", newline="")
    os.replace(draft, path)


def markdown(columns: Sequence[str], lines: Iterable[Sequence[str]], left: int = 1) -> str:
    """A table for a page; the first columns are aligned to the left."""
    rules = ["---" if k < left else "--:" for k in range(len(columns))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [columns, rules, *lines])


class Miss(NamedTuple):
    """A cell that misses a limit, its figure, and what it may be at most, if that is one number."""

    cell: str
    figure: str
    limit: str = ""


class Limit(NamedTuple):
    """A stated limit, whether it holds, the figures in words, or the cells that miss it."""

    what: str
    holds: bool
    figures: str
    misses: Sequence[Miss] = ()


def limits_table(made: str, limits: Iterable[Limit]) -> Table:
    """One line for each limit, or for each cell that misses it."""
    lines = []
    for what, holds, figures, misses in limits:
        word = "yes" if holds else "no"
        lines += [[what, word, *miss] for miss in misses] or [[what, word, "", figures, ""]]
    return table(made, LIMIT_COLUMNS, lines)


def limits_text(limits: Table) -> str:
    """Missed limits as a list, the worst cells of each named and all counted; then those held."""
    missed = [what for what in limits.values("limit") if not _holds(limits, what)]
    held = [what for what in limits.values("limit") if _holds(limits, what)]
    lines = [_missed_line(limits.where(limit=what)) for what in missed]
    if held:
        few = len(held) <= MOST_SHOWN
        lines.append(f"- Held: {'; '.join(held) if few else f'{len(held)} others, in the CSV'}.")
    return "\n".join(lines)


def missed_count(limits: Table) -> str:
    """How many limits are missed, in words."""
    names = limits.values("limit")
    missed = sum(not _holds(limits, what) for what in names)
    return f"{missed or 'None'} of {len(names)} missed."


def _holds(limits: Table, what: str) -> bool:
    """Whether a limit holds."""
    return limits.where(limit=what)[0]["holds"] == "yes"


def _missed_line(rows: list[Row]) -> str:
    """One limit that is missed; of cells without a limit in numbers the worst come first."""
    what = rows[0]["limit"]
    if not rows[0]["cell"]:
        return f"- **Missed**: {what}: {rows[0]['figure']}."
    worst = sorted(rows, key=_excess, reverse=True)[:MOST_SHOWN]
    named = "; ".join(f"{row['cell']}: {_against(row)}" for row in worst)
    count = f"in {len(rows)} cell{'s' * (len(rows) > 1)}"
    return f"- **Missed**: {what}: {count}, {'the worst ' * (len(rows) > len(worst))}{named}."


def _excess(row: Row) -> float:
    """How many times the limit a figure is; one that has no limit in numbers goes by its order."""
    try:
        return float(row["figure"]) / float(row["at most"])
    except ValueError:
        return 0.0


def _against(row: Row) -> str:
    """A figure, and its limit where that differs from cell to cell."""
    return f"{row['figure']} > {row['at most']}" if row["at most"] else row["figure"]
