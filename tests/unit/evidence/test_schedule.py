"""Splitting a budget: all of it, and over more gradients where errors can fall further."""

from __future__ import annotations

import itertools
import math

import pytest

from publicmoments.evidence.schedule import (
    COUNTS,
    GROWTH,
    LOOK,
    RESPONSES,
    STEPS,
    STEPS_UNINFORMED,
    schedule,
)

CASES = [(informed, counted) for informed in (True, False) for counted in (True, False)]


def made(mu=1.0, n_rows=1_000, p=5, informed=True, counted=True, steps=None):
    return schedule(mu, n_rows, p, informed=informed, counted=counted, steps=steps)


@pytest.mark.parametrize(("informed", "counted"), CASES)
@pytest.mark.parametrize("steps", [None, 1, 30])
@pytest.mark.parametrize("mu", [1e-3, 1.0, 1e6])
def test_shares_add_up_to_one(informed, counted, steps, mu):
    plan = made(mu, informed=informed, counted=counted, steps=steps)
    whole = [plan.look, plan.responses, *plan.steps, *[plan.counts] * len(plan.steps)]
    assert math.fsum(whole) == pytest.approx(1.0, rel=1e-12)
    assert min(plan.steps) > 0.0
    assert (plan.responses > 0.0) is not informed
    assert (plan.counts > 0.0) is counted
    assert steps is None or len(plan.steps) == steps


def test_shares_of_what_is_no_gradient():
    plan = made(informed=False, steps=4)
    assert (plan.look, plan.responses) == (LOOK, RESPONSES)
    assert plan.counts == pytest.approx(COUNTS / 4)


def test_each_gradient_has_more_than_the_one_before():
    steps = made().steps
    for before, after in itertools.pairwise(steps):
        assert after / before == pytest.approx(GROWTH)


@pytest.mark.parametrize(("informed", "steps"), [(True, STEPS), (False, STEPS_UNINFORMED)])
def test_more_gradients_the_larger_budgets_and_tables_are(informed, steps):
    def count(mu, n_rows, p=1):
        return len(made(mu, n_rows, p, informed=informed).steps)

    assert count(1e-6, 2) == count(1.0, 10) == count(1.0, 1_000) == steps
    # Three for every two powers of ten, whatever these come from.
    assert count(1.0, 100_000) == count(100.0, 1_000) == count(1.0, 10_000_000, 100) == steps + 3
    assert count(1e12, 10**12) > steps + 30
