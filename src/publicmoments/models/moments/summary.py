"""Coefficients with their standard errors, as a record and as a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

__all__ = ["CoefSummary", "summarised"]

Array = NDArray[np.float64]

HEADINGS = ("coef", "std err", "noise", "sampling", "z", "P>|z|")


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
    noise_err, sampling_err : tuple of float
        The parts of the standard error that privacy and the number of rows cause;
        std_err^2 = noise_err^2 + sampling_err^2.
    z, p_value : tuple of float
        Estimate over standard error, and how often chance alone goes as far from zero.
    low, high : tuple of float
        Intervals.
    level : float
        Their coverage.
    alpha : float
        Ridge penalty.
    n_rows : int
        Rows behind the release.
    residual_sd : float
        Of the response about the fit.
    private : bool
        False for a release with reproducible noise.

    Examples
    --------
    >>> print(CoefSummary("y", ("x",), (2.0,), (0.5,), (0.3,), (0.4,), (4.0,), (6e-5,), (1.02,),
    ...                   (2.98,), 0.95, 0.0, 1000, 1.5, True))
    Response y: 1000 rows, residual sd 1.5, alpha 0
        coef  std err   noise  sampling      z  P>|z|  [0.025  0.975]
    x  2.000   0.5000  0.3000    0.4000  4.000  0.000   1.020   2.980
    """

    response: str
    names: tuple[str, ...]
    coef: tuple[float, ...]
    std_err: tuple[float, ...]
    noise_err: tuple[float, ...]
    sampling_err: tuple[float, ...]
    z: tuple[float, ...]
    p_value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    level: float
    alpha: float
    n_rows: int
    residual_sd: float
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
        numbers = (self.coef, self.std_err, self.noise_err, self.sampling_err)
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
        return (
            f"Response {self.response}: {self.n_rows} rows, residual sd {self.residual_sd:.4g}, "
            f"alpha {self.alpha:g}"
        )


def summarised(
    *,
    names: tuple[str, ...],
    estimates: Array,
    noise_variances: Array,
    sampling_variances: Array,
    intervals: Array,
    **rest: Any,
) -> CoefSummary:
    """Turn estimates and the parts of their variances into a summary."""
    noise, sampling = np.sqrt(noise_variances), np.sqrt(sampling_variances)
    total = np.sqrt(noise_variances + sampling_variances)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(estimates == 0.0, 0.0, estimates / total)
    return CoefSummary(
        names=names,
        coef=_plain(estimates),
        std_err=_plain(total),
        noise_err=_plain(noise),
        sampling_err=_plain(sampling),
        z=_plain(z),
        p_value=_plain(2.0 * ndtr(-np.abs(z))),
        low=_plain(intervals[:, 0]),
        high=_plain(intervals[:, 1]),
        **rest,
    )


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
