"""What several tests of the private side do with rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from publicmoments.engines.numpy_engine import _Desk
from publicmoments.rows import PrivateRows, Recipe
from publicmoments.tables import as_responses, as_table


def integer_rows(recipe: Recipe, X: Any, Y: Any) -> np.ndarray:
    """Integer rows of one block, one below the other, as an engine makes them."""
    rows = PrivateRows(as_table(np.array(X, dtype=float)), as_responses(np.array(Y)), False, True)
    return block_rows(recipe, rows, 0, rows.n_rows, rows.n_rows)


def block_rows(recipe: Recipe, rows: PrivateRows, start: int, stop: int, size: int) -> np.ndarray:
    """Integer rows of a block of a given size, padding included."""
    bounded = _Desk(rows, recipe, "total", size).integers(start, stop)
    return np.ascontiguousarray(bounded.T.astype(float))
