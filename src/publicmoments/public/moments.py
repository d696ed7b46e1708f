"""What is public: second moments, means and responses of a public sample."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from publicmoments.checks import positive_integer
from publicmoments.data import as_table
from publicmoments.public.arguments import (
    Which,
    given_scale,
    ordered_rows,
    responses_last,
    table_names,
    thinned,
)
from publicmoments.public.design import PublicDesign, build_design
from publicmoments.public.joint import (
    JointMoments,
    PublicRecord,
    Spread,
    spread_of_cov,
    spread_of_matrix,
    spread_of_rows,
)
from publicmoments.public.moments_file import read_joint, write_joint
from publicmoments.public.suspicion import remember
from publicmoments.public.validation import checked_columns, checked_response_scale


class PublicMoments(PublicRecord):
    """Second moments of a public sample, which whiten the private rows.

    Build it with :meth:`from_rows`, :meth:`from_matrix`, :meth:`from_mean_cov`, :meth:`load` or
    :meth:`identity`. The inputs must not be computed from the private rows: the privacy guarantee
    takes everything in here as known to everyone. Privacy does not depend on how well the public
    sample matches the private rows; accuracy does.

    Parameters
    ----------
    second_moment : ndarray of shape (d, d)
        E[x x^T] of the features; never contains the intercept. Not repaired: see :meth:`design`.
    mean : ndarray of shape (d,) or None
        E[x], when known.
    covariance : ndarray of shape (d, d) or None
        Second moment about the mean, when that is known.
    n : int or None
        Number of public rows; None when the moments are assumed.
    columns : tuple of str or None
        Feature names.
    response : PublicResponse or None
        What is public about the responses.
    rows : ndarray of shape (k, d) or None
        At most 2,000 public rows, evenly spaced, kept for choosing radii. Not saved to files.
    response_rows : ndarray of shape (k, q) or None
        The responses of these rows.
    assumed : bool
        True when no public sample stands behind the moments.
    fingerprint : str
        SHA-256 of the moments, counts and names, for reports. Two objects with the same fingerprint
        are equal.

    Examples
    --------
    >>> import numpy as np
    >>> B = np.random.default_rng(0).normal(size=(200, 3))
    >>> public = PublicMoments.from_rows(B, response=B @ [1.0, 2.0, 3.0])
    >>> public
    PublicMoments(d=3, n=200, responses=1, rows=200)
    >>> public.design(fit_intercept=False).coef.round(6).ravel()
    array([1., 2., 3.])
    """

    @classmethod
    def from_rows(
        cls,
        B: Any,
        response: Any = None,
        response_scale: ArrayLike | None = None,
        columns: Sequence[str] | None = None,
    ) -> PublicMoments:
        """Compute the moments of public rows.

        Parameters
        ----------
        B : array-like of shape (n_B, d), pandas or polars DataFrame
            Public rows, without the intercept.
        response : array-like of shape (n_B,) or (n_B, q), str, list of str, optional
            Public responses, or the names of the columns of ``B`` that are responses.
        response_scale : float or array-like of shape (q,), optional
            Root mean square of each response, when its rows are not public.
        columns : sequence of str, optional
            Names of the columns of ``B``, when it has none of its own.

        Returns
        -------
        PublicMoments

        Examples
        --------
        >>> PublicMoments.from_rows([[1, 2, 3], [4, 5, 7]], response="y", columns=["a", "b", "y"])
        PublicMoments(d=2, n=2, responses=1, rows=2)
        """
        values, names, response_names, q = ordered_rows(B, response, columns)
        every = None if names is None else names + (response_names or ("response",) * q)
        scale = given_scale(response, response_scale)
        joint = JointMoments(spread_of_rows(values, every), names, q, response_names, scale)
        public = cls._of(joint, thinned(values))
        remember(public, B)
        return public

    @classmethod
    def from_matrix(
        cls,
        S: Any,
        n: int,
        *,
        mean: ArrayLike | None = None,
        columns: Sequence[str] | None = None,
        response: Which = None,
        response_scale: ArrayLike | None = None,
    ) -> PublicMoments:
        """Take a published second-moment matrix.

        Parameters
        ----------
        S : array-like of shape (D, D), pandas or polars DataFrame
            E[x x^T], not centred, without the intercept. For a covariance use
            :meth:`from_mean_cov`.
        n : int
            Number of public rows behind ``S``.
        mean : array-like of shape (D,), optional
            Means of the same variables. An intercept is much better with it.
        columns : sequence of str, optional
            Names of the variables, when ``S`` has none of its own.
        response : str, int or a list of them, optional
            The variables that are responses; they are split off with their cross moments.
        response_scale : float or array-like of shape (q,), optional
            Root mean square of each response, when it is not part of ``S``.

        Returns
        -------
        PublicMoments

        Examples
        --------
        >>> PublicMoments.from_matrix([[2.0, 1.0], [1.0, 3.0]], n=50, response=1)
        PublicMoments(d=1, n=50, responses=1)
        """
        table = as_table(S, "S")
        names = table_names(table, columns, "S")
        spread = spread_of_matrix(table.values(), mean, n, names)
        return cls._of(_joint(spread, names, response, response_scale))

    @classmethod
    def from_mean_cov(
        cls,
        mean: ArrayLike,
        cov: Any,
        n: int,
        *,
        columns: Sequence[str] | None = None,
        response: Which = None,
        response_scale: ArrayLike | None = None,
    ) -> PublicMoments:
        """Take a published mean and covariance; the second moment is ``cov + mean mean^T``.

        Parameters
        ----------
        mean : array-like of shape (D,)
            Means of the variables.
        cov : array-like of shape (D, D), pandas or polars DataFrame
            Their covariance.
        n : int
            Number of public rows behind them.
        columns, response, response_scale
            As in :meth:`from_matrix`.

        Returns
        -------
        PublicMoments

        Examples
        --------
        >>> PublicMoments.from_mean_cov([3.0], [[4.0]], n=50).second_moment
        array([[13.]])
        """
        table = as_table(cov, "cov")
        names = table_names(table, columns, "cov")
        spread = spread_of_cov(mean, table.values(), n, names)
        return cls._of(_joint(spread, names, response, response_scale))

    @classmethod
    def identity(
        cls, columns_or_d: int | Sequence[str], *, response_scale: ArrayLike = 1.0
    ) -> PublicMoments:
        """Assume features of mean zero and unit variance, in the absence of a public sample.

        Parameters
        ----------
        columns_or_d : int or sequence of str
            Number of features, or their names.
        response_scale : float or array-like of shape (q,)
            Assumed root mean square of each response.

        Returns
        -------
        PublicMoments
            With ``assumed`` set and ``n`` None.

        Examples
        --------
        >>> PublicMoments.identity(["age", "height"])
        PublicMoments(d=2, n=None, responses=1, assumed)
        """
        if isinstance(columns_or_d, Iterable):
            names = checked_columns(columns_or_d, len(columns_or_d))
            d = positive_integer("columns_or_d", len(columns_or_d), "name at least one column")
        else:
            names, d = None, positive_integer("columns_or_d", columns_or_d, "pass a column count")
        scale = checked_response_scale(response_scale)
        spread = Spread(np.zeros(d), np.eye(d), None)
        return cls._of(JointMoments(spread, names, response_scale=scale, assumed=True))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PublicMoments:
        """Read moments written by :meth:`save`.

        Parameters
        ----------
        path : path-like
            A JSON file; its format is described in :mod:`publicmoments.public.moments_file`.

        Returns
        -------
        PublicMoments
            With the fingerprint of the saved object, and without rows.

        Raises
        ------
        ValueError
            When the file is not what :meth:`save` writes; the message names the field.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "public.json"
        >>> PublicMoments.identity(3).save(path)
        >>> PublicMoments.load(path) == PublicMoments.identity(3)
        True
        """
        return cls._of(read_joint(path))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the moments, not the rows, to a JSON file.

        The file appears complete or not at all. Kept rows are not written: radii chosen from a
        loaded file rest on the moments alone.

        Parameters
        ----------
        path : path-like
            Where to write; an existing file is replaced.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> PublicMoments.identity(3).save(pathlib.Path(tempfile.mkdtemp()) / "public.json")
        """
        write_joint(self._joined(), path)

    def design(self, fit_intercept: bool) -> PublicDesign:
        """Prepare the whitening of rows, with or without an intercept.

        Parameters
        ----------
        fit_intercept : bool
            Whether a column of ones is appended to the features.

        Returns
        -------
        PublicDesign

        Warns
        -----
        PublicMomentsWarning
            When the moments had to be repaired, or the intercept needs a mean that is not known.

        Examples
        --------
        >>> PublicMoments.identity(2).design(fit_intercept=True).n_columns
        3
        """
        return build_design(self, bool(fit_intercept))

    def __repr__(self) -> str:
        """Show sizes, not matrices."""
        parts = [f"d={len(self.second_moment)}", f"n={self.n}"]
        if self.response is not None:
            parts.append(f"responses={len(self.response.scale)}")
        if self.rows is not None:
            parts.append(f"rows={len(self.rows)}")
        return f"PublicMoments({', '.join(parts + ['assumed'] * self.assumed)})"

    def __eq__(self, other: object) -> bool:
        """Compare by fingerprint; kept rows do not count."""
        return isinstance(other, PublicMoments) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        """Hash by fingerprint."""
        return hash(self.fingerprint)


def _joint(
    spread: Spread,
    names: tuple[str, ...] | None,
    response: Which,
    response_scale: ArrayLike | None,
) -> JointMoments:
    """Put the responses of a checked matrix last."""
    scale = given_scale(response, response_scale)
    order, names, response_names, q = responses_last(response, names, len(spread.about))
    return JointMoments(spread.permuted(order), names, q, response_names, scale)
