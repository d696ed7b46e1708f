"""Writing files so that they appear complete or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4


def write_atomically(path: Path, data: bytes) -> None:
    """
    Write to a temporary neighbour, which then takes the place of the file.

    Raises
    ------
    OSError
        Where it cannot be written; it names the file, not the neighbour, and what stood there is
        kept.
    """
    # Opened by name, not by mkstemp: files are meant to be shared, under the user's umask.
    neighbour = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
    try:
        with neighbour.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(neighbour, path)
    except BaseException as error:
        neighbour.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.strerror:
            kept = "nothing was written and what stood there is kept; make room or choose a place"
            raise OSError(error.errno, f"{error.strerror}: {kept}", str(path)) from error
        raise
