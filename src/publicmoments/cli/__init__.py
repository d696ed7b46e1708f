"""The command line ``pmt``, for whoever keeps private tables.

`main` parses, runs and turns errors into exit codes. `parsing`, `inputs`, `columns`, `outputs` and
`failures` are what commands share; modules named ``pmt_`` hold commands. All of them are light to
import: what a command needs is imported when it runs.
"""

from publicmoments.cli.main import main

__all__ = ["main"]
