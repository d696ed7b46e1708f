"""Exit codes, and one line for each thing that can go wrong."""

from __future__ import annotations

import traceback

__all__ = ["BAD_INPUT", "DEFECT", "DONE", "INTERRUPTED", "REFUSED", "CommandError", "explained"]

DONE, DEFECT, BAD_INPUT, REFUSED, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes: done, an error of the program, bad input, budget refused, interrupted."""


class CommandError(Exception):
    """Bad input that a command has found itself; the message is for the user as it is."""


def explained(error: Exception) -> tuple[int, str]:
    """
    Return the exit code of an error, and one line that explains it.

    Errors of kinds that the library raises on purpose are written with care not to quote private
    rows. Of any other only the kind and the place are told: its message may quote anything.

    Examples
    --------
    >>> explained(CommandError("no such column"))
    (2, 'no such column')
    >>> explained(ZeroDivisionError("3 / 0"))[0]
    1
    """
    if isinstance(error, CommandError):
        return BAD_INPUT, _line(error)
    # Late, as it takes a while and most runs end well.
    from publicmoments.privacy.account import BudgetExceeded

    if isinstance(error, BudgetExceeded):
        return REFUSED, f"refused, nothing was spent: {_line(error)}"
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{error.filename}: "
        return BAD_INPUT, f"{where}{error.strerror}"
    if isinstance(error, TypeError | ValueError | OSError | ImportError):
        return BAD_INPUT, _line(error)
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" at {frame.name}, line {frame.lineno}" for frame in last)
    return DEFECT, f"an error of the program ({type(error).__name__}{place}); please report it"


def _line(error: Exception) -> str:
    """The message on one line."""
    return " ".join(str(error).split()) or type(error).__name__
