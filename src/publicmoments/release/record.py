"""The released moments as they are kept, and the second moment they amount to."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np

from publicmoments.arrays import Array, ReadOnlyArrays
from publicmoments.privacy.card import Card
from publicmoments.release.diagnostics import Diagnostics, diagnosed
from publicmoments.release.release_file import read_release, write_release
from publicmoments.release.second_moment import Coordinates, ErrorLaw, Evidence, weighed
from publicmoments.release.weights import RowWeights


@dataclass(frozen=True, eq=False)
class MomentRecord(ReadOnlyArrays):
    """
    What a `MomentRelease` holds; everything in it is public or released.

    Parameters
    ----------
    noisy_gram : ndarray of shape (d + 1, d + 1)
        Noisy mean of c^2 z z^T, with z the whitened row, a one at its end, and c its weight.
    diagonal_sd, offdiagonal_sd : float
        Noise sd of its entries.
    n_rows : int
        Private rows; public.
    columns : tuple of str or None
        Names of the columns.
    weights : RowWeights
        The radius, and the shares that weights are expected to keep.
    coordinates : Coordinates
        What it takes of the public moments.
    anchor : bool
        Whether the public moments count as evidence beside the release.
    card : Card
        The privacy card.
    """

    noisy_gram: Array = field(repr=False)
    diagonal_sd: float
    offdiagonal_sd: float
    n_rows: int
    columns: tuple[str, ...] | None
    weights: RowWeights
    coordinates: Coordinates
    anchor: bool
    card: Card = field(repr=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """
        Read a release written by :meth:`save`.

        Parameters
        ----------
        path : path-like
            A file as `publicmoments.release.release_file` describes it.

        Returns
        -------
        MomentRelease

        Raises
        ------
        ValueError
            If the file is not one, is damaged, or is of a version this library does not read.
        """
        return cls(**read_release(path))

    def save(self, path: str | os.PathLike[str]) -> None:
        """
        Write the release to one file, which appears complete or not at all.

        Parameters
        ----------
        path : path-like
            Where to write; an existing file is replaced.
        """
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        write_release(path, fields)

    # What was released

    @property
    def n_columns(self) -> int:
        """Number of columns of the table."""
        return len(self.noisy_gram) - 1

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the columns; x0, x1, ... where they have none."""
        return self.columns or tuple(f"x{k}" for k in range(self.n_columns))

    @property
    def kept(self) -> float:
        """Expected share of the second moment that survives the weights."""
        return self.weights.kept

    @cached_property
    def evidence(self) -> Evidence:
        """The second moment, from the release and the public moments."""
        return weighed(
            self.noisy_gram, self.offdiagonal_sd, self.weights, self.coordinates, self.anchor
        )

    @property
    def mean(self) -> Array:
        """Estimated means of the columns."""
        ones = self.evidence.root[:, -1]
        return np.asarray((ones @ self.evidence.root / (ones @ ones))[:-1])

    @property
    def second_moment(self) -> Array:
        """Estimated mean of r r^T, r = (columns, 1)."""
        return np.asarray(self.evidence.root.T @ self.evidence.root)

    @property
    def covariance(self) -> Array:
        """Estimated covariance of the columns."""
        centred = self._centred(tuple(range(self.n_columns)))
        return np.asarray(centred.T @ centred)

    @property
    def error_law(self) -> ErrorLaw:
        """
        Variances of entries of the whitened second moment.

        The average has trust w in the release and 1 - w in the public moment, so noise of variance
        t^2 counts as w^2 t^2, sampling of n private rows as w^2 second / (kept kept_shape)^2 / n,
        and that of the public ones as (1 - w)^2 v, v being the variance they were averaged with.
        """
        trust, public = self.evidence.trust, self.evidence.public_variance
        shape = self.weights.kept_shape
        own = self.weights.second / (self.weights.kept * shape) ** 2 / self.n_rows
        return ErrorLaw(
            noise=(trust * self.offdiagonal_sd / shape) ** 2,
            sampling=trust**2 * own + (1.0 - trust) ** 2 * public,
        )

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """Whether the public moments fit, and whether there was enough budget."""
        return diagnosed(
            self.noisy_gram, self.offdiagonal_sd, self.weights, self.coordinates, self.evidence
        )

    def _centred(self, chosen: tuple[int, ...]) -> Array:
        """Pseudo-rows about the means."""
        root, ones = self.evidence.root, self.evidence.root[:, -1]
        centred = root - np.outer(ones, ones @ root / (ones @ ones))
        return np.asarray(centred[:, list(chosen)])
