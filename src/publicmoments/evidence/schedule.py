"""How a budget is split over what a fit releases."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

__all__ = ["Schedule", "schedule"]

LOOK, RESPONSES = 0.1, 0.03
"""Shares of the squared budget for the second moment, and for a histogram of responses where
nothing public is known of them."""

GROWTH = 1.6
"""Each gradient has this much more of it than the one before."""

STEPS, STEPS_OF_CURVED, STEPS_UNINFORMED = 4, 6, 7
"""Gradients with a public fit to start from, of linear regression and of others; and without."""

STEPS_PER_DECADE, ROOM = 3.5, 3.0
"""Further gradients for each power of ten that mu n has over p, beyond the third: errors have as
much further to fall."""


@dataclass(frozen=True)
class Schedule:
    """Shares of the squared budget: of the look, of the responses, of each gradient."""

    look: float
    responses: float
    steps: tuple[float, ...]

    @property
    def shares(self) -> tuple[float, ...]:
        """All of them, but those of what is not released."""
        first = (self.look, self.responses) if self.responses else (self.look,)
        return (*first, *self.steps)


def schedule(
    mu: float, n_rows: int, p: int, *, informed: bool, curved: bool, steps: int | None = None
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
    curved : bool
        Whether curvature depends on the coefficients.
    steps : int, optional
        Gradients that the user insists on.

    Returns
    -------
    Schedule

    Examples
    --------
    >>> schedule(1.0, 10_000, 10, informed=True, curved=False).steps[:2]
    (0.0971..., 0.1554...)
    """
    if steps is None:
        steps = (STEPS_OF_CURVED if curved else STEPS) if informed else STEPS_UNINFORMED
        decades = math.log10(max(mu * n_rows / p, 1.0)) - ROOM
        steps += round(STEPS_PER_DECADE * max(decades, 0.0))
    responses = 0.0 if informed else RESPONSES
    growing = GROWTH ** np.arange(steps)
    left = 1.0 - LOOK - responses
    return Schedule(LOOK, responses, tuple(float(s) for s in growing / growing.sum() * left))
