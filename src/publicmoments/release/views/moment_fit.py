"""A regression read off a moment release: its coefficients, and what they are worth."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from publicmoments.arrays import Array, ReadOnlyArrays
from publicmoments.data import as_table, match_columns
from publicmoments.models.inference import CoefSummary, Fit, mean_interval, with_ones
from publicmoments.privacy.card import Card


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
    card : Card
        What the release cost.

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
    card: Card = field(repr=False)

    @property
    def record(self) -> Fit:
        """The same as the record that summaries are made from; bounds are told by the card."""
        nothing = None if self.noise_covariance is None else 0.0 * self.noise_covariance
        return Fit(
            response=self.response,
            features=self.features,
            vectors=(self.response,),
            coef=self.coef[None, :],
            intercept=np.array([self.intercept]),
            fit_intercept=self.fit_intercept,
            noise=self.noise_covariance,
            sampling=self.sampling_covariance,
            bias=nothing,
            alpha=self.alpha,
            l1_ratio=self.l1_ratio,
            card=self.card,
            residual_scale=np.array([math.sqrt(self.residual_variance)]),
            instead="call bootstrap, or ridge on columns chosen beforehand",
        )

    @property
    def covariance(self) -> Array:
        """Covariance of the coefficients and, last, the intercept."""
        return self.record.covariance

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
        return self.record.conf_int(level)

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
        return self.record.summary(level)

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
        return table.finite_values()
