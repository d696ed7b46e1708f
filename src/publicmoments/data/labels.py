"""Class labels, read as positions among classes that the user states."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from publicmoments.arrays import Array
from publicmoments.data.frame import Columns
from publicmoments.data.memory import (
    NO_CLASS,
    is_frame,
    object_codes,
    on_device,
    plain_arrow,
    to_host,
)
from publicmoments.data.names import library, require_cells
from publicmoments.data.reading import elsewhere, refuse_unreadable, require_given
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
    require_given(y, what, "label")
    if isinstance(y, Columns):
        return elsewhere(y, partial(_as_labels, classes=classes, what=what, part=True), what)
    refuse_unreadable(y, what)
    column, one_dimensional = _column(y, what)
    n_rows = column.shape[0] if hasattr(column, "shape") else len(column)
    require_cells(n_rows, 1, what)
    name = getattr(y, "name", None)
    labels = _Labels(classes, what, part)
    labels.codes(column[:0])
    columns = (name,) if isinstance(name, str) and name != "" else None
    return Table(n_rows, 1, columns, column, labels, one_dimensional)


def _column(y: Any, what: str) -> tuple[Any, bool]:
    """Labels as one column of whatever holds them, and whether they came as a vector."""
    if library(y) in ("pandas", "polars", "pyarrow"):
        table = is_frame(y)
        if table and y.shape[1] != 1:
            raise ValueError(f"{what} must be a vector of labels (n,), got shape {y.shape}")
        if library(y) != "pyarrow":
            return nw.from_native(y[y.columns[0]] if table else y, series_only=True), not table
        column = y.column(0) if table else y
        chunks = column.chunks if hasattr(column, "chunks") else [column]
        column = import_module("pyarrow").chunked_array(chunks, column.type)
        return nw.from_native(column, series_only=True), True
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
        if isinstance(column, nw.Series):
            return self._series(column)
        return self._array(to_host(column) if on_device(column) else np.asarray(column))

    def _array(self, labels: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> Array:
        """Positions of labels in an array, in its own type."""
        if labels.dtype.kind not in "biufUS":
            positions = {label: float(code) for code, label in enumerate(self.classes)}
            codes = object_codes(labels.astype(object), positions)
        else:
            found = (labels == label for label in self._in_type(labels.dtype))
            codes = _matched(len(labels), found)
        if labels.dtype.kind == "f":
            codes[np.isnan(labels)] = np.nan
        if missing is not None:
            codes[missing] = np.nan
        return codes

    def _series(self, series: nw.Series[Any]) -> Array:
        """Positions of labels in a column of a data frame."""
        native = series.to_native()
        if isinstance(getattr(native, "dtype", None), np.dtype):
            # Not narwhals' types: it looks at the cells of objects to tell whether they are words.
            if self.part and native.dtype.kind in "iuf":
                self._refuse_large(native.dtype)
            return self._array(native.to_numpy())
        if series.implementation.is_pyarrow():
            # Narwhals does not tell what a dictionary holds, and Arrow does not compare views.
            plain = plain_arrow(native)
            views = str(plain.type) == "string_view"
            series = nw.from_native(plain.cast("string") if views else plain, series_only=True)
        dtype = series.dtype
        if isinstance(dtype, nw.Categorical | nw.Enum):
            if not series.implementation.is_pandas():
                return self._series(series.cast(nw.String))
            # Categories of pandas have a type of their own, by which they are read.
            of_category = np.append(self._array(native.cat.categories.to_numpy()), np.nan)
            return np.asarray(of_category[native.cat.codes.to_numpy()])
        missing = series.is_null().to_numpy() if series.null_count() else None
        if dtype == nw.String and all(map(_is_text, self.classes)):
            found = (series == label for label in self.classes)
            if missing is not None:
                found = (here.fill_null(False) for here in found)
            codes = _matched(len(series), (here.to_numpy() for here in found))
            return codes if missing is None else np.where(missing, np.nan, codes)
        if dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean:
            if missing is not None:
                series = series.fill_null(False if dtype == nw.Boolean else 0)
            return self._array(series.to_numpy(), missing)
        return self._array(_objects(series.to_list()))

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


def _matched(n_rows: int, found: Iterable[NDArray[np.bool_]]) -> Array:
    """Positions of labels, given by class where it was found."""
    codes = np.full(n_rows, NO_CLASS)
    for code, here in enumerate(found):
        codes[here] = code
    return codes


def _is_text(label: Any) -> bool:
    """Whether a class is text as columns hold it, and no half of a character."""
    return isinstance(label, str) and label.encode(errors="replace").decode() == label


def _single(cell: Any) -> Any:
    """A cell, or the only one of a row."""
    return cell[0] if isinstance(cell, list | tuple) and len(cell) == 1 else cell


def _objects(cells: list[Any]) -> NDArray[Any]:
    """A vector of cells as they are, lists among them too."""
    labels = np.empty(len(cells), dtype=object)
    labels[:] = cells
    return labels
