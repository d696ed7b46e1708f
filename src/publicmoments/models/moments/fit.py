"""A regression read off a moment release."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments.models.inference import (
    CoefSummary,
    around,
    half_width,
    mean_interval,
    refuse_selection,
    summarised,
    with_ones,
)
from publicmoments.public.arrays import ReadOnlyArrays
from publicmoments.tables import as_table, match_columns

__all__ = ["MomentFit"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MomentFit(ReadOnlyArrays):
    """
    Coefficients of one column on others, and what is known of their error.

    Parameters
    ----------
    response : str
        The response.
    features : tuple of str
        The features.
    coef : ndarray of shape (n_features,)
        Coefficients.
    intercept : float
        0.0 without one.
    fit_intercept : bool
        Whether there is one.
    alpha, l1_ratio : float
        Penalty on the mean loss; ``l1_ratio`` is 0 for ridge regression.
    noise_covariance, sampling_covariance : ndarray or None
        Of the coefficients and, last, the intercept: what privacy costs, and what a finite number
        of rows does. None where an l1 penalty has selected columns.
    residual_variance : float
        Of the response about the fit.
    prediction_error : float
        Expected squared error of predictions for new rows, their own residual included.
    n_rows : int
        Rows behind the release.
    private : bool
        False for a release with reproducible noise.
    named : bool
        Whether the columns of the release have names of their own.

    Notes
    -----
    Intervals are for the coefficients that the same regression, weights and penalty included, has
    in the population. They are those of a normal law, with variances right to first order. Where
    the public moments do not fit the private rows, weights also bend the regression towards the
    public one, which intervals do not show; the release warns of it.
    """

    response: str
    features: tuple[str, ...]
    coef: Array
    intercept: float
    fit_intercept: bool
    alpha: float
    l1_ratio: float
    noise_covariance: Array | None = field(repr=False)
    sampling_covariance: Array | None = field(repr=False)
    residual_variance: float
    prediction_error: float
    n_rows: int
    private: bool
    named: bool = field(repr=False)

    @property
    def covariance(self) -> Array:
        """Covariance of the coefficients and, last, the intercept."""
        noise, sampling = self._parts()
        return noise + sampling

    @property
    def std_err(self) -> Array:
        """Standard errors of the coefficients and, last, the intercept."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def predict(self, X: Any) -> Array:
        """
        Predict the response.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The features, in their order.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return np.asarray(self._values(X) @ self.coef + self.intercept)

    def predict_interval(self, X: Any, level: float = 0.95) -> Array:
        """
        Return intervals for the mean of the response at given features.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The features.
        level : float, default=0.95
            Coverage, in (0, 1).

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Lower and upper ends.
        """
        values = self._values(X)
        return mean_interval(
            with_ones(values, self.fit_intercept),
            values @ self.coef + self.intercept,
            self.covariance,
            level,
        )

    def conf_int(self, level: float = 0.95) -> Array:
        """
        Return intervals for the coefficients and, last, the intercept.

        Parameters
        ----------
        level : float, default=0.95
            Coverage, in (0, 1).

        Returns
        -------
        ndarray of shape (n_coefficients, 2)
            Lower and upper ends.
        """
        return around(self._estimates(), half_width(level) * self.std_err)

    def summary(self, level: float = 0.95) -> CoefSummary:
        """
        Return a table of the coefficients with standard errors, tests and intervals.

        Parameters
        ----------
        level : float, default=0.95
            Coverage of the intervals.

        Returns
        -------
        CoefSummary
            Prints as a table.
        """
        noise, sampling = self._parts()
        return summarised(
            names=(*self.features, "(intercept)") if self.fit_intercept else self.features,
            estimates=self._estimates(),
            variances=(np.diag(noise), np.diag(sampling), np.zeros(len(noise))),
            intervals=self.conf_int(level),
            level=level,
            response=self.response,
            alpha=self.alpha,
            n_rows=self.n_rows,
            residual_sd=math.sqrt(self.residual_variance),
            private=self.private,
        )

    def _parts(self) -> tuple[Array, Array]:
        """Both covariances, where there are any."""
        if self.noise_covariance is None or self.sampling_covariance is None:
            raise refuse_selection(
                self.l1_ratio, "call bootstrap, or ridge on columns chosen beforehand"
            )
        return self.noise_covariance, self.sampling_covariance

    def _estimates(self) -> Array:
        """Coefficients and, last, the intercept."""
        return np.append(self.coef, self.intercept) if self.fit_intercept else self.coef

    def _values(self, X: Any) -> Array:
        """Read features, which must be those of the fit."""
        table = as_table(X, "X")
        if self.named:
            match_columns(table, self.features, "X")
        elif table.n_columns != len(self.features):
            raise ValueError(
                f"X has {table.n_columns} features, but the fit has {len(self.features)}; pass the "
                "features of the fit in their order"
            )
        values = table.values()
        if not np.isfinite(values).all():
            raise ValueError("Input X contains NaN or infinity; drop or fill such rows")
        return values
