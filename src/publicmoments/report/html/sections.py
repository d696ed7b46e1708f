"""The sections of a report, in the order a reader asks for them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from publicmoments.privacy.budgets import ZCDP
from publicmoments.privacy.card import Card
from publicmoments.privacy.curves import gdp_delta, gdp_epsilon
from publicmoments.privacy.laws import extra_delta
from publicmoments.privacy.rounding import text_above
from publicmoments.report.content import ASSUMPTIONS, Subject, figure, guarantee_words
from publicmoments.report.html.charts import Line, Point, axis_over, legend, line_chart
from publicmoments.report.html.coefficients import table
from publicmoments.report.html.markup import Markup, element

if TYPE_CHECKING:
    from publicmoments.planner.forecasts import Plan

DELTAS = np.geomspace(1e-2, 1e-12, 41)
"""Where the curve of the guarantee is drawn."""

MISFIT_Z = 5.0
"""Standard errors from which the library warns that public moments do not fit."""


def guarantee_section(card: Card) -> Markup:
    """Say what is guaranteed, or that nothing is."""
    if not card.private:
        why = "None. " + card.guarantee
        return element("section", element("h2", "What is guaranteed"), element("p", why))
    words = [element("p", text) for text in guarantee_words(card)]
    notes = [element("p", note, class_="note") for note in card.notes]
    statement = element("p", element("strong", card.guarantee), class_="statement")
    neighbours = element("p", f"Neighbours: {card.neighbours}.", class_="note")
    return element(
        "section",
        element("h2", "What is guaranteed"),
        *words,
        statement,
        neighbours,
        *notes,
        *_curve(card),
    )


def _curve(card: Card) -> list[Markup]:
    """The (epsilon, delta) pairs that hold, all of them at once."""
    pairs = guaranteed_pairs(card)
    stated = [(delta, epsilon) for epsilon, delta in card.epsilon_delta]
    x = axis_over("delta", [delta for delta, _ in (*pairs, *stated)], log=True)
    y = axis_over("epsilon", [0.0, *(epsilon for _, epsilon in (*pairs, *stated))])
    points = [Point(delta, epsilon, "mark") for delta, epsilon in stated]
    rows = [(text_above(epsilon), text_above(delta, 2)) for epsilon, delta in card.epsilon_delta]
    explained = (
        "The same guarantee in the usual two numbers: except with a probability of about delta, "
        "no outcome is more than exp(epsilon) times as likely under one table as under the other. "
        "All pairs on the curve hold at once."
    )
    return [
        element("h3", "As epsilon and delta"),
        element("p", explained),
        line_chart("epsilon against delta", x, y, [Line(pairs, "curve")], points),
        legend([("curve", "guaranteed pairs"), ("mark", "pairs on the privacy card")]),
        table(("epsilon", "delta"), rows),
    ]


def guaranteed_pairs(card: Card) -> list[tuple[float, float]]:
    """
    Pairs (delta, epsilon) that hold, from the largest delta on.

    The Gaussian curve with its extra delta, as long as that is not most of it; beyond, what the
    exact zCDP statement implies.
    """
    pairs = []
    for epsilon in (gdp_epsilon(card.mu, float(delta)) for delta in DELTAS):
        own, extra = gdp_delta(card.mu, epsilon), extra_delta(card.extra_tv, epsilon)
        if not extra <= own:
            break
        pairs.append((own + extra, epsilon))
    rest = [float(delta) for delta in DELTAS[len(pairs) :]]
    exact = ZCDP(card.rho)
    return pairs + [(delta, float(exact.to_approx_dp(delta).epsilon)) for delta in rest]


def budget_section(card: Card) -> Markup:
    """Say what each release cost, and how much noise it got for that."""
    total = math.fsum(line.times * line.rho for line in card.passes) or 1.0
    rows = [
        (
            line.statistic,
            f"{line.times}",
            text_above(line.mu),
            text_above(line.rho),
            f"{line.times * line.rho / total:.1%}".replace("%", " %"),
            figure(line.noise_sd),
        )
        for line in card.passes
    ]
    headings = ("released", "times", "mu each", "rho each", "share of budget", "noise sd")
    summed = (
        f"In all mu = {text_above(card.mu)} (Gaussian DP) and rho = {text_above(card.rho)} "
        "(zero-concentrated DP). Squares of mu, and rho itself, add up over releases on the same "
        "rows; sites with rows of their own do not add up. Noise is per row, in the units of "
        "the bounded rows."
    )
    asked = "" if card.private else "This is what it would have cost with noise that protects. "
    return element(
        "section",
        element("h2", "Budget by release"),
        element("p", asked + summed),
        table(headings, rows),
    )


def plan_section(plan: Plan, card: Card) -> Markup:
    """Show what other budgets were expected to buy, the chosen one marked."""
    curve = [(forecast.mu, forecast.prediction_error) for forecast in plan.forecasts]
    levels = [("level plain", "without privacy", plan.non_private.prediction_error)]
    if plan.public_only is not None:
        public = plan.public_only.prediction_error
        levels.append(("level public", "public data alone", public))
    ends = [(forecast.mu, *forecast.ranges.prediction_error) for forecast in plan.forecasts]
    band = [(mu, low) for mu, low, _ in ends] + [(mu, high) for mu, _, high in reversed(ends)]
    heights = [error for _, error in (*curve, *band)] + [error for *_, error in levels]
    x = axis_over("total budget mu", [mu for mu, _ in curve] + [card.mu], log=True)
    y = axis_over("error of predictions", heights, log=True)
    lines = [Line(band, "band")]
    lines += [Line([(x.low, error), (x.high, error)], style) for style, _, error in levels]
    lines += [Line([(card.mu, y.low), (card.mu, y.high)], "chosen"), Line(curve, "curve")]
    keys = [("curve", "expected with privacy"), ("band", "four of five fits")]
    keys += [(style, text) for style, text, _ in levels]
    points = [Point(mu, error, "small") for mu, error in curve]
    chosen = _interpolated(curve, card.mu)
    if chosen is not None:
        points.append(Point(card.mu, chosen, "mark"))
    return element(
        "section",
        element("h2", "Privacy against accuracy"),
        element("p", _plan_words(plan, card, chosen)),
        line_chart("expected error against budget", x, y, lines, points),
        legend([*keys, ("chosen", f"chosen: mu = {text_above(card.mu)}")]),
        element("p", plan.recommendation),
    )


def _plan_words(plan: Plan, card: Card, chosen: float | None) -> str:
    """Introduce the curve."""
    told = (
        f"Planned beforehand from public numbers for {plan.model} regression on "
        f"{plan.n_rows:,} rows; no private row was read for it."
    )
    if chosen is not None:
        told += f" At the chosen budget the expected error of predictions is {figure(chosen)}."
    if plan.n_rows != card.n_rows:
        told += f" The fit has {card.n_rows:,} rows, so that the curve does not quite apply to it."
    return told


def _interpolated(curve: list[tuple[float, float]], mu: float) -> float | None:
    """Error at a budget between those that were planned; None outside."""
    mus, errors = np.log(np.array(curve).T)
    # A budget that was planned may differ from the one spent by its last bits.
    if not mus[0] - 1e-6 <= math.log(mu) <= mus[-1] + 1e-6:
        return None
    return float(np.exp(np.interp(math.log(mu), mus, errors)))


def fit_section(subject: Subject) -> Markup:
    """Say whether the public data fit what was released."""
    card, told = subject.card, subject.moments
    z_score = card.public_fit_z if told is None else told.diagnostics.public_fit_z
    rows = [("second moments", _z(z_score), _verdict(z_score))]
    if card.response_fit_z is not None:
        rows.append(("fit of the response", _z(card.response_fit_z), _verdict(card.response_fit_z)))
    if told is not None:
        quality = told.diagnostics
        rows.append(("weight of the release", f"{quality.trust:.2f}", "the rest is public"))
        noisy = "repaired" if quality.lifted else "none"
        rows.append(("directions of noise only", f"{quality.lifted}", noisy))
    intro = (
        "The first release is compared with what public data led to expect, in standard errors. "
        f"From {MISFIT_Z:g} on the library warns. Privacy does not depend on the match; accuracy "
        "and intervals do."
    )
    return element(
        "section",
        element("h2", "Do the public data fit?"),
        element("p", intro),
        table(("compared", "distance", "verdict"), rows),
    )


def _z(z_score: float | None) -> str:
    """A distance as text."""
    return "-" if z_score is None else f"{z_score:.1f}"


def _verdict(z_score: float | None) -> str:
    """What to make of a distance."""
    if z_score is None:
        return "this method cannot tell"
    return "does not fit" if z_score > MISFIT_Z else "no sign of a misfit"


def assumptions_section() -> Markup:
    """List what the guarantee rests on."""
    items = [element("li", text) for text in ASSUMPTIONS]
    return element("section", element("h2", "What this rests on"), element("ul", *items))


def reproduce_section(subject: Subject) -> Markup:
    """Say how to make it again."""
    card = subject.card
    intro = (
        "The call, with every parameter that was not left at its default. Noise is drawn afresh: "
        "another run gives other numbers, within the errors stated here, and costs its budget "
        "again."
    )
    rows = list(card.versions.items())
    rows.append(("public inputs, SHA-256", card.public_fingerprint or "none"))
    rows.append(("private rows, columns", f"{card.n_rows:,}, {card.n_features:,}"))
    return element(
        "section",
        element("h2", "How to make it again"),
        element("p", intro),
        element("pre", element("code", subject.call)),
        table(("what", "which"), rows),
        element(
            "details",
            element("summary", "The privacy card as data"),
            element("pre", element("code", card.to_json())),
        ),
    )
