"""What squares show beyond chance: nothing where there is nothing, and most of what there is."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments.evidence.numerics import beyond_chance


@pytest.mark.parametrize("size", [1, 10, 1000])
def test_chance_alone_shows_something_rarely(size):
    rng = np.random.default_rng(size)
    variances = rng.uniform(0.1, 3.0, size)
    draws = rng.normal(0.0, np.sqrt(variances), (4000, size))
    shown = [beyond_chance(float(np.sum(draw**2)), variances) for draw in draws]
    # Two standard errors; a single square has a longer tail than many.
    assert np.mean(np.array(shown) > 0.0) < 0.06


def test_what_there_is_is_shown():
    variances = np.ones(100)
    assert beyond_chance(600.0, variances) == pytest.approx(500.0 - 2.0 * np.sqrt(200.0))
    assert beyond_chance(0.0, variances) == 0.0
    assert beyond_chance(3.0, 1.0) == 0.0
