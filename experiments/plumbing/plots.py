"""Drawing figures: the same colour and marker for a method everywhere, logarithmic errors."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator, NullLocator
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from experiments.plumbing.figures import Cell, Figure, Panel, shown
from experiments.plumbing.judging import Measure
from experiments.plumbing.methods import METHODS
from experiments.plumbing.tables import Key, Summaries, Summary

STYLE = {
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "svg.hashsalt": "publicmoments",
}
X_LABELS = {"n": "private rows $n_A$", "alpha": "penalty λ", "iteration": "iteration"}
FACET_LABELS = {"mu": "μ", "alpha": "λ"}
BOX = (2.75, 2.6)
DPI, COLOURS = 120, 128
"""Of the PNG: with few colours it is half as large."""

ROOM = 2.0
MARGIN = 1.8
ZERO = " (0 by definition)"


@dataclass(frozen=True)
class Series:
    """One method's line and band."""

    method: str
    x: list[float]
    centre: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class Box:
    """One picture of a figure."""

    title: str
    panel: Panel
    series: list[Series]


def draw(figure: Figure, summaries: Summaries, measure: Measure, caption: str) -> Canvas:
    """Draw a figure: panels side by side, or one row each where they have facets."""
    rows = [_boxes(figure, panel, summaries, measure) for panel in figure.panels]
    if figure.facet is None:
        rows = [[box for row in rows for box in row]]
    columns = max(map(len, rows))
    with mpl.rc_context(STYLE):
        size = (max(6.6, BOX[0] * columns * (1.4 if columns < 3 else 1)), BOX[1] * len(rows) + ROOM)
        canvas = Canvas(figsize=size, layout="constrained")
        axes = canvas.subplots(len(rows), columns, squeeze=False)
        for r, row in enumerate(rows):
            for c, box in enumerate(row):
                _draw_box(axes[r, c], figure, box)
                together = row if figure.facet else [box]
                axes[r, c].set_ylim(*_limits(together))
                if figure.facet and c:
                    axes[r, c].set_yticklabels([])
                if figure.facet is None or r == len(rows) - 1:
                    axes[r, c].set_xlabel(X_LABELS[figure.x])
            axes[r, 0].set_ylabel("$\\ell_2$ error")
        decorate(canvas, axes.flat, figure.title, caption)
    return canvas


def decorate(canvas: Canvas, axes: Iterable[Axes], title: str, caption: str) -> None:
    """Title above; below, the caption and one legend for all pictures."""
    drawn: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            drawn.setdefault(label, handle)
    handles: dict[str, Any] = {}
    for label, handle in drawn.items():
        # A curve that is zero in some pictures only goes by its plain name.
        plain = label.removesuffix(ZERO)
        handles.setdefault(plain if plain in drawn else label, handle)
    width = canvas.get_size_inches()[0]
    canvas.suptitle(title, fontsize=10.5, fontweight="bold")
    legend = canvas.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=min(len(handles), int(width // 2.0)),
        frameon=False,
        title=textwrap.fill(caption, int(width * 16.5)),
        title_fontproperties={"size": 7.5},
    )
    legend.get_title().set(color="#444444", multialignment="center")


def save(canvas: Canvas, folder: Path, name: str, made: str) -> list[Path]:
    """Write PNG and SVG; both say in their metadata how they were made."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    with mpl.rc_context(STYLE), io.BytesIO() as drawn:
        canvas.savefig(drawn, dpi=DPI)
        told = PngInfo()
        told.add_text("Description", made)
        few = Image.open(drawn).convert("RGB").quantize(COLOURS)
        few.save(paths[0], optimize=True, pnginfo=told)
        canvas.savefig(paths[1], metadata={"Description": made, "Date": None})
    return paths


def series(
    figure: Figure,
    panel: Panel,
    method: str,
    cells: list[Cell],
    summaries: Summaries,
    measure: Measure,
) -> Series:
    """Line and band of a method over some cells or, along iterations, over one."""
    points: list[tuple[float, Summary]] = []
    for index, cell in enumerate(cells):
        single = summaries.get(Key(panel.name, cell, method, None))
        steps = range(panel.design.iterations + 1)
        if figure.x == "iteration":
            points += [
                (step, single or summaries[Key(panel.name, cell, method, step)]) for step in steps
            ]
        else:
            values = single or summaries[Key(panel.name, cell, method, steps[-1])]
            points.append((cell.n if figure.x == "n" else index, values))
    bands = [_band(values, measure) for _, values in points]
    centre, low, high = (list(part) for part in zip(*bands, strict=True))
    return Series(method, [x for x, _ in points], centre, low, high)


def _band(values: Summary, measure: Measure) -> tuple[float, float, float]:
    """Centre, lower and upper end."""
    if measure == "mean":
        return values.mean, values.mean - values.sd, values.mean + values.sd
    return values.median, values.q10, values.q90


def _boxes(figure: Figure, panel: Panel, summaries: Summaries, measure: Measure) -> list[Box]:
    """The pictures of one panel."""
    cells, boxes = list(panel.design.cells()), []
    values = [None]
    if figure.facet is not None:
        values = list(panel.design.mus if figure.facet == "mu" else panel.design.alphas)
    for value in values:
        chosen = [c for c in cells if value is None or getattr(c, figure.facet) == value]
        title = panel.name
        if value is not None:
            title += f", {FACET_LABELS[figure.facet]} = {shown(value)}"
        lines = [
            series(figure, panel, method, chosen, summaries, measure)
            for method in panel.design.methods
        ]
        boxes.append(Box(title, panel, lines))
    return boxes


def _limits(boxes: list[Box]) -> tuple[float, float]:
    """Vertical range: every centre with a margin; bands may leave it."""
    centres = np.array([value for box in boxes for line in box.series for value in line.centre])
    centres = centres[np.isfinite(centres) & (centres > 0)]
    return float(centres.min() / MARGIN), float(centres.max() * MARGIN)


def _draw_box(axis: Axes, figure: Figure, box: Box) -> None:
    """Draw all methods of a picture."""
    axis.set_yscale("log")
    axis.set_title(box.title)
    for line in box.series:
        plot_series(axis, line, flat=figure.x == "iteration" and len(set(line.centre)) == 1)
    design = box.panel.design
    if figure.x == "n":
        axis.set_xscale("log")
        axis.xaxis.set_major_locator(FixedLocator(design.sizes))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_xticklabels([f"{n:,}" for n in design.sizes], rotation=30, ha="right")
    elif figure.x == "alpha":
        axis.set_xticks(range(len(design.alphas)), [shown(a) for a in design.alphas], rotation=30)
    else:
        axis.set_xticks(range(0, design.iterations + 1, 2))


def plot_series(axis: Axes, line: Series, *, flat: bool = False) -> None:
    """Draw a method's line and band; a horizontal line has no markers."""
    method = METHODS[line.method]
    label = method.label
    if not any(line.centre):
        label += ZERO
    # The reference itself has no error, for which a logarithmic axis has no place.
    centre = np.where(np.array(line.centre) > 0, line.centre, np.nan)
    marker = "" if flat else method.marker
    axis.plot(
        line.x, centre, color=method.colour, marker=marker, linestyle=method.line, label=label
    )
    if method.band and not flat:
        floor = np.finfo(float).tiny
        low = np.maximum(line.low, floor)
        axis.fill_between(line.x, low, line.high, color=method.colour, alpha=0.12, linewidth=0)
