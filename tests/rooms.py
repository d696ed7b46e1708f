"""Who imports whom, room by room; ``python -m tests.rooms`` prints it."""

from __future__ import annotations

from graphlib import TopologicalSorter

import grimp


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


def main() -> None:
    """Print the rooms from the top down, each with those it imports from."""
    graph = rooms()
    for room in reversed(in_order(graph)):
        names = sorted(other.rpartition(".")[2] for other in graph[room])
        print(f"{room.rpartition('.')[2]:12} -> {', '.join(names) or 'nothing'}")


if __name__ == "__main__":
    main()
