"""How far one row can move a Gram matrix."""

from __future__ import annotations

import math
from fractions import Fraction

from publicmoments.privacy.rounding import exact
from publicmoments.privacy.unit import ONE_ROW, PrivacyUnit


def gram_sensitivity(l2_bound_squared: float, dimension: int, unit: PrivacyUnit = ONE_ROW) -> float:
    """
    Frobenius sensitivity of ``sum r r^T`` over rows of bounded length.

    Parameters
    ----------
    l2_bound_squared : int or float
        B with ||r||^2 <= B for every row r; in squared grid units where rows are on a grid.
    dimension : int
        Length d of a row.
    unit : PrivacyUnit
        Whom the guarantee is about.

    Returns
    -------
    float
        sqrt(2) B for d >= 2, and B for d = 1.

    Notes
    -----
    **Releases.** Nothing.

    **Assumes.** Checked here: B is positive and finite, d is a positive integer. Owed by the
    caller: every row satisfies ||r||^2 <= B in exact arithmetic, each row depends on one private
    record alone, and the sum is exact.

    **Guarantee.** For any two data sets of the same number of rows that differ by replacing one
    row, the Frobenius norm of the difference of their Gram matrices is at most the result.

    **Why.** See `PrivacyUnit.gram_square`. Bounding both terms apart by the triangle inequality
    would give 2 B.

    **Numerics.** Rounded up: the square of the result is at least 2 B^2 (or B^2) exactly.

    Examples
    --------
    >>> round(gram_sensitivity(4, dimension=2), 4)
    5.6569
    >>> gram_sensitivity(4, dimension=1)
    4.0
    """
    squared = unit.gram_square(l2_bound_squared, dimension)
    sensitivity = math.sqrt(squared / exact(l2_bound_squared) ** 2) * float(l2_bound_squared)
    while Fraction(sensitivity) ** 2 < squared:
        sensitivity = math.nextafter(sensitivity, math.inf)
    return sensitivity
