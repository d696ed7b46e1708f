"""Finished pieces of work on disk, so that an interrupted run goes on where it stopped.

A piece is found by a hash of its settings, its repeats, and the source of everything that its
numbers depend on. A piece made by other code or for other settings has another name.
"""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import publicmoments
from experiments.plumbing.figures import Unit
from experiments.plumbing.work import Line
from publicmoments.io.atomic import write_atomically

NUMERIC_MODULES = ("figures.py", "methods.py", "plain.py", "samples.py", "work.py")
NUMERIC_LIBRARIES = ("numpy", "scipy", "scikit-learn", "opendp")


@dataclass(frozen=True)
class Piece:
    """A finished piece of work."""

    lines: list[Line]
    seconds: dict[str, float]


@dataclass(frozen=True)
class Store:
    """
    A folder of finished pieces.

    Parameters
    ----------
    folder : Path
        Made when first written to.
    source : str
        What `source_hash` returns, or a stand-in.
    """

    folder: Path
    source: str

    def path(self, unit: Unit) -> Path:
        """File of a piece of work."""
        # Records are frozen and of plain values, so that their repr states them in full.
        digest = hashlib.sha256(f"{self.source} {unit!r}".encode()).hexdigest()
        return self.folder / f"{digest[:32]}.json"

    def load(self, unit: Unit) -> Piece | None:
        """Read a piece, if it is there."""
        try:
            content = json.loads(self.path(unit).read_text())
        except FileNotFoundError:
            return None
        return Piece([Line(*line) for line in content["lines"]], content["seconds"])

    def save(self, unit: Unit, piece: Piece) -> None:
        """Write a piece; it appears complete or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {"unit": repr(unit), "seconds": piece.seconds, "lines": piece.lines}
        write_atomically(self.path(unit), json.dumps(content).encode())


@cache
def source_hash() -> str:
    """Hash of the library, of the plumbing that makes numbers, and of the versions below them."""
    library = Path(publicmoments.__file__).parent
    here = Path(__file__).parent
    files = [*sorted(library.rglob("*.py")), *(here / name for name in NUMERIC_MODULES)]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    for name in NUMERIC_LIBRARIES:
        digest.update(f"{name} {version(name)}".encode())
    digest.update(".".join(platform.python_version_tuple()[:2]).encode())
    return digest.hexdigest()
