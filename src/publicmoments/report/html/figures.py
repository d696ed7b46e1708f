"""Numbers as text."""

from __future__ import annotations

import math

__all__ = ["figure", "percent_above"]


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
