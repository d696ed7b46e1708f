"""Summing wherever the rows are: in memory, on a device, or in the frame that holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from publicmoments.engines import device, numpy_engine
from publicmoments.engines.exact import ExactGram, ExactTotal
from publicmoments.rows import PrivateRows, Recipe
from publicmoments.sources import Frame
from publicmoments.threads import single_threaded

__all__ = ["PieceSum", "sum_gram", "sum_total"]

Kind = Literal["gram", "total"]


def sum_gram(
    rows: PrivateRows,
    recipe: Recipe,
    *,
    block_rows: int | None = None,
    threads: int | None = None,
) -> ExactGram:
    """
    Sum r r^T over the integer rows r of a table, exactly, wherever it is.

    Parameters are those of `publicmoments.engines.numpy_engine.sum_gram`, and so is what holds of
    the sum.

    Notes
    -----
    **Why.** Pieces of a table give integers, by the blocks that the recipe alone shapes; integers
    add up to the same sum however the table is cut, and whoever adds them. Each piece counts its
    rows too, so that a table which has lost or gained rows since they were counted is refused.
    """
    if rows.frame is not None:
        return ExactGram(_over_pieces(rows, rows.frame, recipe, "gram", threads), rows.n_rows)
    if rows.on_device:
        return ExactGram(device.add_up(rows, recipe, "gram"), rows.n_rows)
    return numpy_engine.sum_gram(rows, recipe, block_rows=block_rows, threads=threads)


def sum_total(
    rows: PrivateRows,
    recipe: Recipe,
    *,
    block_rows: int | None = None,
    threads: int | None = None,
) -> ExactTotal:
    """Sum the integer rows of a table, exactly; see `sum_gram`, of which all else holds."""
    if rows.frame is not None:
        return ExactTotal(_over_pieces(rows, rows.frame, recipe, "total", threads), rows.n_rows)
    if rows.on_device:
        return ExactTotal(device.add_up(rows, recipe, "total"), rows.n_rows)
    return numpy_engine.sum_total(rows, recipe, block_rows=block_rows, threads=threads)


def _over_pieces(
    rows: PrivateRows, frame: Frame, recipe: Recipe, kind: Kind, threads: int | None
) -> NDArray[np.int64]:
    """Add up what the pieces of a frame reduce to."""
    work = PieceSum(rows, recipe, kind, threads or frame.threads)
    sums = frame.map_add(work)
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
    kind: Kind
    threads: int | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the sum."""
        return (self.recipe.dimension,) * (2 if self.kind == "gram" else 1)

    @property
    def size(self) -> int:
        """Integers that a piece reduces to."""
        return int(np.prod(self.shape)) + 1

    def __call__(self, piece: Any) -> NDArray[np.int64]:
        """Reduce a piece."""
        if not _length(piece):
            return np.zeros(self.size, dtype=np.int64)
        rows = self.rows.on(piece)
        with single_threaded():
            total = numpy_engine.add_up(rows, self.recipe, self.kind, threads=self.threads)
        return np.append(total.ravel(), np.int64(rows.n_rows))


def _length(piece: Any) -> int:
    """Rows of a piece: an ordinary table, or arrays by name."""
    if isinstance(piece, dict):
        piece = next(iter(piece.values()))
    return int(piece.num_rows) if hasattr(piece, "num_rows") else len(piece)
