"""
The soak: many fits of all kinds in one process, whose memory must not grow.

``python -m audit.soak --fits 1000`` prints resident memory before and after.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

from audit.cases import CASES, table_for

__all__ = ["Soaked", "resident_mib", "soak"]

STATUS = Path("/proc/self/statm")
MOST_GROWTH = 0.05


@dataclass(frozen=True)
class Soaked:
    """Outcome: fits made, resident MiB after the warm-up and at the end, and the time it took."""

    fits: int
    warm_mib: float
    end_mib: float
    seconds: float

    @property
    def growth(self) -> float:
        """Growth of memory after the warm-up, as a share."""
        return self.end_mib / self.warm_mib - 1.0

    @property
    def sound(self) -> bool:
        """Whether memory is flat."""
        return self.growth <= MOST_GROWTH


def resident_mib() -> float:
    """Resident memory of this process; Linux only."""
    import resource

    pages = int(STATUS.read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def soak(fits: int, warm_up: int, n_rows: int = 500) -> Soaked:
    """Fit all cases in turn, dropping every model."""
    started = time.monotonic()
    tables = {name: table_for(case, n_rows=n_rows) for name, case in CASES.items()}
    warm = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for count, name in enumerate(itertools.islice(itertools.cycle(CASES), fits + warm_up)):
            if count == warm_up:
                gc.collect()
                warm = resident_mib()
            CASES[name].fit(*tables[name])
    gc.collect()
    return Soaked(fits, warm, resident_mib(), time.monotonic() - started)


def main() -> int:
    """Soak, print, and fail where memory grew."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("--warm-up", type=int, default=100)
    given = parser.parse_args()
    outcome = soak(given.fits, given.warm_up)
    print(
        f"{outcome.fits} fits in {outcome.seconds:.0f} s: {outcome.warm_mib:.1f} MiB after the "
        f"warm-up, {outcome.end_mib:.1f} MiB at the end ({outcome.growth:+.1%})"
    )
    return 0 if outcome.sound else 1


if __name__ == "__main__":
    sys.exit(main())
