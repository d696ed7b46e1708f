"""The guarantee and its assumptions in plain words."""

from __future__ import annotations

from scipy.special import ndtr, ndtri

from publicmoments.privacy.rounding import text_above
from publicmoments.report.card import Card
from publicmoments.report.html.figures import percent_above

__all__ = ["ASSUMPTIONS", "detection", "guarantee_words", "guessing"]

FALSE_ALARM = 0.05

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


def guarantee_words(card: Card) -> tuple[str, ...]:
    """Say what the guarantee means, in paragraphs."""
    mu = text_above(card.mu)
    return (
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
