"""Holding the linear algebra to one thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["single_threaded", "threads_for"]

LARGE_MATRIX = 256
"""Matrices of fewer columns are worked on by one thread: others would mostly wait for it."""


class _Limit:
    """The limit in force, and how many ask for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.limiter: Any = None

    def enter(self) -> None:
        """Set the limit, unless somebody has."""
        with self.lock:
            if self.users == 0:
                self.limiter = _libraries().limit(limits=1, user_api="blas")
            self.users += 1

    def leave(self) -> None:
        """Lift the limit, unless somebody still needs it."""
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.limiter.restore_original_limits()


_LIMIT = _Limit()


@contextmanager
def single_threaded() -> Iterator[None]:
    """
    Hold the linear algebra to one thread while anybody in this process asks for it.

    Pieces of a table may be summed side by side in one process, and the first to end must not
    give threads back to the others: products would be cut in other places, and last bits differ.
    """
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


def threads_for(dimension: int) -> AbstractContextManager[None]:
    """Hold the linear algebra to one thread where its matrices have few columns."""
    return single_threaded() if dimension < LARGE_MATRIX else nullcontext()


@cache
def _libraries() -> ThreadpoolController:
    """Find the linear algebra libraries once: the search takes milliseconds."""
    return ThreadpoolController()
