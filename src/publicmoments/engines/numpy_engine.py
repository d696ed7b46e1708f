"""Summing in memory with NumPy, on blocks of one fixed shape."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from publicmoments.engines.exact import ExactSum
from publicmoments.rows import PrivateRows, RowRecipe, integer_rows

__all__ = ["sum_rows"]

BLOCK_CELLS = 2**17
"""Cells of a block: 1 MiB in float64, so that a block and its temporaries stay in cache."""

ROW_MULTIPLE = 192
"""Rows of a block are a multiple of this, and so of 64 and of 24: kernels of the linear algebra
work on 4 to 64 rows at a time, and a ragged edge would meet other arithmetic than the rest."""


def sum_rows(
    rows: PrivateRows,
    recipe: RowRecipe,
    *,
    block_rows: int | None = None,
    threads: int | None = None,
) -> ExactSum:
    """
    Sum r r^T over the integer rows r of a table, exactly.

    Parameters
    ----------
    rows : PrivateRows
        The table.
    recipe : RowRecipe
        How each row is bounded.
    block_rows : int, optional
        Rows of a block, rounded up to a multiple of 192; by default as many as fit the cache.
    threads : int, optional
        Blocks summed at a time; by default one per processor.

    Returns
    -------
    ExactSum

    Notes
    -----
    **Releases.** Nothing: the sum is exact and private.

    **Assumes.** Checked here: the recipe was made for as many rows as the table has, which is what
    keeps sums inside 64-bit integers. Owed by the caller: tables that give the same rows whenever
    they are asked.

    **Guarantee.** The result is the integer sum of what `integer_rows` gives for each row, which
    depends on that row alone: replacing one row of the table changes one term of the sum.

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
    if rows.n_rows != recipe.n_rows:
        raise ValueError(
            f"the recipe must be made for the rows it bounds, got n_rows={recipe.n_rows} in the "
            f"recipe and {rows.n_rows} rows"
        )
    block_rows = _whole_rows(block_rows or BLOCK_CELLS // recipe.dimension, recipe)
    threads = threads or os.cpu_count() or 1

    def block_gram(span: tuple[int, int]) -> NDArray[np.int64]:
        design, responses = rows.padded_block(*span, block_rows)
        bounded = integer_rows(design, responses, recipe)
        return (bounded.T @ bounded).astype(np.int64)

    total = np.zeros((recipe.dimension, recipe.dimension), dtype=np.int64)
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        spans = rows.ranges(block_rows)
        # A few blocks at a time: what waits to be added is bounded too.
        while batch := list(islice(spans, 2 * threads)):
            for part in pool.map(block_gram, batch):
                total += part
    return ExactSum(total, rows.n_rows)


def _whole_rows(wanted: int, recipe: RowRecipe) -> int:
    """Round up to whole multiples, as far as a block's Gram matrix stays exact."""
    multiples = max(1, -(-wanted // ROW_MULTIPLE))
    return ROW_MULTIPLE * min(multiples, recipe.max_block_rows // ROW_MULTIPLE)
