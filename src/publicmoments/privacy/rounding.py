"""Exact numbers, and the floats that bound them from one side."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["exact", "float_above", "float_below"]


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
