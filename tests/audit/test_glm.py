"""A distinguishing game against a gradient of logistic regression, as a fit releases it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from audit.door import BulkNoise, watched
from audit.game import upper_rate
from publicmoments import GDP, LogisticRegression, PublicMoments
from publicmoments.engines.dispatch import exact_sum
from publicmoments.privacy import Account
from publicmoments.session.door import release
from tests.helpers import query_of

N, D = 6, 2
RNG = np.random.default_rng(0)
PUBLIC = PublicMoments.from_rows(RNG.normal(size=(50, D)))
KNOWN = RNG.normal(size=(N - 1, D)), np.arange(N - 1) % 2


@pytest.fixture(scope="module")
def last_pass():
    """Recipe and cost of the last gradient of a fit."""
    table = RNG.normal(size=(N, D))
    model = LogisticRegression(privacy=GDP(1.0), public=PUBLIC, fit_intercept=False, passes=3)
    with watched() as passages:
        model.fit(table, (table[:, 0] > 0).astype(int))
    assert [one.mu for one in model.card_.passes] == [passage.mu for passage in passages]
    assert passages[-1].recipe.coef.any()
    return passages[-1].recipe, GDP(passages[-1].mu)


@pytest.fixture(scope="module")
def game(last_pass, make_rows):
    """
    Exact sums of two tables that differ in one row, as much as the bound allows.

    Both rows are enormous and of the first class, with log odds beyond doubt in favour of the
    second: slopes of one. In other respects they are opposite.
    """
    recipe, _ = last_pass
    along = recipe.coef[:, 0] / np.linalg.norm(recipe.coef)
    across = np.array([-along[1], along[0]])
    ends = 1e12 * np.array([across + 1e-3 * along, -across + 1e-3 * along])
    X, y = KNOWN
    return [
        exact_sum(make_rows(np.vstack([X, row]), np.append(y, 0)), recipe)
        for row in ends @ np.linalg.inv(recipe.whitener)
    ]


@pytest.fixture(scope="module")
def audited(last_pass, game):
    """Lower confidence bound on mu: the best statistic, cut half way between the sums."""
    recipe, cost = last_pass

    def run(source, draws):
        first, second = (one * recipe.grid_unit / N for one in game)
        direction, middle = second - first, (first + second) / 2
        wrong = []
        for exact, sign in zip(game, (1.0, -1.0), strict=True):
            released = (
                release(query_of(recipe), exact, cost, Account(cost), source) for _ in range(draws)
            )
            wrong.append(sum(sign * direction @ (one.values - middle) > 0 for one in released))
        return float(norm.isf(upper_rate(wrong[0], draws)) - norm.ppf(upper_rate(wrong[1], draws)))

    return run


def test_the_neighbours_are_as_far_apart_as_the_bound_allows(last_pass, game):
    recipe, _ = last_pass
    one, other = game
    change = np.linalg.norm((other - one).astype(float))
    assert change > 0.999 * 2.0 * np.sqrt(recipe.l2_bound_squared)


def test_the_attacker_comes_close_to_the_claim_and_not_beyond(last_pass, audited):
    _, cost = last_pass
    assert 0.8 * cost.mu <= audited(BulkNoise(), 12_000) <= cost.mu


def test_the_audit_catches_faint_noise(last_pass, audited):
    _, cost = last_pass
    assert audited(BulkNoise(factor=0.7), 6_000) > cost.mu
