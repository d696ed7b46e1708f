"""Everything that can be read off released moments, at no further cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from publicmoments.arrays import Array
from publicmoments.checks import non_negative, positive_integer
from publicmoments.models.shell import check_switches
from publicmoments.release.views.components import Components, components_of
from publicmoments.release.views.precision import Precision, precision_of
from publicmoments.release.views.questions import Column, positions, view_of
from publicmoments.release.views.regression import Regressions


class MomentRelease(Regressions):
    """
    Second moments of all columns of a private table, released once and for all.

    Made by `release_moments`, `combine` or :meth:`load`. All its methods are post-processing: they
    see no private row, cost no budget and may be called any number of times.

    Parameters
    ----------
    noisy_gram, diagonal_sd, offdiagonal_sd, n_rows, columns, weights, coordinates, anchor, card
        As in `MomentRecord`.

    Notes
    -----
    **Formal guarantee.** That of the card, for everything computed here together: functions of a
    differentially private release are as private as the release.

    The second moment of a row r = (columns, 1) is estimated by S = U' A U, U the unwhitener and A
    the release over its expected weights; see `publicmoments.release.second_moment`. Weights
    depend on the whole row, responses included: regressions are those of rows weighted by
    c^2, which differ from plain ones where weights are far from 1 and the model is not linear.

    Examples
    --------
    >>> import numpy as np
    >>> from publicmoments import GDP, PublicMoments
    >>> from publicmoments.release import release_moments
    >>> rng = np.random.default_rng(0)
    >>> table = rng.normal(size=(10_300, 3)) @ [[1.0, 0.5, 2.0], [0.0, 1.0, -1.0], [0.0, 0.0, 0.3]]
    >>> public = PublicMoments.from_rows(table[:300], columns=["a", "b", "y"])
    >>> release = release_moments(table[300:], privacy=GDP(1.0), public=public)
    >>> fit = release.ridge("y")
    >>> bool(np.abs(fit.coef - [2.5, -1.0]).max() < 0.1)
    True
    >>> release.ridge("a", features=["b"]).features
    ('b',)
    """

    def pseudo_rows(
        self,
        response: Column,
        features: Sequence[Column] | None = None,
        center: bool = True,
    ) -> tuple[Array, Array]:
        """
        Return d + 1 rows that any least-squares software can stand in for the private ones with.

        With n the number of private rows, ``X.T @ X`` is n times the second moment of the features,
        about the estimated means if ``center``, about zero otherwise; likewise ``X.T @ y`` and
        ``y @ y``. Fit them without an intercept, which is ``mean_y - mean_X @ coef`` if centred,
        with :attr:`mean`. The loss summed over pseudo-rows is that summed over n rows:

        * ``LinearRegression(fit_intercept=False)`` gives ``ridge(response)``;
        * ``Ridge(n * alpha, fit_intercept=False)`` gives ``ridge(response, alpha)``;
        * ``Lasso`` and ``ElasticNet`` divide by the number of rows they see: a penalty
          ``alpha * n / len(X)`` gives ``lasso(response, alpha)``.

        Parameters
        ----------
        response : str or int
            Column of y.
        features : sequence of str or int, optional
            Columns of X; all others by default.
        center : bool, default=True
            Whether moments are about the means.

        Returns
        -------
        X : ndarray of shape (d + 1, n_features)
        y : ndarray of shape (d + 1,)
        """
        check_switches(center=center)
        view = view_of(self.evidence, self._asked(response, features, center))
        root_n = np.sqrt(self.n_rows)
        return root_n * view.X, root_n * view.y

    def precision(
        self,
        alpha: float = 0.0,
        features: Sequence[Column] | None = None,
        center: bool = True,
    ) -> Precision:
        """
        Invert the covariance of some columns, or their second moment.

        Parameters
        ----------
        alpha : float, default=0.0
            Added to the diagonal before inverting, in the units of the columns.
        features : sequence of str or int, optional
            The columns; all by default.
        center : bool, default=True
            Whether moments are about the means: the inverse is that of the covariance then, and of
            the second moment otherwise.

        Returns
        -------
        Precision
            With standard errors of its entries, and partial correlations with theirs.
        """
        check_switches(center=center)
        chosen = self._chosen(features)
        return precision_of(
            self.evidence,
            chosen,
            non_negative("alpha", alpha),
            bool(center),
            self.error_law,
            self._names(chosen),
        )

    def principal_components(
        self,
        n_components: int | None = None,
        features: Sequence[Column] | None = None,
        scale: bool = False,
    ) -> Components:
        """
        Find the axes along which columns vary most.

        Parameters
        ----------
        n_components : int, optional
            How many; all by default.
        features : sequence of str or int, optional
            The columns; all by default.
        scale : bool, default=False
            Whether columns are brought to unit variance first.

        Returns
        -------
        Components
        """
        check_switches(scale=scale)
        chosen = self._chosen(features)
        count = len(chosen)
        if n_components is not None:
            count = positive_integer("n_components", n_components)
            if count > len(chosen):
                raise ValueError(
                    f"n_components must be at most the {len(chosen)} columns, got "
                    f"n_components={count}; ask for fewer"
                )
        return components_of(
            self._centred(chosen),
            self.mean[list(chosen)],
            self.n_rows,
            count,
            scale,
            self._names(chosen),
            self.columns is not None,
        )

    def _chosen(self, features: Sequence[Column] | None) -> tuple[int, ...]:
        """Positions of the columns that are asked for."""
        every = range(self.n_columns) if features is None else features
        chosen = positions(every, self.columns, self.n_columns, "features")
        if not chosen:
            raise ValueError("features must name at least one column")
        return chosen
