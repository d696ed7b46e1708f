"""All studies of second moments: ``python -m experiments.moments``."""

from __future__ import annotations

from experiments.moments import condition, eigenvalues, penalty, public_rows, rows
from experiments.moments.commands import main

MODULES = (eigenvalues, rows, condition, penalty, public_rows)

if __name__ == "__main__":
    main(*(module.STUDY for module in MODULES), page=True)
