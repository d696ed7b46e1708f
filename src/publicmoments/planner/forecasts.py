"""Plans: what is expected of a fit at each budget, as figures, in words and as a picture."""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import StringIO
from typing import Any, TypeAlias

import numpy as np
from rich.console import Console
from rich.table import Table

from publicmoments.arrays import Array
from publicmoments.planner.fits import Model
from publicmoments.privacy.budgets import Budget
from publicmoments.privacy.rounding import text_above

Range: TypeAlias = tuple[float, float]

NEAR = 1.15
"""Errors within this factor of each other are as good as equal."""

WORTHLESS = 1.05
"""More budget buys nothing where it would lower the error by less than this factor."""

WIDTH = 120
RANGE = "4 of 5 fits"
HEADINGS = (
    "fit",
    "error of predictions",
    RANGE,
    "error of coefficients",
    "from non-private",
    "95 % half width",
    "bound",
    "condition",
)
CAPTION = (
    "errors are root mean squares against the population, geometric means over those that public "
    "data allow; four of five fits are expected to have an error of predictions in the range "
    "beside it; 'from non-private' is the error of predictions against the non-private fit; half "
    "widths are medians"
)


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
        sentences = [_near(self), _saturated(self), _public(self), _condition(self)]
        return " ".join(sentence for sentence in sentences if sentence)

    def table(self) -> str:
        """
        Return the figures as a table in plain text.

        Returns
        -------
        str
        """
        table = Table(
            title=f"{self.model}, {self.n_rows:,} private rows, {self.rehearsals} rehearsals",
            title_justify="left",
            caption=CAPTION,
            caption_justify="left",
        )
        for heading in HEADINGS:
            table.add_column(
                heading, justify="left" if heading == "fit" else "right", no_wrap=heading == RANGE
            )
        for forecast in self.forecasts:
            condition = "-" if forecast.condition is None else f"{forecast.condition:.2g}"
            table.add_row(
                f"mu {text_above(forecast.mu, 3)}",
                f"{forecast.prediction_error:.3g}",
                _range(forecast.ranges.prediction_error),
                f"{forecast.error:.3g}",
                f"{forecast.prediction_distance:.3g}",
                _half_width(forecast),
                f"{forecast.bound:.3g}",
                condition + ("" if forecast.robust is None or forecast.robust else " (> 1/2)"),
            )
        table.add_section()
        for name, level in (("non-private", self.non_private), ("public only", self.public_only)):
            if level is not None:
                figures = (f"{level.prediction_error:.3g}", "-", f"{level.error:.3g}")
                table.add_row(name, *figures, "-", _half_width(level), "-", "-")
        text = StringIO()
        Console(file=text, width=WIDTH, color_system=None).print(table)
        return text.getvalue().rstrip()

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
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise ImportError(
                "plotting needs matplotlib; install publicmoments with the extra [plot]"
            ) from error
        to_file = isinstance(target, str | os.PathLike)
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        axes: Any = figure.subplots() if target is None or to_file else target
        mus = [forecast.mu for forecast in self.forecasts]
        errors = [forecast.prediction_error for forecast in self.forecasts]
        axes.loglog(mus, errors, marker="o", color="C0", label="private, expected")
        ends = np.array([forecast.ranges.prediction_error for forecast in self.forecasts])
        axes.fill_between(mus, *ends.T, color="C0", alpha=0.15, label="four of five fits")
        level = self.non_private.prediction_error
        axes.axhline(level, color="C2", linestyle="--", label="non-private")
        if self.public_only is not None:
            axes.axhline(
                self.public_only.prediction_error, color="C1", linestyle=":", label="public only"
            )
        axes.set_xlabel("total budget mu")
        axes.set_ylabel("error of predictions")
        axes.set_title(f"{self.model}, {self.n_rows:,} private rows")
        axes.grid(True, which="both", alpha=0.2)
        axes.legend()
        if to_file:
            figure.savefig(target, dpi=150)
        return axes

    def __str__(self) -> str:
        """Table and recommendation."""
        return f"{self.table()}\n\n{self.recommendation}"


def _mu(forecast: Forecast) -> str:
    """Name a budget."""
    return f"mu {text_above(forecast.mu, 3)}"


def _near(plan: Plan) -> str:
    """Which budget reaches the accuracy of the fit without privacy."""
    level = plan.non_private.prediction_error
    for forecast in plan.forecasts:
        if forecast.prediction_error <= NEAR * level:
            return (
                f"With {_mu(forecast)}, the error of predictions is expected to be "
                f"{forecast.prediction_error:.3g}, near that of the non-private fit, {level:.3g}."
            )
    last = plan.forecasts[-1]
    return (
        f"With {_mu(last)}, the largest budget asked about, the error of predictions is expected "
        f"to be {last.prediction_error:.3g}, {last.prediction_error / level:.2g} times that of "
        f"the non-private fit, {level:.3g}: more budget, more rows or better public data would "
        "help."
    )


def _saturated(plan: Plan) -> str:
    """From which budget on more of it buys nothing."""
    last = plan.forecasts[-1]
    for forecast in plan.forecasts[:-1]:
        if forecast.prediction_error <= WORTHLESS * last.prediction_error:
            return f"More than {_mu(forecast)} buys nothing."
    return ""


def _public(plan: Plan) -> str:
    """Where the public data alone are as good."""
    if plan.public_only is None:
        return ""
    level = plan.public_only.prediction_error
    useless = [f for f in plan.forecasts if level <= NEAR * f.prediction_error]
    if not useless:
        return f"Public data alone are worse at every budget, {level:.3g}."
    if len(useless) == len(plan.forecasts):
        return f"Public data alone are as good at every budget, {level:.3g}, and cost no privacy."
    return f"Public data alone, {level:.3g}, are as good up to {_mu(useless[-1])}."


def _condition(plan: Plan) -> str:
    """Where the paper's condition holds."""
    judged = [f for f in plan.forecasts if f.robust is not None]
    if not judged:
        return ""
    robust = [f for f in judged if f.robust]
    if len(robust) == len(judged):
        return "The paper's stability condition holds at every budget."
    if not robust:
        return (
            "The paper's stability condition holds at none of these budgets: it speaks of the "
            "paper's estimators, this one does not need it."
        )
    return (
        f"The paper's stability condition holds from {_mu(robust[0])} on; it speaks of the "
        "paper's estimators, this one does not need it."
    )


def _range(ends: tuple[float, float]) -> str:
    """A range as text."""
    return f"{ends[0]:.3g} to {ends[1]:.3g}"


def _half_width(level: Accuracy) -> str:
    """Median half width as text."""
    return f"{float(np.median(level.half_widths)):.3g}"
