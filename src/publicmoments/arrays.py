"""Arrays: their type, and read-only ones inside frozen records."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
"""Numbers of any shape; what shape is said where it is used."""

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None
"""Where reproducible noise comes from; None stands for noise that protects."""


def read_only(values: ArrayLike) -> Array:
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
