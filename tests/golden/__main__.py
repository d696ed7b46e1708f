"""Write the golden figures, or tell what differs: ``python -m tests.golden write | check``."""

from __future__ import annotations

import sys
import time

from tests.golden import record
from tests.golden.fits import CASES


def found(wanted: list[str]) -> dict[str, dict[str, object]]:
    """Make the figures of all cases that can run here, or of those whose names begin as wanted."""
    made = {}
    for case in CASES.values():
        if wanted and not case.name.startswith(tuple(wanted)):
            continue
        if case.missing:
            print(f"{case.name}: left out, for want of {', '.join(case.missing)}")
            continue
        start = time.perf_counter()
        made[case.name] = record.run(case.function)
        if (taken := time.perf_counter() - start) > 1.0:
            print(f"{case.name}: {taken:.1f} s")
    return made


def check(wanted: list[str]) -> int:
    """Print what differs from the recorded figures; return how many cases do."""
    recorded = record.read()
    exact = recorded["fingerprint"] == record.fingerprint()
    print("compared bit for bit" if exact else f"compared within {record.REL_TOL:g}")
    different = 0
    for name, figures in found(wanted).items():
        told = record.differences(recorded["cases"].get(name, {}), figures, exact=exact)
        different += bool(told)
        for line in told:
            print(f"{name}: {line}")
    print(f"{different} cases differ")
    return different


def main(arguments: list[str]) -> int:
    """Write or check."""
    if arguments[:1] == ["write"] and len(arguments) == 1:
        record.write(found([]))
        return 0
    if arguments[:1] == ["check"]:
        return int(check(arguments[1:]) > 0)
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
