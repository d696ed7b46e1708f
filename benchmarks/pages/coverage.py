"""Pages of how often intervals cover, and of how right plans are."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from .page import Page, Tables
from .pictures import GOOD, Panel, marks
from .tables import Table, limits_text, markdown

GOAL = (93.0, 98.0)
KINDS = ("non-private, classical", "non-private, sandwich", "ours")
SHORT = {
    "least squares, non-private": "least squares",
    "logistic, non-private": "maximum likelihood",
    "LogisticRegression, public labels": "Logistic, public labels",
    "LogisticRegression, public rows without labels": "Logistic, no labels",
    "release_moments(...).ridge(0)": "released moments",
}


def _simulated_picture(tables: Tables) -> Figure:
    """Coverage by method, size and budget, and widths beside it."""
    shown: dict[str, dict[str, dict[str, float]]] = {"coverage": {}, "width": {}}
    for row in tables["coverage"].rows:
        label = "no privacy" if row["mu"] == "-" else f"mu {row['mu']}"
        place = f"{SHORT.get(row['method'], row['method'])}, n {row['n']}"
        for measure, series in shown.items():
            series.setdefault(label, {})[place] = float(row[measure])
    titles = {"coverage": "coverage, %", "width": "width over that of non-private intervals"}
    panels = [Panel(titles[measure], series) for measure, series in shown.items()]
    canvas = marks(panels, "all draws and coefficients together", log=False, shades=True)
    canvas.axes[0].axvspan(*GOAL, color=GOOD, alpha=0.12, linewidth=0)
    return canvas


def _simulated_body(tables: Tables) -> list[str]:
    """What the coverages say."""
    return [
        "## Goal",
        limits_text(tables["coverage-limits"]),
        *tables["coverage"].comments[1:],
        "## Ranges over sizes and budgets",
        _ranges(tables["coverage"]),
        "Intervals of `Ridge` are wider than they need be: they allow for the most that bounds on "
        "rows may take, and errors are symmetric here, so that bounds take next to nothing. Those "
        "of `LogisticRegression` are too short where little budget meets strong effects. In the "
        "CSV, `least` and `most` are the coverages of single coefficients, `error` the standard "
        "error of the mean over draws, `single error` the binomial one at the nominal level, and "
        "`width` is over that of the non-private intervals.",
    ]


def _ranges(coverage: Table) -> str:
    """Smallest and largest coverage and width of each method."""
    lines = []
    for method in coverage.values("method"):
        rows = coverage.where(method=method)
        missed = sum(row["missed"] == "yes" for row in rows)
        cells = [_range([row[name] for row in rows]) for name in ("coverage", "width")]
        lines.append([method, *cells, f"{missed} of {len(rows)}"])
    return markdown(("method", "coverage, %", "width", "cells that miss"), lines)


def _range(values: Sequence[str]) -> str:
    """From the smallest to the largest."""
    return f"{min(values, key=float)} to {max(values, key=float)}"


SIMULATED = Page(
    "coverage",
    "Coverage of intervals",
    "How often nominal 95 % intervals (`conf_int`) cover the true coefficients of simulated "
    "populations: Gaussian rows, condition number 100, 200 public rows, penalty 0, no intercept; "
    "ten features and a linear response, or eight and a label. Every draw has its own population, "
    "rows and noise; methods and budgets share the rows.",
    ("coverage", "coverage-limits"),
    _simulated_picture,
    "The goal is shaded. n is the number of private rows.",
    _simulated_body,
)


def _percent(text: str) -> float:
    """A share as a number."""
    return float(text.rstrip("%"))


def _wild_picture(tables: Tables) -> Figure:
    """Mean and least coverage, by table and method."""
    rows = tables["coverage-wild"].rows
    panels = [
        Panel(
            title,
            {k: {row["table"]: _percent(row[f"{k}: {part}"]) for row in rows} for k in KINDS},
        )
        for part, title in (("mean", "all coefficients, %"), ("least", "worst coefficient, %"))
    ]
    return marks(panels, "coverage of nominal 95 % intervals", log=False, line=95.0)


def _wild_body(tables: Tables) -> list[str]:
    """What the coverages say."""
    rows = tables["coverage-wild"].rows
    lines = []
    for kind in KINDS:
        means, leasts = ([row[f"{kind}: {part}"] for row in rows] for part in ("mean", "least"))
        worst = rows[leasts.index(min(leasts, key=_percent))]
        spread = f"{min(means, key=_percent)} to {max(means, key=_percent)}"
        lines.append([kind, spread, f"{min(leasts, key=_percent)} ({worst['table']})"])
    heads = ("intervals", "mean coverage, over tables", "worst coefficient of all")
    return [
        "## Goal",
        limits_text(tables["coverage-wild-limits"]),
        "## Ranges over the tables",
        markdown(heads, lines),
        "Non-private intervals of the same samples show what a model that does not hold costs by "
        "itself: classical ones take variances to be as the family says, those of a sandwich do "
        "not. Coverage far above the nominal level is a cost too: such intervals are wider than "
        "they need be.",
    ]


WILD = Page(
    "coverage-wild",
    "Coverage on fourteen real tables",
    "How often nominal 95% intervals cover the coefficients of real populations: the non-private "
    "fit of a whole table is the truth, samples of 5,000 rows are drawn from it with replacement, "
    "and 400 of its rows (an eighth, where there are fewer) are public with their responses; "
    "mu = 1.",
    ("coverage-wild", "coverage-wild-limits"),
    _wild_picture,
    "Each row is a table; the line is the nominal level.",
    _wild_body,
)


def _plan_series(plans: Table) -> dict[str, dict[str, float]]:
    """Ratios by budget."""
    budgets = [column for column in plans.columns if column.startswith("mu ")]
    return {mu: {row["population"]: float(row[mu]) for row in plans.rows} for mu in budgets}


def _plans_picture(tables: Tables) -> Figure:
    """Ratios of realised to planned errors."""
    series = _plan_series(tables["plans"])
    label = "realised over planned error; right of the line plans promise too much"
    return marks([Panel("", series)], label, line=1.0, band=(0.5, 2.0), shades=True)


def _plans_body(tables: Tables) -> list[str]:
    """Where plans are wrong."""
    plans, lines = tables["plans"], []
    series = _plan_series(plans)
    for row in plans.rows:
        cells = [row[mu] for mu in series]
        if not all(0.5 <= float(cell) <= 2.0 for cell in cells):
            lines.append([row["population"], *cells])
    return [
        "## Goals",
        limits_text(tables["plans-limits"]),
        "## Populations with a cell that is off by more than a factor of 2",
        markdown(("population", *series), lines),
        "A single fit scatters about its expectation besides, which is what the ranges of a plan "
        "are for. A plan knows public rows alone: where they do not show the columns or the tails "
        "that decide the error, it errs, in both directions.",
    ]


PLANS = Page(
    "plans",
    "How right plans are",
    "Realised over planned error of predictions, as the distance from the plain fit of the same "
    "rows: geometric means over splits, each with a plan from its own public rows and their "
    "responses. Above 1 plans promise too much.",
    ("plans", "plans-limits"),
    _plans_picture,
    "Nine simulated populations and fourteen real tables; within a factor of 2 is shaded.",
    _plans_body,
)

PAGES = (SIMULATED, WILD, PLANS)
