"""How far one row can move a Gram matrix."""

from __future__ import annotations

import math
from fractions import Fraction

from publicmoments.checks import positive, positive_integer
from publicmoments.privacy.rounding import exact

__all__ = ["gram_sensitivity", "squared_gram_sensitivity"]


def gram_sensitivity(l2_bound_squared: float, dimension: int) -> float:
    """
    Frobenius sensitivity of ``sum r r^T`` over rows of bounded length.

    Parameters
    ----------
    l2_bound_squared : int or float
        B with ||r||^2 <= B for every row r; in squared grid units where rows are on a grid.
    dimension : int
        Length d of a row.

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

    **Why.** Replacing z by w changes the sum by D = z z^T - w w^T, and
    ||D||_F^2 = ||z||^4 + ||w||^4 - 2 (z.w)^2 <= 2 B^2, with equality for orthogonal rows of full
    length. In one dimension z.w = z w, so D = z^2 - w^2 lies in [-B, B]. Bounding both terms apart
    by the triangle inequality would give 2 B.

    **Numerics.** Rounded up: the square of the result is at least 2 B^2 (or B^2) exactly.

    Examples
    --------
    >>> round(gram_sensitivity(4, dimension=2), 4)
    5.6569
    >>> gram_sensitivity(4, dimension=1)
    4.0
    """
    squared = squared_gram_sensitivity(l2_bound_squared, dimension)
    sensitivity = math.sqrt(squared / exact(l2_bound_squared) ** 2) * float(l2_bound_squared)
    while Fraction(sensitivity) ** 2 < squared:
        sensitivity = math.nextafter(sensitivity, math.inf)
    return sensitivity


def squared_gram_sensitivity(l2_bound_squared: float, dimension: int) -> Fraction:
    """
    Square of `gram_sensitivity` as an exact fraction, with the same assumptions and guarantee.

    Examples
    --------
    >>> squared_gram_sensitivity(4, dimension=2)
    Fraction(32, 1)
    """
    positive("l2_bound_squared", l2_bound_squared, "pass the squared length of a row")
    factor = 2 if positive_integer("dimension", dimension) >= 2 else 1
    return factor * exact(l2_bound_squared) ** 2
