"""Principal components read off a moment release."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from publicmoments.arrays import Array, ReadOnlyArrays, read_only
from publicmoments.data import as_table, match_columns


@dataclass(frozen=True, eq=False)
class Components(ReadOnlyArrays):
    """
    Principal components of some columns.

    Parameters
    ----------
    features : tuple of str
        The columns.
    components : ndarray of shape (n_components, n_features)
        Axes of largest variance first; the largest loading of each is positive.
    explained_variance, explained_variance_ratio : ndarray of shape (n_components,)
        Variance along each axis, and its share of the whole.
    mean : ndarray of shape (n_features,)
        Means of the columns.
    size : ndarray of shape (n_features,)
        What the centred columns are divided by: ones, or their standard deviations.
    named : bool
        Whether the columns have names of their own.
    """

    features: tuple[str, ...]
    components: Array = field(repr=False)
    explained_variance: Array
    explained_variance_ratio: Array
    mean: Array = field(repr=False)
    size: Array = field(repr=False)
    named: bool = field(repr=False)

    def transform(self, X: Any) -> Array:
        """
        Return the scores of rows on the components.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The columns.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
        """
        table = as_table(X, "X")
        match_columns(table, self.features if self.named else None, "X")
        if table.n_columns != len(self.features):
            raise ValueError(
                f"X has {table.n_columns} features, but the components have "
                f"{len(self.features)}; pass the same columns"
            )
        return np.asarray((table.values() - self.mean) / self.size @ self.components.T)


def components_of(
    columns: Array,
    means: Array,
    n_rows: int,
    n_components: int,
    scale: bool,
    features: tuple[str, ...],
    named: bool,
) -> Components:
    """
    Decompose centred pseudo-rows, whose Gram matrix is the covariance.

    Variances are those of n - 1 degrees of freedom, as scikit-learn has them.
    """
    freedom = n_rows / (n_rows - 1)
    size = np.sqrt(np.sum(columns**2, axis=0) * freedom) if scale else np.ones(len(means))
    _, roots, axes = np.linalg.svd(columns / size, full_matrices=False)
    variances = roots**2 * freedom
    largest = np.argmax(np.abs(axes), axis=1)
    axes = axes * np.sign(axes[np.arange(len(axes)), largest])[:, None]
    return Components(
        features=features,
        components=read_only(axes[:n_components]),
        explained_variance=read_only(variances[:n_components]),
        explained_variance_ratio=read_only((variances / variances.sum())[:n_components]),
        mean=read_only(means),
        size=read_only(size),
        named=named,
    )
