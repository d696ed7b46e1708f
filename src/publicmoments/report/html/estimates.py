"""Pictures of estimates: coefficients with their intervals, and correlations."""

from __future__ import annotations

from publicmoments.models.inference import CoefSummary
from publicmoments.report.content import figure
from publicmoments.report.html.markup import Markup, element, joined, scrolled
from publicmoments.report.parts import Correlations

WIDTH, HEIGHT = 300, 36
REACH = 3.0
"""Standard errors to either side that a line of the plot shows."""


def intervals(summary: CoefSummary) -> Markup:
    """Draw one line for each coefficient: name, interval, numbers."""
    rows = []
    for k, name in enumerate(summary.names):
        ends = f"[{figure(summary.low[k])}, {figure(summary.high[k])}]"
        numbers = element("span", f"{figure(summary.coef[k])} {ends}", class_="numbers")
        label = element("span", name, class_="name")
        rows.append(element("div", label, _interval(summary, k), numbers, class_="coef"))
    return element("div", joined(rows), class_="coefs")


def _interval(summary: CoefSummary, k: int) -> Markup:
    """The interval, with what either error alone would make of it above and below."""
    std_err, estimate = summary.std_err[k], summary.coef[k]
    title = element("title", f"{summary.names[k]}: estimate and interval")
    parts = [element("circle", cx=WIDTH / 2, cy=HEIGHT / 2, r=4, class_="estimate")]
    if std_err > 0.0:
        widths = (summary.high[k] - estimate) / std_err
        noise, sampling = summary.noise_err[k] / std_err, summary.sampling_err[k] / std_err
        parts = [
            _bar(widths * noise, 4, "noise"),
            _bar(widths * sampling, HEIGHT - 11, "sampling"),
            *_whiskers(widths),
            *parts,
        ]
    if abs(estimate) < REACH * std_err:
        zero = _across(-estimate / std_err)
        parts.insert(0, element("line", x1=zero, x2=zero, y1=0, y2=HEIGHT, class_="zero"))
    return element(
        "svg", title, *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", class_="interval"
    )


def _across(errors: float) -> float:
    """Horizontal position of a number of standard errors from the estimate."""
    return round(WIDTH / 2 * (1.0 + errors / REACH), 2)


def _bar(half_width: float, top: float, style: str) -> Markup:
    """A bar to both sides of the estimate."""
    left, right = _across(-half_width), _across(half_width)
    return element("rect", x=left, y=top, width=round(right - left, 2), height=7, class_=style)


def _whiskers(half_width: float) -> list[Markup]:
    """The interval as a line with ends."""
    left, right, middle = _across(-half_width), _across(half_width), HEIGHT / 2
    ends = [
        element("line", x1=at, x2=at, y1=middle - 5, y2=middle + 5, class_="interval")
        for at in (left, right)
    ]
    return [element("line", x1=left, x2=right, y1=middle, y2=middle, class_="interval"), *ends]


def correlations(told: Correlations) -> Markup:
    """Lay out correlations as a table, coloured by sign and strength."""
    head = [element("th", ""), *(element("th", label, scope="col") for label in told.labels)]
    rows = [
        [element("th", label, scope="row"), *map(_shade, row)]
        for label, row in zip(told.labels, told.values, strict=True)
    ]
    return scrolled(head, rows)


def _shade(value: float) -> Markup:
    """One correlation."""
    colour = "42, 120, 200" if value >= 0.0 else "210, 90, 30"
    strength = 0.6 * min(abs(value), 1.0)
    return element("td", f"{value:.2f}", style=f"background: rgba({colour}, {strength:.2f})")
