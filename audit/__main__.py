"""
Run the audit and write its page: ``python -m audit``, or some of its sections by name.

The outcome of each section is a CSV file beside the documentation, with its date and command, so
that sections can be run one at a time; the page shows the latest of each.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from dataclasses import asdict, fields
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from audit.sections import SECTIONS, Sizes
from benchmarks.pages.others import AUDIT
from benchmarks.pages.page import render, table_path
from benchmarks.pages.tables import table, write

DOCS = Path(__file__).parent.parent / "docs"


def run(name: str, sizes: Sizes, command: str) -> bool:
    """Run a section, tell its lines as they come, and keep them; return whether all is well."""
    section, started = SECTIONS[name], time.monotonic()
    lines, well = [], []
    _tell(f"\n{section.title}\n  {' | '.join(section.columns)}")
    for sound, cells in section.lines(sizes):
        well.append(sound)
        lines.append([*(cell.replace("`", "") for cell in cells), "yes" if sound else "NO"])
        _tell(f"  {'' if sound else 'FAILED: '}{' | '.join(cells)}")
    seconds = round(time.monotonic() - started)
    made = f"{command}; {datetime.now(UTC):%Y-%m-%d}; {seconds:,} s; {_machine()}"
    comments = (made, section.title, section.short, section.words)
    columns = (*section.columns, "sound")
    write(table_path(DOCS, f"audit-{name}"), table(comments, columns, lines))
    return bool(well) and all(well)


def _tell(line: str) -> None:
    """Show progress beside the page, which goes to standard output."""
    print(line, file=sys.stderr, flush=True)


def _machine() -> str:
    """What it ran on."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "opendp"))
    where = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    return f"{where}, Python {platform.python_version()}, {versions}"


def main() -> int:
    """Run sections, write the page, print it, and fail if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m audit", description="Audit the library.")
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(SECTIONS))
    for field in fields(Sizes):
        option = f"--{field.name.replace('_', '-')}"
        parser.add_argument(option, type=type(field.default), default=field.default)
    given = parser.parse_args()
    unknown = set(given.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"sections must be among {', '.join(SECTIONS)}, got {', '.join(unknown)}")
    sizes = Sizes(**{name: getattr(given, name) for name in asdict(Sizes())})
    command = " ".join(["python -m audit", *sys.argv[1:]])
    outcomes = [run(name, sizes, command) for name in given.sections or SECTIONS]
    path = render(AUDIT, DOCS)
    _tell(f"{'All passed' if all(outcomes) else 'FAILED'}; the page is docs/{AUDIT.name}.md")
    if path:
        print(path.read_text(encoding="utf-8"))
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
