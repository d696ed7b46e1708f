"""A distinguishing game against the door: what an attacker reaches, against what is claimed."""

import math

import numpy as np
import pytest

from audit.door import BulkNoise
from audit.game import mu_lower_bound
from publicmoments.engines.dispatch import exact_sum
from publicmoments.privacy import GDP, Account
from publicmoments.rows.recipe import GramRecipe, TotalRecipe
from publicmoments.session.door import release
from tests.helpers import query_of

MU = 1.0


@pytest.fixture(scope="module")
def game(make_recipe, make_rows):
    """Exact sums of two tables that differ in one row, as much as the bound allows."""
    rng = np.random.default_rng(3)
    recipe = make_recipe(GramRecipe, whitener=rng.normal(size=(2, 2)), radius=math.inf, n_rows=4)
    others = rng.normal(size=(3, 2))
    # Rows at right angles, far outside the bound.
    tables = (np.vstack([others, row]) for row in 1e3 * np.linalg.inv(recipe.whitener))
    return recipe, [exact_sum(make_rows(t, np.zeros(4)), recipe) for t in tables]


def scores(exact, recipe, source, direction: np.ndarray, draws: int) -> np.ndarray:
    """Optimal statistic of many releases: the Frobenius product with the difference of the sums."""
    cost = GDP(MU)
    return np.array(
        [
            np.sum(direction * release(query_of(recipe), exact, cost, Account(cost), source).values)
            for _ in range(draws)
        ]
    )


@pytest.fixture(scope="module")
def audited(game):
    """Run the audit on a source of noise."""

    def run(source, draws: int) -> float:
        recipe, pair = game
        direction = (pair[1] - pair[0]).astype(float)
        samples = (scores(exact, recipe, source, direction, draws) for exact in pair)
        # The attacker knows both tables, and so the best threshold before any release.
        middle = (pair[0] + pair[1]) * recipe.grid_unit**2 / recipe.n_rows / 2
        return mu_lower_bound(float(np.sum(direction * middle)), *samples)

    return run


def test_the_neighbours_are_as_far_apart_as_the_bound_allows(game):
    recipe, (one, other) = game
    change = np.linalg.norm((other - one).astype(float))
    assert change > 0.999 * math.sqrt(2) * recipe.l2_bound_squared


def test_the_attacker_comes_close_to_the_claim_and_not_beyond(audited):
    assert 0.8 * MU <= audited(BulkNoise(), 20_000) <= MU


def test_the_audit_catches_faint_noise(audited):
    assert audited(BulkNoise(factor=0.7), 6_000) > MU


@pytest.fixture(scope="module")
def total_game(make_recipe, make_rows):
    """Exact totals of two tables that differ in one row, as much as the bound allows."""
    rng = np.random.default_rng(4)
    recipe = make_recipe(
        TotalRecipe,
        whitener=rng.normal(size=(2, 2)),
        coef=rng.normal(size=(2, 1)),
        factor=lambda predictor, responses: responses - predictor,
        radius=2.0,
        n_rows=4,
    )
    # Opposite residuals of one row far outside all bounds.
    others, x = rng.normal(size=(3, 3)), np.array([1e3, -2e3])
    tables = (np.vstack([others, [*x, y]]) for y in (1e6, -1e6))
    return recipe, [exact_sum(make_rows(t[:, :2], t[:, 2]), recipe) for t in tables]


@pytest.fixture(scope="module")
def total_audited(total_game):
    """
    Run the audit of totals on a source of noise.

    The attacker knows both tables, and so the best statistic and threshold before any release:
    the product with the difference of the totals, cut half way between them.
    """

    def run(source, draws: int) -> float:
        recipe, pair = total_game
        cost = GDP(MU)
        first, second = (exact * recipe.grid_unit / recipe.n_rows for exact in pair)
        direction = second - first
        samples = (
            [
                direction @ release(query_of(recipe), exact, cost, Account(cost), source).values
                for _ in range(draws)
            ]
            for exact in pair
        )
        threshold = float(direction @ (first + second) / 2)
        return mu_lower_bound(threshold, *(np.array(sample) for sample in samples))

    return run


def test_the_neighbours_of_totals_are_as_far_apart_as_the_bound_allows(total_game):
    recipe, (one, other) = total_game
    change = np.linalg.norm((other - one).astype(float))
    assert change > 0.999 * 2 * math.sqrt(recipe.l2_bound_squared)


def test_the_attacker_of_totals_comes_close_to_the_claim_and_not_beyond(total_audited):
    assert 0.85 * MU <= total_audited(BulkNoise(), 25_000) <= MU


def test_the_audit_of_totals_catches_faint_noise(total_audited):
    assert total_audited(BulkNoise(factor=0.7), 6_000) > MU
