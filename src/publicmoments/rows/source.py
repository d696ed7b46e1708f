"""The private rows of a fit, read block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from publicmoments.tables import Table

__all__ = ["InvalidRows", "PrivateRows"]

Block = tuple[NDArray[np.float64], NDArray[np.float64]]


class InvalidRows(ValueError):
    """Private rows contain NaN or infinity; nothing has been released or spent."""


@dataclass(frozen=True, eq=False)
class PrivateRows:
    """
    Features and responses of the same private rows.

    Parameters
    ----------
    features, responses : Table
        Tables of equal length.
    fit_intercept : bool
        Whether blocks get a column of ones.
    ignore_invalid : bool
        What to do with rows that hold NaN or infinity: True turns each into a row of zeros, so
        that whether there are any stays hidden in the noise; False refuses the table, which tells
        whoever sees the error that there are some.
    """

    features: Table = field(repr=False)
    responses: Table = field(repr=False)
    fit_intercept: bool
    ignore_invalid: bool

    def __post_init__(self) -> None:
        """Lengths must agree."""
        if self.features.n_rows != self.responses.n_rows:
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: X has "
                f"{self.features.n_rows} rows and y has {self.responses.n_rows}; pass one response "
                "per row"
            )

    @property
    def n_rows(self) -> int:
        """Number of rows, which is public."""
        return self.features.n_rows

    @property
    def n_design(self) -> int:
        """Columns of a design block, the intercept included."""
        return self.features.n_columns + self.fit_intercept

    @property
    def n_responses(self) -> int:
        """Columns of a response block."""
        return self.responses.n_columns

    def ranges(self, block_rows: int) -> Iterator[tuple[int, int]]:
        """Cut the rows into consecutive ranges of at most ``block_rows``."""
        for start in range(0, self.n_rows, block_rows):
            yield start, min(start + block_rows, self.n_rows)

    def padded_block(self, start: int, stop: int, block_rows: int) -> Block:
        """
        Return rows ``start`` to ``stop`` as fresh arrays of ``block_rows`` rows, zeros at the end.

        The layout is the same whatever the source, and a padding row has no influence: it is all
        zeros, the intercept column included.
        """
        d, count = self.features.n_columns, stop - start
        design = np.zeros((block_rows, self.n_design))
        responses = np.zeros((block_rows, self.n_responses))
        design[:count, :d] = self.features.block(start, stop)
        responses[:count] = self.responses.block(start, stop)
        if self.fit_intercept:
            design[:count, d] = 1.0
        self._settle_invalid(design, responses)
        return design, responses

    def _settle_invalid(self, design: NDArray[np.float64], responses: NDArray[np.float64]) -> None:
        """Refuse rows with NaN or infinity, or zero them, as the user chose."""
        if np.isfinite(design).all() and np.isfinite(responses).all():
            return
        if not self.ignore_invalid:
            raise InvalidRows(self._complaint(design, responses))
        sound = np.isfinite(design).all(axis=1) & np.isfinite(responses).all(axis=1)
        design[~sound] = 0.0
        responses[~sound] = 0.0

    def _complaint(self, design: NDArray[np.float64], responses: NDArray[np.float64]) -> str:
        """Name the parameter and columns, never rows or values."""
        places = []
        for name, table, block in (("X", self.features, design), ("y", self.responses, responses)):
            bad = np.flatnonzero(~np.isfinite(block).all(axis=0))
            if len(bad):
                labels = [str(j) if table.columns is None else table.columns[j] for j in bad]
                places.append(f"{name} (column {', '.join(labels)})")
        return (
            f"Input contains NaN or infinity: {' and '.join(places)}; drop or fill such rows, or "
            'pass on_invalid="ignore" to count each of them as a row of zeros'
        )
