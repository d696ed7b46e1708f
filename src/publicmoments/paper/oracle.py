"""What the oracles read from private rows, without noise and without privacy."""

from __future__ import annotations

import math

from publicmoments.session.door import PrivateRows

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
    n = rows.n_rows
    design, responses = rows.settled(0, n, n)
    return float((design**2).sum()) / n, float((responses**2).sum()) / n


def usable(what: str, mean_square: float) -> float:
    """Return a mean square that a radius can be made of; the message shows no private number."""
    if not 0.0 < mean_square < math.inf:
        raise ValueError(
            f"{what} must have a mean square in (0, inf) for an oracle to take its radius from; "
            f"drop what is constantly zero, or rescale {what}"
        )
    return mean_square
