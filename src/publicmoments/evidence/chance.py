"""What squares show beyond chance."""

from __future__ import annotations

import math

import numpy as np

from publicmoments.arrays import Array

MARGIN = 2.0
"""Standard errors of a sum of squares that chance is allowed."""


def beyond_chance(squares: float, variances: Array | float) -> float:
    """
    Return how much larger a sum of squares is than independent normal errors make it, at least 0.

    Parameters
    ----------
    squares : float
        Their sum.
    variances : ndarray or float
        Expectation of each of them.

    Returns
    -------
    float

    Examples
    --------
    >>> beyond_chance(4.0, np.ones(4)), beyond_chance(100.0, np.ones(4)) > 80.0
    (0.0, True)
    """
    expected, spread = (
        float(np.sum(variances)),
        math.sqrt(2.0 * float(np.sum(np.square(variances)))),
    )
    return max(squares - expected - MARGIN * spread, 0.0)
