"""Summing in memory with NumPy, on blocks of one fixed shape."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from publicmoments.blocks import ROW_MULTIPLE, SMALL_DIMENSION, rows_at_once
from publicmoments.rows import (
    Block,
    PrivateRows,
    Recipe,
    ScaledRecipe,
    WhitenedRows,
    largest_entry,
    largest_square,
    scaled_down,
)
from publicmoments.threads import side_by_side, single_threaded

__all__ = ["Kind", "add_up"]

Array = NDArray[np.float64]
Kind = Literal["gram", "total"]

SMALL_PRODUCT = 10**6
"""Multiplications up to which linear algebra has a faster way for small matrices, if it does not
notice that a matrix is multiplied by its own transpose: a row of zeros keeps it from that. Blocks
of short rows are multiplied in several such parts by one call."""


def add_up(
    rows: PrivateRows,
    recipe: Recipe,
    kind: Kind,
    block_rows: int | None = None,
    threads: int | None = None,
) -> NDArray[np.int64]:
    """
    Sum over rows in memory, which may be a part of those a recipe is for.

    Parameters
    ----------
    rows : PrivateRows
        The rows.
    recipe : Recipe
        How each row is bounded.
    kind : {"gram", "total"}
        Whether r r^T or r is summed over the integer rows r.
    block_rows : int, optional
        Rows of a block, rounded up to a multiple of 192; by default as many as fit the cache.
    threads : int, optional
        Blocks summed at a time; by default one per processor.

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
    work = _Work(rows, recipe, kind, shape)
    with single_threaded():
        if rows.n_rows <= shape and isinstance(recipe, ScaledRecipe):
            desk = _Desk(rows, recipe, kind, shape)
            return desk.reduced(_only_block(desk, recipe)).astype(np.int64)
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

    def __init__(self, rows: PrivateRows, recipe: Recipe, kind: Kind, block_rows: int) -> None:
        p = recipe.dimension
        self.rows, self.recipe, self.kind = rows, recipe, kind
        # Rows are columns, but in memory they mostly stay as in tables: one after the other.
        order: Literal["C", "F"] = "C" if p <= SMALL_DIMENSION else "F"
        shape = (rows.n_design, block_rows)
        self.design: Block = np.empty(shape, dtype=recipe.dtype, order=order)
        self.responses = np.empty((rows.n_responses, block_rows))
        self.bounded: Block = np.empty((p, block_rows), dtype=recipe.dtype)
        if kind == "gram":
            parts = _parts(p, block_rows)
            self.precise = np.zeros((p + (p <= SMALL_DIMENSION), block_rows))
            pieces = self.precise.reshape(len(self.precise), parts, -1)
            self.left, self.right = pieces.transpose(1, 0, 2), pieces[:p].transpose(1, 2, 0)
            self.products = np.empty((parts, len(self.precise), p))

    def integers(self, start: int, stop: int) -> Block:
        """Integer rows ``start`` to ``stop``; no cell makes NumPy warn."""
        with np.errstate(all="ignore"):
            self.read(start, stop)
            bounded = self.recipe.integers(self.design, self.responses, out=self.bounded)
            if bounded is None:
                divisors = self.read_with_care(start, stop)
                bounded = self.recipe.integers(self.design, self.responses, divisors, self.bounded)
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
        odd = ~self.recipe.ordinary(self.design, self.responses)
        design, responses = self.rows.settled(start, stop, self.design.shape[1])
        divisors = np.ones(len(odd))
        enormous = design[:, odd]
        divisors[odd] = scaled_down(enormous, largest_entry(self.recipe.dtype))
        if not isinstance(self.recipe, ScaledRecipe):
            smaller = responses[:, odd] / divisors[odd]
            most = np.sqrt(largest_square(self.recipe.dtype))
            smaller /= np.maximum(np.abs(smaller).max(axis=0) / most, 1.0)
            responses[:, odd] = smaller
        design[:, odd] = enormous
        self.design[...], self.responses[...] = design, responses
        return divisors

    def reduced(self, bounded: Block) -> Array:
        """What a block adds to the sum, exactly."""
        if self.kind == "total":
            return np.asarray(bounded.sum(axis=1, dtype=np.float64))
        p = len(bounded)
        self.precise[:p] = bounded
        np.matmul(self.left, self.right, out=self.products)
        return np.asarray(self.products.sum(axis=0)[:p])


class _Work:
    """Blocks to be summed, which threads take one after the other."""

    def __init__(self, rows: PrivateRows, recipe: Recipe, kind: Kind, block_rows: int) -> None:
        self.rows, self.recipe, self.kind, self.block_rows = rows, recipe, kind, block_rows
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
        desk = _Desk(self.rows, self.recipe, self.kind, self.block_rows)
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


def _only_block(desk: _Desk, recipe: ScaledRecipe) -> Block:
    """
    Integer rows of a table that fits in one block, which stays whitened while the table lives.

    An iterative fit sums such a table hundreds of times with other coefficients and nothing else.
    """
    ready = _READY.get(desk.rows)
    with np.errstate(all="ignore"):
        if ready is None or not ready.serves(recipe, desk.design.shape[1]):
            ready = _READY[desk.rows] = _made_ready(desk, recipe)
        return recipe.multiplied(ready.whitened, ready.responses, desk.bounded)


def _made_ready(desk: _Desk, recipe: ScaledRecipe) -> _Ready:
    """Whiten the only block."""
    n_rows = desk.rows.n_rows
    desk.read(0, n_rows)
    whitened = recipe.whitened(desk.design, desk.responses)
    if whitened is None:
        divisors = desk.read_with_care(0, n_rows)
        whitened = recipe.whitened(desk.design, desk.responses, divisors)
    assert whitened is not None, "rows that have been looked at are never refused"
    return _Ready(recipe.whitener, recipe.radius, recipe.dtype, whitened, desk.responses)


@dataclass(frozen=True, eq=False)
class _Ready:
    """The only block of a small table, whitened."""

    whitener: Array
    radius: float
    dtype: type
    whitened: WhitenedRows
    responses: Array

    def serves(self, recipe: ScaledRecipe, block_rows: int) -> bool:
        """Whether a recipe would whiten the block in the same way."""
        same = self.whitener is recipe.whitener and self.radius == recipe.radius
        return same and self.dtype == recipe.dtype and self.responses.shape[1] == block_rows


_READY: WeakKeyDictionary[PrivateRows, _Ready] = WeakKeyDictionary()
