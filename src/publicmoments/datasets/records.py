"""A table with its response, and how to split it into a private and a public part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from publicmoments.arrays import Array, ReadOnlyArrays, read_only
from publicmoments.checks import positive_integer


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(ReadOnlyArrays):
    """A table with one response.

    Parameters
    ----------
    name : str
        Short name.
    X : ndarray of shape (n, d)
        Features, read-only, without a column of ones.
    y : ndarray of shape (n,)
        Responses, read-only.
    columns : tuple of str
        Names of the features.
    response : str
        Name of the response.
    doi : str, optional
        Where the table is published.

    Examples
    --------
    >>> Dataset("toy", [[1, 2], [3, 4], [5, 6]], [0, 1, 1], ("a", "b"), "c")
    Dataset('toy', n=3, d=2, response='c')
    """

    name: str
    X: Array
    y: Array
    columns: tuple[str, ...]
    response: str
    doi: str | None = None

    def __post_init__(self) -> None:
        """Copy to read-only arrays and check that they fit together."""
        object.__setattr__(self, "X", read_only(self.X))
        object.__setattr__(self, "y", read_only(self.y))
        object.__setattr__(self, "columns", tuple(self.columns))
        expected = (len(self.y), len(self.columns))
        if self.y.ndim != 1 or self.X.shape != expected:
            raise ValueError(
                f"X must have one row per response and one column per name, {expected}, got shape "
                f"{self.X.shape} with responses of shape {self.y.shape}; pass matching arrays"
            )

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.y)

    def __repr__(self) -> str:
        """Show sizes and names, no values."""
        n, d = self.X.shape
        return f"Dataset({self.name!r}, n={n}, d={d}, response={self.response!r})"

    def frame(self) -> Any:
        """Return features and response, in this order, as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> list(Dataset("toy", [[1.0], [2.0]], [0, 1], ("a",), "b").frame())
        ['a', 'b']
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "Dataset.frame needs pandas; install it with pip install 'publicmoments[frames]'"
            ) from error
        values = np.column_stack([self.X, self.y])
        return pd.DataFrame(values, columns=[*self.columns, self.response])


def split(dataset: Dataset, n_public: int, rng: np.random.Generator) -> tuple[Dataset, Dataset]:
    """Split a table at random into a private and a public part.

    Parameters
    ----------
    dataset : Dataset
        Table to split.
    n_public : int
        Rows of the public part; at least one row must be left for the private part.
    rng : numpy.random.Generator
        Shuffles the rows, so that the order of the table has no part in it.

    Returns
    -------
    tuple of Dataset
        The private part, then the public one.

    Raises
    ------
    ValueError
        If a part would be empty.

    Examples
    --------
    >>> toy = Dataset("toy", [[1], [2], [3], [4]], [1, 2, 3, 4], ("a",), "b")
    >>> private, public = split(toy, 1, np.random.default_rng(0))
    >>> len(private), len(public)
    (3, 1)
    """
    count = positive_integer("n_public", n_public)
    if not count < len(dataset):
        raise ValueError(
            f"n_public must be below the {len(dataset)} rows of {dataset.name}, got "
            f"n_public={count}; leave rows for the private part"
        )
    order = rng.permutation(len(dataset))
    return _picked(dataset, order[count:]), _picked(dataset, order[:count])


def _picked(dataset: Dataset, rows: Any) -> Dataset:
    """Some rows of a table."""
    return replace(dataset, X=dataset.X[rows], y=dataset.y[rows])
