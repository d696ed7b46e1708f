"""What happens to a row before it is summed, stated entirely in public numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from publicmoments.checks import positive, positive_integer
from publicmoments.rows.grid import (
    EXACT_FLOAT_BITS,
    finest_grid,
    on_grid,
    scaled_down,
    squared_bound,
)

__all__ = ["Recipe", "RowRecipe"]

Array = NDArray[np.float64]

HUGE = 2.0**500
"""Bound on responses whose squares are to be taken."""


class Recipe(Protocol):
    """
    What engines and the door ask of a recipe.

    Attributes
    ----------
    n_rows : int
        Rows it was made for; public.
    dimension : int
        Length of an integer row.
    grid_unit : float
        Size of one grid unit.
    l2_bound_squared : int
        Bound on the squared norm of every integer row.
    max_block_rows : int
        Most rows whose sum in float64 is still exact.
    """

    @property
    def n_rows(self) -> int: ...  # noqa: D102

    @property
    def dimension(self) -> int: ...  # noqa: D102

    @property
    def grid_unit(self) -> float: ...  # noqa: D102

    @property
    def l2_bound_squared(self) -> int: ...  # noqa: D102

    @property
    def max_block_rows(self) -> int: ...  # noqa: D102

    def integer_rows(self, design: Array, responses: Array) -> Array:
        """
        Return the bounded integer rows of a block, as integer-valued float64.

        Both arrays may be overwritten. Each output row depends on its own input row only, and its
        squared norm is at most ``l2_bound_squared``, whatever the floats: NaN and infinity in the
        design become zero rows. Owed by the caller: blocks of one fixed shape, so that the linear
        algebra treats each row alike.
        """
        ...


@dataclass(frozen=True, eq=False)
class RowRecipe:
    """
    Map from a private row (x, y) to a bounded integer row.

    With z = x @ whitener, u = (y - x @ coef) / scale and c = min(1, x_radius / ||z||), the bounded
    row is r = (c z, v): v is weight c u, shortened where ||r|| would exceed
    R = sqrt(x_radius^2 + q (weight response_bound)^2). The row is divided by the grid unit and
    rounded to integers. Scaling x and y by the same c is weighted least squares, which does not
    bend a linear model, whatever the radius; features shorter than x_radius leave their room to the
    responses.

    Parameters
    ----------
    whitener : ndarray of shape (p, p)
        Rows are whitened from the right.
    coef : ndarray of shape (p, q)
        Coefficients whose fit is subtracted from the responses.
    scale : ndarray of shape (q,)
        Scale of what is left of them.
    x_radius, response_bound, weight : float
        Bound on c z; bound that each c u can count on, beside features at x_radius; weight of the
        responses within the row.
    fit_intercept : bool
        Whether a column of ones is appended to x.
    n_rows : int
        Number of rows to be summed, which is public; it limits how fine the grid may be.

    Attributes
    ----------
    grid_bits : int
        The radius R is 2^grid_bits grid units: 16, and less beyond about 2^30 rows.

    Notes
    -----
    **Releases.** Nothing.

    **Assumes.** Checked here: radii, weight and scales are positive and finite, shapes agree. Owed
    by the caller: every number here is public or the output of a paid release.

    **Guarantee.** `l2_bound_squared` bounds the squared norm of every integer row that
    `integer_rows` returns, as an integer and without exception; n times it is below 2^62, so that
    no sum over the rows leaves 64-bit integers, whatever the rows are.

    **Why.** ||c z|| <= x_radius <= R leaves room for v, and ||r|| <= R is 2^bits grid units.
    Rounding moves a vector of p + q entries by at most sqrt(p + q) / 2 units. `integer_rows` checks
    the integers themselves, so that no rounding error upstream can break the bound.
    """

    whitener: NDArray[np.float64] = field(repr=False)
    coef: NDArray[np.float64] = field(repr=False)
    scale: NDArray[np.float64] = field(repr=False)
    x_radius: float
    response_bound: float
    weight: float
    fit_intercept: bool
    n_rows: int
    grid_bits: int = field(init=False)

    def __post_init__(self) -> None:
        """Validate what the guarantee rests on."""
        for name in ("x_radius", "response_bound", "weight"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        positive_integer("n_rows", self.n_rows)
        if self.coef.ndim != 2 or 0 in self.coef.shape:
            raise ValueError(f"coef must have shape (p, q) with entries, got {self.coef.shape}")
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
        object.__setattr__(self, "grid_bits", finest_grid(self.n_rows, self.dimension))
        if not 0.0 < self.grid_unit * self.grid_unit < math.inf:
            raise ValueError(
                f"x_radius, response_bound and weight must have squares within floats, got "
                f"x_radius={self.x_radius!r}, response_bound={self.response_bound!r}, "
                f"weight={self.weight!r}; rescale the whitener and scale"
            )

    @cached_property
    def transform(self) -> NDArray[np.float64]:
        """Whitener and coef side by side: one product gives z and the fit."""
        return np.concatenate([self.whitener, self.coef], axis=1)

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
        responses = math.sqrt(self.coef.shape[1]) * self.weight * self.response_bound
        return math.hypot(self.x_radius, responses)

    @property
    def grid_unit(self) -> float:
        """Size of one grid unit."""
        return self.radius / 2.0**self.grid_bits

    @property
    def l2_bound_squared(self) -> int:
        """Integer bound on the squared norm of an integer row."""
        return squared_bound(self.grid_bits, self.dimension)

    @property
    def max_block_rows(self) -> int:
        """Most rows whose float64 Gram matrix is still exact."""
        return int(2**EXACT_FLOAT_BITS // self.l2_bound_squared)

    def integer_rows(self, design: Array, responses: Array) -> Array:
        """
        Return the bounded integer rows of a block; see `Recipe.integer_rows`.

        Parameters
        ----------
        design : ndarray of shape (rows, p)
            Private rows, with the column of ones where the recipe has an intercept.
        responses : ndarray of shape (rows, q)
            Their responses. An infinite one is shortened as a huge one is.

        Returns
        -------
        ndarray of shape (rows, p + q)

        Notes
        -----
        **Releases.** Nothing: the rows are bounded, not noisy.

        **Guarantee.** That of `on_grid`, which enforces the bound on the integers themselves.

        **Numerics.** What `scaled_down` divides a row by returns with c, of which it is a part.
        """
        p = self.n_design
        with np.errstate(over="ignore", invalid="ignore", under="ignore", divide="ignore"):
            divisors = scaled_down(design)
            if divisors is not None:
                responses /= divisors[:, None]
            bounded = design @ self.transform
            z, u = bounded[:, :p], bounded[:, p:]
            whole = 1.0 if divisors is None else divisors
            factor = np.minimum(whole, self.x_radius / np.sqrt(np.einsum("ij,ij->i", z, z)))
            np.subtract(responses, u, out=u)
            u *= self.weight / self.scale
            bounded *= (factor / self.grid_unit)[:, None]
            _shorten_responses(z, u, 2.0**self.grid_bits)
            return on_grid(bounded, self.l2_bound_squared)


def _shorten_responses(z: Array, u: Array, radius: float) -> None:
    """Shorten the responses, in place, until the whole row is no longer than the radius."""
    # Their squares must not overflow; nothing this large keeps its size in any case.
    np.clip(u, -HUGE, HUGE, out=u)
    room = np.sqrt(np.maximum(radius**2 - np.einsum("ij,ij->i", z, z), 0.0))
    length = np.sqrt(np.einsum("ij,ij->i", u, u))
    u *= np.minimum(1.0, room / np.maximum(length, 1.0))[:, None]
