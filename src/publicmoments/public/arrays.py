"""Read-only arrays inside frozen records."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Matrix", "ReadOnlyArrays", "read_only"]

Matrix = NDArray[np.float64]


def read_only(values: ArrayLike) -> Matrix:
    """Copy to a float64 array that cannot be written to."""
    array = np.array(values, dtype=np.float64, order="C")
    array.setflags(write=False)
    return array


class ReadOnlyArrays:
    """Keeps the arrays of a frozen record read-only through pickling."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the fields; unpickled arrays are writeable until told otherwise."""
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)
