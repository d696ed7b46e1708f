"""The command line as a program: ``pmt``, or ``python -m publicmoments``."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

__all__ = ["program"]

INTERRUPTED = 130
"""As in `publicmoments.cli.failures`, which may not have been imported when it is needed."""


def program() -> NoReturn:
    """Run the command that the process was started with, and end the process."""
    try:
        # Inside, so that an interruption of the import is told in one line as well.
        from publicmoments.cli import main

        code = main()
    except KeyboardInterrupt:
        print("pmt: interrupted", file=sys.stderr)
        code = INTERRUPTED
    if code == INTERRUPTED:
        # Python itself may remember the signal and end the process by it, without an exit code.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    program()
