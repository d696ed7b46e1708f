"""Class labels, read as positions among classes that the user states."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.sources import Columns
from publicmoments.sources.opening import library
from publicmoments.tables.names import require_cells
from publicmoments.tables.reading import elsewhere, refuse_unreadable
from publicmoments.tables.table import Table

__all__ = ["as_labels"]

WHOLE = "biu"
"""Kinds of numbers of which none is missing."""


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
        Of one column. A block that holds any other label raises ValueError.

    Examples
    --------
    >>> as_labels(["no", "yes", "no"], classes=("no", "yes")).values().ravel()
    array([0., 1., 0.])
    """
    if y is None:
        raise ValueError(
            f"the fit requires y to be passed, but the target {what} is None; "
            "pass one label per row"
        )
    if isinstance(y, Columns):
        return elsewhere(y, partial(as_labels, classes=tuple(classes), what=what), what)
    refuse_unreadable(y, what)
    labels = _label_array(y)
    one_dimensional = labels.ndim == 1
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"{what} must be a vector of labels (n,), got shape {labels.shape}")
    require_cells(len(labels), 1, what)
    name = getattr(y, "name", None)
    return Table(
        n_rows=len(labels),
        n_columns=1,
        columns=(name,) if isinstance(name, str) and name != "" else None,
        source=(labels, tuple(classes), what),
        reader=_label_block,
        one_dimensional=one_dimensional,
    )


def _label_array(y: Any) -> NDArray[Any]:
    """View labels as an array, without a common type for words and missing ones."""
    if library(y) == "pyarrow":
        column = y.column(0) if hasattr(y, "schema") else y
        # Objects where there are nulls: integers would become floats, and booleans fail.
        nulls = column.null_count > 0
        return np.asarray(column.to_pylist(), dtype=object) if nulls else np.asarray(column)
    return np.asarray(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)


def _label_block(source: Any, start: int, stop: int) -> NDArray[np.float64]:
    """Positions of the labels among the classes; NaN where a label is missing."""
    labels, classes, what = source
    part = labels[start:stop]
    if part.dtype.kind in WHOLE:
        codes = found = _codes(part, classes)
    else:
        missing = _missing(part)
        codes, found = np.full(len(part), np.nan), _codes(part[~missing], classes)
        codes[~missing] = found
    if found.min(initial=0.0) < 0.0:
        raise ValueError(
            f"{what} holds labels that are not among classes={classes!r}; state every class "
            "in classes=, or drop such rows"
        )
    return codes.reshape(-1, 1)


def _codes(labels: NDArray[Any], classes: tuple[Any, ...]) -> NDArray[np.float64]:
    """Positions of labels among the classes; -1 where a label is none of them."""
    codes = np.full(len(labels), -1.0)
    for code, label in enumerate(classes):
        codes[np.asarray(labels == label, dtype=bool)] = code
    return codes


def _missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell where a label is None, NaN, or what pandas has for either."""
    if labels.dtype.kind != "O":
        return np.asarray(labels != labels)
    # What is missing in pandas has no truth value to ask for.
    odd = ("NAType", "NaTType")
    return np.array([cell is None or type(cell).__name__ in odd or cell != cell for cell in labels])
