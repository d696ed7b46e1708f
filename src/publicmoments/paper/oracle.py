"""What the oracles read from private rows, without noise and without privacy."""

from __future__ import annotations

from publicmoments.release import PrivateRows

__all__ = ["ORACLE", "mean_squares"]

ORACLE = (
    "Not private: the radius was read from the private rows. "
    "Never publish this model; it serves as a baseline in comparisons only."
)


def mean_squares(rows: PrivateRows) -> tuple[float, float]:
    """
    Return the trace of the second moment of private rows, and the mean square of their responses.

    **Not private.** Nothing that is computed from them is, whatever noise is added later; hence
    every estimator that calls this draws its noise from a source that claims no privacy.
    """
    design, responses = rows.padded_block(0, rows.n_rows, rows.n_rows)
    n = rows.n_rows
    return float((design**2).sum()) / n, float((responses**2).sum()) / n
