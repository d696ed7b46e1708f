"""The private rows of a fit, read block by block."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from publicmoments.arrays import Array
from publicmoments.data import Frame, Table, device_array
from publicmoments.rows.grid import Block


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
        What to do with rows that hold NaN, infinity, or cells that are of no use: True turns each
        into a row of zeros, so that whether there are any stays hidden in the noise; False refuses
        the table, which tells whoever sees the error that there are some.
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
    def frame(self) -> Frame | None:
        """Where the rows live, if not in memory."""
        return self.features.frame

    @property
    def on_device(self) -> bool:
        """Whether the features live on a device, or in another array library."""
        return device_array(self.features) is not None

    def on(self, piece: Any) -> PrivateRows:
        """Return the rows of one piece of the frame, read in the same way."""
        return replace(self, features=self.features.on(piece), responses=self.responses.on(piece))

    @property
    def n_design(self) -> int:
        """Columns of a design block, the intercept included."""
        return self.features.n_columns + self.fit_intercept

    @property
    def n_responses(self) -> int:
        """Columns of a response block."""
        return self.responses.n_columns

    def fill(self, design: Block, responses: Array, start: int, stop: int) -> None:
        """
        Write rows ``start`` to ``stop`` to the columns of a block, and zeros behind them.

        A padding row has no influence: it is all zeros, the intercept included. Cells are taken as
        they are; see `settled`.
        """
        d, count = self.features.n_columns, stop - start
        design[:d, :count] = self._read(self.features, start, stop).T
        design[d:, :count] = 1.0
        design[:, count:] = 0.0
        responses[:, :count] = self.response_rows(start, stop).T
        responses[:, count:] = 0.0

    def response_rows(self, start: int, stop: int) -> Array:
        """Responses of rows ``start`` to ``stop``, as they are."""
        return self._read(self.responses, start, stop)

    def _read(self, table: Table, start: int, stop: int) -> Array:
        """Read rows; cells that are of no use are refused, or NaN where such rows are ignored."""
        return table.read(start, stop, strict=not self.ignore_invalid)

    def settled(self, start: int, stop: int, block_rows: int) -> tuple[Array, Array]:
        """Return the same in float64, rows with NaN or infinity being refused or zero."""
        design = np.empty((self.n_design, block_rows))
        responses = np.empty((self.n_responses, block_rows))
        self.fill(design, responses, start, stop)
        sound = np.isfinite(design).all(axis=0) & np.isfinite(responses).all(axis=0)
        if not (self.ignore_invalid or sound.all()):
            raise InvalidRows(self._complaint(design, responses))
        design[:, ~sound], responses[:, ~sound] = 0.0, 0.0
        return design, responses

    def _complaint(self, design: Array, responses: Array) -> str:
        """Name the parameter and columns, never rows or values."""
        places = []
        for name, table, block in (("X", self.features, design), ("y", self.responses, responses)):
            which = np.flatnonzero(~np.isfinite(block).all(axis=1))
            if len(which):
                labels = [str(j) if table.columns is None else table.columns[j] for j in which]
                places.append(f"{name} (column {', '.join(labels)})")
        return (
            f"Input contains NaN or infinity: {' and '.join(places)}; drop or fill such rows, and "
            'those with text among numbers, or pass on_invalid="ignore" to count each of them as a '
            "row of zeros"
        )
