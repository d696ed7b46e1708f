"""What a report says of a fit or a release: plain records and words, and no HTML."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from publicmoments.models.mismatch import MISFIT_Z
from publicmoments.planner.forecasts import Plan
from publicmoments.privacy.budgets import ZCDP
from publicmoments.privacy.card import Card
from publicmoments.privacy.curves import gdp_delta, gdp_epsilon
from publicmoments.privacy.laws import extra_delta
from publicmoments.privacy.rounding import text_above
from publicmoments.release.readings import MomentRelease
from publicmoments.report import parts
from publicmoments.report.calls import Reported, call_of, coefficients_of

FALSE_ALARM = 0.05

DELTAS = np.geomspace(1e-2, 1e-12, 41)
"""Where the curve of the guarantee is drawn."""

MOST_COLUMNS = 24
"""Columns up to which correlations are shown."""

ASSUMPTIONS = (
    "Whoever ran the fit was allowed to see the rows, and only what is on this page, or computed "
    "from it, has left their hands.",
    "Each person has one row. Someone with k rows is protected by k times the mu stated here.",
    "The number of rows is public. It is used and shown as it is.",
    "The public inputs, the parameters and the list of columns were not computed from the private "
    "rows, nor chosen by looking at them.",
    "Other fits on the same rows add to the cost: mu of all of them together is the root of the "
    "sum of their squares.",
    "How long the fit took, and what stayed in memory, were not shown to anybody.",
    "The operating system that drew the noise had good entropy.",
)


def report_on(model: Reported, plan: Plan | None = None) -> parts.Report:
    """
    Say what was released, at what price and how sure it is.

    **Releases** nothing: it reads the card, coefficients, their covariances and released moments,
    all of which have been through the door, and parameters and the plan, which are public.
    """
    if plan is not None and not isinstance(plan, Plan):
        raise TypeError(
            f"plan must be made by publicmoments.plan, got {type(plan).__name__}; leave it out "
            "where there is none"
        )
    card = getattr(model, "card_", None) or getattr(model, "card", None)
    if not isinstance(card, Card):
        raise TypeError(
            "model must be a fitted private estimator or a MomentRelease, got "
            f"{type(model).__name__} without a privacy card; call fit first"
        )
    released = model if isinstance(model, MomentRelease) else None
    return parts.Report(
        title=f"{type(model).__name__}: privacy report",
        alarm="" if card.private else card.guarantee,
        facts=_facts(card),
        sections=(
            guarantee(card),
            coefficients(model) if released is None else moments(released),
            *(() if plan is None else (accuracy(plan, card),)),
            budget(card),
            public_fit(card, released),
            parts.Section("What this rests on", (parts.Items(ASSUMPTIONS),)),
            again(card, call_of(model, card)),
        ),
    )


def _facts(card: Card) -> tuple[tuple[str, str], ...]:
    """The essentials; nothing where there is no guarantee."""
    if not card.private:
        return ()
    pairs = [f"{text_above(e)}, {text_above(d, 2)}" for e, d in card.epsilon_delta[:1]]
    return (
        ("budget spent", f"mu = {text_above(card.mu)}"),
        *(("as epsilon, delta", pair) for pair in pairs),
        ("private rows", f"{card.n_rows:,}"),
        ("releases", f"{sum(line.times for line in card.passes)}"),
    )


def guarantee(card: Card) -> parts.Section:
    """Say what is guaranteed, or that nothing is."""
    title = "What is guaranteed"
    if not card.private:
        return parts.Section(title, ("None. " + card.guarantee,))
    mu = text_above(card.mu)
    told = (
        f"Take any one of the {card.n_rows:,} rows, say that of one person, and imagine that it is "
        "replaced by another row, whatever its values. Somebody who sees everything published "
        "here, knows the method and knows all other rows, would try to tell which of the two "
        "tables was used.",
        f"They would guess right at most {percent_above(guessing(card))} of the time, where a coin "
        "is right 50 % of the time. If they accept a false alarm in "
        f"{100 * FALSE_ALARM:g} % of cases, they would notice the difference in at most "
        f"{percent_above(detection(card))}.",
        f"mu = {mu} is the measure of that: telling the tables apart is at least as hard as "
        f"telling a normal variable with mean 0 from one with mean {mu}, from a single draw. "
        "Smaller is more private; below 1 is a strong promise, from about 5 on a weak one.",
        "The number of rows is not protected: neighbouring tables have equally many rows.",
    )
    notes = (f"Neighbours: {card.neighbours}.", *card.notes)
    statement = parts.Marked(card.guarantee, "statement")
    marked = (parts.Marked(note, "note") for note in notes)
    return parts.Section(title, (*told, statement, *marked, *_curve(card)))


def _curve(card: Card) -> tuple[parts.Part, ...]:
    """The (epsilon, delta) pairs that hold, all of them at once."""
    pairs = guaranteed_pairs(card)
    stated = [(delta, epsilon) for epsilon, delta in card.epsilon_delta]
    x = parts.axis_over("delta", [delta for delta, _ in (*pairs, *stated)], log=True)
    y = parts.axis_over("epsilon", [0.0, *(epsilon for _, epsilon in (*pairs, *stated))])
    points = [parts.Point(delta, epsilon, "mark") for delta, epsilon in stated]
    rows = [(text_above(epsilon), text_above(delta, 2)) for epsilon, delta in card.epsilon_delta]
    explained = (
        "The same guarantee in the usual two numbers: except with a probability of about delta, "
        "no outcome is more than exp(epsilon) times as likely under one table as under the other. "
        "All pairs on the curve hold at once."
    )
    keys = (("curve", "guaranteed pairs"), ("mark", "pairs on the privacy card"))
    return (
        parts.Marked("As epsilon and delta", "heading"),
        explained,
        parts.Chart("epsilon against delta", x, y, [parts.Line(pairs, "curve")], points, keys),
        parts.Tabulated(("epsilon", "delta"), rows),
    )


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


def guessing(card: Card) -> float:
    """
    Best chance of telling two neighbouring tables apart, where a coin has 1/2.

    With error rates a and T(a) of a test, T the trade-off function of mu-GDP, half of their sum is
    least at Phi(-mu/2); noise that is off by a total variation distance adds at most that.
    """
    return min(1.0, float(ndtr(card.mu / 2.0)) + card.extra_tv)


def detection(card: Card, false_alarm: float = FALSE_ALARM) -> float:
    """Most power that a test has which raises a false alarm this often: 1 - T(a)."""
    return min(1.0, float(ndtr(card.mu + ndtri(false_alarm))) + card.extra_tv)


def coefficients(model: Any) -> parts.Section:
    """Say what was learned: coefficients, where it is known with their intervals."""
    if getattr(model, "noise_covariance_", None) is None:
        note = (
            "This fit gives no intervals: either an absolute penalty has chosen columns by the "
            "data, which invalidates them, or the method has none."
        )
        rows = [(name, figure(value)) for name, value in coefficients_of(model)]
        return parts.Section(
            "Coefficients", (note, parts.Tabulated(("coefficient", "estimate"), rows))
        )
    summary = model.summary()
    level = f"{summary.level:.0%}".replace("%", " %")
    intro = (
        f"Each line shows an estimate with its {level} interval, on a scale of its own: three "
        "standard errors to either side. The bar above is how wide the interval would be if "
        "privacy noise were the only error, the bar below if the finite number of rows were. A "
        "dashed line marks zero where it is near."
    )
    keys = (
        ("interval", f"{level} interval, both errors together"),
        ("noise", "privacy noise alone"),
        ("sampling", "sampling alone"),
    )
    values = [summary.coef, summary.low, summary.high, summary.std_err]
    values += [summary.noise_err, summary.sampling_err, summary.z]
    rows = list(zip(summary.names, *(map(figure, column) for column in values), strict=True))
    headings = ("coefficient", "estimate", "from", "to", "std. error", "noise", "sampling", "z")
    note = (
        "The square of the standard error is the sum of the squares of its two parts. Intervals "
        "are those of a normal law; they assume that the public data are of the same population "
        "where these count as evidence."
    )
    told = (
        intro,
        parts.Intervals(summary, keys),
        parts.Tabulated(headings, rows),
        parts.Marked(note, "note"),
    )
    return parts.Section("Coefficients", told)


def moments(release: MomentRelease) -> parts.Section:
    """Say what was released: means, spreads and correlations of all columns."""
    intro = (
        "Second moments of all columns, estimated from one noisy release. Any regression among "
        "these columns follows from them without further cost."
    )
    covariance = np.asarray(release.covariance)
    sd = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    size = np.where(sd > 0.0, sd, 1.0)
    rows = [
        (label, figure(mean), figure(spread))
        for label, mean, spread in zip(release.labels, release.mean, sd, strict=True)
    ]
    told: tuple[parts.Part, ...] = (
        intro,
        parts.Tabulated(("column", "mean", "standard deviation"), rows),
    )
    if len(rows) <= MOST_COLUMNS:
        correlations = (covariance / np.outer(size, size)).tolist()
        heading = parts.Marked("Correlations", "heading")
        told += (heading, parts.Correlations(release.labels, correlations))
    return parts.Section("What was released", told)


def accuracy(plan: Plan, card: Card) -> parts.Section:
    """Show what other budgets were expected to buy, the chosen one marked."""
    curve = [(forecast.mu, forecast.prediction_error) for forecast in plan.forecasts]
    levels = [("level plain", "without privacy", plan.non_private.prediction_error)]
    if plan.public_only is not None:
        public = plan.public_only.prediction_error
        levels.append(("level public", "public data alone", public))
    ends = [(forecast.mu, *forecast.ranges.prediction_error) for forecast in plan.forecasts]
    band = [(mu, low) for mu, low, _ in ends] + [(mu, high) for mu, _, high in reversed(ends)]
    heights = [error for _, error in (*curve, *band)] + [error for *_, error in levels]
    x = parts.axis_over("total budget mu", [mu for mu, _ in curve] + [card.mu], log=True)
    y = parts.axis_over("error of predictions", heights, log=True)
    lines = [parts.Line(band, "band")]
    lines += [parts.Line([(x.low, error), (x.high, error)], role) for role, _, error in levels]
    lines += [
        parts.Line([(card.mu, y.low), (card.mu, y.high)], "chosen"),
        parts.Line(curve, "curve"),
    ]
    points = [parts.Point(mu, error, "small") for mu, error in curve]
    chosen = interpolated(curve, card.mu)
    if chosen is not None:
        points.append(parts.Point(card.mu, chosen, "mark"))
    keys = (
        ("curve", "expected with privacy"),
        ("band", "four of five fits"),
        *((role, text) for role, text, _ in levels),
        ("chosen", f"chosen: mu = {text_above(card.mu)}"),
    )
    chart = parts.Chart("expected error against budget", x, y, lines, points, keys)
    told = (_plan_words(plan, card, chosen), chart, plan.recommendation)
    return parts.Section("Privacy against accuracy", told)


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


def interpolated(curve: list[tuple[float, float]], mu: float) -> float | None:
    """Error at a budget between those that were planned; None outside."""
    mus, errors = np.log(np.array(curve).T)
    # A budget that was planned may differ from the one spent by its last bits.
    if not mus[0] - 1e-6 <= math.log(mu) <= mus[-1] + 1e-6:
        return None
    return float(np.exp(np.interp(math.log(mu), mus, errors)))


def budget(card: Card) -> parts.Section:
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
    asked = "" if card.private else "This is what it would have cost with noise that protects. "
    summed = (
        f"In all mu = {text_above(card.mu)} (Gaussian DP) and rho = {text_above(card.rho)} "
        "(zero-concentrated DP). Squares of mu, and rho itself, add up over releases on the same "
        "rows; sites with rows of their own do not add up. Noise is per row, in the units of "
        "the bounded rows."
    )
    return parts.Section("Budget by release", (asked + summed, parts.Tabulated(headings, rows)))


def public_fit(card: Card, release: MomentRelease | None) -> parts.Section:
    """Say whether the public data fit what was released."""
    quality = None if release is None else release.diagnostics
    z_score = card.public_fit_z if quality is None else quality.public_fit_z
    rows = [_compared("second moments", z_score)]
    if card.response_fit_z is not None:
        rows.append(_compared("fit of the response", card.response_fit_z))
    if quality is not None:
        rows.append(("weight of the release", f"{quality.trust:.2f}", "the rest is public"))
        noisy = "repaired" if quality.lifted else "none"
        rows.append(("directions of noise only", f"{quality.lifted}", noisy))
    intro = (
        "The first release is compared with what public data led to expect, in standard errors. "
        f"From {MISFIT_Z:g} on the library warns. Privacy does not depend on the match; accuracy "
        "and intervals do."
    )
    told = (intro, parts.Tabulated(("compared", "distance", "verdict"), rows))
    return parts.Section("Do the public data fit?", told)


def _compared(what: str, z_score: float | None) -> tuple[str, str, str]:
    """A distance, and what to make of it."""
    if z_score is None:
        return what, "-", "this method cannot tell"
    verdict = "does not fit" if z_score > MISFIT_Z else "no sign of a misfit"
    return what, f"{z_score:.1f}", verdict


def again(card: Card, call: str) -> parts.Section:
    """Say how to make it again."""
    intro = (
        "The call, with every parameter that was not left at its default. Noise is drawn afresh: "
        "another run gives other numbers, within the errors stated here, and costs its budget "
        "again."
    )
    rows = [
        *card.versions.items(),
        ("public inputs, SHA-256", card.public_fingerprint or "none"),
        ("private rows, columns", f"{card.n_rows:,}, {card.n_features:,}"),
    ]
    whole = parts.Code(card.to_json(), "The privacy card as data")
    told = (intro, parts.Code(call), parts.Tabulated(("what", "which"), rows), whole)
    return parts.Section("How to make it again", told)


def figure(value: float) -> str:
    """
    Print four digits, in full where that is short.

    Examples
    --------
    >>> figure(1234.5678), figure(0.012345), figure(1.5e-9), figure(0.0)
    ('1,235', '0.01235', '1.5e-09', '0')
    """
    size = abs(value)
    if size == 0.0:
        return "0"
    if not math.isfinite(value):
        return "not finite"
    if not 1e-4 <= size < 1e7:
        return f"{value:.3g}"
    return f"{value:,.{max(0, 3 - math.floor(math.log10(size)))}f}"


def percent_above(share: float) -> str:
    """
    Print a share in per cent with one digit, never less than it is.

    Examples
    --------
    >>> percent_above(0.69146), percent_above(1.2)
    ('69.2 %', '100.0 %')
    """
    return f"{math.ceil(min(share, 1.0) * 1000.0 - 1e-9) / 10.0:.1f} %"
