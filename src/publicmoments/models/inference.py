"""Standard errors, tests and intervals: what all fits say of their coefficients, in one form."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.utils.validation import check_is_fitted

from publicmoments.arrays import Array, ReadOnlyArrays
from publicmoments.checks import fraction, positive_integer
from publicmoments.privacy.card import Card

HEADINGS = ("coef", "std err", "noise", "sampling", "bias", "z", "P>|z|")


@dataclass(frozen=True)
class CoefSummary:
    """
    What a fit says of its coefficients.

    Parameters
    ----------
    response : str
        The response.
    names : tuple of str
        The coefficients.
    coef, std_err : tuple of float
        Estimates and their standard errors.
    noise_err, sampling_err, bias_err : tuple of float
        The parts of the standard error: what the noise does, what the finite number of rows does,
        and what bounds on rows may have cut off; std_err^2 is the sum of their squares.
    z, p_value : tuple of float
        Estimate over standard error, and how often chance alone goes as far from zero.
    low, high : tuple of float
        Intervals.
    level : float
        Their coverage.
    alpha : float
        Ridge penalty.
    n_rows : int
        Private rows.
    residual_sd : float or None
        Of the response about the fit; None for models without one.
    private : bool
        False where the noise is reproducible.

    Examples
    --------
    >>> print(CoefSummary("y", ("x",), (2.0,), (0.5,), (0.3,), (0.4,), (0.0,), (4.0,), (6e-5,),
    ...                   (1.02,), (2.98,), 0.95, 0.0, 1000, 1.5, True))
    Response y: 1000 rows, residual sd 1.5, alpha 0
        coef  std err   noise  sampling   bias      z  P>|z|  [0.025  0.975]
    x  2.000   0.5000  0.3000    0.4000  0.000  4.000  0.000   1.020   2.980
    """

    response: str
    names: tuple[str, ...]
    coef: tuple[float, ...]
    std_err: tuple[float, ...]
    noise_err: tuple[float, ...]
    sampling_err: tuple[float, ...]
    bias_err: tuple[float, ...]
    z: tuple[float, ...]
    p_value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    level: float
    alpha: float
    n_rows: int
    residual_sd: float | None
    private: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain lists and numbers."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }

    def __str__(self) -> str:
        """Lay the coefficients out as a table."""
        tail = (1.0 - self.level) / 2.0
        columns = [["", *self.names]]
        numbers = (self.coef, self.std_err, self.noise_err, self.sampling_err, self.bias_err)
        for heading, values in zip(HEADINGS, (*numbers, self.z, self.p_value), strict=True):
            digits = "{:.3f}" if heading in ("z", "P>|z|") else "{:#.4g}"
            columns.append([heading, *(digits.format(value) for value in values)])
        columns.append([f"[{tail:g}", *(f"{value:#.4g}" for value in self.low)])
        columns.append([f"{1.0 - tail:g}]", *(f"{value:#.4g}" for value in self.high)])
        lines = [self._heading(), *_aligned(columns)]
        if not self.private:
            lines.append("No privacy guarantee: the noise is reproducible.")
        return "\n".join(lines)

    def _heading(self) -> str:
        """Say what was regressed on how much."""
        spread = "" if self.residual_sd is None else f"residual sd {self.residual_sd:.4g}, "
        return f"Response {self.response}: {self.n_rows} rows, {spread}alpha {self.alpha:g}"


def half_width(level: float) -> float:
    """
    Half width of a central interval, in standard errors.

    Examples
    --------
    >>> round(half_width(0.95), 2)
    1.96
    """
    return float(ndtri(0.5 + fraction("level", level) / 2.0))


def around(centre: Array, reach: Array) -> Array:
    """
    Ends of intervals, along a last axis of their own.

    Examples
    --------
    >>> around(np.array([1.0, 2.0]), np.array([0.5, 0.25]))
    array([[0.5 , 1.5 ],
           [1.75, 2.25]])
    """
    return np.stack([centre - reach, centre + reach], axis=-1)


def mean_interval(design: Array, centre: Array, covariance: Array, level: float) -> Array:
    """
    Intervals for linear predictors, of shape (n_rows, 2).

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_coefficients)
        Rows, with ones where there is an intercept.
    centre : ndarray of shape (n_rows,)
        Their linear predictors.
    covariance : ndarray of shape (n_coefficients, n_coefficients)
        Of the coefficients.
    level : float
        Coverage.

    Examples
    --------
    >>> mean_interval(np.array([[2.0]]), np.array([1.0]), np.array([[0.25]]), 0.95).round(2)
    array([[-0.96,  2.96]])
    """
    variances = np.einsum("ij,jk,ik->i", design, covariance, design, optimize=True)
    return around(centre, half_width(level) * np.sqrt(np.maximum(variances, 0.0)))


def with_ones(values: Array, fit_intercept: bool) -> Array:
    """Append a column of ones where there is an intercept."""
    return np.column_stack([values, np.ones(len(values))]) if fit_intercept else values


@dataclass(frozen=True, eq=False)
class Bootstrap(ReadOnlyArrays):
    """
    Coefficients of many simulated fits.

    Parameters
    ----------
    names : tuple of str
        The coefficients, the intercept last where there is one.
    estimate : ndarray of shape (n_coefficients,)
        Those of the fit itself.
    draws : ndarray of shape (n_draws, n_coefficients)
        Those of the simulated ones.
    """

    names: tuple[str, ...]
    estimate: Array
    draws: Array = field(repr=False)

    @property
    def std_err(self) -> Array:
        """Standard deviations of the draws."""
        return np.asarray(np.std(self.draws, axis=0, ddof=1))

    def conf_int(self, level: float = 0.95) -> Array:
        """
        Return basic bootstrap intervals: quantiles of the draws, reflected at the estimate.

        Parameters
        ----------
        level : float, default=0.95
            Coverage, in (0, 1).

        Returns
        -------
        ndarray of shape (n_coefficients, 2)
            Lower and upper ends.
        """
        tail = (1.0 - fraction("level", level)) / 2.0
        low, high = np.quantile(self.draws, [tail, 1.0 - tail], axis=0)
        return np.column_stack([2.0 * self.estimate - high, 2.0 * self.estimate - low])


@dataclass(frozen=True, eq=False)
class Fit(ReadOnlyArrays):
    """
    What a fit found: the one record that summaries, intervals, files and reports are made from.

    Parameters
    ----------
    response : str
        Name of the response, or of several; "y" where nothing names it.
    features : tuple of str
        Names of the features.
    vectors : tuple of str
        Names of the vectors of coefficients: of responses or classes, one where there is one.
    coef : ndarray of shape (n_vectors, n_features)
        Coefficients.
    intercept : ndarray of shape (n_vectors,)
        Intercepts; zeros where there are none.
    fit_intercept : bool
        Whether there are intercepts.
    noise, sampling, bias : ndarray or None
        Covariances of the coefficients and, last, the intercept: of noise, of a finite number of
        rows, and of what bounds cut off. Of shape (m, m) for one vector; (k, m, m) where k
        responses were fitted apart; (k m, k m), in blocks, where k classes were fitted together;
        None where an absolute penalty has selected columns.
    alpha, l1_ratio : float
        Penalty.
    card : Card
        What it cost.
    residual_scale : ndarray of shape (n_vectors,) or None
        Spread of the responses about the fit; None for models without one.
    apart : bool
        Whether coefficients are told vector by vector, even if there is one only.
    instead : str
        What to do in place of asking for standard errors after selection.
    """

    response: str
    features: tuple[str, ...]
    vectors: tuple[str, ...]
    coef: Array
    intercept: Array
    fit_intercept: bool
    noise: Array | None = field(repr=False)
    sampling: Array | None = field(repr=False)
    bias: Array | None = field(repr=False)
    alpha: float
    l1_ratio: float
    card: Card = field(repr=False)
    residual_scale: Array | None = None
    apart: bool = False
    instead: str = "fit with l1_ratio=0.0 the columns that were chosen beforehand"

    @property
    def estimates(self) -> Array:
        """Coefficients and, last, intercepts, of shape (n_vectors, m)."""
        return np.column_stack([self.coef, self.intercept]) if self.fit_intercept else self.coef

    @property
    def parts(self) -> tuple[Array, Array, Array]:
        """Covariances of noise, sampling and bias, where there are any."""
        if self.noise is None or self.sampling is None or self.bias is None:
            raise ValueError(
                "standard errors must be asked of a fit without selection, got "
                f"l1_ratio={self.l1_ratio:g}: choosing columns by the data invalidates them; "
                f"{self.instead}"
            )
        return self.noise, self.sampling, self.bias

    @property
    def covariance(self) -> Array:
        """Covariance of the whole error."""
        return np.asarray(sum(self.parts))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, of each response or class where there are several."""
        names = (*self.features, "(intercept)") if self.fit_intercept else self.features
        if not self.apart:
            return names
        return tuple(f"{which}: {name}" for which in self.vectors for name in names)

    def conf_int(self, level: float) -> Array:
        """Intervals for the coefficients, of shape (m, 2) or (n_vectors, m, 2)."""
        reach = half_width(level) * np.sqrt(self._variances(self.covariance))
        ends = around(self.estimates, reach)
        return ends if self.apart else ends[0]

    def summary(self, level: float) -> CoefSummary:
        """Return a table of the coefficients with standard errors, tests and intervals."""
        variances = [self._variances(part).ravel() for part in self.parts]
        estimates, total = (
            self.estimates.ravel(),
            np.sqrt(variances[0] + variances[1] + variances[2]),
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(estimates == 0.0, 0.0, estimates / total)
        ends = self.conf_int(level).reshape(-1, 2)
        spread = None if self.apart else self.residual_scale
        return CoefSummary(
            response=self.response,
            names=self.names,
            coef=_plain(estimates),
            std_err=_plain(total),
            noise_err=_plain(np.sqrt(variances[0])),
            sampling_err=_plain(np.sqrt(variances[1])),
            bias_err=_plain(np.sqrt(variances[2])),
            z=_plain(z),
            p_value=_plain(2.0 * ndtr(-np.abs(z))),
            low=_plain(ends[:, 0]),
            high=_plain(ends[:, 1]),
            level=level,
            alpha=self.alpha,
            n_rows=self.card.n_rows,
            residual_sd=None if spread is None else float(spread[0]),
            private=self.card.private,
        )

    def bootstrap(self, n_draws: int, random_state: int | np.random.Generator | None) -> Bootstrap:
        """Draw the estimates from the law of their errors."""
        covariance, estimates = self.covariance, self.estimates.ravel()
        rng = np.random.default_rng(random_state)
        count = positive_integer("n_draws", n_draws)
        draws = [
            rng.multivariate_normal(np.zeros(len(one)), one, size=count, method="eigh", tol=np.inf)
            for one in covariance.reshape(-1, *covariance.shape[-2:])
        ]
        return Bootstrap(self.names, estimates, estimates + np.concatenate(draws, axis=1))

    def predictor_interval(self, values: Array, level: float, vector: int = 0) -> Array:
        """Intervals for the linear predictors of one vector of coefficients; (n_rows, 2)."""
        covariance = self.covariance
        covariance = covariance if covariance.ndim == 2 else covariance[vector]
        design = with_ones(values, self.fit_intercept)
        return mean_interval(design, design @ self.estimates[vector], covariance, level)

    def _variances(self, covariance: Array) -> Array:
        """Diagonals of covariances, one row for each vector; rounding is no variance."""
        diagonal = np.diagonal(covariance, axis1=-2, axis2=-1)
        return np.maximum(diagonal.reshape(len(self.coef), -1), 0.0)


class CoefInference:
    """
    Intervals and summaries of the private estimators, whose fit leaves a `Fit` in ``fit_``.

    From it come ``coef_``, ``intercept_`` and the covariances of the coefficients and, last, the
    intercept: ``noise_covariance_``, ``sampling_covariance_`` and ``bias_covariance_``.
    """

    fit_: Fit
    alpha: float | Literal["auto"]
    alpha_: float
    n_iter_: int
    fit_intercept: bool

    @property
    def coef_(self) -> Array:
        """Coefficients: a vector, or one row for each response or class."""
        fit = self._fitted()
        return fit.coef if fit.apart else fit.coef[0]

    @property
    def intercept_(self) -> Any:
        """Intercept, or one for each response or class; zero without one."""
        fit = self._fitted()
        return fit.intercept if fit.apart else float(fit.intercept[0])

    @property
    def noise_covariance_(self) -> Array | None:
        """Covariance of the error that noise makes."""
        return self._fitted().noise

    @property
    def sampling_covariance_(self) -> Array | None:
        """Covariance of the error that a finite number of rows makes."""
        return self._fitted().sampling

    @property
    def bias_covariance_(self) -> Array | None:
        """Covariance of the error that bounds on rows make."""
        return self._fitted().bias

    def conf_int(self, level: float = 0.95) -> Array:
        """
        Return intervals for the coefficients and, last, the intercept.

        Parameters
        ----------
        level : float, default=0.95
            Coverage, in (0, 1).

        Returns
        -------
        ndarray of shape (n_coefficients, 2) or (n_responses or n_classes, n_coefficients, 2)
            Lower and upper ends.
        """
        check_is_fitted(self)
        return self.fit_.conf_int(level)

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
        check_is_fitted(self)
        return self.fit_.summary(level)

    def bootstrap(
        self,
        n_draws: int = 1000,
        random_state: int | np.random.Generator | None = None,
    ) -> Bootstrap:
        """
        Draw the estimate again and again from its own law: noise, sampling and bias, as known.

        Of a single coefficient this says what `conf_int` says. It serves for what is computed from
        several: a ratio, a contrast, the probability of a class. No private data and no budget are
        involved.

        Parameters
        ----------
        n_draws : int, default=1000
            Draws.
        random_state : int or Generator, optional
            Makes them reproducible.

        Returns
        -------
        Bootstrap
            With the coefficients of several responses or classes one after the other.
        """
        check_is_fitted(self)
        return self.fit_.bootstrap(n_draws, random_state)

    def _fitted(self) -> Fit:
        """Return the record; before a fit there is no such attribute."""
        if "fit_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has not been fitted; call fit first")
        return self.fit_


def _plain(values: Array) -> tuple[float, ...]:
    """Python floats."""
    return tuple(float(value) for value in values)


def _aligned(columns: list[list[str]]) -> list[str]:
    """Pad cells to the width of their column, names to the left and numbers to the right."""
    widths = [max(len(cell) for cell in column) for column in columns]
    rows = zip(*columns, strict=True)
    return [
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
