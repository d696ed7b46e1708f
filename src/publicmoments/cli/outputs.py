"""Files that commands read and write, looked at before any budget is spent."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from publicmoments.cli.failures import CommandError


def existing(path: str) -> Path:
    """Return a path that exists and can be read."""
    found = Path(path).expanduser()
    if not found.exists():
        raise CommandError(f"{path} does not exist; check the path")
    if not os.access(found, os.R_OK):
        raise CommandError(f"{path} cannot be read by this user; check its permissions")
    return found


def checked_output(path: str, *, force: bool, inputs: Iterable[str | None] = ()) -> Path:
    """
    Return a path that can be written, without touching what is there.

    Parameters
    ----------
    path : str
        What the user named.
    force : bool
        Whether an existing file may be replaced.
    inputs : iterable of str or None
        What the command reads, which it must not replace.

    Returns
    -------
    Path
    """
    target = Path(path).expanduser()
    folder = target.parent
    if target.is_dir():
        raise CommandError(f"{path} is a folder; add the name of a file")
    if not folder.is_dir():
        raise CommandError(f"the folder of {path} does not exist; make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CommandError(f"the folder of {path} cannot be written to; choose another one")
    for source in inputs:
        if source is not None and _belongs(target, Path(source).expanduser()):
            raise CommandError(f"{path} is or belongs to what is read; write somewhere else")
    if target.exists() and not force:
        raise CommandError(f"{path} exists; pass --force to replace it, or name another file")
    return target


def write_text(path: Path, text: str) -> None:
    """Write a text file, complete or not at all."""
    from publicmoments.io.atomic import write_atomically

    write_atomically(path, text.encode())


def open_artefact(path: str) -> Any:
    """Load a fitted model or a moment release, whichever the file holds."""
    found = existing(path)
    if found.is_dir():
        raise CommandError(f"{path} is a folder; name a model or a release")
    with found.open("rb") as file:
        start = file.read(32)
    if start.startswith(b"publicmoments-release "):
        from publicmoments.release.readings import MomentRelease

        return MomentRelease.load(found)
    from publicmoments.models.model_file import load_model

    return load_model(found)


def _belongs(target: Path, source: Path) -> bool:
    """Whether a file is the source, or would lie in it if that is a folder."""
    return target.resolve() == source.resolve() or source.resolve() in target.resolve().parents
