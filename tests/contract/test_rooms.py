"""The house stays as it was built: one direction, one name for each thing, short functions."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import publicmoments
from tests import rooms

SOURCE = Path(publicmoments.__file__).parent
OLD_ADDRESSES = {"models/moments.py", "report/card.py"}
"""Modules that stand where something was, for one version."""

MOST_LINES = 45


def modules() -> list[Path]:
    """Modules of the library that are no old addresses."""
    found = (path for path in SOURCE.rglob("*.py") if path.name != "__init__.py")
    return [path for path in found if path.relative_to(SOURCE).as_posix() not in OLD_ADDRESSES]


def nodes(kind: type[ast.AST]) -> Iterator[tuple[Path, ast.AST]]:
    """All nodes of a kind, with the modules they are in."""
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kind):
                yield path, node


def without_root(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Leave the package itself out: it hands out names that it imports when asked for them."""
    root = "publicmoments"
    return {name: others - {root} for name, others in graph.items() if name != root}


def test_rooms_have_an_order():
    assert len(rooms.in_order(rooms.rooms())) > 15


def test_modules_have_an_order():
    assert len(rooms.in_order(without_root(rooms.imports()))) > 100


def test_a_cycle_is_noticed():
    with pytest.raises(ValueError, match="cycle"):
        rooms.in_order({"a": {"b"}, "b": {"a"}})


def test_docstrings_and_comments_are_no_code():
    text = '"""Told."""\n\n# Said.\nX = (\n    1,\n)\n\n\ndef f():\n    """Told."""\n    return X\n'
    assert rooms.code_lines(text) == 5


def test_no_two_modules_share_a_name():
    counts = Counter(path.name for path in modules())
    assert [name for name, count in counts.items() if count > 1] == []


def test_no_two_classes_share_a_name():
    counts = Counter(node.name for _, node in nodes(ast.ClassDef) if isinstance(node, ast.ClassDef))
    assert [name for name, count in counts.items() if count > 1] == []


def test_functions_are_short():
    long = []
    for path, node in nodes(ast.FunctionDef):
        assert isinstance(node, ast.FunctionDef)
        lines = (node.end_lineno or 0) - node.lineno + 1
        if ast.get_docstring(node) is not None:
            docstring = node.body[0]
            lines -= (docstring.end_lineno or 0) - docstring.lineno + 1
        if lines > MOST_LINES:
            long.append((path.name, node.name, lines))
    assert long == []
