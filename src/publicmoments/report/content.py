"""Numbers as text."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr, ndtri

from publicmoments.privacy.card import Card
from publicmoments.privacy.rounding import text_above

if TYPE_CHECKING:
    from publicmoments.models.inference import CoefSummary
    from publicmoments.release.diagnostics import Diagnostics


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


MOST_TEXT = 200
"""Characters of a parameter that are shown."""

AT_HOME = frozenset({"ledger"})
"""Parameters whose value stays at home: the address of a database may hold a password."""


@dataclass(frozen=True)
class MomentsTold:
    """What a release of moments says of each column, and of its own quality."""

    labels: tuple[str, ...]
    mean: tuple[float, ...]
    sd: tuple[float, ...]
    correlation: tuple[tuple[float, ...], ...]
    diagnostics: Diagnostics


@dataclass(frozen=True)
class Subject:
    """
    What the sections of a report are written from.

    Parameters
    ----------
    name : str
        Of the estimator, or of the release.
    card : Card
        The privacy card.
    call : str
        How it was made, in Python.
    summary : CoefSummary or None
        Coefficients with their errors; None where there are no intervals.
    coefs : tuple of (str, float)
        Coefficients without errors, where there is no summary.
    moments : MomentsTold or None
        Of a release of moments.
    """

    name: str
    card: Card
    call: str
    summary: CoefSummary | None = None
    coefs: tuple[tuple[str, float], ...] = ()
    moments: MomentsTold | None = None


def subject_of(model: Any) -> Subject:
    """
    Read a fitted estimator or a release of moments.

    **Releases** nothing: it copies the card, coefficients, their covariances and released moments,
    all of which have been through the door, and parameters, which are public.
    """
    card = getattr(model, "card_", None) or getattr(model, "card", None)
    if not isinstance(card, Card):
        raise TypeError(
            "model must be a fitted private estimator or a MomentRelease, got "
            f"{type(model).__name__} without a privacy card; call fit first"
        )
    if hasattr(model, "noisy_gram"):
        return Subject(
            name="MomentRelease", card=card, call=_release_call(model), moments=_moments_of(model)
        )
    name, call = type(model).__name__, _estimator_call(model)
    if getattr(model, "noise_covariance_", None) is not None:
        return Subject(name=name, card=card, call=call, summary=model.summary())
    return Subject(name=name, card=card, call=call, coefs=_plain_coefs(model))


def _plain_coefs(model: Any) -> tuple[tuple[str, float], ...]:
    """Coefficients by name, those of the intercept last."""
    coefs = np.atleast_2d(model.coef_)
    names = [str(n) for n in getattr(model, "feature_names_in_", [])]
    names = names or [f"x{k}" for k in range(coefs.shape[1])]
    intercepts = np.reshape(getattr(model, "intercept_", np.zeros(len(coefs))), -1)
    prefixes = [""] if len(coefs) == 1 else [f"{which}: " for which in _vectors(model, len(coefs))]
    return tuple(
        (f"{prefix}{name}", float(value))
        for prefix, row, intercept in zip(prefixes, coefs, intercepts, strict=True)
        for name, value in zip((*names, "(intercept)"), (*row, intercept), strict=True)
    )


def _vectors(model: Any, count: int) -> Sequence[object]:
    """Names of several vectors of coefficients."""
    classes = getattr(model, "classes_", ())
    return classes if len(classes) == count else [f"y{k}" for k in range(count)]


def _moments_of(release: Any) -> MomentsTold:
    """Means, standard deviations and correlations."""
    covariance = np.asarray(release.covariance)
    sd = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    size = np.where(sd > 0.0, sd, 1.0)
    correlation = covariance / np.outer(size, size)
    return MomentsTold(
        labels=tuple(release.labels),
        mean=tuple(float(value) for value in release.mean),
        sd=tuple(float(value) for value in sd),
        correlation=tuple(tuple(float(value) for value in row) for row in correlation),
        diagnostics=release.diagnostics,
    )


def _estimator_call(model: Any) -> str:
    """The constructor with every parameter that is not at its default, and the fit."""
    defaults = inspect.signature(type(model).__init__).parameters
    given = model.get_params(deep=False)
    shown = [
        f"    {name}={'...' if name in AT_HOME else _shown(value)},"
        for name, value in given.items()
        if not _is_default(value, defaults[name].default)
    ]
    # A model read from a file has left its public moments at home; the card has their fingerprint.
    if given.get("public") is None and model.card_.public_fingerprint is not None:
        shown.append("    public=public,")
    return "\n".join([f"{type(model).__name__}(", *shown, ").fit(X, y)"])


def _is_default(value: object, default: object) -> bool:
    """Whether a parameter was left alone."""
    return value is default or (type(value) is type(default) and bool(value == default))


def _release_call(release: Any) -> str:
    """The call behind a release, or the calls behind a combination."""
    calls = [
        "release_moments(rows, privacy=GDP("
        f"{line.mu!r}), public=public, anchor={bool(release.anchor)}, radius={line.radius!r})"
        for line in release.card.passes
    ]
    if len(calls) == 1:
        return calls[0]
    return "\n".join(["combine([", *(f"    {call}," for call in calls), "])"])


def _shown(value: object) -> str:
    """A parameter as text; generators have a state that says nothing to a reader."""
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return type(value).__name__
    text = repr(value)
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}..."
