"""Code blocks of Markdown pages, and running them as a reader would."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

FENCE = re.compile(
    r"(?P<before>[^\n]*)\n```python\n(?P<code>.*?)^```$", flags=re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A block of code, the line it begins in, and the mark above it, if any."""

    code: str
    line: int
    mark: str


def blocks(text: str) -> list[Block]:
    """All blocks of Python on a page, in order."""
    found = []
    for match in FENCE.finditer("\n" + text):
        line = text.count("\n", 0, max(match.start("code") - 1, 0)) + 1
        before = match["before"].strip()
        mark = before[5:-4] if before.startswith("<!-- ") and before.endswith(" -->") else ""
        found.append(Block(match["code"], line, mark))
    return found


@contextmanager
def page_module(name: str, given: dict[str, Any] | None = None) -> Iterator[dict[str, Any]]:
    """Give a namespace in which the blocks of one page run, known to Python as a module."""
    module = ModuleType(name)
    vars(module).update(given or {})
    sys.modules[name] = module
    try:
        yield vars(module)
    finally:
        del sys.modules[name]


def run(block: Block, path: Path, namespace: dict[str, Any]) -> None:
    """Run a block; a traceback shows the line of the page."""
    code = "\n" * (block.line - 1) + block.code
    exec(compile(code, str(path), "exec"), namespace)
