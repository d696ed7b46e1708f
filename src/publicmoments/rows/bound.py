"""Whiten, bound and grid one block of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from publicmoments.rows.recipe import RowRecipe

__all__ = ["integer_rows"]

PULL_BACK = 1.0 - 2.0**-12


def integer_rows(
    design: NDArray[np.float64], responses: NDArray[np.float64], recipe: RowRecipe
) -> NDArray[np.float64]:
    """
    Return the bounded integer rows of a block, as integer-valued float64.

    Parameters
    ----------
    design : ndarray of shape (rows, p)
        Private rows, with the column of ones where the recipe has an intercept. Overwritten.
    responses : ndarray of shape (rows, q)
        Their responses. Overwritten.
    recipe : RowRecipe
        Public numbers only.

    Returns
    -------
    ndarray of shape (rows, p + q)

    Notes
    -----
    **Releases.** Nothing: the rows are bounded, not noisy.

    **Assumes.** Checked here: nothing about the values; NaN and infinity give zero rows. Owed by
    the caller: blocks of one fixed shape, so that the linear algebra treats each row alike.

    **Guarantee.** Each output row depends on its own input row only, and its squared norm, an
    exact integer, is at most ``recipe.l2_bound_squared``.

    **Why.** The bound is enforced on the integers: sums of their squares are exact in float64, a
    row above the bound is shortened toward zero, and one that would still be above it, or is not a
    number, becomes zero.

    **Numerics.** Each row is first divided by a power of two, exactly, so that its entries are at
    most 1 and products cannot overflow; the factor returns with c, of which it is a part. Rounding
    is to the nearest integer: rounding toward zero would shrink the Gram matrix.
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore", divide="ignore"):
        magnitude = _power_of_two_above(np.abs(design).max(axis=1, initial=1.0))
        design /= magnitude[:, None]
        responses /= magnitude[:, None]
        z = design @ recipe.whitener
        norms = np.sqrt(np.einsum("ij,ij->i", z, z))
        factor = np.minimum(magnitude, recipe.x_radius / norms)
        responses -= design @ recipe.coef
        responses *= factor[:, None]
        responses /= recipe.scale
        np.clip(responses, -recipe.response_bound, recipe.response_bound, out=responses)
        z *= (factor / recipe.grid_unit)[:, None]
        responses *= recipe.weight / recipe.grid_unit
        return _on_grid(np.concatenate([z, responses], axis=1), recipe.l2_bound_squared)


def _on_grid(rows: NDArray[np.float64], bound: int) -> NDArray[np.float64]:
    """Round to integers and enforce the bound on their squared norms."""
    np.rint(rows, out=rows)
    squared = np.einsum("ij,ij->i", rows, rows)
    # Squares up to 2^53 are exact; beyond that the row is far above the bound in any case. The
    # comparisons are written so that NaN gives zero.
    factor = np.where(squared <= bound, 1.0, 0.0)
    factor[(squared > bound) & (squared * PULL_BACK**2 <= bound * (1 - 1e-9))] = PULL_BACK
    rows *= factor[:, None]
    np.trunc(rows, out=rows)
    return np.where(factor[:, None] > 0.0, rows, 0.0)


def _power_of_two_above(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Smallest power of two that is at least each value; at most 2^1023."""
    _, exponents = np.frexp(values)
    return np.ldexp(1.0, np.minimum(exponents, 1023))
