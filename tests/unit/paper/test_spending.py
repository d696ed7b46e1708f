"""The account of a fit: even shares, one line per kind of release, and what a budget buys."""

from __future__ import annotations

import math

import numpy as np
import pytest

from publicmoments import GDP, ZCDP, ApproxDP, BudgetExceeded
from publicmoments.paper.published import Spending, affordable
from publicmoments.privacy.account import Account
from publicmoments.privacy.claim import Spendable
from publicmoments.privacy.noise import SeededNoise
from publicmoments.families.factors import Ones
from publicmoments.session import GramRecipe, TotalRecipe

N, D = 50, 3


@pytest.fixture
def rows(make_rows):
    rng = np.random.default_rng(0)
    return make_rows(rng.normal(size=(N, D)), rng.normal(size=N))


BOUGHT = Spendable(GDP(2.0), 1e-12)


def gram(radius=5.0):
    return GramRecipe(np.eye(D), np.zeros((D, 1)), Ones(), radius, radius, N)


def total():
    return TotalRecipe(np.eye(D), np.zeros((D, 1)), Ones(), 5.0, 7.0, N)


def test_releases_share_the_total_evenly_and_no_more_are_made(rows):
    spending = Spending(rows, BOUGHT, Account(BOUGHT.total), 4, SeededNoise(0))
    for _ in range(2):
        spending.gram("matrix", gram())
        spending.total_of("vector", total())
    assert [one.cost.mu for _, one in spending.made] == pytest.approx([1.0] * 4, rel=1e-12)
    assert math.hypot(*(one.cost.mu for _, one in spending.made)) <= 2.0
    with pytest.raises(IndexError):
        spending.gram("matrix", gram())


def test_releases_of_more_than_the_account_holds_are_refused(rows):
    spending = Spending(rows, BOUGHT, Account(BOUGHT.total), 1, SeededNoise(0))
    spending._costs.append(GDP(2.0))
    spending.gram("matrix", gram())
    with pytest.raises(BudgetExceeded):
        spending.gram("matrix", gram())


def test_noise_and_values_are_those_of_the_door(rows):
    spending = Spending(rows, BOUGHT, Account(BOUGHT.total), 4, SeededNoise(0))
    matrix = spending.gram("matrix", gram())
    vector = spending.total_of("vector", total())
    smallest, noise_sd = spending.smallest_eigenvalue(gram())
    assert matrix.shape == (D, D)
    assert vector.shape == (D,)
    # mu = 1 each: 2 * 25 / 50 in every entry, 2 * 7 / 50, and 25 / 50 for the eigenvalue.
    (_, first), (_, second), (_, third) = spending.made
    assert (first.diagonal_sd, first.offdiagonal_sd) == pytest.approx((1.0, 1.0), rel=1e-9)
    assert second.noise_sd == pytest.approx(0.28, rel=1e-9)
    assert noise_sd == third.noise_sd == pytest.approx(0.5, rel=1e-6)
    assert smallest == third.noisy_mean[0]


def test_the_card_has_one_line_per_kind_and_scale(rows):
    spending = Spending(rows, BOUGHT, Account(BOUGHT.total), 5, SeededNoise(0))
    for radius in (5.0, 5.0, 6.0):
        spending.gram("matrix", gram(radius))
    for _ in range(2):
        spending.total_of("vector", total())
    card = spending.card(GDP(2.0), None, ("a note",))
    lines = [(one.statistic, one.times) for one in card.passes]
    assert lines == [("matrix", 2), ("matrix", 1), ("vector", 2)]
    assert card.notes == ("a note",)
    assert card.rho == pytest.approx(sum(one.rho * one.times for one in card.passes), rel=1e-9)


def test_an_unprotected_card_states_noise_in_units_of_the_bound(rows):
    spending = Spending(rows, BOUGHT, Account(BOUGHT.total), 2, SeededNoise(0))
    spending.gram("matrix", gram())
    spending.total_of("vector", total())
    card = spending.card(GDP(2.0), None, unprotected="Not private: a test.")
    # 2 / (sqrt(2) * 50) for both.
    expected = [0.028284271247461903] * 2
    assert [one.noise_sd for one in card.passes] == pytest.approx(expected, rel=1e-9)
    assert card.guarantee == "Not private: a test."


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (["a"], "mu = 2, for its one statistic"),
        (["a", "a"], "mu = 2, for its one statistic"),
        (["a", "b"], "mu = 1.41422, for each of its 2 kinds"),
        (["a", "b", "c"], "mu = 1.15471, for each of its 3 kinds"),
    ],
)
def test_the_budget_in_the_words_of_the_publication(rows, kinds, words):
    spending = Spending(rows, BOUGHT, Account(BOUGHT.total), len(kinds), SeededNoise(0))
    for kind in kinds:
        spending.total_of(kind, total())
    assert words in spending.as_published()


def test_what_budgets_buy():
    assert affordable(GDP(2.0), N, 3, 3, D).total == GDP(2.0)
    assert affordable(ZCDP(0.5), N, 3, 3, D).total == GDP(1.0)
    approximate = ApproxDP(1.0, 1e-6)
    bought = affordable(approximate, N, 3, 3, D).total
    assert 0.999 * approximate.mu < bought.mu <= approximate.mu


@pytest.mark.parametrize("privacy", [GDP(1e-9), GDP(1e12), ZCDP(1e20), ApproxDP(900.0, 1e-6)])
def test_budgets_beyond_the_grid_are_refused(privacy):
    with pytest.raises(ValueError, match="grid"):
        affordable(privacy, N, 1, 1, D)
