"""The page around the sections, and the file it is written to."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from publicmoments.io.atomic import write_atomically
from publicmoments.privacy.card import Card
from publicmoments.privacy.rounding import text_above
from publicmoments.report.content import Subject, subject_of
from publicmoments.report.html.coefficients import estimates_section
from publicmoments.report.html.markup import Markup, element, joined
from publicmoments.report.html.sections import (
    assumptions_section,
    budget_section,
    fit_section,
    guarantee_section,
    plan_section,
    reproduce_section,
)

if TYPE_CHECKING:
    from publicmoments.planner.forecasts import Plan

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Nothing but the page itself: a browser would refuse to fetch or run anything."""


def write_report(model: Any, path: str | os.PathLike[str], *, plan: Plan | None = None) -> None:
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
    if plan is not None and not hasattr(plan, "forecasts"):
        raise TypeError(
            f"plan must be made by publicmoments.plan, got {type(plan).__name__}; leave it out "
            "where there is none"
        )
    text = "<!doctype html>\n" + _page(subject_of(model), plan) + "\n"
    write_atomically(Path(path), text.encode())


def _page(subject: Subject, plan: Plan | None) -> Markup:
    """Put the sections together."""
    card, title = subject.card, f"{subject.name}: privacy report"
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        # A style sheet is not text: escaping its quotes and signs would break it.
        element("style", Markup(style)),
    )
    sections = [
        guarantee_section(card),
        estimates_section(subject),
        *([] if plan is None else [plan_section(plan, card)]),
        budget_section(card),
        fit_section(subject),
        assumptions_section(),
        reproduce_section(subject),
    ]
    body = element(
        "body",
        element("header", element("h1", title), *_headline(card)),
        element("main", joined(sections)),
        *_warning(card),
    )
    return element("html", head, body, lang="en")


def _headline(card: Card) -> list[Markup]:
    """The essentials, or a warning that there is no guarantee."""
    if not card.private:
        return _warning(card)
    facts = [
        ("budget spent", f"mu = {text_above(card.mu)}"),
        *(
            ("as epsilon, delta", f"{text_above(epsilon)}, {text_above(delta, 2)}")
            for epsilon, delta in card.epsilon_delta[:1]
        ),
        ("private rows", f"{card.n_rows:,}"),
        ("releases", f"{sum(line.times for line in card.passes)}"),
    ]
    items = [element("div", element("dt", name), element("dd", value)) for name, value in facts]
    return [element("dl", *items, class_="facts")]


def _warning(card: Card) -> list[Markup]:
    """Say loudly that a reproducible run protects nobody; nothing for others."""
    if card.private:
        return []
    return [
        element(
            "div",
            element("strong", "NO PRIVACY GUARANTEE"),
            element("p", card.guarantee),
            role="alert",
            class_="alarm",
        )
    ]
