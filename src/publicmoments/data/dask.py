"""Dask arrays and data frames, summed where their partitions are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from publicmoments.data.asking import asked, needed
from publicmoments.data.frame import Result, Work, added, guarded, settled
from publicmoments.data.names import ColumnType, pandas_type

FAN_IN = 16
"""Sums that are added by one task."""


@dataclass(frozen=True, eq=False)
class DaskFrame:
    """
    A Dask DataFrame.

    A pass is one computation on whichever scheduler is in force. A partition is read and summed by
    one task, so that its rows do not travel; integers do, 8 bytes for each entry of the sum.
    Workers need publicmoments and what it depends on, best in the versions of the client.
    Partitions that are lost are computed again, and have to hold the same rows then.
    """

    frame: Any = field(repr=False)
    names: tuple[str, ...]
    threads: int | None = 1

    def types(self, names: Sequence[str]) -> tuple[ColumnType, ...]:
        """Types of some columns."""
        dtypes = asked(lambda: self.frame.dtypes, names)
        return tuple(pandas_type(name, dtypes[name]) for name in names)

    def only(self, names: Sequence[str]) -> DaskFrame:
        """Return the same rows with those columns alone."""
        return replace(self, names=tuple(names))

    @cached_property
    def n_rows(self) -> int:
        """Number of rows; one computation."""
        return asked(lambda: len(self._chosen), self.names)

    @property
    def _chosen(self) -> Any:
        """The columns, chosen at once: Dask computes more than it must for a choice of a choice."""
        return self.frame[list(self.names)]

    def map_add(self, work: Work) -> NDArray[np.int64]:
        """Sum partitions where they are; see `Frame.map_add`."""
        sums = self._chosen.map_partitions(
            _piece_sum, _shared(work), meta=(None, object), enforce_metadata=False
        )
        return _total(sums.to_delayed(), self.names)


@dataclass(frozen=True, eq=False)
class DaskArrays:
    """
    Dask arrays with the same rows, such as X and y; see `DaskFrame`.

    A block of X and the rows of y that go with it are summed by one task. Where two workers hold
    them, one sends its block to the other, and Dask sends the smaller; nothing but integers comes
    back to the client. In a data frame X and y lie together, and no row travels at all.
    """

    arrays: Mapping[str, Any] = field(repr=False)
    threads: int | None = 1

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> DaskArrays:
        """Put arrays beside each other; the first one says how rows are cut."""
        (first, X), *others = arrays.items()
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead: {first}")
        for name, array in others:
            _check_beside(X, array, first, name)
        known = not np.isnan(X.shape[0])
        return cls({first: X} | {n: a.rechunk({0: X.chunks[0]}) if known else a for n, a in others})

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arrays; their columns have none."""
        return tuple(self.arrays)

    def types(self, names: Sequence[str]) -> tuple[ColumnType, ...]:
        """Types of all columns of some arrays."""
        arrays = [self.arrays[name] for name in names]
        return tuple(
            pandas_type(f"column {index}", array.dtype)
            for array in arrays
            for index in range(1 if array.ndim == 1 else int(array.shape[1]))
        )

    def only(self, names: Sequence[str]) -> DaskArrays:
        """Return the same rows with those arrays alone."""
        return replace(self, arrays={name: self.arrays[name] for name in names})

    @cached_property
    def n_rows(self) -> int:
        """Number of rows; a computation where the array does not know."""
        first = next(iter(self.arrays.values()))
        rows = first.shape[0]
        return int(self.map_add(_count)[0]) if np.isnan(rows) else int(rows)

    def map_add(self, work: Work) -> NDArray[np.int64]:
        """Sum blocks where they are; see `Frame.map_add`."""
        da = needed("dask.array", "dask")
        operands: list[Any] = []
        for place, array in enumerate(self.arrays.values(), 1):
            # Rows are common to all arrays; columns are each array's own, and the sum drops them.
            operands += [array, (0, place)[: array.ndim]]
        given = {"work": _shared(work), "names": self.names, "concatenate": True}
        result = {"dtype": object, "meta": np.empty(0, dtype=object)}
        sums = da.blockwise(_block_sum, (0,), *operands, **given, **result)
        return _total(sums.to_delayed(), self.names)


def _check_beside(X: Any, array: Any, first: str, name: str) -> None:
    """Refuse what cannot stand beside a Dask array."""
    if not hasattr(array, "dask") or array.ndim not in (1, 2):
        raise TypeError(
            f"{name} must be a Dask array like {first}, of shape (n,) or (n, q), got "
            f"{type(array).__name__}; make it with dask.array.from_array"
        )
    rows, others = X.shape[0], array.shape[0]
    unknown = np.isnan(rows) or np.isnan(others)
    agree = X.numblocks[0] == array.numblocks[0] if unknown else rows == others
    if not agree:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"{first} has {rows} rows and {name} has {others}; pass one response per row"
        )


def _count(piece: Mapping[str, Any]) -> NDArray[np.int64]:
    """Count the rows of a piece."""
    return np.array([len(next(iter(piece.values())))])


def _piece_sum(piece: Any, work: Work) -> Result:
    """Sum one partition."""
    return guarded(work, piece)


def _block_sum(*blocks: Any, work: Work, names: tuple[str, ...]) -> Result:
    """Sum the rows of one block of every array."""
    return guarded(work, dict(zip(names, blocks, strict=True)))


def _shared(work: Work) -> Any:
    """Put work into the graph once, for all tasks."""
    name = f"publicmoments-work-{uuid4().hex}"
    return needed("dask", "dask").delayed(work, name=name, traverse=False)


def _total(sums: Any, names: Sequence[str]) -> NDArray[np.int64]:
    """Add sums in a tree, and bring the last one home."""
    add = needed("dask", "dask").delayed(added, pure=False, traverse=True)
    level = list(np.ravel(sums))
    while len(level) > 1:
        level = [add(level[start : start + FAN_IN]) for start in range(0, len(level), FAN_IN)]
    return settled(asked(level[0].compute, names))
