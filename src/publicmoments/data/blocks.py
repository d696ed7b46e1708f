"""How many rows are worked on at once: whoever sums decides, and whoever reads can tell."""

from __future__ import annotations

BLOCK_CELLS, LEAST_ROWS = 2**18, 1152
"""Cells of a block, so that it and its temporaries stay in cache; and rows it has in any case, for
products of shorter ones would be slow."""

SMALL_DIMENSION, SMALL_ROWS = 16, 20_160
"""Blocks of short rows have so many, for threads get in each other's way at every call; a number
that can be divided in many ways."""

ROW_MULTIPLE = 192
"""Rows of a block are a multiple of this, and so of 64 and of 24: kernels of the linear algebra
work on 4 to 64 rows at a time, and a ragged edge would meet other arithmetic than the rest."""


def rows_at_once(dimension: int) -> int:
    """
    Rows of a block of integer rows of some length, if there are as many.

    Examples
    --------
    >>> rows_at_once(4), rows_at_once(50), rows_at_once(1000)
    (20160, 5376, 1152)
    """
    if dimension <= SMALL_DIMENSION:
        return SMALL_ROWS
    wanted = max(BLOCK_CELLS // dimension, LEAST_ROWS)
    return -(-wanted // ROW_MULTIPLE) * ROW_MULTIPLE
