"""Working in threads, and holding the linear algebra to one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Result = TypeVar("Result")


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


def side_by_side(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """
    Do some tasks at the same time and return their results in order.

    The caller does the first: threads that it waited for would start on its own processor, and
    short waits for each other would keep them there.
    """
    if len(tasks) <= 1:
        return [task() for task in tasks]
    with ThreadPoolExecutor(len(tasks) - 1) as pool:
        others = [pool.submit(task) for task in tasks[1:]]
        return [tasks[0](), *(other.result() for other in others)]


@cache
def _libraries() -> ThreadpoolController:
    """Find the linear algebra libraries once: the search takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
