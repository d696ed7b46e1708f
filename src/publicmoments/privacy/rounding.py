"""Exact numbers, and the floats and the texts that bound them from one side."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np


def exact(number: float | np.integer[Any]) -> Fraction:
    """Return a Python or NumPy integer or float as a fraction, without any rounding."""
    # Through int, because arithmetic on NumPy integers would wrap.
    whole = isinstance(number, int | np.integer)
    return Fraction(int(number)) if whole else Fraction(float(number))


def float_above(number: Fraction) -> float:
    """Smallest float that is at least ``number``; inf beyond the largest float."""
    try:
        nearest = float(number)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)


def float_below(number: Fraction) -> float:
    """Largest float that is at most ``number``, for numbers within the range of floats."""
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)


def text_above(number: float, digits: int = 4) -> str:
    """
    Print a few digits of a number that, read as a float, are never less than it.

    A claim in print must not be smaller than the truth: every epsilon, delta, mu and rho that is
    shown passes here.

    Examples
    --------
    >>> text_above(1.00049), text_above(1.49e-6, 2), text_above(0.1), text_above(1e-5, 2)
    ('1.001', '1.5e-06', '0.1', '1e-05')
    """
    return _text(number, digits, ROUND_CEILING)


def text_below(number: float, digits: int = 4) -> str:
    """
    Print a few digits of a number that, read as a float, are never more than it.

    What is left of a budget must not look larger than it is.

    Examples
    --------
    >>> text_below(0.79999), text_below(4.0)
    ('0.7999', '4')
    """
    return _text(number, digits, ROUND_FLOOR)


def _text(number: float, digits: int, direction: str) -> str:
    """Print the nearest few digits, or the next ones in a direction."""
    nearest = f"{number:.{digits}g}"
    if not math.isfinite(number):
        return nearest
    beyond = float(nearest) - number
    if beyond == 0.0 or (beyond > 0.0) == (direction == ROUND_CEILING):
        return nearest
    with localcontext(prec=digits, rounding=direction):
        return f"{+Decimal(number):.{digits}g}"
