"""The list of cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from shutil import which
from typing import Any

__all__ = ["CASES", "Case", "add", "case"]

Figures = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """
    Something that is computed, by name.

    Parameters
    ----------
    name : str
        What is computed.
    function : callable
        Returns the figures by name.
    needs : tuple of str
        Modules, or programs after an exclamation mark, without which it cannot run.
    """

    name: str
    function: Callable[[], Figures]
    needs: tuple[str, ...] = ()

    @property
    def missing(self) -> list[str]:
        """What it needs and is not there."""
        return [need for need in self.needs if not _there(need)]


CASES: dict[str, Case] = {}


def add(name: str, function: Callable[[], Figures], *needs: str) -> None:
    """Put a case on the list."""
    if name in CASES:
        raise ValueError(f"two cases are called {name!r}")
    CASES[name] = Case(name, function, needs)


def case(name: str, *needs: str) -> Callable[[Callable[[], Figures]], Callable[[], Figures]]:
    """Put the function below on the list."""

    def put(function: Callable[[], Figures]) -> Callable[[], Figures]:
        add(name, function, *needs)
        return function

    return put


def _there(need: str) -> bool:
    """Whether a module or a program can be found."""
    return which(need[1:]) is not None if need.startswith("!") else find_spec(need) is not None
