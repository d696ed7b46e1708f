"""Standard errors, tests and intervals: what all fits say of their coefficients, in one form."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

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


def summarised(
    *,
    names: tuple[str, ...],
    estimates: Array,
    variances: tuple[Array, Array, Array],
    intervals: Array,
    **rest: Any,
) -> CoefSummary:
    """Turn estimates and their variances, of noise, sampling and bias, into a summary."""
    noise, sampling, bias = (np.sqrt(part) for part in variances)
    total = np.sqrt(variances[0] + variances[1] + variances[2])
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(estimates == 0.0, 0.0, estimates / total)
    return CoefSummary(
        names=names,
        coef=_plain(estimates),
        std_err=_plain(total),
        noise_err=_plain(noise),
        sampling_err=_plain(sampling),
        bias_err=_plain(bias),
        z=_plain(z),
        p_value=_plain(2.0 * ndtr(-np.abs(z))),
        low=_plain(intervals[:, 0]),
        high=_plain(intervals[:, 1]),
        **rest,
    )


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


def refuse_selection(l1_ratio: float, instead: str) -> ValueError:
    """Make the error for standard errors of a fit that has selected columns."""
    return ValueError(
        f"standard errors must be asked of a fit without selection, got l1_ratio={l1_ratio:g}: "
        f"choosing columns by the data invalidates them; {instead}"
    )


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


class CoefInference:
    """
    Intervals and summaries of the private estimators.

    Fitted subclasses have ``coef_``, ``intercept_``, ``card_``, and the covariances of the
    coefficients and, last, the intercept: ``noise_covariance_``, ``sampling_covariance_`` and
    ``bias_covariance_``, of what bounds cut off. With m coefficients in all, these have shape
    (m, m); (k, m, m) where k responses were fitted apart; (k m, k m), in blocks, where k classes
    were fitted together; and are None where an absolute penalty has selected columns.
    """

    alpha_: float
    fit_intercept: bool
    coef_: Array
    intercept_: Any
    card_: Card
    noise_covariance_: Array | None
    sampling_covariance_: Array | None
    bias_covariance_: Array | None

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
        estimates = self._estimates()
        reach = half_width(level) * np.sqrt(_variances(self._covariance(), len(estimates)))
        ends = around(estimates, reach)
        return ends[0] if self._one_vector() else ends

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
        noise, sampling, bias = self._parts()
        estimates = self._estimates()
        count = len(estimates)
        return summarised(
            names=self._coef_names(),
            estimates=estimates.ravel(),
            variances=(
                _variances(noise, count).ravel(),
                _variances(sampling, count).ravel(),
                _variances(bias, count).ravel(),
            ),
            intervals=self.conf_int(level).reshape(-1, 2),
            level=level,
            response="y",
            alpha=self.alpha_,
            n_rows=self.card_.n_rows,
            residual_sd=self._residual_sd(),
            private=self.card_.private,
        )

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
        covariance = self._covariance()
        estimates = self._estimates().ravel()
        rng = np.random.default_rng(random_state)
        count = positive_integer("n_draws", n_draws)
        apart = covariance.reshape(-1, *covariance.shape[-2:])
        draws = [
            rng.multivariate_normal(np.zeros(len(one)), one, size=count, method="eigh", tol=np.inf)
            for one in apart
        ]
        return Bootstrap(self._coef_names(), estimates, estimates + np.concatenate(draws, axis=1))

    def _covariance(self) -> Array:
        """Covariance of the whole error."""
        return np.asarray(sum(self._parts()))

    def _parts(self) -> tuple[Array, Array, Array]:
        """Covariances of noise, sampling and bias, where there are any."""
        check_is_fitted(self)
        noise, sampling = self.noise_covariance_, self.sampling_covariance_
        if noise is None or sampling is None or self.bias_covariance_ is None:
            raise refuse_selection(
                getattr(self, "l1_ratio", 0.0),
                "fit with l1_ratio=0.0 the columns that were chosen beforehand",
            )
        return noise, sampling, self.bias_covariance_

    def _one_vector(self) -> bool:
        """Whether there is one vector of coefficients."""
        return self.coef_.ndim == 1

    def _vector_names(self) -> tuple[str, ...]:
        """Names of the responses or classes, where there are several."""
        return tuple(f"y{k}" for k in range(len(self.coef_)))

    def _residual_sd(self) -> float | None:
        """Spread of the response about the fit, where there is one."""
        return None

    def _estimates(self) -> Array:
        """Coefficients and, last, intercepts: one row for each response or class."""
        coef = np.atleast_2d(self.coef_)
        if not self.fit_intercept:
            return coef
        return np.column_stack([coef, np.reshape(self.intercept_, -1)])

    def _coef_names(self) -> tuple[str, ...]:
        """Names of the coefficients, of each response or class where there are several."""
        count = np.atleast_2d(self.coef_).shape[1]
        names = [
            str(n) for n in getattr(self, "feature_names_in_", [f"x{k}" for k in range(count)])
        ]
        if self.fit_intercept:
            names.append("(intercept)")
        if self._one_vector():
            return tuple(names)
        return tuple(f"{which}: {name}" for which in self._vector_names() for name in names)

    def _predictor_interval(self, values: Array, level: float) -> Array:
        """Intervals for the linear predictors of one vector of coefficients; (n_rows, 2)."""
        covariance = self._covariance()
        design = with_ones(values, self.fit_intercept)
        return mean_interval(design, design @ self._estimates()[0], covariance, level)


def _variances(covariance: Array, count: int) -> Array:
    """Diagonals of covariances, one row for each of ``count`` vectors; rounding is no variance."""
    diagonal = np.diagonal(covariance, axis1=-2, axis2=-1)
    return np.maximum(diagonal.reshape(count, -1), 0.0)


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
