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

ROW_MULTIPLE = 64
"""Rows of a block are a multiple of this: no kernel of the linear algebra sees a ragged edge."""


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
        Rows of a block; by default as many as fit the cache.
    threads : int, optional
        Blocks summed at a time; by default one per processor.

    Returns
    -------
    ExactSum

    Notes
    -----
    **Releases.** Nothing: the sum is exact and private.

    **Guarantee.** The result is the integer sum of what `integer_rows` gives for each row: the
    same for every order of the rows, every cut into blocks and every number of threads.

    **Why.** A block's product adds integers that stay below 2^53, exact in float64 in any order;
    blocks are added in 64-bit integers, which hold n times the bound by the recipe's choice of
    grid. Blocks have one shape, padded with zero rows, and one layout, and the linear algebra
    runs single-threaded within a block, so a row meets the same arithmetic wherever it stands.
    """
    block_rows = min(block_rows or _cache_rows(recipe.dimension), recipe.max_block_rows)
    threads = threads or os.cpu_count() or 1

    def block_gram(span: tuple[int, int]) -> NDArray[np.int64]:
        design, responses = rows.padded_block(*span, block_rows)
        bounded = integer_rows(design, responses, recipe)
        return (bounded.T @ bounded).astype(np.int64)

    total = np.zeros((recipe.dimension, recipe.dimension), dtype=np.int64)
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        spans = rows.ranges(block_rows)
        # A few blocks at a time: what waits to be added is bounded too.
        while batch := list(islice(spans, 4 * threads)):
            for part in pool.map(block_gram, batch):
                total += part
    return ExactSum(total, rows.n_rows)


def _cache_rows(dimension: int) -> int:
    """Rows of a default block."""
    return max(ROW_MULTIPLE, BLOCK_CELLS // dimension // ROW_MULTIPLE * ROW_MULTIPLE)
