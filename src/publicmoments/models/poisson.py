"""Poisson regression: a generalised linear model of counts, with exposures for offsets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from publicmoments.arrays import Array
from publicmoments.checks import positive
from publicmoments.families import Family, Poisson
from publicmoments.models.glm import GLM, Shift


def _is_duration(values: Array) -> Any:
    """Whether values can be exposures."""
    return np.isfinite(values) & (values > 0.0)


EXPOSURES = Shift("exposure", 1.0, np.log, _is_duration)
"""Exposures, whose logarithms are offsets."""


@dataclass(eq=False, repr=False)
class PoissonRegressor(GLM):
    """
    Differentially private Poisson regression with a logarithmic link.

    Minimises, up to noise,

        mean(e exp(x.w + b) - y (x.w + b)) + alpha l1_ratio ||w||_1 + alpha (1 - l1_ratio)/2 ||w||^2

    with e the exposure of a row, one unless given.

    Parameters
    ----------
    alpha : float or "auto", default=0.0
        Penalty. Unlike scikit-learn's, it does not depend on the sum of the exposures. "auto" as in
        `LogisticRegression`.
    l1_ratio : float, default=0.0
        Share of the absolute penalty, in [0, 1].
    typical_exposure : float, default=1.0
        A public guess at the exposure of a row, which is also what public rows have unless they
        have ``public_exposure``. A wrong one costs little accuracy, and no privacy: the level of
        the counts is learned. It needs an intercept.
    public_exposure : array-like of shape (n_public,), optional
        Exposures of the public rows, positive.
    fit_intercept, privacy, public, random_state, passes, anchor, on_invalid
        As in `LogisticRegression`.
    ledger, dataset
        As in `LogisticRegression`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept: logarithm of the rate per unit of exposure where all features are zero.
    noise_covariance_, sampling_covariance_, bias_covariance_, n_iter_, alpha_, card_, fit_
        As in `LogisticRegression`.
    n_features_in_, feature_names_in_
        As in `LogisticRegression`.

    Notes
    -----
    **Formal guarantee.** As for `LogisticRegression`; the exposure is part of the row.

    Examples
    --------
    >>> import numpy as np
    >>> from publicmoments import GDP, PoissonRegressor, PublicMoments
    >>> rng = np.random.default_rng(0)
    >>> X, years = rng.normal(size=(10_200, 2)), rng.uniform(0.5, 2.0, size=10_200)
    >>> y = rng.poisson(years * np.exp(X @ [0.5, -0.3] + 0.2))
    >>> public = PublicMoments.from_rows(X[:200])
    >>> model = PoissonRegressor(privacy=GDP(1.0), public=public)
    >>> model = model.fit(X[200:], y[200:], exposure=years[200:])
    >>> bool(np.abs(model.coef_ - [0.5, -0.3]).max() < 0.1)
    True
    """

    family: Family = field(default=Poisson(), init=False)
    typical_offset: float = field(default=0.0, init=False)
    public_offset: ArrayLike | None = field(default=None, init=False)
    typical_exposure: float = field(default=1.0, kw_only=True)
    public_exposure: ArrayLike | None = field(default=None, kw_only=True)

    def fit(self, X: Any, y: Any, exposure: Any = None) -> Self:
        """
        Fit the model.

        Parameters
        ----------
        X : array, data frame or source of shape (n_rows, n_features)
            Private features: NumPy, pandas, polars or Arrow; or a table that is read where it lies,
            such as the path of a Parquet file, a Dask or a Spark DataFrame.
        y : array or series of shape (n_rows,), or str
            Private counts, or the name of their column in X; see `Ridge`.
        exposure : array or series of shape (n_rows,), or str, optional
            How long or how much each row was observed; positive, private.

        Returns
        -------
        PoissonRegressor
            Itself.
        """
        typical = positive("typical_exposure", self.typical_exposure)
        offsets = self.public_exposure
        if offsets is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                offsets = np.log(np.asarray(offsets, dtype=np.float64))
        return self._fit_shifted(X, y, exposure, EXPOSURES, typical, offsets)

    def predict(self, X: ArrayLike, exposure: ArrayLike | None = None) -> Array:
        """
        Predict mean counts.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.
        exposure : array of shape (n_rows,), optional
            One unless given.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        rate = np.exp(self._feature_values(X) @ self.coef_ + self.intercept_)
        return np.asarray(rate if exposure is None else rate * np.asarray(exposure))

    def predict_interval(
        self, X: ArrayLike, level: float = 0.95, exposure: ArrayLike | None = None
    ) -> Array:
        """
        Return intervals for mean responses.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.
        level : float, default=0.95
            Coverage, in (0, 1).
        exposure : array of shape (n_rows,), optional
            One unless given.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Lower and upper ends: those of the linear predictor, turned into mean responses.
        """
        rates = np.exp(self.fit_.predictor_interval(self._feature_values(X), level))
        return np.asarray(rates if exposure is None else rates * np.asarray(exposure)[:, None])
