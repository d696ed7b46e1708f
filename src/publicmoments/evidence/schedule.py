"""How a budget is split over what a fit releases."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

LOOK, RESPONSES, COUNTS = 0.1, 0.03, 0.1
"""Shares of the squared budget for the second moment, for a histogram of responses where nothing
public is known of them, and for counts of influences."""

GROWTH = 1.4
"""Each gradient has this much more of it than the one before."""

STEPS, STEPS_UNINFORMED = 6, 8
"""Gradients with a public fit to start from, and without."""

STEPS_PER_DECADE, ROOM = 1.5, 3.0
"""Further gradients for each power of ten that mu n has over p, beyond the third: errors have as
much further to fall."""


@dataclass(frozen=True)
class Schedule:
    """Shares of the squared budget: of the look, the responses, each count and each gradient."""

    look: float
    responses: float
    counts: float
    steps: tuple[float, ...]


def schedule(
    mu: float,
    n_rows: int,
    p: int,
    *,
    informed: bool,
    counted: bool,
    steps: int | None = None,
) -> Schedule:
    """
    Split a budget.

    Parameters
    ----------
    mu : float
        Total budget.
    n_rows, p : int
        Shape of the design.
    informed : bool
        Whether public responses are known.
    counted : bool
        Whether influences are counted before each gradient.
    steps : int, optional
        Gradients that the user insists on.

    Returns
    -------
    Schedule

    Examples
    --------
    >>> schedule(1.0, 10_000, 10, informed=True, counted=False).steps[:2]
    (0.0551..., 0.0771...)
    """
    if steps is None:
        steps = STEPS if informed else STEPS_UNINFORMED
        decades = math.log10(max(mu * n_rows / p, 1.0)) - ROOM
        steps += round(STEPS_PER_DECADE * max(decades, 0.0))
    responses = 0.0 if informed else RESPONSES
    growing = GROWTH ** np.arange(steps)
    counts = COUNTS if counted else 0.0
    shares = growing / growing.sum() * (1.0 - LOOK - responses - counts)
    return Schedule(LOOK, responses, counts / steps, tuple(float(share) for share in shares))
