"""Pages of constants, of speed and of the audit."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.figure import Figure

from .page import Page, Tables
from .pictures import LIMIT, Panel, marks
from .tables import Row, Table, markdown

NOTABLE = 1.05
"""Change of the mean error from which a constant is listed."""

HALVES = ("choose: mean", "confirm: mean")


def _constants_picture(tables: Tables) -> Figure:
    """Mean cost of each removal on both halves of the tables."""
    rows = tables["constants"].rows
    series = {half: {row["constant"]: float(row[half]) for row in rows} for half in HALVES}
    return marks([Panel("", series)], "error without the constant over that with it", line=1.0)


def _constants_body(tables: Tables) -> list[str]:
    """Which constants matter, which do harm, and which do nothing."""
    rows = tables["constants"].rows
    columns = ("constant", "value", "without it", *HALVES)
    dear = [row for row in rows if max(float(row[half]) for half in HALVES) >= 1.0 + 0.1]
    lines = [[f"`{row['constant']}`", *(row[name] for name in columns[1:])] for row in dear]
    harm = _named(rows, lambda row: min(float(row[half]) for half in HALVES) <= 1.0 / NOTABLE)
    idle = _named(rows, lambda row: all(float(row[h]) == 1.0 for h in HALVES))
    unmeasured = sum(len(row["names"].split()) for row in tables["constants-others"].rows)
    return [
        "## Constants whose removal costs a tenth or more",
        markdown(columns, lines, left=3),
        f"**Do harm** on one half of the tables, by 5 % or more in the mean: {harm}. **Change "
        f"nothing** in the mean of either half: {idle}; some of them guard against single bad "
        "cells, which the columns `worst` of the CSV show.",
        f"**Not measured**: {unmeasured} other numbers with a name, in `constants-others.csv`: "
        "tolerances, limits and grids of computations, words and formats of files, the rules of "
        "plans and of warnings, and those of released moments, which are another estimator.",
    ]


def _named(rows: list[Row], chosen: Callable[[Row], bool]) -> str:
    """Names of some constants."""
    names = [f"`{row['constant']}`" for row in rows if chosen(row)]
    return ", ".join(names) or "none"


CONSTANTS = Page(
    "constants",
    "Constants, and what they are worth",
    "The estimators are statistics of what was released; some numbers remain that no data tell. "
    "Each is taken away, or to an extreme, one at a time, and the error is divided by that with "
    "all of them: geometric means over seven tables that decided constants (*choose*) and seven "
    "others (*confirm*), at four budgets, with public responses and with a matrix alone. Single "
    "cells move by about a fifth from one set of noise to another.",
    ("constants", "constants-others"),
    _constants_picture,
    "Right of the line the constant helps, left of it does harm on these tables.",
    _constants_body,
)


def _work(row: Row) -> str:
    """What was timed, in short."""
    return f"{row['work']}, {row['threads']} thread{'s' * (row['threads'] != '1')}"


def _speed_picture(tables: Tables) -> Figure:
    """Ratios and their limits."""
    rows = tables["speed"].rows
    ratios = {_work(row): float(row["ratio"]) for row in rows}
    limits = {_work(row): float(row["limit"]) for row in rows if row["limit"]}
    series = {"ours over the reference": ratios, LIMIT: limits}
    return marks([Panel("", series)], "time over that of the reference", log=False, line=1.0)


def _speed_body(tables: Tables) -> list[str]:
    """Limits, then what has no reference, then devices."""
    rows = tables["speed"].rows
    limited = [row for row in rows if row["limit"]]
    above = [row for row in limited if float(row["ratio"]) > float(row["limit"])]
    named = "; ".join(f"{_work(row)}: {float(row['ratio']):.2f} > {row['limit']}" for row in above)
    close = [r for r in limited if float(r["high"]) > float(r["limit"]) and r not in above]
    near = "; ".join(_work(row) for row in close) or "none"
    parts = [
        f"**Above its limit**: {named or 'none'} ({len(limited)} limits). **Within it by the "
        f"median, not by the upper quartile**: {near}. References are `X.T @ X`, scikit-learn "
        "without privacy, and reading the file alone; they take turns with ours, since these "
        "machines are shared, and a ratio says more than a time.",
    ]
    if "speed-alone" in tables:
        parts += ["## Memory, noise, growth", _alone(tables["speed-alone"])]
    if "speed-device" in tables:
        parts.append(_device(tables["speed-device"]))
    return parts


def _alone(alone: Table) -> str:
    """Figures without a reference."""
    lines = [[row["what"], row["figure"], row["limit"]] for row in alone.rows]
    return markdown(("what", "figure", "at most"), lines)


def _device(device: Table) -> str:
    """The range of ratios on a device."""
    first, shapes = device.rows[0], dict.fromkeys((row["n"], row["d"]) for row in device.rows)
    told = []
    for n, d in shapes:
        rows = device.where(n=n, d=d)
        ratios = " and ".join(f"{float(row['ratio']):.2f}" for row in rows)
        limit = "no limit"
        if most := rows[0]["limit"]:
            missed = any(float(row["ratio"]) > float(most) for row in rows)
            limit = f"at most {most}: **missed**" if missed else f"at most {most}"
        told.append(f"{int(n):,} x {d}: {ratios} ({limit})")
    return (
        f"**On a GPU** ({first['library']}, {first['made']}; `python benchmarks/device.py`), a "
        f"moment pass in float64 over `X.T @ X` by cuBLAS in the same run: {'; '.join(told)}. "
        "Lengths and linear predictors of all rows go to the host, where factors are computed, and "
        "these come back; what that costs by itself was not measured."
    )


SPEED = Page(
    "speed",
    "Speed",
    "Times of moment passes and whole fits, noise included, over those of a reference in the same "
    "run. `make bench-speed` measures again.",
    ("speed", "speed-alone", "speed-device"),
    _speed_picture,
    "Medians over the turns; red strokes are limits. Quartiles are in the CSV.",
    _speed_body,
)

AUDITED = (
    *("game", "fits", "bits", "taint", "interference"),
    *("mutations", "properties", "fuzz", "faults", "soak"),
)
"""Sections of the audit, in the order of the page."""


def _audited(tables: Tables) -> list[tuple[Table, str, str]]:
    """Tables of the sections that were run, with their titles and summaries."""
    found = [tables[f"audit-{name}"] for name in AUDITED if f"audit-{name}" in tables]
    return [(one, one.comments[1], one.comments[2]) for one in found]


def _audit_picture(tables: Tables) -> Figure | None:
    """Budgets as claimed, as worth and as shown by attacks."""
    if "audit-game" not in tables:
        return None
    series = {"claimed": "claimed mu", "reached by exact sums": "reached mu", "shown": "shown mu"}
    rows = tables["audit-game"].rows
    values = {
        label: {row["release"]: float(row[column]) for row in rows}
        for label, column in series.items()
    }
    return marks([Panel("", values)], "mu of the worst pair found", log=False, line=1.0)


def _audit_body(tables: Tables) -> list[str]:
    """One line for each section; what failed; what is not covered."""
    lines, failed = [], []
    for one, title, summary in _audited(tables):
        bad = [row for row in one.rows if row["sound"] != "yes"]
        failed += [f"- {title}: {', '.join(list(row.values())[:-1])}" for row in bad]
        word = f"FAILED in {len(bad)}" if bad or not one.rows else "passed"
        lines.append([title, summary, str(len(one.rows)), word])
    missing = [name for name in AUDITED if f"audit-{name}" not in tables]
    heads = ("attack", "what is tried", "lines", "outcome")
    return [
        markdown(heads, lines, left=2),
        *(["Failures:\n\n" + "\n".join(failed)] if failed else []),
        *([f"Not run: {', '.join(missing)}."] if missing else []),
        NOT_COVERED,
    ]


NOT_COVERED = """\
## Not covered

