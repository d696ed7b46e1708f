"""A distinguishing game against the door: what an attacker reaches, against what is claimed."""

import math

import numpy as np
import pytest
from scipy.stats import beta, norm

from publicmoments.engines import sum_gram, sum_total
from publicmoments.privacy import GDP, Account
from publicmoments.privacy.noise import SystemNoise
from publicmoments.release import release_gram, release_total
from publicmoments.rows import TotalRecipe

MU = 1.0
CONFIDENCE = 0.999


class BulkNoise:
    """System noise, drawn many at a time; ``factor`` other than one makes it a faulty source."""

    private = True

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor
        self.stock: dict[float, np.ndarray] = {}

    def draw(self, count: int, noise_sd: float) -> np.ndarray:
        stock = self.stock.get(noise_sd, np.empty(0, dtype=np.int64))
        if len(stock) < count:
            stock = SystemNoise().draw(4096, self.factor * noise_sd)
        self.stock[noise_sd] = stock[count:]
        return stock[:count]


@pytest.fixture(scope="module")
def game(make_recipe, make_rows, worst_neighbours):
    """Exact sums of two tables that differ in one row, as much as the bound allows."""
    rng = np.random.default_rng(3)
    recipe = make_recipe(
        2, whitener=rng.normal(size=(2, 2)), coef=rng.normal(size=(2, 1)), x_radius=5.0, n_rows=4
    )
    others = rng.normal(size=(3, 3))
    tables = (np.vstack([others, np.concatenate(row)]) for row in worst_neighbours(recipe))
    return recipe, [sum_gram(make_rows(t[:, :2], t[:, 2]), recipe) for t in tables]


def scores(exact, recipe, source, direction: np.ndarray, draws: int) -> np.ndarray:
    """Optimal statistic of many releases: the Frobenius product with the difference of the sums."""
    cost = GDP(MU)
    return np.array(
        [
            np.sum(direction * release_gram(exact, recipe, cost, Account(cost), source).noisy_gram)
            for _ in range(draws)
        ]
    )


def upper_rate(errors: int, trials: int) -> float:
    """Clopper-Pearson upper limit on an error rate."""
    return float(beta.ppf(CONFIDENCE, errors + 1, trials - errors)) if errors < trials else 1.0


def mu_at(threshold: float, first: np.ndarray, second: np.ndarray) -> float:
    """Lower confidence bound on mu from one threshold, given before the scores were seen."""
    alarms = upper_rate(int(np.sum(first > threshold)), len(first))
    misses = upper_rate(int(np.sum(second <= threshold)), len(second))
    return float(norm.isf(alarms) - norm.ppf(misses))


def mu_lower_bound(first: np.ndarray, second: np.ndarray) -> float:
    """
    Lower confidence bound on mu from scores of both tables.

    Under mu-GDP no test has z(1 - false alarms) - z(misses) above mu. The threshold is chosen on
    one half of the scores and judged on the other.
    """
    half = len(first) // 2
    candidates = np.quantile(np.append(first[:half], second[:half]), np.linspace(0.2, 0.8, 31))
    threshold = max(candidates, key=lambda t: mu_at(t, first[:half], second[:half]))
    return mu_at(threshold, first[half:], second[half:])


@pytest.fixture(scope="module")
def audited(game):
    """Run the audit on a source of noise."""

    def run(source, draws: int) -> float:
        recipe, pair = game
        direction = (pair[1].exact_gram - pair[0].exact_gram).astype(float)
        return mu_lower_bound(*(scores(sum_, recipe, source, direction, draws) for sum_ in pair))

    return run


def test_the_neighbours_are_as_far_apart_as_the_bound_allows(game):
    recipe, (one, other) = game
    change = np.linalg.norm((other.exact_gram - one.exact_gram).astype(float))
    assert change > 0.999 * math.sqrt(2) * recipe.l2_bound_squared


def test_the_attacker_comes_close_to_the_claim_and_not_beyond(audited):
    assert 0.8 * MU <= audited(BulkNoise(), 20_000) <= MU


def test_the_audit_catches_faint_noise(audited):
    assert audited(BulkNoise(factor=0.7), 6_000) > MU


@pytest.fixture(scope="module")
def total_game(make_scaled, make_rows):
    """Exact totals of two tables that differ in one row, as much as the bound allows."""
    rng = np.random.default_rng(4)
    recipe = make_scaled(
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
    return recipe, [sum_total(make_rows(t[:, :2], t[:, 2]), recipe) for t in tables]


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
        first, second = (exact.exact_total * recipe.grid_unit / recipe.n_rows for exact in pair)
        direction = second - first
        samples = (
            [
                direction @ release_total(exact, recipe, cost, Account(cost), source).noisy_mean
                for _ in range(draws)
            ]
            for exact in pair
        )
        threshold = float(direction @ (first + second) / 2)
        return mu_at(threshold, *(np.array(sample) for sample in samples))

    return run


def test_the_neighbours_of_totals_are_as_far_apart_as_the_bound_allows(total_game):
    recipe, (one, other) = total_game
    change = np.linalg.norm((other.exact_total - one.exact_total).astype(float))
    assert change > 0.999 * 2 * math.sqrt(recipe.l2_bound_squared)


def test_the_attacker_of_totals_comes_close_to_the_claim_and_not_beyond(total_audited):
    assert 0.85 * MU <= total_audited(BulkNoise(), 25_000) <= MU


def test_the_audit_of_totals_catches_faint_noise(total_audited):
    assert total_audited(BulkNoise(factor=0.7), 6_000) > MU
