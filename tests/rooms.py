"""Who imports whom, room by room; ``python -m tests.rooms`` prints it."""

from __future__ import annotations

import ast
import io
import tokenize
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

import publicmoments

SOURCE = Path(publicmoments.__file__).parent
ASIDE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
"""Tokens that are no code."""


def imports() -> dict[str, set[str]]:
    """Return what each module imports, within functions and for type checkers included."""
    graph = grimp.build_graph("publicmoments")
    return {
        module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules
    }


def room_of(module: str) -> str:
    """Return the package below the root that a module is in, or the module itself."""
    return ".".join(module.split(".")[:2])


def rooms() -> dict[str, set[str]]:
    """Return which rooms each room imports from."""
    found: dict[str, set[str]] = {}
    for module, others in imports().items():
        room = found.setdefault(room_of(module), set())
        room |= {room_of(other) for other in others} - {room_of(module)}
    return found


def in_order(graph: dict[str, set[str]]) -> list[str]:
    """Return the nodes so that each follows what it imports; a cycle is an error."""
    return list(TopologicalSorter(graph).static_order())


def code_lines(text: str) -> int:
    """Count the lines of a module that hold code, docstrings and comments aside."""
    told: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            told |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {
        line
        for token in tokens
        if token.type not in ASIDE
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - told)


def main() -> None:
    """Print the rooms from the top down, each with those it imports from; and how large all is."""
    graph = rooms()
    for room in reversed(in_order(graph)):
        names = sorted(other.rpartition(".")[2] for other in graph[room])
        print(f"{room.rpartition('.')[2]:12} -> {', '.join(names) or 'nothing'}")
    sizes = [code_lines(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")]
    print(f"{sum(sizes):,} lines of code in {len(sizes)} files")


if __name__ == "__main__":
    main()
