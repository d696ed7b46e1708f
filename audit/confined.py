"""
What a reader of files may not do: run code, and take much memory for a small file.

The interpreter reports what it is about to run; a reader that makes it report anything has run what
a file holds. Memory is limited by the system, so that a large request fails at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["MOST_MIB", "code_run", "little_memory"]

MOST_MIB = 256
"""How much a reader may take; the files that it is given are below one."""

STATUS = Path("/proc/self/statm")

RUNNERS = frozenset(
    {
        *("exec", "compile", "marshal.loads", "pickle.find_class", "code.__new__"),
        *("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "subprocess.Popen"),
        *("ctypes.dlopen", "socket.connect"),
    }
)
"""Events of the interpreter that come before something is run or sent."""


class _Ear:
    """A hook of the interpreter, which cannot be taken away and so has a switch."""

    def __init__(self) -> None:
        self.heard: list[str] | None = None
        self.hooked = False

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note what would run something, but for modules that are being imported."""
        if self.heard is not None and event in RUNNERS and not _importing():
            self.heard.append(event)


_EAR = _Ear()


def _importing() -> bool:
    """Whether the machinery of imports is among the callers."""
    frame = sys._getframe(1)
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


@contextmanager
def code_run() -> Iterator[list[str]]:
    """Listen to what is run; yields the list of it."""
    if not _EAR.hooked:
        sys.addaudithook(_EAR.hear)
        _EAR.hooked = True
    before, _EAR.heard = _EAR.heard, []
    try:
        yield _EAR.heard
    finally:
        _EAR.heard = before


@contextmanager
def little_memory(mib: int = MOST_MIB) -> Iterator[None]:
    """Let this process have only so much memory on top of what it has; Linux only."""
    if not STATUS.exists():
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    has = int(STATUS.read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (has + mib * 2**20, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
