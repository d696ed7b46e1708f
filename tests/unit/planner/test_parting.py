"""Classes that are apart keep mean 0 and variance 1."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from publicmoments.planner.parting import Parting


@pytest.mark.parametrize("parting", [Parting(0.0, 0.5), Parting(0.6, 0.5), Parting(0.95, 0.1)])
def test_draws_and_quadrature_are_of_one_law(parting):
    rng = np.random.default_rng(0)
    drawn = parting.parted(rng, rng.standard_normal(400_000))
    nodes, weights = parting.nodes()
    assert weights @ nodes == pytest.approx(0.0, abs=1e-12)
    assert weights @ nodes**2 == pytest.approx(1.0)
    for power in (1, 2, 3, 4):
        assert np.mean(drawn**power) == pytest.approx(weights @ nodes**power, rel=0.03, abs=0.01)


def test_classes_have_their_shares_and_lie_apart():
    rng = np.random.default_rng(0)
    drawn = Parting(0.99, 0.2).parted(rng, rng.standard_normal(100_000))
    assert np.mean(drawn > 0.5) == pytest.approx(0.2, abs=0.005)
    assert np.mean(np.abs(drawn - 0.5) < 0.3) < 0.001


@pytest.mark.parametrize("at", [0.0, 0.123, 1.1])
def test_quadrature_meets_the_steps_that_long_predictors_make_of_labels(at):
    nodes, weights = Parting(0.0, 0.5).nodes()
    assert weights @ (nodes > at) == pytest.approx(stats.norm.sf(at), abs=0.002)
