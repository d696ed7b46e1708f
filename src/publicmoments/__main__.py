"""The command line: ``python -m publicmoments``, the same as ``pmt``."""

from __future__ import annotations

import sys

from publicmoments.cli import main

if __name__ == "__main__":
    sys.exit(main())
