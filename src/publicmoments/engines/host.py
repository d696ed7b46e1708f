"""Summing in memory with NumPy, on blocks of one fixed shape."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from publicmoments.arrays import Array
from publicmoments.data.blocks import ROW_MULTIPLE, SMALL_DIMENSION, rows_at_once
from publicmoments.rows.grid import Block, largest_entry, scaled_down
from publicmoments.rows.kernel import (
    bound_block,
    multiplied_block,
    ordinary_rows,
    whitened_block,
)
from publicmoments.rows.private_rows import PrivateRows
from publicmoments.rows.recipe import Recipe, WhitenedRows
from publicmoments.threads import side_by_side, single_threaded

SMALL_PRODUCT = 10**6
"""Multiplications up to which linear algebra has a faster way for small matrices, if it does not
notice that a matrix is multiplied by its own transpose: a row of zeros keeps it from that. Blocks
of short rows are multiplied in several such parts by one call."""


def add_up(
    rows: PrivateRows,
    recipe: Recipe,
    block_rows: int | None = None,
    threads: int | None = None,
    kept: KeptBlock | None = None,
) -> NDArray[np.int64]:
    """
    Sum over rows in memory, which may be a part of those a recipe is for.

    Parameters
    ----------
    rows : PrivateRows
        The rows.
    recipe : Recipe
        How each row is bounded.
    block_rows : int, optional
        Rows of a block, rounded up to a multiple of 192; by default as many as fit the cache.
    threads : int, optional
        Blocks summed at a time; by default one per processor.
    kept : KeptBlock, optional
        What an earlier sum over the same small table has whitened.

    Returns
    -------
    ndarray of int64

    Notes
    -----
    **Why it is exact.** Products are added while they stay below 2^53, exact in float64 in any
    order, and then in 64-bit integers, which hold n times the bound by the recipe's choice of
    grid. Blocks have one shape, padded with zero rows, and one layout, and the linear algebra runs
    single-threaded within a block, so a row meets the same arithmetic wherever it stands. The
    shape of the blocks is a matter of the recipe, so that sums over the parts of a table, cut in
    any way, add up to the sum over the whole.
    """
    shape = block_shape(recipe, block_rows)
    work = _Work(rows, recipe, shape)
    with single_threaded():
        if rows.n_rows <= shape:
            desk = _Desk(rows, recipe, shape)
            return desk.reduced((kept or KeptBlock()).integers(desk, recipe)).astype(np.int64)
        workers = min(threads or os.cpu_count() or 1, -(-rows.n_rows // shape))
        # A thread that came too late has nothing to add, not even a shape.
        return sum(side_by_side([work.share] * workers), start=np.zeros((), dtype=np.int64))


def block_shape(recipe: Recipe, wanted: int | None = None) -> int:
    """Rows of a block: whole multiples, as far as sums over a block stay exact."""
    if wanted is None:
        wanted = min(rows_at_once(recipe.dimension), recipe.n_rows)
    multiples = max(1, -(-wanted // ROW_MULTIPLE))
    return ROW_MULTIPLE * min(multiples, recipe.max_block_rows // ROW_MULTIPLE)


def _parts(p: int, block_rows: int) -> int:
    """Equal parts that a block is multiplied in: small ones, where rows are short."""
    if p > SMALL_DIMENSION:
        return 1
    fewest = -(-block_rows * p * (p + 1) // SMALL_PRODUCT)
    return next(parts for parts in range(fewest, block_rows + 1) if block_rows % parts == 0)


class _Desk:
    """Where one thread works: blocks that are used again, for making new ones takes time."""

    def __init__(self, rows: PrivateRows, recipe: Recipe, block_rows: int) -> None:
        p = recipe.dimension
        self.rows, self.recipe = rows, recipe
        # Rows are columns, but in memory they mostly stay as in tables: one after the other.
        order: Literal["C", "F"] = "C" if p <= SMALL_DIMENSION else "F"
        shape = (rows.n_design, block_rows)
        self.design: Block = np.empty(shape, dtype=recipe.dtype, order=order)
        self.responses = np.empty((rows.n_responses, block_rows))
        self.bounded: Block = np.empty((p, block_rows), dtype=recipe.dtype)
        if recipe.products:
            parts = _parts(p, block_rows)
            self.precise = np.zeros((p + (p <= SMALL_DIMENSION), block_rows))
            pieces = self.precise.reshape(len(self.precise), parts, -1)
            self.left, self.right = pieces.transpose(1, 0, 2), pieces[:p].transpose(1, 2, 0)
            self.products = np.empty((parts, len(self.precise), p))

    def integers(self, start: int, stop: int) -> Block:
        """Integer rows ``start`` to ``stop``; no cell makes NumPy warn."""
        with np.errstate(all="ignore"):
            self.read(start, stop)
            recipe, out = self.recipe, self.bounded
            bounded = bound_block(recipe, self.design, self.responses, out=out)
            if bounded is None:
                divisors = self.read_with_care(start, stop)
                bounded = bound_block(recipe, self.design, self.responses, divisors, out)
        assert bounded is not None, "rows that have been looked at are never refused"
        return bounded

    def read(self, start: int, stop: int) -> None:
        """Read rows as they are."""
        self.rows.fill(self.design, self.responses, start, stop)

    def read_with_care(self, start: int, stop: int) -> Array:
        """
        Read rows again, and settle those that are not ordinary; return their divisors.

        What is done to a row depends on that row alone: ordinary ones stay as they are, in whatever
        company.
        """
        odd = ~ordinary_rows(self.recipe, self.design, self.responses)
        design, responses = self.rows.settled(start, stop, self.design.shape[1])
        divisors = np.ones(len(odd))
        enormous = design[:, odd]
        divisors[odd] = scaled_down(enormous, largest_entry(self.recipe.dtype))
        design[:, odd] = enormous
        self.design[...], self.responses[...] = design, responses
        return divisors

    def whitened(self) -> WhitenedRows:
        """Whiten a table of one block."""
        n_rows = self.rows.n_rows
        self.read(0, n_rows)
        whitened = whitened_block(self.recipe, self.design, self.responses)
        if whitened is None:
            divisors = self.read_with_care(0, n_rows)
            whitened = whitened_block(self.recipe, self.design, self.responses, divisors)
        assert whitened is not None, "rows that have been looked at are never refused"
        return whitened

    def reduced(self, bounded: Block) -> Array:
        """What a block adds to the sum, exactly."""
        if not self.recipe.products:
            return np.asarray(bounded.sum(axis=1, dtype=np.float64))
        p = len(bounded)
        self.precise[:p] = bounded
        np.matmul(self.left, self.right, out=self.products)
        return np.asarray(self.products.sum(axis=0)[:p])


class _Work:
    """Blocks to be summed, which threads take one after the other."""

    def __init__(self, rows: PrivateRows, recipe: Recipe, block_rows: int) -> None:
        self.rows, self.recipe, self.block_rows = rows, recipe, block_rows
        self.starts = iter(range(0, rows.n_rows, block_rows))
        self.lock = threading.Lock()

    def share(self) -> NDArray[np.int64]:
        """Sum what this thread gets to; an error ends the work of the others as well."""
        try:
            return self._share()
        finally:
            self.stop()

    def _share(self) -> NDArray[np.int64]:
        """Sum block after block."""
        desk = _Desk(self.rows, self.recipe, self.block_rows)
        total, most = np.zeros((), dtype=np.int64), self.recipe.max_block_rows // self.block_rows
        exact: Array | float = 0.0
        for count, start in enumerate(self.left(), 1):
            stop = min(start + self.block_rows, self.rows.n_rows)
            exact += desk.reduced(desk.integers(start, stop))
            if count % most == 0:
                total, exact = total + np.asarray(exact).astype(np.int64), 0.0
        return total + np.asarray(exact).astype(np.int64)

    def left(self) -> Iterator[int]:
        """Starts of the blocks that nobody has taken yet."""
        while True:
            with self.lock:
                start = next(self.starts, None)
            if start is None:
                return
            yield start

    def stop(self) -> None:
        """Leave the blocks that nobody has taken."""
        with self.lock:
            self.starts = iter(())


@dataclass(eq=False)
class KeptBlock:
    """
    The only block of a small table, whitened, for as long as its session lives.

    An iterative fit sums such a table hundreds of times with other coefficients and nothing else.
    """

    whitener: Array | None = field(default=None, repr=False)
    radius: float = 0.0
    dtype: type | None = None
    whitened: WhitenedRows | None = field(default=None, repr=False)
    responses: Array | None = field(default=None, repr=False)

    def integers(self, desk: _Desk, recipe: Recipe) -> Block:
        """Integer rows of the block, which is whitened again where the recipe asks for it."""
        with np.errstate(all="ignore"):
            if self.whitened is None or self.responses is None or not self._serves(desk, recipe):
                self.whitened, self.responses = desk.whitened(), desk.responses
                self.whitener, self.radius, self.dtype = (
                    recipe.whitener,
                    recipe.radius,
                    recipe.dtype,
                )
            return multiplied_block(recipe, self.whitened, self.responses, desk.bounded)

    def _serves(self, desk: _Desk, recipe: Recipe) -> bool:
        """Whether a recipe would whiten the block in the same way."""
        assert self.responses is not None, "a block that was whitened has its responses"
        same = self.whitener is recipe.whitener and self.radius == recipe.radius
        fits = self.responses.shape[1] == desk.design.shape[1]
        return same and fits and self.dtype == recipe.dtype
