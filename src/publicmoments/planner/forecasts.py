"""What a plan tells: expected accuracies, and a table of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from publicmoments.planner.fits import Model
from publicmoments.planner.show import plot_plan, table_text
from publicmoments.planner.words import recommendation
from publicmoments.privacy.budgets import Budget

__all__ = ["Accuracy", "Forecast", "Plan", "Ranges"]

Array = NDArray[np.float64]
Range: TypeAlias = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Accuracy:
    """
    How far coefficients are expected to be from those of the population.

    Errors are root mean squares over private tables and noise. Public data leave open what the
    population is: the geometric mean over those that they allow is given.

    Parameters
    ----------
    error : float
        Root mean square length of the error of the coefficients, without the intercept.
    prediction_error : float
        Root mean square error in the prediction metric, sqrt((b - t)' S (b - t)) with S the second
        moment of a row: what the error adds to linear predictors. The intercept counts.
    half_widths : ndarray of shape (n_features,) or (n_features + 1,)
        Half widths of 95 % intervals, the intercept last where there is one.
    """

    error: float
    prediction_error: float
    half_widths: Array


@dataclass(frozen=True)
class Ranges:
    """
    Where the errors of one fit are expected to lie in four of five cases.

    Expected errors are averages. A fit is made once, to one table of one population: with one draw
    of noise, and a bias that is what it is. Each range is a pair of a lower and an upper end.

    Parameters
    ----------
    error, prediction_error, distance, prediction_distance : tuple of float
        As in `Forecast`.
    """

    error: Range
    prediction_error: Range
    distance: Range
    prediction_distance: Range


@dataclass(frozen=True, eq=False)
class Forecast(Accuracy):
    """
    What is expected of the private fit at one budget.

    Parameters
    ----------
    error, prediction_error, half_widths
        As in `Accuracy`.
    privacy : GDP, ApproxDP or ZCDP
        The budget, as it was stated.
    mu : float
        The same in Gaussian differential privacy.
    distance, prediction_distance : float
        Like the errors, but from the non-private fit of the same rows: what privacy costs.
    ranges : Ranges
        Where these four lie in four of five fits.
    bound : float
        Bound that the last release is expected to have: on what one row adds to it.
    condition : float or None
        The paper's stability condition, which should be at most 1/2; None without public rows
        behind the moments.
    robust : bool or None
        Whether it is.
    """

    privacy: Budget
    mu: float
    distance: float
    prediction_distance: float
    ranges: Ranges
    bound: float
    condition: float | None
    robust: bool | None


@dataclass(frozen=True, eq=False)
class Plan:
    """
    A table of what to expect, made by `plan`.

    Parameters
    ----------
    n_rows : int
        Private rows.
    model : str
        "ridge", "logistic" or "poisson".
    forecasts : tuple of Forecast
        One for each budget, from the smallest.
    non_private : Accuracy
        Of the fit without privacy.
    public_only : Accuracy or None
        Of the fit of the public rows alone; None without public responses.
    columns : tuple of str
        Names of the coefficients.
    rehearsals : int
        Made-up populations behind the figures.

    Examples
    --------
    >>> from publicmoments import GDP, plan
    >>> p = plan(n_rows=5_000, privacy=[GDP(0.1), GDP(1)], n_features=3, r2=0.5, rehearsals=3)
    >>> p.forecasts[1].error < p.forecasts[0].error
    True
    >>> print(p.recommendation[:10])
    With mu 1,
    """

    n_rows: int
    model: Model
    forecasts: tuple[Forecast, ...]
    non_private: Accuracy
    public_only: Accuracy | None
    columns: tuple[str, ...]
    rehearsals: int

    @property
    def recommendation(self) -> str:
        """What to make of the figures, in words."""
        return recommendation(self)

    def table(self) -> str:
        """
        Return the figures as a table in plain text.

        Returns
        -------
        str
        """
        return table_text(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """
        Return the figures by column, one row for each budget, ready for a data frame.

        Returns
        -------
        dict of lists

        Examples
        --------
        >>> from publicmoments import GDP, plan
        >>> p = plan(n_rows=1_000, privacy=GDP(1), n_features=2, r2=0.5, rehearsals=2)
        >>> sorted(p.to_dict())[:4]
        ['bound', 'condition', 'distance', 'distance high']
        """
        names = ["mu", "error", "prediction_error", "distance", "prediction_distance", "bound"]
        names += ["condition", "robust"]
        columns: dict[str, list[Any]] = {
            name: [getattr(forecast, name) for forecast in self.forecasts] for name in names
        }
        for name in ("error", "prediction_error", "distance", "prediction_distance"):
            for end, k in (("low", 0), ("high", 1)):
                columns[f"{name} {end}"] = [getattr(f.ranges, name)[k] for f in self.forecasts]
        for k, column in enumerate(self.columns):
            columns[f"half_width {column}"] = [float(f.half_widths[k]) for f in self.forecasts]
        return columns

    def plot(self, target: str | os.PathLike[str] | Any = None) -> Any:
        """
        Plot the error of predictions against the budget; needs matplotlib, the extra [plot].

        Parameters
        ----------
        target : path or matplotlib axes, optional
            A file to write, or axes to draw in; new ones by default.

        Returns
        -------
        matplotlib axes
        """
        return plot_plan(self, target)

    def __str__(self) -> str:
        """Table and recommendation."""
        return f"{self.table()}\n\n{self.recommendation}"
