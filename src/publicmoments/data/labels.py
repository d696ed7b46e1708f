"""Class labels, read as positions among classes that the user states."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.arrays import Array
from publicmoments.data.cells import NO_CLASS, object_codes
from publicmoments.data.device_arrays import on_device, to_host
from publicmoments.data.frame import Columns
from publicmoments.data.names import require_cells
from publicmoments.data.opening import library
from publicmoments.data.reading import elsewhere, refuse_unreadable
from publicmoments.data.table import Table

EXACT_INTEGERS = 2**53
"""Whole numbers below this are told apart in any kind of column."""


def as_labels(y: Any, classes: Sequence[Any], what: str = "y") -> Table:
    """Read a vector of class labels as the positions of the labels among the stated classes.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, 1), or Series
        Labels. Missing ones are read as NaN.
    classes : sequence
        The labels there may be, which are public.
    what : str
        Name of the parameter, used in error messages.

    Returns
    -------
    Table
        Of one column. Any other label is refused when it is read, or NaN.

    Raises
    ------
    TypeError
        Where the type of the labels cannot hold a class.
    ValueError
        Where two classes are the same in that type.

    Notes
    -----
    **Guarantee.** The position of a label depends on that label and on the type of its column.

    **Why.** Labels are compared in the declared type of their column, to which the classes are
    converted once. Missing labels have a mask: they do not change how others are represented.

    Examples
    --------
    >>> as_labels(["no", "yes", "no"], classes=("no", "yes")).values().ravel()
    array([0., 1., 0.])
    """
    return _as_labels(y, tuple(classes), what)


def _as_labels(y: Any, classes: tuple[Any, ...], what: str, part: bool = False) -> Table:
    """Read labels; those of a part of a frame may be of another type than those of others."""
    if y is None:
        raise ValueError(
            f"the fit requires y to be passed, but the target {what} is None; "
            "pass one label per row"
        )
    if isinstance(y, Columns):
        return elsewhere(y, partial(_as_labels, classes=classes, what=what, part=True), what)
    refuse_unreadable(y, what)
    column, one_dimensional = _column(y, what)
    n_rows = column.shape[0] if hasattr(column, "shape") else len(column)
    require_cells(n_rows, 1, what)
    name = getattr(y, "name", None)
    labels = _Labels(classes, what, part)
    labels.codes(column[:0])
    return Table(
        n_rows=n_rows,
        n_columns=1,
        columns=(name,) if isinstance(name, str) and name != "" else None,
        source=column,
        reader=labels,
        one_dimensional=one_dimensional,
    )


def _column(y: Any, what: str) -> tuple[Any, bool]:
    """Labels as one column of whatever holds them, and whether they came as a vector."""
    if library(y) in ("pandas", "polars", "pyarrow"):
        table = hasattr(y, "columns")
        if table and y.shape[1] != 1:
            raise ValueError(f"{what} must be a vector of labels (n,), got shape {y.shape}")
        if library(y) == "pyarrow":
            return (y.column(0) if table else y), True
        return (y[y.columns[0]] if table else y), not table
    if isinstance(y, list | tuple):
        # A list has no type: its cells are looked at one by one, rows of one cell among them.
        return _objects([_single(cell) for cell in y]), True
    labels = y if on_device(y) else np.asarray(y)
    one_dimensional = labels.ndim == 1
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"{what} must be a vector of labels (n,), got shape {tuple(labels.shape)}")
    return labels, one_dimensional


@dataclass(frozen=True)
class _Labels:
    """How labels are read: a record, for it is sent to wherever the rows are."""

    classes: tuple[Any, ...]
    what: str
    part: bool

    def __call__(self, source: Any, start: int, stop: int, strict: bool) -> Array:
        """Read labels."""
        codes = self.codes(source[start:stop])
        unknown = codes == NO_CLASS
        if unknown.any():
            if strict:
                raise ValueError(
                    f"{self.what} holds labels that are not among classes={self.classes!r}; state "
                    "every class in classes=, or drop such rows"
                )
            codes[unknown] = np.nan
        return codes.reshape(-1, 1)

    def codes(self, column: Any) -> Array:
        """Positions of labels in any container; NaN for missing ones."""
        match library(column):
            case "pandas":
                return self._pandas(column)
            case "polars":
                return self._polars(column)
            case "pyarrow":
                return self._arrow(column)
        return self._array(to_host(column) if on_device(column) else np.asarray(column))

    def _array(self, labels: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> Array:
        """Positions of labels in an array, in its own type."""
        if labels.dtype.kind not in "biufUS":
            codes = object_codes(labels.astype(object), self._positions())
        else:
            codes = np.full(len(labels), NO_CLASS)
            for code, label in enumerate(self._in_type(labels.dtype)):
                codes[labels == label] = code
        if labels.dtype.kind == "f":
            codes[np.isnan(labels)] = np.nan
        if missing is not None:
            codes[missing] = np.nan
        return codes

    def _pandas(self, series: Any) -> Array:
        """Positions of labels in a pandas Series."""
        dtype = series.dtype
        if dtype.name == "category":
            of_category = np.append(self.codes(series.cat.categories.to_series()), np.nan)
            return np.asarray(of_category[series.cat.codes.to_numpy()])
        if isinstance(dtype, np.dtype):
            if self.part and dtype.kind in "iuf":
                self._refuse_large(dtype)
            return self._array(series.to_numpy())
        missing = series.isna().to_numpy()
        plain = getattr(dtype, "numpy_dtype", np.dtype(object))
        if plain.kind not in "biuf":
            return self._array(series.to_numpy(dtype=object, na_value=None))
        nothing = np.nan if plain.kind == "f" else plain.type(0)
        return self._array(series.to_numpy(dtype=plain, na_value=nothing), missing)

    def _polars(self, series: Any) -> Array:
        """Positions of labels in a polars Series."""
        dtype, missing = series.dtype, series.is_null().to_numpy()
        if dtype.is_integer():
            return self._array(series.fill_null(0).to_numpy(), missing)
        if str(dtype) == "Boolean":
            return self._array(series.fill_null(False).to_numpy(), missing)
        if dtype.is_float():
            return self._array(series.to_numpy(), missing)
        return self._array(_objects(series.to_list()))

    def _arrow(self, column: Any) -> Array:
        """Positions of labels in an Arrow array."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_float16(column.type):
            column = column.cast(pa.float32())
        kind, words = (
            column.type,
            pa.types.is_string(column.type) or pa.types.is_large_string(column.type),
        )
        if words and all(isinstance(label, str) for label in self.classes):
            found = pc.index_in(column, value_set=pa.array(self.classes, kind))
            codes = np.asarray(pc.fill_null(found, -1), dtype=np.float64)
            codes[np.asarray(column.is_null())] = np.nan
            return codes
        numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if numbers or pa.types.is_boolean(kind):
            filled = pc.fill_null(column, pa.scalar(0).cast(kind))
            return self._array(np.asarray(filled), np.asarray(column.is_null()))
        return self._array(_objects(column.to_pylist()))

    def _positions(self) -> dict[Any, float]:
        """Where each class stands."""
        return {label: float(code) for code, label in enumerate(self.classes)}

    def _in_type(self, dtype: np.dtype[Any]) -> list[Any]:
        """The classes in the type of a column, in which they must be different."""
        labels = [_converted(label, dtype) for label in self.classes]
        if any(label is None for label in labels):
            raise TypeError(
                f"classes={self.classes!r} must be labels that a column of type {dtype} can hold, "
                f"as {self.what} is one; state them in that type"
            )
        if len(set(labels)) != len(labels):
            raise ValueError(
                f"classes={self.classes!r} are not different in a column of type {dtype}, as "
                f"{self.what} is one; store the labels in a type that tells them apart"
            )
        return labels

    def _refuse_large(self, dtype: np.dtype[Any]) -> None:
        """
        Refuse classes that are told apart in some parts of a frame and not in others.

        A part of a Dask frame whose column has whole numbers holds floats if one is missing.
        """
        numbers = [label for label in self.classes if isinstance(label, int | float)]
        if any(abs(label) >= EXACT_INTEGERS for label in numbers):
            raise ValueError(
                f"classes={self.classes!r} must be below 2^53 in columns of type {dtype}, whose "
                f"parts are floats where labels are missing; store {self.what} as Int64"
            )


def _converted(label: Any, dtype: np.dtype[Any]) -> Any:
    """A class in the type of a column, or None where it cannot hold it."""
    if dtype.kind in "US":
        return label if isinstance(label, str if dtype.kind == "U" else bytes) else None
    if not isinstance(label, int | float) or not math.isfinite(label):
        return None
    if dtype.kind == "f":
        number = dtype.type(label)
        return number if np.isfinite(number) else None
    if dtype.kind == "b":
        return bool(label) if label in (0, 1) else None
    limits = np.iinfo(dtype)
    whole = label == int(label) and limits.min <= label <= limits.max
    return dtype.type(int(label)) if whole else None


def _single(cell: Any) -> Any:
    """A cell, or the only one of a row."""
    return cell[0] if isinstance(cell, list | tuple) and len(cell) == 1 else cell


def _objects(cells: list[Any]) -> NDArray[Any]:
    """A vector of cells as they are, lists among them too."""
    labels = np.empty(len(cells), dtype=object)
    labels[:] = cells
    return labels
