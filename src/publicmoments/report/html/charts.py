"""Line charts as SVG, drawn without any library so that a report needs none."""

from __future__ import annotations

from publicmoments.report.html.markup import Markup, element, joined
from publicmoments.report.parts import Axis, Chart, Keys, Line, Point

WIDTH, HEIGHT = 420, 280
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 12, 46


def line_chart(chart: Chart) -> Markup:
    """Draw lines and points; values outside the axes are cut off at the frame."""
    return element(
        "svg",
        element("title", chart.title),
        *_frame(chart.x, chart.y),
        *(_polyline(line, chart.x, chart.y) for line in chart.lines),
        *(_dot(point, chart.x, chart.y) for point in chart.points),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        class_="chart",
    )


def legend(keys: Keys) -> Markup:
    """Explain the roles in a picture."""
    items = [
        element("span", element("span", class_=f"swatch {role}"), f" {text}", class_="key")
        for role, text in keys
    ]
    return element("p", joined(items), class_="legend")


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
    return element("polyline", points=path, class_=line.role)


def _dot(point: Point, x: Axis, y: Axis) -> Markup:
    """Mark a point."""
    return element("circle", cx=_across(x, point.x), cy=_down(y, point.y), r=5, class_=point.role)


def _tick(value: float) -> str:
    """Short text of a round number."""
    return f"{value:g}" if value == 0.0 or 1e-3 <= abs(value) < 1e5 else f"{value:.0e}"
