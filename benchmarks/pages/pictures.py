"""The picture of a page: marks in rows, one row for each thing that was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

Rows = dict[str, float]

STYLE: dict[str, Any] = {"font.size": 8.5, "axes.titlesize": 9, "axes.axisbelow": True}
LIMIT = "at most"
"""A series of this name is drawn as strokes: limits, not figures."""

PALETTE = ("#1f77b4", "#ff7f0e", "#222222")
GOOD = "#2ca02c"
DPI = 110


@dataclass(frozen=True)
class Panel:
    """
    One of several pictures side by side, which share their rows.

    Parameters
    ----------
    title : str
        Above it.
    series : dict
        Marks of one colour: values by row. A row without a value has no mark.
    """

    title: str
    series: dict[str, Rows]


def marks(
    panels: Sequence[Panel],
    label: str,
    *,
    log: bool = True,
    line: float | None = None,
    band: tuple[float, float] | None = None,
    shades: bool = False,
) -> Figure:
    """
    Draw marks in rows.

    Parameters
    ----------
    panels : sequence of Panel
        Side by side.
    label : str
        Of the horizontal axis.
    log : bool
        Whether that is logarithmic.
    line : float, optional
        Where a vertical line is drawn.
    band : tuple of float, optional
        What is shaded.
    shades : bool
        Whether series are steps of one quantity, and have shades of one colour.
    """
    rows = list(dict.fromkeys(r for p in panels for values in p.series.values() for r in values))
    with mpl.rc_context(STYLE):
        size = (max(7.0, 2.2 + 3.0 * len(panels)), 0.21 * len(rows) + 1.4)
        canvas = Figure(figsize=size, layout="constrained")
        axes = canvas.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axis, panel in zip(axes, panels, strict=True):
            _draw(axis, panel, rows, shades)
            if log:
                _logarithmic(axis)
            _orientation(axis, line, band)
        axes[0].set_yticks(range(len(rows)), rows)
        axes[0].set_ylim(len(rows) - 0.4, -0.6)
        canvas.supxlabel(label, fontsize=8.5)
        handles, names = axes[0].get_legend_handles_labels()
        if len(names) > 1:
            canvas.legend(handles, names, loc="outside upper center", ncols=6, frameon=False)
    return canvas


def _draw(axis: Axes, panel: Panel, rows: list[str], shades: bool) -> None:
    """All series of a panel."""
    axis.set_title(panel.title)
    count = len(panel.series)
    blues = mpl.colormaps["Blues"](np.linspace(0.3, 1.0, count))
    for k, (name, values) in enumerate(panel.series.items()):
        shown = {row: value for row, value in values.items() if math.isfinite(value)}
        places = [rows.index(row) for row in shown]
        colour = "#cc3311" if name == LIMIT else blues[k] if shades else PALETTE[k]
        # Earlier marks are larger, so that those at the same place are seen as rings.
        growth = 0.0 if shades else 1.8 * (count - 1 - k)
        marker, size = ("|", 11.0) if name == LIMIT else ("o", 4.5 + growth)
        axis.plot(list(shown.values()), places, marker, color=colour, markersize=size, label=name)


def _orientation(axis: Axes, line: float | None, band: tuple[float, float] | None) -> None:
    """Grid, line and band."""
    if line is not None:
        axis.axvline(line, color="black", linewidth=0.8)
    if band is not None:
        axis.axvspan(*band, color=GOOD, alpha=0.12, linewidth=0)
    axis.grid(axis="both", alpha=0.3, linewidth=0.5)


def _logarithmic(axis: Axes) -> None:
    """A logarithmic axis with plain numbers; those between powers of ten only where it is short."""
    axis.set_xscale("log")
    low, high = axis.get_xlim()
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    axis.xaxis.set_major_formatter(plain)
    axis.xaxis.set_minor_formatter(plain if high < 10.0 * low else NullFormatter())


def save(canvas: Figure, path: Path) -> None:
    """Write a picture; the same figures give the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas.savefig(path, dpi=DPI, metadata={"Software": None})
