"""Whiten, bound and grid one block of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from publicmoments.rows.recipe import RowRecipe

__all__ = ["integer_rows"]

PULL_BACK = 1.0 - 2.0**-12
"""How much a row above the bound is shortened."""

LARGE = 2.0**64
"""Rows with a larger entry are scaled down before any product is taken."""

HUGE = 2.0**500
"""Bound on responses whose squares are to be taken."""


def integer_rows(
    design: NDArray[np.float64], responses: NDArray[np.float64], recipe: RowRecipe
) -> NDArray[np.float64]:
    """
    Return the bounded integer rows of a block, as integer-valued float64.

    Parameters
    ----------
    design : ndarray of shape (rows, p)
        Private rows, with the column of ones where the recipe has an intercept. May be overwritten.
    responses : ndarray of shape (rows, q)
        Their responses. May be overwritten.
    recipe : RowRecipe
        Public numbers only.

    Returns
    -------
    ndarray of shape (rows, p + q)

    Notes
    -----
    **Releases.** Nothing: the rows are bounded, not noisy.

    **Assumes.** Checked here: nothing about the values. A row that holds NaN, or infinity in the
    design, becomes zero; an infinite response is shortened as a huge one is. Owed by the caller:
    blocks of one fixed shape, so that the linear algebra treats each row alike.

    **Guarantee.** Each output row depends on its own input row only, and its squared norm, an
    exact integer, is at most ``recipe.l2_bound_squared``.

    **Why.** The bound is enforced on the integers: sums of their squares are exact in float64, a
    row above the bound is shortened toward zero, and one that would still be above it, or is not a
    number, becomes zero. Steps that are skipped where no row of the block needs them would leave
    the rows that do not need them unchanged to the last bit.

    **Numerics.** A row with an entry above 2^64 is first divided by a power of two, so that its
    entries are at most 2 and their products cannot overflow; the factor returns with c, of which
    it is a part. Rounding is to the nearest integer: rounding toward zero would shrink the Gram
    matrix.
    """
    p = recipe.n_design
    with np.errstate(over="ignore", invalid="ignore", under="ignore", divide="ignore"):
        magnitude = _scaled_down(design, responses)
        bounded = design @ recipe.transform
        z, u = bounded[:, :p], bounded[:, p:]
        factor = np.minimum(magnitude, recipe.x_radius / np.sqrt(np.einsum("ij,ij->i", z, z)))
        np.subtract(responses, u, out=u)
        u *= recipe.weight / recipe.scale
        bounded *= (factor / recipe.grid_unit)[:, None]
        _shorten_responses(z, u, 2.0**recipe.grid_bits)
        return _on_grid(bounded, recipe.l2_bound_squared)


def _scaled_down(
    design: NDArray[np.float64], responses: NDArray[np.float64]
) -> NDArray[np.float64] | float:
    """Divide rows with large entries by a power of two, in place; return the divisors."""
    if max(design.max(), -design.min()) <= LARGE:
        return 1.0
    largest = np.abs(design).max(axis=1)
    _, exponents = np.frexp(largest)
    power = np.ldexp(1.0, np.minimum(exponents, 1023))
    magnitude: NDArray[np.float64] = np.where(largest > LARGE, power, 1.0)
    design /= magnitude[:, None]
    responses /= magnitude[:, None]
    return magnitude


def _shorten_responses(z: NDArray[np.float64], u: NDArray[np.float64], radius: float) -> None:
    """Shorten the responses, in place, until the whole row is no longer than the radius."""
    # Their squares must not overflow; nothing this large keeps its size in any case.
    np.clip(u, -HUGE, HUGE, out=u)
    room = np.sqrt(np.maximum(radius**2 - np.einsum("ij,ij->i", z, z), 0.0))
    length = np.sqrt(np.einsum("ij,ij->i", u, u))
    u *= np.minimum(1.0, room / np.maximum(length, 1.0))[:, None]


def _on_grid(rows: NDArray[np.float64], bound: int) -> NDArray[np.float64]:
    """Round to integers and enforce the bound on their squared norms, in place."""
    np.rint(rows, out=rows)
    # Squares up to 2^53 are exact; beyond that the row is far above the bound in any case. The
    # comparisons are written so that NaN counts as above it.
    squared = np.einsum("ij,ij->i", rows, rows)
    above = ~(squared <= bound)
    if above.any():
        nearly = squared * PULL_BACK**2 <= bound * (1 - 1e-9)
        rows[above & nearly] = np.trunc(rows[above & nearly] * PULL_BACK)
        rows[above & ~nearly] = 0.0
    return rows
