"""Summing in memory with NumPy, on blocks of one fixed shape."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import islice
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from publicmoments.engines.exact import ExactGram, ExactTotal
from publicmoments.rows import PrivateRows, Recipe, ScaledRecipe, WhitenedRows

__all__ = ["sum_gram", "sum_total"]

Array = NDArray[np.float64]

BLOCK_CELLS = 2**17
"""Cells of a block: 1 MiB in float64, so that a block and its temporaries stay in cache."""

ROW_MULTIPLE = 192
"""Rows of a block are a multiple of this, and so of 64 and of 24: kernels of the linear algebra
work on 4 to 64 rows at a time, and a ragged edge would meet other arithmetic than the rest."""


def sum_gram(
    rows: PrivateRows,
    recipe: Recipe,
    *,
    block_rows: int | None = None,
    threads: int | None = None,
) -> ExactGram:
    """
    Sum r r^T over the integer rows r of a table, exactly.

    Parameters
    ----------
    rows : PrivateRows
        The table.
    recipe : Recipe
        How each row is bounded.
    block_rows : int, optional
        Rows of a block, rounded up to a multiple of 192; by default as many as fit the cache.
    threads : int, optional
        Blocks summed at a time; by default one per processor.

    Returns
    -------
    ExactGram

    Notes
    -----
    **Releases.** Nothing: the sum is exact and private.

    **Assumes.** Checked here: the recipe was made for as many rows as the table has, which is what
    keeps sums inside 64-bit integers. Owed by the caller: tables that give the same rows whenever
    they are asked.

    **Guarantee.** The result is the integer sum of what the recipe makes of each row, which depends
    on that row alone: replacing one row of the table changes one term of the sum.

    **Why.** A block's product adds integers that stay below 2^53, exact in float64 in any order;
    blocks are added in 64-bit integers, which hold n times the bound by the recipe's choice of
    grid. Blocks have one shape, padded with zero rows, and one layout, and the linear algebra
    runs single-threaded within a block, so a row meets the same arithmetic wherever it stands.

    **Numerics.** The sum is the same for every number of threads and, with kernels such as those
    of OpenBLAS, for every order of the rows. Another shape of block or another linear algebra
    library may whiten a row with another last bit, and so move an entry that lies within that bit
    of a tie to the next integer. What a row becomes may then depend on where it stands, but never
    on other rows, and its bound holds: the privacy of the sum is not touched.
    """
    gram = _sum(rows, recipe, lambda bounded: bounded.T @ bounded, block_rows, threads)
    return ExactGram(gram, rows.n_rows)


def sum_total(
    rows: PrivateRows,
    recipe: Recipe,
    *,
    block_rows: int | None = None,
    threads: int | None = None,
) -> ExactTotal:
    """Sum the integer rows of a table, exactly; see `sum_gram`, of which all else holds."""
    total = _sum(rows, recipe, lambda bounded: np.ones(len(bounded)) @ bounded, block_rows, threads)
    return ExactTotal(total, rows.n_rows)


def _sum(
    rows: PrivateRows,
    recipe: Recipe,
    reduced: Callable[[Array], Array],
    block_rows: int | None,
    threads: int | None,
) -> NDArray[np.int64]:
    """Add up what blocks reduce to."""
    if rows.n_rows != recipe.n_rows:
        raise ValueError(
            f"the recipe must be made for the rows it bounds, got n_rows={recipe.n_rows} in the "
            f"recipe and {rows.n_rows} rows"
        )
    wanted = block_rows or min(BLOCK_CELLS // recipe.dimension, rows.n_rows)
    block_rows = _whole_rows(wanted, recipe)
    threads = threads or os.cpu_count() or 1

    def part(span: tuple[int, int]) -> NDArray[np.int64]:
        design, responses = rows.padded_block(*span, block_rows)
        return reduced(recipe.integer_rows(design, responses)).astype(np.int64)

    spans = rows.ranges(block_rows)
    total = np.zeros((), dtype=np.int64)
    with _linear_algebra().limit(limits=1, user_api="blas"):
        if rows.n_rows <= block_rows and isinstance(recipe, ScaledRecipe):
            return reduced(_only_block(rows, recipe, block_rows)).astype(np.int64)
        with ThreadPoolExecutor(threads) as pool:
            # A few blocks at a time: what waits to be added is bounded too.
            while batch := list(islice(spans, 2 * threads)):
                for block_sum in pool.map(part, batch):
                    total = total + block_sum
    return total


def _only_block(rows: PrivateRows, recipe: ScaledRecipe, block_rows: int) -> Array:
    """
    Integer rows of a table that fits in one block, which stays whitened while the table lives.

    An iterative fit sums such a table hundreds of times with other coefficients and nothing else.
    """
    ready = _READY.get(rows)
    if ready is None or not ready.serves(recipe, block_rows):
        design, responses = rows.padded_block(0, rows.n_rows, block_rows)
        ready = _Ready(recipe.whitener, recipe.radius, recipe.whitened(design), responses)
        _READY[rows] = ready
    return recipe.multiplied(ready.whitened, ready.responses)


@dataclass(frozen=True, eq=False)
class _Ready:
    """The only block of a small table, whitened."""

    whitener: Array
    radius: float
    whitened: WhitenedRows
    responses: Array

    def serves(self, recipe: ScaledRecipe, block_rows: int) -> bool:
        """Whether a recipe would whiten the block in the same way."""
        same = self.whitener is recipe.whitener and self.radius == recipe.radius
        return same and len(self.responses) == block_rows


_READY: WeakKeyDictionary[PrivateRows, _Ready] = WeakKeyDictionary()


@cache
def _linear_algebra() -> ThreadpoolController:
    """Find the linear algebra libraries once: the search takes milliseconds."""
    return ThreadpoolController()


def _whole_rows(wanted: int, recipe: Recipe) -> int:
    """Round up to whole multiples, as far as a block's sum stays exact."""
    multiples = max(1, -(-wanted // ROW_MULTIPLE))
    return ROW_MULTIPLE * min(multiples, recipe.max_block_rows // ROW_MULTIPLE)
