"""How a fit or a release was called, and the names of coefficients that have no errors."""

from __future__ import annotations

import inspect
from typing import Any, TypeAlias

import numpy as np

from publicmoments.models.shell import PrivateEstimator
from publicmoments.privacy.card import Card
from publicmoments.release.moment_card import MomentPass
from publicmoments.release.readings import MomentRelease

Reported: TypeAlias = PrivateEstimator | MomentRelease
"""What there are reports on."""

MOST_TEXT = 200
"""Characters of a parameter that are shown."""

AT_HOME = frozenset({"ledger"})
"""Parameters whose value stays at home: the address of a database may hold a password."""


def call_of(model: Reported, card: Card) -> str:
    """Say in Python how it was made."""
    return _release_call(model) if isinstance(model, MomentRelease) else _fit_call(model, card)


def _fit_call(model: PrivateEstimator, card: Card) -> str:
    """The constructor with every parameter that is not at its default, and the fit."""
    defaults = inspect.signature(type(model).__init__).parameters
    given = model.get_params(deep=False)
    shown = [
        f"    {name}={'...' if name in AT_HOME else _shown(value)},"
        for name, value in given.items()
        if not _is_default(value, defaults[name].default)
    ]
    # A model read from a file has left its public moments at home; the card has their fingerprint.
    if given.get("public") is None and card.public_fingerprint is not None:
        shown.append("    public=public,")
    return "\n".join([f"{type(model).__name__}(", *shown, ").fit(X, y)"])


def _release_call(release: MomentRelease) -> str:
    """The call behind a release, or the calls behind a combination."""
    calls = [
        "release_moments(rows, privacy=GDP("
        f"{line.mu!r}), public=public, anchor={bool(release.anchor)}, radius={line.radius!r})"
        for line in release.card.passes
        if isinstance(line, MomentPass)
    ]
    if len(calls) == 1:
        return calls[0]
    return "\n".join(["combine([", *(f"    {call}," for call in calls), "])"])


def _is_default(value: object, default: object) -> bool:
    """Whether a parameter was left alone."""
    return value is default or (type(value) is type(default) and bool(value == default))


def _shown(value: object) -> str:
    """A parameter as text; generators have a state that says nothing to a reader."""
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return type(value).__name__
    text = repr(value)
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}..."


def coefficients_of(model: Any) -> list[tuple[str, float]]:
    """Coefficients by name, the intercept last; for each response or class."""
    coefs = np.atleast_2d(model.coef_)
    count, width = coefs.shape
    names = [str(n) for n in getattr(model, "feature_names_in_", [f"x{k}" for k in range(width)])]
    names.append("(intercept)")
    values = np.column_stack([coefs, np.reshape(getattr(model, "intercept_", [0.0] * count), -1)])
    if count > 1:
        classes = getattr(model, "classes_", ())
        vectors = classes if len(classes) == count else [f"y{k}" for k in range(count)]
        names = [f"{vector}: {name}" for vector in vectors for name in names]
    return list(zip(names, values.ravel().tolist(), strict=True))
