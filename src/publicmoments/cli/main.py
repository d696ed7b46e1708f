"""Running a command: from the arguments to the exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from publicmoments import __version__
from publicmoments.cli import pmt_ledger, pmt_model, pmt_paper, pmt_plan, pmt_public, pmt_release
from publicmoments.cli.failures import DONE, INTERRUPTED, explained, one_line
from publicmoments.cli.outputs import Screen
from publicmoments.cli.parsing import Parser

COMMANDS = (
    pmt_public.public_group,
    pmt_plan.plan_command,
    pmt_model.fit_group,
    pmt_release.release_command,
    pmt_release.combine_command,
    pmt_release.path_command,
    pmt_model.predict_command,
    pmt_model.report_command,
    pmt_ledger.ledger_group,
    pmt_paper.data_group,
    pmt_paper.experiments_command,
    pmt_paper.demo_command,
)
"""Commands and groups of them, in the order in which a steward needs them."""


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; those of the process by default.

    Returns
    -------
    int
        0 done, 2 bad input, 3 budget refused, 130 interrupted, 1 an error of the program.

    Examples
    --------
    >>> main(["data", "list", "--json"])  # doctest: +ELLIPSIS
    {
     ...
    }
    0
    """
    try:
        with _termination_interrupts(), _warnings_on_one_line():
            options = make_parser().parse_args(argv)
            options.run(options, Screen(options.json))
            sys.stdout.flush()
            return DONE
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else DONE
    except KeyboardInterrupt:
        _say("interrupted; no file is left half-written, and what a ledger was charged stays spent")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has had enough; nothing may be written at the end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:
        code, line = explained(error)
        _say(line)
        return code


def make_parser() -> Parser:
    """Make the parser of all commands."""
    parser = Parser(
        prog="pmt",
        description="Private regression guided by public second moments.",
        epilog="""\
a first walk:
  pmt public make published.csv --target cost --output public.json
  pmt plan --rows 30000 --public public.json --mu 0.3 1 3
  pmt fit ridge private.csv --target cost --public public.json --mu 1 --output model.json
  pmt predict model.json new.csv --output predicted.csv
  pmt report model.json --output report.html

exit codes: 0 done, 2 bad input, 3 budget refused, 130 interrupted""",
    )
    parser.add_argument("--version", action="version", version=f"pmt {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for add in COMMANDS:
        add(commands)
    return parser


def _say(line: str) -> None:
    """Write one line for people."""
    print(f"pmt: {line}", file=sys.stderr)


@contextmanager
def _termination_interrupts() -> Iterator[None]:
    """Treat SIGTERM as SIGINT, so that unfinished files are removed."""

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _warnings_on_one_line() -> Iterator[None]:
    """Show warnings without the source code that they came from."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        _say(f"warning: {one_line(message)}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", UserWarning)
        warnings.simplefilter("default", RuntimeWarning)
        warnings.showwarning = show
        yield
