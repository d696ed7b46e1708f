"""Arrays that live on a device, or in any other library of the array API."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.data.asking import needed
from publicmoments.data.memory import array_table
from publicmoments.data.names import library
from publicmoments.data.table import Table


def on_device(data: Any) -> bool:
    """Tell whether an array is none of NumPy's, and cannot be read as one in passing."""
    module = library(data)
    if module == "torch":
        return str(data.device) != "cpu"
    if module == "cupy":
        return True
    return module != "numpy" and module != "dask" and hasattr(data, "__array_namespace__")


def device_table(array: Any, what: str) -> Table:
    """Wrap an array of shape (n,) or (n, k), which stays where it is."""
    needed("array_api_compat", "gpu")
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{what} must be a table (n, k) or a vector (n,), got shape {tuple(array.shape)}; "
            f"reshape {what}"
        )
    vector = array.ndim == 1
    table = array[:, None] if vector else array
    return array_table(table, what, _host_block, one_dimensional=vector)


def device_array(table: Table) -> Any:
    """Return the array of a table that lives on a device, and None for other tables."""
    return table.source if table.reader is _host_block else None


def to_host(array: Any) -> NDArray[Any]:
    """Copy an array to NumPy."""
    if library(array) == "cupy":
        return np.asarray(array.get())
    if library(array) == "torch":
        # Short floats that NumPy does not know.
        short = str(array.dtype).endswith("bfloat16")
        return np.asarray((array.double() if short else array).detach().cpu().numpy())
    return np.from_dlpack(array)


def _host_block(source: Any, start: int, stop: int, strict: bool) -> NDArray[np.float64]:
    """Copy some rows to NumPy."""
    return np.asarray(to_host(source[start:stop, :]), dtype=np.float64)
