"""What the paper says about its figures, sentence by sentence, and how each is judged.

Robustness is the standard deviation of the errors over the repeats, as in the paper.
"""

from __future__ import annotations

from experiments.plumbing.judges import (
    below,
    below_at_most_rows,
    below_with_less,
    best_at,
    converges,
    dearer_at_end,
    falls,
    flat,
    less_sensitive,
    optimum_inside,
    optimum_unsteady,
    steadier_iterations,
)
from experiments.plumbing.judging import Claim

PMT, RR = "pmt", "oracle"
PMTLR, LR = "pmt logistic", "oracle logistic"


def against_descent(gd: str = "gd", name: str = "DP-GD") -> tuple[Claim, ...]:
    """Claims about DP-GD and what is better than it."""
    return (
        Claim(f"{name} is more robust than DP-PMTRR and DP-RR", below(gd, PMT, RR, what="spread")),
        Claim(f"{name} depends little on the number of private rows", flat(gd)),
        Claim(
            f"with many private rows, DP-PMTRR is more accurate than {name}",
            below_at_most_rows(PMT, gd),
        ),
        Claim(
            f"with many private rows, DP-PMTRR is more robust than {name}",
            below_at_most_rows(PMT, gd, "spread"),
        ),
        Claim(
            f"with many private rows, DP-RR is more accurate than {name}",
            below_at_most_rows(RR, gd),
        ),
        Claim(f"DP-PMTRR is more accurate than DP-RR and {name} at every size", below(PMT, RR, gd)),
        Claim(
            f"DP-PMTRR is more robust than DP-RR and {name} at every size",
            below(PMT, RR, gd, what="spread"),
        ),
    )


AGAINST_ROWS = (
    Claim("the error of DP-RR falls with the number of private rows", falls(RR, "n")),
    Claim("the error of DP-PMTRR falls with the number of private rows", falls(PMT, "n")),
    Claim("DP-PMTRR is more accurate than DP-RR at every size", below(PMT, RR)),
    Claim("DP-PMTRR is more robust than DP-RR at every size", below(PMT, RR, what="spread")),
    *against_descent(),
)

AGAINST_ROWS_AND_BUDGETS = (
    Claim("DP-PMTRR is more accurate than DP-RR at every size and budget", below(PMT, RR)),
    Claim(
        "DP-PMTRR is more robust than DP-RR at every size and budget", below(PMT, RR, what="spread")
    ),
    Claim(
        "DP-PMTRR is more accurate than DP-RR with the next larger budget", below_with_less(PMT, RR)
    ),
    Claim(
        "DP-PMTRR is more robust than DP-RR with the next larger budget",
        below_with_less(PMT, RR, "spread"),
    ),
    Claim("the error of DP-PMTRR falls with the number of private rows", falls(PMT, "n")),
    Claim("the error of DP-PMTRR falls with the budget", falls(PMT, "mu")),
    Claim(
        "the spread of DP-PMTRR falls with the number of private rows", falls(PMT, "n", "spread")
    ),
    Claim("the spread of DP-PMTRR falls with the budget", falls(PMT, "mu", "spread")),
)

AGAINST_PENALTIES = (
    Claim("a larger lambda lowers the spread of DP-RR", falls(RR, "alpha", "spread")),
    Claim("a larger lambda lowers the spread of DP-PMTRR", falls(PMT, "alpha", "spread")),
    Claim("a large lambda costs DP-RR accuracy", dearer_at_end(RR)),
    Claim("a large lambda costs DP-PMTRR accuracy", dearer_at_end(PMT)),
    Claim("some lambda in between minimises the error of DP-RR", optimum_inside(RR)),
    Claim("that lambda does not make DP-RR significantly robust", optimum_unsteady(RR)),
    Claim(
        "the error of DP-PMTRR depends less on lambda than that of DP-RR", less_sensitive(PMT, RR)
    ),
    Claim(
        "the spread of DP-PMTRR depends less on lambda than that of DP-RR",
        less_sensitive(PMT, RR, "spread"),
    ),
)

ITERATIONS_AND_BUDGETS = (
    Claim("a larger budget makes DP-PMTLR more accurate", falls(PMTLR, "mu")),
    Claim("a larger budget makes DP-LR more accurate", falls(LR, "mu")),
    Claim("a larger budget makes DP-PMTLR more stable", falls(PMTLR, "mu", "spread")),
    Claim("a larger budget makes DP-LR more stable", falls(LR, "mu", "spread")),
    Claim("DP-PMTLR is more accurate than DP-LR at every budget", below(PMTLR, LR)),
    Claim("DP-PMTLR is more robust than DP-LR at every budget", below(PMTLR, LR, what="spread")),
    Claim(
        "DP-PMTLR with the smallest budget is more accurate than DP-LR with the largest",
        below_with_less(PMTLR, LR, ends=True),
    ),
    Claim(
        "DP-PMTLR with the smallest budget is more robust than DP-LR with the largest",
        below_with_less(PMTLR, LR, "spread", ends=True),
    ),
)


def iterations_and_penalties(failing: float, best: float | None = None) -> tuple[Claim, ...]:
    """Claims about paths at several penalties, of which DP-LR is said to fail at one."""
    lost = f"DP-LR fails to converge at lambda {failing:g}"
    found = f"DP-PMTLR converges at lambda {failing:g}"
    claims = [
        Claim(
            "DP-PMTLR is more robust than DP-LR at every iteration", steadier_iterations(PMTLR, LR)
        ),
        Claim("a larger lambda lowers the spread of DP-LR", falls(LR, "alpha", "spread")),
        Claim("a larger lambda lowers the spread of DP-PMTLR", falls(PMTLR, "alpha", "spread")),
        Claim("a large lambda costs DP-LR accuracy", dearer_at_end(LR)),
        Claim("a large lambda costs DP-PMTLR accuracy", dearer_at_end(PMTLR)),
        Claim(lost, converges(LR, failing, expected=False)),
        Claim(found, converges(PMTLR, failing)),
        Claim("DP-PMTLR depends less on lambda than DP-LR", less_sensitive(PMTLR, LR)),
    ]
    if best is not None:
        claims.append(Claim(f"DP-PMTLR is best at lambda {best:g}", best_at(PMTLR, best)))
    return tuple(claims)
