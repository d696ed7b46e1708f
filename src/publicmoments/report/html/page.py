"""The page around the sections, and the file it is written to."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from publicmoments.io.atomic import write_atomically
from publicmoments.planner.forecasts import Plan
from publicmoments.report import parts
from publicmoments.report.calls import Reported
from publicmoments.report.content import report_on
from publicmoments.report.html.charts import legend, line_chart
from publicmoments.report.html.estimates import correlations, intervals
from publicmoments.report.html.markup import Markup, element, joined, scrolled

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Nothing but the page itself: a browser would refuse to fetch or run anything."""


def write_report(
    model: Reported, path: str | os.PathLike[str], *, plan: Plan | None = None
) -> None:
    """
    Write what was released, at what price and how sure it is, as one HTML page.

    The page needs no network and no script, is readable on a phone, in the dark and on paper, and
    appears complete or not at all.

    Parameters
    ----------
    model : fitted estimator or MomentRelease
        `Ridge`, `LogisticRegression`, `PoissonRegressor`, `GLM`, or released moments.
    path : path-like
        Where to write; an existing file is replaced.
    plan : Plan, optional
        Made by `publicmoments.plan` beforehand; adds its curve with the chosen budget marked.

    Notes
    -----
    **Releases** nothing new. The page is written from the privacy card, coefficients and their
    covariances, released moments, parameters and the plan, all of them public or released.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from publicmoments import GDP, PublicMoments, Ridge
    >>> from publicmoments.report.html import write_report
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2_200, 2))
    >>> y = X @ [1.0, -2.0] + rng.normal(size=2_200)
    >>> public = PublicMoments.from_rows(X[:200], response=y[:200])
    >>> model = Ridge(privacy=GDP(1.0), public=public).fit(X[200:], y[200:])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(model, f"{folder}/report.html")
    ...     open(f"{folder}/report.html", encoding="utf-8").read(15)
    '<!doctype html>'
    """
    text = "<!doctype html>\n" + _page(report_on(model, plan)) + "\n"
    write_atomically(Path(path), text.encode())


def _page(report: parts.Report) -> Markup:
    """Put the sections together."""
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="color-scheme", content="light dark"),
        element("title", report.title),
        # A style sheet is not text: escaping its quotes and signs would break it.
        element("style", Markup(style)),
    )
    facts = [
        element("div", element("dt", name), element("dd", value)) for name, value in report.facts
    ]
    # Said loudly at both ends: a reproducible run protects nobody.
    alarm = [_alarm(report.alarm)] if report.alarm else []
    headline = alarm or [element("dl", *facts, class_="facts")]
    body = element(
        "body",
        element("header", element("h1", report.title), *headline),
        element("main", *(_section(section) for section in report.sections)),
        *alarm,
    )
    return element("html", head, body, lang="en")


def _alarm(why: str) -> Markup:
    """Say that there is no guarantee."""
    told = element("strong", "NO PRIVACY GUARANTEE"), element("p", why)
    return element("div", *told, role="alert", class_="alarm")


def _section(section: parts.Section) -> Markup:
    """Lay out a section."""
    return element("section", element("h2", section.title), *map(_laid_out, section.parts))


def _laid_out(part: parts.Part) -> Markup:
    """Lay out a part of a section."""
    match part:
        case str():
            return element("p", part)
        case parts.Marked(text, "heading"):
            return element("h3", text)
        case parts.Marked(text, "note"):
            return element("p", text, class_="note")
        case parts.Marked(text):
            return element("p", element("strong", text), class_="statement")
        case parts.Items(texts):
            return element("ul", *(element("li", text) for text in texts))
        case parts.Code(text, ""):
            return element("pre", element("code", text))
        case parts.Code(text, title):
            return element("details", element("summary", title), _laid_out(parts.Code(text)))
        case parts.Tabulated():
            return _table(part)
        case parts.Chart():
            return joined([line_chart(part), legend(part.keys)])
        case parts.Intervals(summary, keys):
            return joined([intervals(summary), legend(keys)])
        case parts.Correlations():
            return correlations(part)


def _table(table: parts.Tabulated) -> Markup:
    """Lay out a table whose first column is text."""
    head = [element("th", text, scope="col") for text in table.headings]
    rows = [
        [element("th", first, scope="row"), *(element("td", cell) for cell in rest)]
        for first, *rest in table.rows
    ]
    return scrolled(head, rows)
