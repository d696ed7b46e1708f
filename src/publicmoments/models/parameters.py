"""Checks of estimator parameters: what may be asked for, whatever the data."""

from __future__ import annotations

import numpy as np

from publicmoments.checks import positive
from publicmoments.privacy.budgets import GDP, ZCDP, ApproxDP, Budget

MOST_BOUND = 1e6
"""Largest bound, and inverse of the smallest, that a user may ask for."""


def checked_budget(privacy: object) -> Budget:
    """Return a budget of one of the three kinds; there is no default."""
    if not isinstance(privacy, GDP | ApproxDP | ZCDP):
        raise TypeError(
            "privacy must be GDP(mu), ApproxDP(epsilon, delta) or ZCDP(rho), got "
            f"{type(privacy).__name__}; state the total budget of the fit"
        )
    return privacy


def check_switches(**switches: object) -> None:
    """Refuse switches that are not booleans: a string such as "no" would mean yes."""
    for name, value in switches.items():
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"{name} must be True or False, got {type(value).__name__}")


def check_seed(random_state: object) -> None:
    """Refuse what cannot make noise reproducible; None stands for noise that protects."""
    if random_state is None:
        return
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer):
        raise TypeError(
            "random_state must be None, a non-negative integer or a NumPy generator, got "
            f"{type(random_state).__name__}; leave it out for noise that protects"
        )
    if not random_state >= 0:
        raise ValueError(
            f"random_state must be a non-negative integer, got random_state={random_state!r}; "
            "leave it out for noise that protects"
        )


def ignores_invalid(on_invalid: object) -> bool:
    """Whether rows with cells of no use count as zeros; they are refused otherwise."""
    if on_invalid not in ("raise", "ignore"):
        raise ValueError(f'on_invalid must be "raise" or "ignore", got on_invalid={on_invalid!r}')
    return on_invalid == "ignore"


def checked_bound(name: str, value: float | None) -> float | None:
    """Return a bound within what the integer grid can express, or None for a choice to be made."""
    if value is None:
        return None
    number = positive(name, value)
    if not 1 / MOST_BOUND <= number <= MOST_BOUND:
        raise ValueError(
            f"{name} must be between {1 / MOST_BOUND:g} and {MOST_BOUND:g}, got {name}={number!r}; "
            "bounds are in units of public sizes: useful ones are between 1 and 100"
        )
    return number
