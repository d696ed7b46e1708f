"""Public rows and draws of populations, for the tests of the planner."""

from __future__ import annotations

import numpy as np

COEF = np.array([1.0, -2.0, 0.5])


def public_rows(count, seed=0, sd=0.5):
    """Rows of unlike scales, and responses that are linear in them."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(count, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, 1.0]
    return B, B @ COEF + sd * rng.normal(size=count)


def worlds(population, count=300):
    """Draw some populations."""
    return [population.drawn(np.random.default_rng([k])) for k in range(count)]
