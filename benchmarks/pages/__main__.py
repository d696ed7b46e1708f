"""
Write pages of results from the tables that are there: ``python -m benchmarks.pages [name ...]``.

Nothing is measured: that is what the scripts beside this folder do, which end with the same step.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .catalogue import PAGES
from .page import render

DOCS = Path(__file__).resolve().parents[2] / "docs"


def main() -> int:
    """Render the pages that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(PAGES))
    parser.add_argument("--folder", type=Path, default=DOCS, help="where pages and results/ are")
    stated = parser.parse_args()
    if unknown := set(stated.names) - set(PAGES):
        parser.error(f"names must be among {', '.join(PAGES)}, got {', '.join(sorted(unknown))}")
    for name in stated.names or PAGES:
        path = render(PAGES[name], stated.folder)
        print(f"wrote {path.name}" if path else f"{name} left out: its table is not there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
