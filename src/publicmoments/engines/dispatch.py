"""Exact sums over private rows, wherever they are: private until they have passed the door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.data import Frame, located
from publicmoments.engines import device, host
from publicmoments.engines.host import KeptBlock
from publicmoments.rows.private_rows import PrivateRows
from publicmoments.rows.recipe import Recipe


def exact_sum(
    rows: PrivateRows,
    recipe: Recipe,
    *,
    block_rows: int | None = None,
    threads: int | None = None,
    kept: KeptBlock | None = None,
) -> NDArray[np.int64]:
    """
    Sum the integer rows r of a table, or r r^T, exactly, wherever it is.

    Parameters
    ----------
    rows : PrivateRows
        The table.
    recipe : Recipe
        How each row is bounded, and whether products are summed.
    block_rows, threads : int, optional
        As in `publicmoments.engines.host.add_up`, for tables in memory.
    kept : KeptBlock, optional
        Likewise.

    Returns
    -------
    ndarray of int64
        Private; never to leave but through the door.

    Notes
    -----
    **Releases.** Nothing: the sum is exact and private.

    **Assumes.** Checked here: the recipe was made for as many rows as the table has, which is what
    keeps sums inside 64-bit integers. Owed by the caller: tables that give the same rows whenever
    they are asked.

    **Guarantee.** The result is the integer sum of what the recipe makes of each row, which depends
    on that row alone: replacing one row of the table changes one term of the sum.

    **Why.** The engines say why each sum is exact. Pieces of a table give integers, by the blocks
    that the recipe alone shapes; integers add up to the same sum however the table is cut, and
    whoever adds them. Each piece counts its rows too, so that a table which has lost or gained
    rows since they were counted is refused.

    **Numerics.** The sum is the same for every number of threads and, with kernels that treat all
    columns of a product alike, for every order of the rows: OpenBLAS's for AVX-512 do, and those
    for older processors do in float64 at most. Another shape of block or another linear algebra
    library may whiten a row with another last bit, and so move an entry that lies within that bit
    of a tie to the next integer. What a row becomes may then depend on where it stands, but never
    on other rows, and its bound holds: the privacy of the sum is not touched. A block that holds
    NaN, infinity or an enormous number is read again with more care, which takes longer.
    """
    if rows.n_rows != recipe.n_rows:
        raise ValueError(
            f"the recipe must be made for the rows it bounds, got n_rows={recipe.n_rows} in the "
            f"recipe and {rows.n_rows} rows"
        )
    if rows.frame is not None:
        return _over_pieces(rows, rows.frame, recipe, threads)
    if rows.on_device:
        return device.add_up(rows, recipe)
    return host.add_up(rows, recipe, block_rows, threads, kept)


def _over_pieces(
    rows: PrivateRows, frame: Frame, recipe: Recipe, threads: int | None
) -> NDArray[np.int64]:
    """Add up what the pieces of a frame reduce to."""
    work = PieceSum(rows, recipe, threads or frame.threads)
    sums = located(lambda: frame.map_add(work), frame)
    if sums.shape != (work.size,) or not sums[-1] == rows.n_rows == recipe.n_rows:
        raise ValueError(
            f"the table must have the same {rows.n_rows} rows whenever it is read, got another "
            "number of them; read from a source that does not change, nothing has been spent"
        )
    return sums[:-1].reshape(work.shape)


@dataclass(frozen=True, eq=False)
class PieceSum:
    """
    What is done to a piece of a table: its integers, and last the number of its rows.

    Sent to other machines, it takes along the recipe and how to read a row: public numbers and the
    names of columns.
    """

    rows: PrivateRows
    recipe: Recipe
    threads: int | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the sum."""
        return (self.recipe.dimension,) * (2 if self.recipe.products else 1)

    @property
    def size(self) -> int:
        """Integers that a piece reduces to."""
        return int(np.prod(self.shape)) + 1

    def __call__(self, piece: Any) -> NDArray[np.int64]:
        """Reduce a piece."""
        if not _length(piece):
            return np.zeros(self.size, dtype=np.int64)
        rows = self.rows.on(piece)
        total = host.add_up(rows, self.recipe, threads=self.threads)
        return np.append(total.ravel(), np.int64(rows.n_rows))


def _length(piece: Any) -> int:
    """Rows of a piece: an ordinary table, or arrays by name."""
    if isinstance(piece, dict):
        piece = next(iter(piece.values()))
    return int(piece.num_rows) if hasattr(piece, "num_rows") else len(piece)
