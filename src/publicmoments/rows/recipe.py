"""What happens to a row before it is summed, stated entirely in public numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from publicmoments.checks import positive, positive_integer
from publicmoments.rows.grid import (
    EXACT_FLOAT_BITS,
    Block,
    finest_grid,
    on_grid,
    squared_bound,
)
from publicmoments.rows.precision import largest_square, whitening_dtype

__all__ = ["Recipe", "RowRecipe", "shortened"]

Array = NDArray[np.float64]


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
    dtype : type
        Floats that blocks are to be handed over in.
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

    @property
    def dtype(self) -> Any: ...  # noqa: D102

    def ordinary(self, design: Block, responses: Array) -> NDArray[np.bool_]:
        """Tell which rows of a block are neither enormous nor without a number."""
        ...

    def integers(
        self,
        design: Block,
        responses: Array,
        divisors: Array | None = None,
        out: Block | None = None,
    ) -> Block | None:
        """
        Return the bounded integer rows of a block, of shape (dimension, rows).

        Parameters
        ----------
        design : ndarray of ``dtype``, shape (p, rows)
            Rows x as columns; a transposed array in the order of its rows is the fastest.
        responses : ndarray of shape (q, rows)
            Their responses.
        divisors : ndarray of shape (rows,), optional
            What rows that are not ordinary have been divided by, and 1 for others. Without it
            nobody has looked at the rows.
        out : ndarray of ``dtype``, shape (dimension, rows), optional
            Where to put them.

        Returns
        -------
        ndarray of integers in floats, or None
            None where nobody has looked at the rows and not all of them are ordinary.

        Notes
        -----
        Each output row depends on its own input row only, and its squared norm is at most
        ``l2_bound_squared``, whatever the floats. Ordinary rows become the same integers with
        divisors and without. Owed by the caller: blocks of one fixed shape, so that the linear
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
    `integers` returns, as an integer and without exception; n times it is below 2^62, so that
    no sum over the rows leaves 64-bit integers, whatever the rows are.

    **Why.** ||c z|| <= x_radius <= R leaves room for v, and ||r|| <= R is 2^bits grid units.
    Rounding moves a vector of p + q entries by at most sqrt(p + q) / 2 units. `integers` checks
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

    @cached_property
    def transform(self) -> Array:
        """What x is multiplied by from the left: z comes out, and minus its weighted fit."""
        fit = -self.coef * (self.weight / self.scale)
        return np.ascontiguousarray(np.concatenate([self.whitener, fit], axis=1).T)

    @cached_property
    def dtype(self) -> Any:
        """Float32 where that is precise enough, by public numbers."""
        return whitening_dtype(self.transform, self.whitener, self.radius, self.grid_bits)

    @cached_property
    def _mixing(self) -> Block:
        """The transform in the floats of the blocks."""
        return self.transform.astype(self.dtype)

    def ordinary(self, design: Block, responses: Array) -> NDArray[np.bool_]:
        """Tell which rows of a block are neither enormous nor without a number."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            _, _, whole = self._mixed(design, responses, None)
            return np.asarray(whole < largest_square(self.dtype))

    def integers(
        self,
        design: Block,
        responses: Array,
        divisors: Array | None = None,
        out: Block | None = None,
    ) -> Block | None:
        """
        Return the bounded integer rows of a block; see `Recipe.integers`.

        Notes
        -----
        **Releases.** Nothing: the rows are bounded, not noisy.

        **Guarantee.** That of `on_grid`, which enforces the bound on the integers themselves.

        **Numerics.** What a row has been divided by returns with c, of which it is a part.
        """
        with np.errstate(over="ignore", invalid="ignore", under="ignore", divide="ignore"):
            bounded, squared, whole = self._mixed(design, responses, out)
            # The largest of numbers of which one is none is none: that is not below anything.
            if divisors is None and not whole.max() < largest_square(self.dtype):
                return None
            divided = 1.0 if divisors is None else self._representable(divisors)
            factor, room = self.multipliers(squared, divided)
            bounded *= factor
            u = bounded[self.n_design :]
            u[...] = shortened(u, room)
            return on_grid(bounded, self.l2_bound_squared)

    def multipliers(self, squared: Any, whole: Any, xp: Any = np) -> tuple[Any, Any]:
        """
        Return what brings rows to their bounded length in grid units, and the room that is left.

        Parameters
        ----------
        squared : array of shape (rows,)
            Squared lengths of z.
        whole : array of shape (rows,)
            What brings z to the length of the row.
        xp : module
            Array library of the arguments, with the names of the array API.

        Returns
        -------
        tuple of arrays of shape (rows,)
            Multiplier of the row, and the length that its residuals may have then.
        """
        length = xp.sqrt(squared)
        factor = xp.minimum(self.x_radius / length, whole)
        factor /= self.grid_unit
        length *= factor
        length *= length
        return factor, xp.sqrt(xp.clip(4.0**self.grid_bits - length, 0.0, None))

    def _mixed(self, design: Block, responses: Array, out: Block | None) -> tuple[Block, Any, Any]:
        """Whitened features above weighted residuals, and squares: of the former, and of both."""
        p = self.n_design
        mixed = np.matmul(self._mixing, design, out=out)
        sizes = (self.weight / self.scale)[:, None]
        u = mixed[p:]
        u += np.multiply(responses, sizes, dtype=self.dtype, casting="same_kind")
        squared = np.einsum("ij,ij->j", mixed[:p], mixed[:p])
        whole = np.einsum("ij,ij->j", u, u)
        whole += squared
        return mixed, squared, whole

    def _representable(self, divisors: Array) -> Any:
        """Divisors in the floats of the blocks; rows divided by more are bounded anyway."""
        return np.minimum(divisors, np.finfo(self.dtype).max).astype(self.dtype)


def shortened(u: Any, room: Any, xp: Any = np) -> Any:
    """
    Return residuals, no longer than the room there is for them.

    Parameters
    ----------
    u : array of shape (q, rows)
        Residuals in grid units.
    room : array of shape (rows,)
        Largest lengths.
    xp : module
        Array library of the arguments.

    Returns
    -------
    array of shape (q, rows)
    """
    if u.shape[0] == 1:
        return xp.clip(u, -room, room)
    length = xp.sqrt(xp.sum(u * u, axis=0))
    return u * xp.clip(room / xp.clip(length, 1.0, None), None, 1.0)
