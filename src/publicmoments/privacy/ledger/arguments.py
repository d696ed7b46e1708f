"""Checks of what is written into a ledger."""

from __future__ import annotations

import unicodedata

from publicmoments.privacy.budgets import GDP, ZCDP, ApproxDP, Budget

__all__ = ["checked_budget", "checked_name", "checked_text"]

_LONGEST = 1000


def checked_budget(name: str, budget: object) -> Budget:
    """Accept a budget of any of the three kinds."""
    if not isinstance(budget, GDP | ApproxDP | ZCDP):
        raise TypeError(
            f"{name} must be GDP(mu), ApproxDP(epsilon, delta) or ZCDP(rho), got "
            f"{type(budget).__name__}"
        )
    return budget


def checked_name(dataset: object) -> str:
    """Return a name as it is compared: names that look alike must be the same."""
    name = unicodedata.normalize("NFC", checked_text("dataset", dataset))
    if not name or name != name.strip():
        raise ValueError(
            f"dataset must be a name without spaces around it, got dataset={name!r}; name the "
            "table of private rows, always by the same name"
        )
    return name


def checked_text(name: str, text: object) -> str:
    """Accept one printable line, which every database stores as it is."""
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a string, got {type(text).__name__}")
    if not text.isprintable() or len(text) > _LONGEST:
        raise ValueError(
            f"{name} must be one printable line of at most {_LONGEST} characters; shorten it"
        )
    return text
