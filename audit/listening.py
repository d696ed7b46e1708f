"""Listening to all that a piece of code says: warnings, logs and both streams."""

from __future__ import annotations

import contextlib
import io
import logging
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["chain", "heard"]


SERVICES = ("asyncio", "distributed", "py4j", "tornado")
"""Loggers of services that go on in the background, once some other test has started them."""


@contextlib.contextmanager
def heard(services: bool = True) -> Iterator[Callable[[], dict[str, Any]]]:
    """
    Listen to warnings, logs and both streams; yields a function that tells what was heard.

    Without ``services``, what those of other tests happen to log meanwhile is not heard: threads
    that were there before, and `SERVICES`.
    """
    out, errors, logged = io.StringIO(), io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(logged)
    if not services:
        here = threading.get_ident()
        others = {thread.ident for thread in threading.enumerate()} - {here}
        handler.addFilter(
            lambda record: (
                record.thread not in others and record.name.partition(".")[0] not in SERVICES
            )
        )
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with (
            warnings.catch_warnings(record=True) as caught,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(errors),
        ):
            warnings.simplefilter("always")
            yield lambda: {
                "warnings": [str(warning.message) for warning in caught],
                "logs": logged.getvalue(),
                "standard output": out.getvalue(),
                "standard error": errors.getvalue(),
            }
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def chain(error: BaseException | None) -> list[str]:
    """An error and all that is chained to it, as they would be shown."""
    told = []
    while error is not None:
        told.append(f"{type(error).__name__}: {error} {error.args!r}")
        error = error.__cause__ or error.__context__
    return told
