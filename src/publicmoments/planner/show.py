"""Plans as tables and pictures."""

from __future__ import annotations

import os
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from publicmoments.privacy.rounding import text_above

if TYPE_CHECKING:
    from publicmoments.planner.forecasts import Accuracy, Plan

__all__ = ["plot_plan", "table_text"]

WIDTH = 120
RANGE = "4 of 5 fits"
HEADINGS = (
    "fit",
    "error of predictions",
    RANGE,
    "error of coefficients",
    "from non-private",
    "95 % half width",
    "bound",
    "condition",
)


def table_text(plan: Plan) -> str:
    """Return a plan as a table in plain text."""
    table = Table(
        title=f"{plan.model}, {plan.n_rows:,} private rows, {plan.rehearsals} rehearsals",
        title_justify="left",
        caption="errors are root mean squares against the population, geometric means over those "
        "that public data allow; four of five fits are expected to have an error of predictions in "
        "the range beside it; 'from non-private' is the error of predictions against the "
        "non-private fit; half widths are medians",
        caption_justify="left",
    )
    for heading in HEADINGS:
        table.add_column(
            heading, justify="left" if heading == "fit" else "right", no_wrap=heading == RANGE
        )
    for forecast in plan.forecasts:
        condition = "-" if forecast.condition is None else f"{forecast.condition:.2g}"
        table.add_row(
            f"mu {text_above(forecast.mu, 3)}",
            f"{forecast.prediction_error:.3g}",
            _range(forecast.ranges.prediction_error),
            f"{forecast.error:.3g}",
            f"{forecast.prediction_distance:.3g}",
            _half_width(forecast),
            f"{forecast.bound:.3g}",
            condition + ("" if forecast.robust is None or forecast.robust else " (> 1/2)"),
        )
    table.add_section()
    for name, level in (("non-private", plan.non_private), ("public only", plan.public_only)):
        if level is not None:
            figures = (f"{level.prediction_error:.3g}", "-", f"{level.error:.3g}")
            table.add_row(name, *figures, "-", _half_width(level), "-", "-")
    text = StringIO()
    Console(file=text, width=WIDTH, color_system=None).print(table)
    return text.getvalue().rstrip()


def _range(ends: tuple[float, float]) -> str:
    """A range as text."""
    return f"{ends[0]:.3g} to {ends[1]:.3g}"


def _half_width(level: Accuracy) -> str:
    """Median half width as text."""
    return f"{float(np.median(level.half_widths)):.3g}"


def plot_plan(plan: Plan, target: str | os.PathLike[str] | Any = None) -> Any:
    """Plot the error of predictions against the budget, on logarithmic axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "plotting needs matplotlib; install publicmoments with the extra [plot]"
        ) from error
    to_file = isinstance(target, str | os.PathLike)
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes: Any = figure.subplots() if target is None or to_file else target
    mus = [forecast.mu for forecast in plan.forecasts]
    errors = [forecast.prediction_error for forecast in plan.forecasts]
    axes.loglog(mus, errors, marker="o", color="C0", label="private, expected")
    ends = np.array([forecast.ranges.prediction_error for forecast in plan.forecasts])
    axes.fill_between(mus, *ends.T, color="C0", alpha=0.15, label="four of five fits")
    level = plan.non_private.prediction_error
    axes.axhline(level, color="C2", linestyle="--", label="non-private")
    if plan.public_only is not None:
        axes.axhline(
            plan.public_only.prediction_error, color="C1", linestyle=":", label="public only"
        )
    axes.set_xlabel("total budget mu")
    axes.set_ylabel("error of predictions")
    axes.set_title(f"{plan.model}, {plan.n_rows:,} private rows")
    axes.grid(True, which="both", alpha=0.2)
    axes.legend()
    if to_file:
        figure.savefig(target, dpi=150)
    return axes