- Time and memory access as a way to learn something; see the known limits in `SECURITY.md`.
- Attackers other than those above: the games use two columns, thirty rows and mu = 1, and whole
  fits are too few to come near a claim. What holds for every table is argued beside the code.
- The published estimators keep the paper's noise, which no pair of rows can use up.
- The quality of the system's entropy, and OpenDP's sampler beyond its law and its independence
  after forks.
- Workers and databases that lie, and files that were forged rather than damaged.
- Public inputs that were computed from private rows, and rows that have two names in a ledger.
- Loss of power: writes are flushed before they count, which is tested by killing processes, not
  machines. Network file systems were not tried.
- Other systems: all of this ran on Linux, on processors. Runs on a device are tested elsewhere."""

AUDIT = Page(
    "audit",
    "Audit",
    "What was tried against the library's own claims by `make audit`. An audit can refute a claim "
    "and never prove one: the proofs are in the docstrings of `publicmoments.session.door` and "
    "`publicmoments.privacy`, and `SECURITY.md` says what they do not cover.",
    tuple(f"audit-{name}" for name in AUDITED),
    _audit_picture,
    "Distinguishing game. Reached is what the worst pair is worth with unlimited runs; shown is a "
    "lower bound from runs with real noise, which must not exceed the claim.",
    _audit_body,
)

PAGES = (CONSTANTS, SPEED, AUDIT)
