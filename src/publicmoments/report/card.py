"""The old address of `publicmoments.privacy.card`; it will be gone in the next version."""

import warnings

from publicmoments.privacy import card

MOVED = ("BoundedPass", "Card", "PassSummary")


def __getattr__(name: str) -> object:
    """Return what was here, with the address that it has now."""
    if name not in MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    told = f"{__name__}.{name} has moved to {card.__name__}; import it from there"
    warnings.warn(told, DeprecationWarning, stacklevel=2)
    return getattr(card, name)
