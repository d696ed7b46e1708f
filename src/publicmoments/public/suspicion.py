"""Signs that something public should not be: the private table itself, or names of people."""

from __future__ import annotations

import re
import warnings
import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from publicmoments.checks import PublicMomentsWarning
from publicmoments.data import listing
from publicmoments.public.joint import PublicRecord

LEAST_ROWS = 20
"""Whole numbers that are all different say nothing where there are fewer public rows."""

IDENTIFIERS = frozenset(
    {"guid", "iban", "id", "identifier", "ids", "mrn", "rowid", "rownames", "ssn", "uuid"}
)
"""Last words of names that columns of identifiers have."""

_TABLES: weakref.WeakKeyDictionary[Any, weakref.ref[Any]] = weakref.WeakKeyDictionary()
"""What public moments were made from, as long as both live."""


def remember(public: PublicRecord, table: object) -> None:
    """Note what public moments were made from, without keeping it alive."""
    # Lists and paths are told apart by nothing that lasts.
    with suppress(TypeError):
        _TABLES[public] = weakref.ref(table)


def refuse_private_as_public(public: object, private: object, what: str = "X") -> None:
    """
    Refuse private rows from which the public moments were made.

    Notes
    -----
    **Guarantee.** Objects and their places in memory are compared, and no cell is looked at.
    """
    noted = _TABLES.get(public) if getattr(public, "fingerprint", None) else None
    table = None if noted is None else noted()
    if table is not None and (table is private or _same_memory(table, private)):
        raise ValueError(
            f"public must not be made from the private rows, and is made from the very table that "
            f"is {what}; all that is computed from it counts as known to everyone, so pass public "
            "moments of other rows"
        )


def _same_memory(one: object, other: object) -> bool:
    """Whether two arrays are views of the same cells."""
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
        return False
    keys = "data", "shape", "strides", "typestr"
    first, second = one.__array_interface__, other.__array_interface__
    return all(first[key] == second[key] for key in keys)


def warn_of_identifiers(
    public: PublicRecord | None, names: Sequence[str] | None, stacklevel: int = 4
) -> None:
    """
    Warn of features that look like identifiers: by their names, or by what public rows hold.

    Parameters
    ----------
    public : PublicMoments or None
        Its rows, where it has any, are looked at; no private row is.
    names : sequence of str or None
        Names of the features.
    stacklevel : int
        Whom the warning is for.
    """
    rows = None if public is None else public.rows
    width = len(names) if names is not None else 0 if public is None else len(public.second_moment)
    labels = [str(k) for k in range(width)] if names is None else list(names)
    found = [
        label
        for k, label in enumerate(labels)
        if (names is not None and _is_identifier(label))
        or (rows is not None and _counts(rows[:, k]))
    ]
    if found:
        warnings.warn(
            f"column(s) {listing(found)} look like identifiers, by name or because all public "
            "values are different whole numbers; a coefficient of one means nothing. Leave them "
            "out, unless they are amounts",
            PublicMomentsWarning,
            stacklevel=stacklevel,
        )


def _is_identifier(name: str) -> bool:
    """
    Whether a name ends like that of a column of identifiers.

    Examples
    --------
    >>> [_is_identifier(name) for name in ("patient_id", "PatientID", "id", "humid", "paid")]
    [True, True, True, False, False]
    """
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return bool(words) and words[-1].lower() in IDENTIFIERS


def _counts(column: Any) -> bool:
    """Whether a column has whole numbers that are all different."""
    whole = len(column) >= LEAST_ROWS and bool((column == np.rint(column)).all())
    return whole and len(np.unique(column)) == len(column)
