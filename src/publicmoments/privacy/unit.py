"""Whom a guarantee is about, and how far they can move a sum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from publicmoments.checks import positive, positive_integer
from publicmoments.privacy.rounding import exact


@dataclass(frozen=True)
class PrivacyUnit:
    """
    One row: neighbours differ in one row, replaced by another, and the number of rows is public.

    Notes
    -----
    **Releases.** Nothing.

    **Assumes.** Checked here: bounds are positive and finite. Owed by the caller: every row keeps
    its bound in exact arithmetic, each row depends on one private record alone, and sums are exact.

    **Guarantee.** The methods return the square of the largest Euclidean change, exactly, that
    replacing one row makes to a sum over rows; of matrices the change is counted in Frobenius norm.
    """

    @property
    def neighbours(self) -> str:
        """Which data sets are to be hard to tell apart, in words."""
        return "data sets that differ in one row, replaced by another; the number of rows is public"

    def sum_square(self, l2_bound_squared: float) -> Fraction:
        """
        4 B for a sum of rows with ||r||^2 <= B.

        Replacing r by q moves the sum by ||r - q|| <= 2 sqrt(B).
        """
        positive("l2_bound_squared", l2_bound_squared, "pass the squared length of a row")
        return 4 * exact(l2_bound_squared)

    def gram_square(self, l2_bound_squared: float, dimension: int) -> Fraction:
        """
        2 B^2 for a sum of r r^T over rows with ||r||^2 <= B; B^2 where rows have one entry.

        Replacing z by w changes the sum by D = z z^T - w w^T, and
        ||D||_F^2 = ||z||^4 + ||w||^4 - 2 (z.w)^2 <= 2 B^2, with equality for orthogonal rows of
        full length. In one dimension z.w = z w, so D = z^2 - w^2 lies in [-B, B].
        """
        positive("l2_bound_squared", l2_bound_squared, "pass the squared length of a row")
        factor = 2 if positive_integer("dimension", dimension) >= 2 else 1
        return factor * exact(l2_bound_squared) ** 2

    def count_square(self, mark: int) -> Fraction:
        """2 m^2 for a histogram of marks m: one is taken away at most, and one is added."""
        return Fraction(2 * positive_integer("mark", mark) ** 2)

    def eigenvalue_square(self, l2_bound_squared: int, dimension: int, n_rows: int) -> Fraction:
        """
        (B + 1 + 2 ceil(d n B 2^-48))^2 for the smallest eigenvalue of a sum of r r^T, as computed.

        Replacing a row changes the matrix by r r^T - q q^T, whose eigenvalues lie in [-B, B]; by
        Weyl's inequality no eigenvalue moves by more than B. Rounding it to an integer adds 1. The
        eigenvalues come from a float computation, whose backward error is taken as d 2^-48 times
        the trace, well above LAPACK's, and the trace is at most n B: twice that is added.
        """
        error = Fraction(dimension * n_rows * l2_bound_squared, 2**48)
        return (Fraction(l2_bound_squared) + 1 + 2 * -(-error // 1)) ** 2


ONE_ROW = PrivacyUnit()
"""The unit that guarantees are about."""


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
