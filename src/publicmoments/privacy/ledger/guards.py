"""Checks of what is written into a ledger."""

from __future__ import annotations

import getpass
import unicodedata
import warnings
from fractions import Fraction

from publicmoments.privacy.account import BudgetExceeded
from publicmoments.privacy.budgets import GDP, ZCDP, ApproxDP, Budget
from publicmoments.privacy.ledger.lines import Standing
from publicmoments.privacy.ledger.squares import room, root_above, root_below

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


def logged_in() -> str:
    """Name of the user, where the system has one."""
    try:
        name = getpass.getuser()
    except (ImportError, KeyError, OSError):
        return ""
    return name if name.isprintable() else ""


def announce(dataset: str) -> None:
    """Tell that a dataset begins: it may be another one under a wrong name."""
    warnings.warn(
        f"the ledger did not know the dataset {dataset!r}: it begins with this charge, without a "
        "cap. If it is charged under another name already, what is spent on it is now told in two "
        "parts; set caps with Ledger.cap, so that such a name is refused",
        UserWarning,
        stacklevel=4,
    )


def refuse_excess(mu: float, extra_tv: float, dataset: str, standing: Standing) -> None:
    """Refuse a charge that would exceed the cap, and say what would fit."""
    cap = standing.allowed(extra_tv)
    if cap is None or standing.spent + Fraction(mu) ** 2 <= cap:
        return
    if standing.extra is None and isinstance(standing.cap, ApproxDP):
        raise BudgetExceeded(
            f"the cap of dataset {dataset!r} is stated as (epsilon, delta), and an earlier version "
            "did not keep what its charges add to delta; set the cap again as GDP or ZCDP"
        )
    fits = room(standing.spent, cap)
    advice = f"charge at most GDP({fits!r})" if fits > 0 else "nothing more fits"
    raise BudgetExceeded(
        f"cost must fit in what is left of dataset {dataset!r}, got mu={mu!r} with mu={fits!r} "
        f"left: mu={root_above(standing.spent)!r} is spent of a cap of mu={root_below(cap)!r}; "
        f"{advice}, or raise the cap with Ledger.cap"
    )
