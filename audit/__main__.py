"""
Run the audit and write its page: ``python -m audit``, or some of its sections by name.

The outcome of each section is kept beside this file with its date and command, so that sections can
be run one at a time; the page shows the latest of each.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from dataclasses import asdict, fields
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from audit.sections import SECTIONS, Sizes

KEPT = Path(__file__).parent / "results"
PAGE = Path(__file__).parent.parent / "docs" / "audit.md"

HEAD = """# Audit

What was tried against the library's own claims. `make audit` runs it all and writes this page; each
figure was measured by the command and on the day given with it. An audit can refute a claim and
never prove one: the proofs are in the docstrings of `publicmoments.session.door` and
`publicmoments.privacy`, and `SECURITY.md` says what they do not cover.
"""


TAIL = """## Not covered

- Time and memory access as a way to learn something; see the known limits in `SECURITY.md`.
- Attackers other than those above: the games use two columns, thirty rows and mu = 1, and whole
  fits are too few to come near a claim. What holds for every table is argued beside the code.
- The quality of the system's entropy, and OpenDP's sampler beyond its law and its independence
  after forks.
- Workers and databases that lie, and files that were forged rather than damaged: a digest tells
  damage only.
- Public inputs that were computed from private rows, and rows that have two names in a ledger.
- Loss of power: writes are flushed before they count, which is tested by killing processes, not
  machines. Network file systems were not tried.
- Other systems: all of this ran on Linux, on processors. Runs on a device are tested elsewhere.
"""


def run(name: str, sizes: Sizes, command: str) -> dict[str, Any]:
    """Run a section, tell its lines as they come, and keep them."""
    section, started = SECTIONS[name], time.monotonic()
    lines = []
    _tell(f"\n{section.title}\n  {' | '.join(section.columns)}")
    for sound, cells in section.lines(sizes):
        lines.append({"sound": sound, "cells": cells})
        _tell(f"  {'' if sound else 'FAILED: '}{' | '.join(cells)}")
    outcome = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "command": command,
        "seconds": round(time.monotonic() - started),
        "machine": _machine(),
        "lines": lines,
    }
    KEPT.mkdir(exist_ok=True)
    text = json.dumps(outcome, indent=1, ensure_ascii=False) + "\n"
    (KEPT / f"{name}.json").write_text(text, encoding="utf-8")
    return outcome


def page() -> str:
    """Lay out the latest outcome of every section."""
    parts, missing = [HEAD], []
    for name, section in SECTIONS.items():
        path = KEPT / f"{name}.json"
        if not path.exists():
            missing.append(f"- {section.title}: not run.\n")
            continue
        outcome = json.loads(path.read_text(encoding="utf-8"))
        sound = _passed(outcome)
        table = [_line(section.columns), _line(["---"] * len(section.columns))]
        table += [_line(line["cells"]) for line in outcome["lines"]]
        parts.append(
            f"## {section.title}: {'passed' if sound else 'FAILED'}\n\n{section.words}\n\n"
            + "\n".join(table)
            + f"\n\n{outcome['date']}, `{outcome['command']}`, {outcome['seconds']:,} s; "
            f"{outcome['machine']}.\n"
        )
    return "\n".join([*parts, TAIL + "".join(missing)])


def _passed(outcome: dict[str, Any]) -> bool:
    """Whether a section had something to show, and all of it was well."""
    return bool(outcome["lines"]) and all(line["sound"] for line in outcome["lines"])


def _tell(line: str) -> None:
    """Show progress beside the page, which goes to standard output."""
    print(line, file=sys.stderr, flush=True)


def _line(cells: Any) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"


def _machine() -> str:
    """What it ran on."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "opendp"))
    where = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    return f"{where}, Python {platform.python_version()}, {versions}"


def main() -> int:
    """Run sections, print the page, write it, and fail if anything failed."""
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
    PAGE.write_text(page(), encoding="utf-8")
    print(page())
    sound = all(_passed(outcome) for outcome in outcomes)
    _tell(f"{'All passed' if sound else 'FAILED'}; the page is docs/{PAGE.name}")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
