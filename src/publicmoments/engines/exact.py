"""An exact sum over private rows: private until it has passed the door."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["ExactSum"]


@dataclass(frozen=True, eq=False)
class ExactSum:
    """
    Exact Gram matrix of the integer rows of a table.

    Parameters
    ----------
    exact_gram : ndarray of int64, shape (p + q, p + q)
        Private; hidden from the representation and never to leave but through the release.
    n_rows : int
        Number of rows, which is public.
    """

    exact_gram: NDArray[np.int64] = field(repr=False)
    n_rows: int
