"""Files that the documentation names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
]
NAMED = re.compile(r"`((?:[\w-]+/)*[\w-]+\.py)`")


def found(name: str) -> bool:
    """Whether a file is there: by its path, or anywhere if only its name is given."""
    places = (ROOT, ROOT / "src" / "publicmoments")
    if "/" in name:
        return any((place / name).is_file() for place in places)
    return any(any(folder.rglob(name)) for folder in (ROOT / "src", ROOT / "tests"))


@pytest.mark.parametrize("page", PAGES)
def test_modules_named_on_a_page_exist(page):
    named = set(NAMED.findall((ROOT / page).read_text(encoding="utf-8")))
    missing = {name for name in named if not found(name)}
    assert missing == set()


def test_pages_name_modules():
    assert "session/door.py" in NAMED.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8"))
