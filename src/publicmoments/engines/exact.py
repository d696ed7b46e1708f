"""Exact sums over private rows: private until they have passed the door."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["ExactGram", "ExactTotal"]


@dataclass(frozen=True, eq=False)
class ExactGram:
    """
    Exact Gram matrix of the integer rows of a table.

    Parameters
    ----------
    exact_gram : ndarray of int64, shape (dimension, dimension)
        Private; hidden from the representation and never to leave but through the release.
    n_rows : int
        Number of rows, which is public.
    """

    exact_gram: NDArray[np.int64] = field(repr=False)
    n_rows: int


@dataclass(frozen=True, eq=False)
class ExactTotal:
    """
    Exact sum of the integer rows of a table.

    Parameters
    ----------
    exact_total : ndarray of int64, shape (dimension,)
        Private; hidden from the representation and never to leave but through the release.
    n_rows : int
        Number of rows, which is public.
    """

    exact_total: NDArray[np.int64] = field(repr=False)
    n_rows: int
