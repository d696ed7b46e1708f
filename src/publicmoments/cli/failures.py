"""Exit codes, and one line for each thing that can go wrong."""

from __future__ import annotations

from traceback import walk_tb

DONE, DEFECT, BAD_INPUT, REFUSED, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes: done, an error of the program, bad input, budget refused, interrupted."""


OPTIONS = {
    "anchor=False": "--no-anchor",
    "public=PublicMoments.from_rows(...)": "--public FILE",
    "response=... or response_scale=... when making them": "--target when making them",
    "in classes=": "in --classes",
    "radius= to release_moments": "--radius to pmt release",
    "Ledger.cap": "pmt ledger cap",
    "new_datasets=True to the ledger": "--new-dataset",
    'on_invalid="ignore"': "--ignore-invalid",
    "pass delimiter=": "pass --delimiter ",
    "save_model": "pmt fit",
    "MomentRelease.save": "pmt release",
    "PublicMoments.save": "pmt public make",
}
"""What the library advises to its callers, in the words of the command line."""


class CommandError(Exception):
    """Bad input that a command has found itself; the message is for the user as it is."""


def explained(error: Exception) -> tuple[int, str]:
    """
    Return the exit code of an error, and one line that explains it.

    What the library itself raises is written with care not to quote private rows. Of any other
    error only the kind and the place are told: its message may quote a cell.

    Examples
    --------
    >>> explained(CommandError("no such column"))
    (2, 'no such column')
    >>> explained(ZeroDivisionError("3 / 0"))[0]
    1
    """
    if isinstance(error, CommandError):
        return BAD_INPUT, one_line(error)
    # Late, as it takes a while and most runs end well.
    from publicmoments.checks import raised_here
    from publicmoments.privacy.account import BudgetExceeded

    if isinstance(error, BudgetExceeded):
        return REFUSED, f"refused, nothing was spent: {one_line(error)}"
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{error.filename}: "
        return BAD_INPUT, f"{where}{error.strerror}"
    if isinstance(error, TypeError | ValueError | OSError | ImportError):
        if error.__traceback__ is None or raised_here(error):
            return BAD_INPUT, one_line(error)
        return BAD_INPUT, f"the input could not be used {_place(error)}; check the files"
    return DEFECT, f"an error of the program {_place(error)}; please report it"


def _place(error: Exception) -> str:
    """Kind and place of an error."""
    places = [f"{frame.f_code.co_qualname}, line {n}" for frame, n in walk_tb(error.__traceback__)]
    return f"({', '.join([type(error).__name__, *places[-1:]])})"


def one_line(message: object) -> str:
    r"""
    Return a message of the library on one line, and in terms of options.

    Examples
    --------
    >>> one_line("populations differ;\n pass anchor=False")
    'populations differ; pass --no-anchor'
    """
    line = " ".join(str(message).split()) or type(message).__name__
    for words, option in OPTIONS.items():
        line = line.replace(words, option)
    return line
