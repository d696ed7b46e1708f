"""What a report is about: the released and public numbers of a fit, in one record."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from publicmoments.report.card import Card

if TYPE_CHECKING:
    from publicmoments.models.inference import CoefSummary
    from publicmoments.models.moments.diagnostics import Diagnostics

__all__ = ["MomentsTold", "Subject", "subject_of"]

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
