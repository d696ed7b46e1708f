"""How far rows may reach before they count for less, chosen by predicted error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from publicmoments.arrays import Array
from publicmoments.public import PublicDesign

FACTORS = np.geomspace(0.5, 1024.0, 34)
"""Candidates: squared radius over the number p of whitened columns, the ones included."""

MOST_INFLATION = 3.0

ROW_TAIL = 10.0
"""Degrees of freedom of the Student law that stands in for rows nobody has seen."""

SHAPE_ROWS = 50.0
"""How many public rows tell as much about tails as the model rows that stand in for unseen ones."""

MISFIT_ROWS = 300.0
"""How wrong linear models are taken to be: what weights cut off is as correlated with the features
as it would be by chance in this many rows."""

NEGLIGIBLE_NOISE = 0.02
"""Below this share of the sampling variance, less noise buys nothing and the radius is widened."""


@dataclass(frozen=True)
class RowWeights:
    """
    Radius of the rows, and what it is expected to do in a population like the public one.

    A row z = (columns, 1) counts with weight c^2, c = min(1, radius / ||z||).

    Parameters
    ----------
    radius : float
        Longest whitened row of full weight.
    kept : float
        Expected share of the columns' second moment that survives the weights.
    kept_ones : float
        Expected mean weight, E c^2.
    kept_shape : float
        Share of a departure from the public shape that survives besides; see `choose_weights`.
    second : float
        Like ``kept``, with squared weights: second / kept^2 is how many times the sampling
        variance of equal weights there is.
    predicted_noise, predicted_bias : float
        Root mean square errors of a regression's predictions, in units of its residuals, that
        noise and the weights are expected to cause.

    Examples
    --------
    >>> lengths = RowLengths(squared=np.array([2.0, 30.0]), chances=np.array([0.95, 0.05]))
    >>> weights = choose_weights(lengths, p=4, n_rows=1000, mu=1.0, radius=4.0)
    >>> round(weights.kept, 3), round(weights.kept_ones, 3)
    (0.787, 0.976)
    """

    radius: float
    kept: float
    kept_ones: float
    kept_shape: float
    second: float
    predicted_noise: float
    predicted_bias: float


@dataclass(frozen=True, eq=False)
class RowLengths:
    """Squared lengths that whitened columns, without the ones, are expected to have; chances."""

    squared: Array
    chances: Array

    @classmethod
    def expected(cls, design: PublicDesign) -> RowLengths:
        """
        Blend the public rows with a Student model of rows nobody has seen.

        Both are brought to the mean square that private rows are expected to have: above that of
        the public ones, because the whitener was estimated on these.
        """
        d = design.n_columns - 1
        squared, chances = _student_lengths(d)
        if design.rows is not None:
            seen = np.sum((design.rows @ design.whitener)[:, :d] ** 2, axis=1)
            trust = len(seen) / (len(seen) + SHAPE_ROWS)
            squared = np.concatenate(
                [_of_mean(seen, np.full(len(seen), 1 / len(seen)), d), squared]
            )
            chances = np.concatenate(
                [np.full(len(seen), trust / len(seen)), (1.0 - trust) * chances]
            )
        return cls(squared * inflation(d + 1, design.n), chances)


def inflation(p: int, n_public: int | None) -> float:
    """Mean square of a whitened column in the private rows: that of an inverted Wishart matrix."""
    if n_public is None:
        return 1.0
    return (
        min(n_public / (n_public - p - 1), MOST_INFLATION) if n_public > p + 1 else MOST_INFLATION
    )


def moment_variance(p: int, n_public: int) -> float:
    """Variance of an off-diagonal entry of the private second moment, whitened in public."""
    return inflation(p, n_public) ** 2 / max(n_public - p - 3, 2.0)


def choose_weights(
    lengths: RowLengths, p: int, n_rows: int, mu: float, radius: float | None = None
) -> RowWeights:
    """
    Return the radius with the least predicted error, from public numbers only.

    Parameters
    ----------
    lengths : RowLengths
        Expected of the private rows.
    p : int
        Whitened columns, the ones included.
    n_rows : int
        Private rows.
    mu : float
        Budget of the release.
    radius : float, optional
        A radius the user insists on.

    Returns
    -------
    RowWeights

    Notes
    -----
    In units of the residual variance of a regression of one column on all others, squared errors
    of prediction are

    * noise: p (R^2 / (mu n))^2 / kept^2, as entries off the diagonal have noise sd R^2 / (mu n);
    * lost efficiency: (second / kept^2 - 1) p / n, kept as for noise;
    * misfit, where models are not linear: E (1 - c^2)^2 ||z||^2 / kept^2 / 300, what is left out
      being as correlated with the columns as it would be by chance in 300 rows.

    Long rows count for less, and a direction in which the private rows are longer than the public
    ones has more of them: so departures from the public shape are cut more than the matrix itself.
    To first order in rows of elliptical law the traceless part of a departure keeps the share
    kept (1 - 2 g / (d + 2)), with g = E[c^2 s^2 / (s + 1); c < 1] / E[c^2 s] and s the squared
    length of the d columns; noise counts in units of what is kept of a departure.

    Noise below a fiftieth of the sampling variance p / n counts as that much. As mu n grows the
    least error is that of the widest radius, which leaves all rows alone.

    Examples
    --------
    >>> lengths = RowLengths(np.array([2.0, 30.0]), np.array([0.95, 0.05]))
    >>> few, many = (choose_weights(lengths, 4, 1000, mu) for mu in (0.1, 10.0))
    >>> few.radius < many.radius and many.kept == 1.0
    True
    """
    radii = np.sqrt(FACTORS * p) if radius is None else np.array([radius])
    second_moment = lengths.chances * lengths.squared / (lengths.chances @ lengths.squared)
    c2 = np.minimum(1.0, radii[:, None] ** 2 / (lengths.squared + 1.0))
    kept, second = c2 @ second_moment, c2**2 @ second_moment
    shape = _kept_shape(lengths, c2, kept, p - 1)
    sampling = p / n_rows
    noise = p * (radii**2 / (mu * n_rows * kept * shape)) ** 2
    lost = (1.0 - c2) ** 2 @ (lengths.chances * (lengths.squared + 1.0))
    misfit = lost / kept**2 / MISFIT_ROWS
    inefficiency = np.maximum(second / (kept * shape) ** 2 - 1.0, 0.0) * sampling
    best = int(np.argmin(np.maximum(noise, NEGLIGIBLE_NOISE * sampling) + inefficiency + misfit))
    return RowWeights(
        radius=float(radii[best]),
        kept=float(kept[best]),
        kept_ones=float(c2[best] @ lengths.chances),
        kept_shape=float(shape[best]),
        second=float(second[best]),
        predicted_noise=float(np.sqrt(noise[best])),
        predicted_bias=float(np.sqrt(misfit[best])),
    )


def _kept_shape(lengths: RowLengths, c2: Array, kept: Array, d: int) -> Array:
    """Share of a traceless departure that survives beyond ``kept``; one column has no shape."""
    if d == 1:
        return np.ones(len(c2))
    s = lengths.squared
    cut = np.where(c2 < 1.0, c2, 0.0) @ (lengths.chances * s**2 / (s + 1.0))
    return np.asarray(1.0 - 2.0 / (d + 2) * cut / (kept * (lengths.chances @ s)))


def _student_lengths(d: int) -> tuple[Array, Array]:
    """Quadrature of the squared length of a Student row of mean square d, fine in the tail."""
    edges = np.concatenate([np.linspace(1.0, 0.1, 25)[:-1], np.geomspace(0.1, 1e-8, 25)])
    middles, chances = (edges[:-1] + edges[1:]) / 2, edges[:-1] - edges[1:]
    chances = chances / chances.sum()
    return _of_mean(stats.f.isf(middles, d, ROW_TAIL), chances, d), chances


def _of_mean(squared: Array, chances: Array, mean: float) -> Array:
    """Rescale to a mean; rows of length zero throughout stay so."""
    now = float(chances @ squared)
    return np.asarray(squared * (mean / now)) if now > 0.0 else squared
