"""Line charts as SVG, drawn without any library so that a report needs none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from publicmoments.report.html.markup import Markup, element, joined

WIDTH, HEIGHT = 420, 280
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 12, 46


@dataclass(frozen=True)
class Axis:
    """A scale from ``low`` to ``high``, logarithmic or not, with its label."""

    label: str
    low: float
    high: float
    log: bool = False

    def place(self, value: float) -> float:
        """Where a value lies, 0 being the low end and 1 the high one."""
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(value)
        return (at - low) / (high - low)

    def ticks(self) -> list[float]:
        """Round numbers to label: decades, finer ones where there are few, or even steps."""
        return _log_ticks(self.low, self.high) if self.log else _even_ticks(self.low, self.high)


@dataclass(frozen=True)
class Line:
    """Points to be joined, and the class that styles them."""

    points: Sequence[tuple[float, float]]
    style: str


@dataclass(frozen=True)
class Point:
    """A marked point."""

    x: float
    y: float
    style: str


def axis_over(label: str, values: Sequence[float], log: bool = False) -> Axis:
    """
    Return an axis that holds all values, with some air.

    Examples
    --------
    >>> axis_over("mu", [0.1, 10.0], log=True).ticks()
    [0.1, 1.0, 10.0]
    """
    low, high = min(values), max(values)
    if log:
        air = (high / low) ** 0.06 if high > low else 2.0
        return Axis(label, low / air, high * air, log=True)
    air = 0.05 * (high - low) or 1.0
    return Axis(label, low - air if low < 0 else low, high + air)


def line_chart(
    title: str, x: Axis, y: Axis, lines: Sequence[Line], points: Sequence[Point] = ()
) -> Markup:
    """Draw lines and points; values outside the axes are cut off at the frame."""
    return element(
        "svg",
        element("title", title),
        *_frame(x, y),
        *(_polyline(line, x, y) for line in lines),
        *(_dot(point, x, y) for point in points),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        class_="chart",
    )


def _across(axis: Axis, value: float) -> float:
    """Horizontal position."""
    share = min(max(axis.place(value), 0.0), 1.0)
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 2)


def _down(axis: Axis, value: float) -> float:
    """Vertical position, which SVG counts from the top."""
    share = min(max(axis.place(value), 0.0), 1.0)
    return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 2)


def _frame(x: Axis, y: Axis) -> list[Markup]:
    """Grid lines with their numbers, and the labels of the axes."""
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = []
    for tick in x.ticks():
        at = _across(x, tick)
        parts.append(element("line", x1=at, x2=at, y1=TOP, y2=bottom, class_="grid"))
        parts.append(element("text", _tick(tick), x=at, y=bottom + 16, text_anchor="middle"))
    for tick in y.ticks():
        at = _down(y, tick)
        parts.append(element("line", x1=LEFT, x2=right, y1=at, y2=at, class_="grid"))
        parts.append(element("text", _tick(tick), x=LEFT - 6, y=at + 4, text_anchor="end"))
    middle, height = (LEFT + right) / 2, (TOP + bottom) / 2
    parts.append(element("text", x.label, x=middle, y=HEIGHT - 8, text_anchor="middle"))
    turned = f"translate(12 {height}) rotate(-90)"
    parts.append(element("text", y.label, transform=turned, text_anchor="middle"))
    return parts


def _polyline(line: Line, x: Axis, y: Axis) -> Markup:
    """Join points."""
    path = " ".join(f"{_across(x, a)},{_down(y, b)}" for a, b in line.points)
    return element("polyline", points=path, class_=line.style)


def _dot(point: Point, x: Axis, y: Axis) -> Markup:
    """Mark a point."""
    return element("circle", cx=_across(x, point.x), cy=_down(y, point.y), r=5, class_=point.style)


def _tick(value: float) -> str:
    """Short text of a round number."""
    return f"{value:g}" if value == 0.0 or 1e-3 <= abs(value) < 1e5 else f"{value:.0e}"


def _log_ticks(low: float, high: float) -> list[float]:
    """Decades, or 1, 2 and 5 of each where these are few, or even steps; about eight at most."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = max(1, math.ceil((last - first) / 8))
    decades = [float(f"1e{k}") for k in range(first, last + 1, step)]
    inside = [tick for tick in decades if low <= tick <= high]
    if len(inside) >= 3:
        return inside
    finer = [float(f"{m}e{k}") for k in range(first, last + 1) for m in (1, 2, 5)]
    inside = [tick for tick in finer if low <= tick <= high]
    return inside if len(inside) >= 2 else _even_ticks(low, high)


def _even_ticks(low: float, high: float) -> list[float]:
    """About five steps of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / 5.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def legend(entries: Sequence[tuple[str, str]]) -> Markup:
    """Explain the styles of a chart; entries are (style, text)."""
    items = [
        element("span", element("span", class_=f"swatch {style}"), f" {text}", class_="key")
        for style, text in entries
    ]
    return element("p", joined(items), class_="legend")
