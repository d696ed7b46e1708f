"""The command line ``pmt``, for whoever keeps private tables.

`main` parses, runs and turns errors into exit codes. `parsing`, `files`, `tables` and `screen` are
what commands share; every other module is a command or a group of them. Modules are light to
import: what a command needs is imported when it runs.
"""

from publicmoments.cli.main import main

__all__ = ["main"]
