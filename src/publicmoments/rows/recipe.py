"""What happens to a row before it is summed, stated entirely in public numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from publicmoments.checks import positive, positive_integer

__all__ = ["RowRecipe"]

GRID_BITS = 16
"""A radius of 2^16 grid units: squared norms of integer rows stay near 2^32."""

EXACT_FLOAT_BITS = 53
"""Integers up to 2^53 are exact in float64, sums of products included."""

SUM_BITS = 61
"""Sums of squared norms stay below 2^61, inside 64-bit integers with room for noise."""


@dataclass(frozen=True, eq=False)
class RowRecipe:
    """
    Map from a private row (x, y) to a bounded integer row.

    With z = x @ whitener, u = (y - x @ coef) / scale and c = min(1, x_radius / ||z||), the bounded
    row is r = (c z, weight clip(c u, -response_bound, response_bound)); it is divided by the grid
    unit and rounded to integers. Scaling x and y by the same c is weighted least squares, which
    does not bend a linear model, whatever the radius.

    Parameters
    ----------
    whitener : ndarray of shape (p, p)
        Rows are whitened from the right.
    coef : ndarray of shape (p, q)
        Coefficients whose fit is subtracted from the responses.
    scale : ndarray of shape (q,)
        Scale of what is left of them.
    x_radius, response_bound, weight : float
        Bound on c z, bound on each c u, weight of the responses within the row.
    fit_intercept : bool
        Whether a column of ones is appended to x.
    n_rows : int
        Number of rows to be summed, which is public; it limits how fine the grid may be.

    Notes
    -----
    **Releases.** Nothing.

    **Assumes.** Checked here: radii, weight and scales are positive and finite, shapes agree. Owed
    by the caller: every number here is public or the output of a paid release.

    **Guarantee.** `l2_bound_squared` bounds the squared norm of every integer row that
    `integer_rows` returns, as an integer and without exception.

    **Why.** ||c z|| <= x_radius and |c u| <= response_bound give
    ||r||^2 <= R^2 = x_radius^2 + q (weight response_bound)^2, and R is 2^bits grid units. Rounding
    moves a vector of p + q entries by at most sqrt(p + q) / 2 units. `integer_rows` checks the
    integers themselves, so that no rounding error upstream can break the bound.
    """

    whitener: NDArray[np.float64] = field(repr=False)
    coef: NDArray[np.float64] = field(repr=False)
    scale: NDArray[np.float64] = field(repr=False)
    x_radius: float
    response_bound: float
    weight: float
    fit_intercept: bool
    n_rows: int
    grid_bits: int = GRID_BITS

    def __post_init__(self) -> None:
        """Validate what the guarantee rests on."""
        for name in ("x_radius", "response_bound", "weight"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        positive_integer("n_rows", self.n_rows)
        p, q = self.coef.shape
        if self.whitener.shape != (p, p) or self.scale.shape != (q,):
            raise ValueError(
                f"whitener must be {(p, p)} and scale {(q,)} for coef of shape {(p, q)}, got "
                f"{self.whitener.shape} and {self.scale.shape}"
            )
        if not (np.isfinite(self.whitener).all() and np.isfinite(self.coef).all()):
            raise ValueError("whitener and coef must be finite")
        if not (np.isfinite(self.scale) & (self.scale > 0)).all():
            raise ValueError("scale must be positive and finite")
        # A sum of n squared norms must fit; beyond 2^29 rows the grid is coarsened.
        room = (SUM_BITS - math.ceil(math.log2(self.n_rows + 1))) // 2
        object.__setattr__(self, "grid_bits", min(self.grid_bits, room))

    @property
    def n_design(self) -> int:
        """Number of whitened columns p, the intercept included."""
        return int(self.coef.shape[0])

    @property
    def dimension(self) -> int:
        """Length p + q of an integer row."""
        return int(sum(self.coef.shape))

    @property
    def radius(self) -> float:
        """Bound R on the norm of a row before it is put on the grid."""
        responses = self.coef.shape[1] * (self.weight * self.response_bound) ** 2
        return math.sqrt(self.x_radius**2 + responses)

    @property
    def grid_unit(self) -> float:
        """Size of one grid unit."""
        return self.radius / 2.0**self.grid_bits

    @property
    def l2_bound_squared(self) -> int:
        """Integer bound on the squared norm of an integer row."""
        return math.ceil((2.0**self.grid_bits + math.sqrt(self.dimension) / 2 + 1e-6) ** 2)

    @property
    def max_block_rows(self) -> int:
        """Most rows whose float64 Gram matrix is still exact."""
        return int(2**EXACT_FLOAT_BITS // self.l2_bound_squared)
