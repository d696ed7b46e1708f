"""Summing on the device that holds the rows, in any library of the array API."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.data import as_responses, as_table, device_array, no_columns, to_host
from publicmoments.engines import host
from publicmoments.rows.kernel import factors_of
from publicmoments.rows.private_rows import PrivateRows
from publicmoments.rows.recipe import Recipe, WhitenedRows

BLOCK_CELLS = 2**26
"""Cells of a block: 512 MiB in float64, a small share of a device and enough to keep it busy."""

ROW_MULTIPLE = 256
"""Rows of a block are a multiple of this, and so of the tiles that products are made of."""

COLUMN_MULTIPLE = 16
"""Products have a whole multiple of this number of columns, some of them zero: others are slow."""

ALIGNED = 2
"""Rows of another length than a multiple of so many cells, 16 bytes, are slow and so are copied."""

TILE = 64
"""Products are made of tiles of about this many columns, at whose edges strips had better begin."""

LONGEST = 2.0**450
"""Rows from this length on, whitened, are left to the host."""

STRIPS = ((128, 2), (192, 3), (512, 4))
"""A symmetric product is made in so many strips of columns, each only from the diagonal on, where
there are at least so many columns: most of what lies below it need not be computed."""


def add_up(rows: PrivateRows, recipe: Recipe) -> NDArray[np.int64]:
    """
    Sum over rows that live on a device, exactly; only the sums leave it.

    Notes
    -----
    **Guarantee.** As for `publicmoments.engines.sum_gram`: the result is a sum of
    integer rows, each made of its own row alone and within the recipe's bound.

    **Why.** Blocks have one shape, padded with zero rows. A row whose integers are not below the
    bound by a margin far above any rounding error, and every row that holds something enormous or
    without a number, is left out of the block and handed to the host, where the bound is enforced
    on the integers themselves. Products of integers are exact in float64 while they stay below
    2^53, which a block is short enough for; blocks are added in 64-bit integers.

    **Numerics.** Another device whitens with other last bits, which may move a rare entry to the
    next integer; neither bound nor privacy rests on them.
    """
    with np.errstate(all="ignore"):
        return _Pass(rows, recipe).total()


class _Pass:
    """One pass over the rows of a device."""

    def __init__(self, rows: PrivateRows, recipe: Recipe) -> None:
        from array_api_compat import array_namespace, device

        self.rows, self.recipe = rows, recipe
        self.table = device_array(rows.features)
        self.xp, self.device = array_namespace(self.table), device(self.table)
        self.most = recipe.surely_bounded
        self.block_rows, d = _block_rows(rows.n_rows, recipe), rows.features.n_columns
        whole = d == rows.n_design and d % ALIGNED == 0 and self.table.dtype == self.xp.float64
        width = _round_up(rows.n_design, ALIGNED)
        self.copies = None if whole else self.zeros(self.block_rows, width)
        self.matrix = self.mixing(_transform(recipe))
        self.width = recipe.dimension
        self.sums: list[Any] = []
        self.left_out: list[NDArray[np.int64]] = []

    def here(self, array: NDArray[Any]) -> Any:
        """Copy a host array to the device."""
        return self.xp.asarray(np.ascontiguousarray(array), device=self.device)

    def zeros(self, *shape: int) -> Any:
        """Make an array of zeros on the device."""
        return self.xp.zeros(shape, dtype=self.xp.float64, device=self.device)

    def mixing(self, transform: NDArray[np.float64]) -> Any:
        """What blocks are multiplied by from the right, on the device, zeros beyond its ends."""
        m, p = transform.shape
        matrix = self.zeros(_round_up(p, ALIGNED), _round_up(m, COLUMN_MULTIPLE))
        matrix[:p, :m] = self.xp.matrix_transpose(self.here(transform))
        return matrix

    def total(self) -> NDArray[np.int64]:
        """Sum the blocks that are sound, and then the others with care."""
        xp, starts = self.xp, range(0, self.rows.n_rows, self.block_rows)
        judged = []
        for start in starts:
            bounded, sound = self.integers(start)
            judged.append(xp.all(sound))
            parts = self.reduced(bounded)
            self.add([xp.where(judged[-1], part, xp.zeros_like(part)) for part in parts])
        # Reading the judgement of a block any earlier would make the device wait for the host.
        for start, all_sound in zip(starts, to_host(xp.stack(judged)), strict=True):
            if not all_sound:
                self.add_with_care(start)
        return np.asarray(sum(self.left_out, start=to_host(self.assembled())))

    def add(self, parts: list[Any]) -> None:
        """Add what a block gives, on the device."""
        exact, so_far = [self.xp.astype(part, self.xp.int64) for part in parts], self.sums
        self.sums = [a + b for a, b in zip(so_far, exact, strict=True)] if so_far else exact

    def add_with_care(self, start: int) -> None:
        """Add a block, without the rows that the host must look at."""
        bounded, sound = self.integers(start)
        bounded = self.xp.where(sound[:, None], bounded, self.xp.zeros_like(bounded))
        self.add(self.reduced(bounded))
        odd = np.flatnonzero(~to_host(sound)[: self.stop(start) - start])
        if len(odd):
            self.left_out.append(self.on_host(odd + start))

    def stop(self, start: int) -> int:
        """End of the block that starts there."""
        return min(start + self.block_rows, self.rows.n_rows)

    def block(self, start: int, stop: int) -> Any:
        """Rows of the design in float64, zeros beside and below them to the shape of a block."""
        d, p, count = self.rows.features.n_columns, self.rows.n_design, stop - start
        block, copies = self.table[start:stop, :], self.copies
        if copies is None:
            if count == self.block_rows:
                return block
            copies = self.zeros(self.block_rows, p)
        copies[:count, :d] = self.xp.astype(block, self.xp.float64, copy=False)
        copies[:count, d:p], copies[count:, :p] = 1.0, 0.0
        return copies

    def integers(self, start: int) -> tuple[Any, Any]:
        """Integer rows of a block, and which of them are sound; others may hold anything."""
        xp, recipe, stop = self.xp, self.recipe, self.stop(start)
        mixed = xp.matmul(self.block(start, stop), self.matrix)
        p, k = recipe.coef.shape
        z = mixed[:, :p]
        length = xp.linalg.vector_norm(z, axis=1)
        values, numbers = self.on_host_values(
            to_host(mixed[:, p : p + k]), to_host(length), start, stop
        )
        bounded = xp.round(recipe.assembled(self.here(values), z, xp))
        norm = xp.linalg.vector_norm(bounded, axis=1)
        # Rows without a number are left to the host, as enormous ones are.
        ordinary = (length * length < LONGEST**2) & self.here(numbers)
        return bounded, (norm <= math.sqrt(self.most)) & ordinary

    def on_host_values(
        self, predictor: NDArray[np.float64], length: NDArray[np.float64], start: int, stop: int
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """What rows become by their factors, of shape (rows, k), and which have numbers."""
        recipe = self.recipe
        responses = np.zeros((self.rows.n_responses, self.block_rows))
        responses[:, : stop - start] = self.rows.response_rows(start, stop).T
        kept = np.minimum(1.0, recipe.radius / length)
        rows = WhitenedRows(np.empty((0, len(length))), length, kept, np.ones(len(length)))
        factors = factors_of(recipe, np.array(predictor.T), rows, responses)
        # A factor may be a number where a response is none, as that of a missing label is.
        return recipe.values(factors, rows).T, np.asarray(np.isfinite(responses).all(axis=0))

    def reduced(self, bounded: Any) -> list[Any]:
        """What a block adds to the sum, in strips."""
        xp = self.xp
        if not self.recipe.products:
            return [xp.sum(bounded, axis=0)]
        left = xp.matrix_transpose(bounded)
        return [xp.matmul(left[strip, :], bounded[:, strip.start :]) for strip in self.strips()]

    def strips(self) -> list[slice]:
        """Columns of the strips of a product."""
        count = max([1, *(strips for columns, strips in STRIPS if self.width >= columns)])
        share = max(self.width // count, 1)
        step = share // TILE * TILE or share
        edges = [*range(0, count * step, step), self.width]
        return [slice(*pair) for pair in pairwise(edges)]

    def assembled(self) -> Any:
        """The sum over all rows, put together from its strips."""
        p, xp = self.recipe.dimension, self.xp
        if not self.recipe.products:
            return self.sums[0][:p]
        whole = xp.zeros((self.width, self.width), dtype=xp.int64, device=self.device)
        for strip, values in zip(self.strips(), self.sums, strict=True):
            whole[strip, strip.start :] = values
            whole[strip.start :, strip] = xp.matrix_transpose(values)
        return whole[:p, :p]

    def on_host(self, odd: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sum over the rows that were left out."""
        where = self.xp.asarray(odd, device=self.device)
        features = as_table(to_host(self.xp.take(self.table, where, axis=0)))
        responses = no_columns(features)
        if self.rows.n_responses:
            values = [self.rows.response_rows(place, place + 1) for place in odd.tolist()]
            responses = as_responses(np.concatenate(values))
        few = replace(self.rows, features=features, responses=responses)
        return host.add_up(few, self.recipe)


def _block_rows(n_rows: int, recipe: Recipe) -> int:
    """Rows of a block: of as few blocks as may be, all of them about equally full."""
    width = _round_up(recipe.dimension, COLUMN_MULTIPLE)
    most = min(BLOCK_CELLS // width, recipe.max_block_rows) // ROW_MULTIPLE
    blocks = math.ceil(n_rows / (max(most, 1) * ROW_MULTIPLE))
    return _round_up(math.ceil(n_rows / blocks), ROW_MULTIPLE)


def _round_up(number: int, multiple: int) -> int:
    """The next whole multiple."""
    return number + -number % multiple


def _transform(recipe: Recipe) -> NDArray[np.float64]:
    """What rows are multiplied by from the left: both they and their predictors come out."""
    return np.concatenate([recipe.whitener, recipe.whitener @ recipe.coef], axis=1).T
