"""Coefficients with their intervals, noise and sampling apart; or the moments released."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from publicmoments.report.content import MomentsTold, Subject, figure
from publicmoments.report.html.charts import legend
from publicmoments.report.html.markup import Markup, element, joined

if TYPE_CHECKING:
    from publicmoments.models.inference import CoefSummary

WIDTH, HEIGHT = 300, 36
REACH = 3.0
"""Standard errors to either side that a line of the plot shows."""

MOST_COLUMNS = 24
"""Columns up to which correlations are shown."""

COLUMNS = ("coefficient", "estimate", "from", "to", "std. error", "noise", "sampling", "z")


def estimates_section(subject: Subject) -> Markup:
    """Write what was learned."""
    if subject.moments is not None:
        return element("section", element("h2", "What was released"), *_moments(subject.moments))
    if subject.summary is not None:
        body = _with_intervals(subject.summary)
    else:
        body = _without_intervals(subject.coefs)
    return element("section", element("h2", "Coefficients"), *body)


def table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Markup:
    """Lay out a table whose first column is text; it scrolls by itself where it is too wide."""
    head = element("tr", *(element("th", text, scope="col") for text in headings))
    body = [
        element("tr", element("th", first, scope="row"), *(element("td", cell) for cell in rest))
        for first, *rest in rows
    ]
    inner = element("table", element("thead", head), element("tbody", joined(body)))
    return element("div", inner, class_="scroll", tabindex="0")


def _with_intervals(summary: CoefSummary) -> list[Markup]:
    """Plot and table of coefficients whose errors are known."""
    level = f"{summary.level:.0%}".replace("%", " %")
    intro = (
        f"Each line shows an estimate with its {level} interval, on a scale of its own: three "
        "standard errors to either side. The bar above is how wide the interval would be if "
        "privacy noise were the only error, the bar below if the finite number of rows were. A "
        "dashed line marks zero where it is near."
    )
    plot = [_plot_row(summary, k) for k in range(len(summary.names))]
    keys = legend(
        [
            ("interval", f"{level} interval, both errors together"),
            ("noise", "privacy noise alone"),
            ("sampling", "sampling alone"),
        ]
    )
    columns = (summary.coef, summary.low, summary.high, summary.std_err)
    parts = (summary.noise_err, summary.sampling_err, summary.z)
    rows = [
        (name, *(figure(values[k]) for values in (*columns, *parts)))
        for k, name in enumerate(summary.names)
    ]
    note = (
        "The square of the standard error is the sum of the squares of its two parts. Intervals "
        "are those of a normal law; they assume that the public data are of the same population "
        "where these count as evidence."
    )
    return [
        element("p", intro),
        element("div", joined(plot), class_="coefs"),
        keys,
        table(COLUMNS, rows),
        element("p", note, class_="note"),
    ]


def _plot_row(summary: CoefSummary, k: int) -> Markup:
    """One line of the plot: name, interval, numbers."""
    numbers = f"{figure(summary.coef[k])} [{figure(summary.low[k])}, {figure(summary.high[k])}]"
    return element(
        "div",
        element("span", summary.names[k], class_="name"),
        _interval(summary, k),
        element("span", numbers, class_="numbers"),
        class_="coef",
    )


def _interval(summary: CoefSummary, k: int) -> Markup:
    """The interval, with what either error alone would make of it above and below."""
    std_err, estimate = summary.std_err[k], summary.coef[k]
    title = element("title", f"{summary.names[k]}: estimate and interval")
    frame = {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img", "class_": "interval"}
    if not std_err > 0.0:
        return element("svg", title, _dot(), **frame)
    widths = (summary.high[k] - estimate) / std_err
    noise, sampling = summary.noise_err[k] / std_err, summary.sampling_err[k] / std_err
    parts = [
        _bar(widths * noise, 4, "noise"),
        _bar(widths * sampling, HEIGHT - 11, "sampling"),
        *_whiskers(widths),
        _dot(),
    ]
    if abs(estimate) < REACH * std_err:
        zero = _across(-estimate / std_err)
        parts.insert(0, element("line", x1=zero, x2=zero, y1=0, y2=HEIGHT, class_="zero"))
    return element("svg", title, *parts, **frame)


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


def _dot() -> Markup:
    """The estimate."""
    return element("circle", cx=WIDTH / 2, cy=HEIGHT / 2, r=4, class_="estimate")


def _without_intervals(coefs: tuple[tuple[str, float], ...]) -> list[Markup]:
    """Coefficients of fits that give no standard errors."""
    note = (
        "This fit gives no intervals: either an absolute penalty has chosen columns by the data, "
        "which invalidates them, or the method has none."
    )
    rows = [(name, figure(value)) for name, value in coefs]
    return [element("p", note), table(("coefficient", "estimate"), rows)]


def _moments(told: MomentsTold) -> list[Markup]:
    """Means, spreads and correlations of all columns."""
    intro = (
        "Second moments of all columns, estimated from one noisy release. Any regression among "
        "these columns follows from them without further cost."
    )
    rows = [
        (label, figure(mean), figure(sd))
        for label, mean, sd in zip(told.labels, told.mean, told.sd, strict=True)
    ]
    parts = [element("p", intro), table(("column", "mean", "standard deviation"), rows)]
    if len(told.labels) <= MOST_COLUMNS:
        parts += [element("h3", "Correlations"), _correlations(told)]
    return parts


def _correlations(told: MomentsTold) -> Markup:
    """Correlations as a table, coloured by sign and strength."""
    head = [element("th", ""), *(element("th", label, scope="col") for label in told.labels)]
    rows = [
        element("tr", element("th", label, scope="row"), *(_shade(value) for value in row))
        for label, row in zip(told.labels, told.correlation, strict=True)
    ]
    inner = element("table", element("thead", element("tr", *head)), element("tbody", joined(rows)))
    return element("div", inner, class_="scroll", tabindex="0")


def _shade(value: float) -> Markup:
    """One correlation."""
    colour = "42, 120, 200" if value >= 0.0 else "210, 90, 30"
    strength = 0.6 * min(abs(value), 1.0)
    return element("td", f"{value:.2f}", style=f"background: rgba({colour}, {strength:.2f})")
