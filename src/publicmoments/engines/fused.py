"""One kernel instead of five: bounding rows on a CUDA device in a single pass over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from publicmoments.rows import RowRecipe

__all__ = ["fused_bound"]

WIDEST, CELLS = 4096, 256
"""Columns up to which a row fits the registers of its threads; cells of a program's rows, where
these are shorter. More would hold the device's memory up."""


def fused_bound(
    array: Any, recipe: RowRecipe, most: float, longest: float
) -> Callable[[Any, Any], Any] | None:
    """
    Return a function that bounds rows in place, or None where the array library has no such kernel.

    Parameters
    ----------
    array : array
        On the device that the rows are on.
    recipe : RowRecipe
        How rows are bounded.
    most, longest : float
        Largest squared norm of the integers, and of the rows before any bound.

    Returns
    -------
    callable or None
        It takes whitened rows beside minus their fits, and responses; it turns the rows into
        integers and returns which of them are within both limits. It computes what the array
        library would with `RowRecipe.multipliers`, but reads and writes each row once.
    """
    if type(array).__module__.partition(".")[0] != "torch" or recipe.n_design > WIDEST:
        return None
    try:
        import triton

        from publicmoments.engines.triton_kernel import bound_rows
    except ImportError:
        return None
    import torch

    grid = [recipe.x_radius, 1.0 / recipe.grid_unit, 4.0**recipe.grid_bits, most, longest]
    sizes = (recipe.weight / recipe.scale).tolist()
    numbers = torch.tensor([*grid, *sizes], dtype=torch.float64, device=array.device)
    features = triton.next_power_of_2(recipe.n_design)
    rows = max(1, CELLS // features)

    def bound(mixed: Any, responses: Any) -> Any:
        n_rows, q = responses.shape
        sound = torch.empty(n_rows, dtype=torch.int8, device=mixed.device)
        bound_rows[(triton.cdiv(n_rows, rows),)](
            mixed,
            responses,
            numbers,
            sound,
            n_rows,
            recipe.n_design,
            q,
            mixed.stride(0),
            responses.stride(0),
            rows,
            features,
            triton.next_power_of_2(q),
            num_warps=1 if features <= 2 * CELLS else 2,
        )
        return sound.bool()

    return bound
