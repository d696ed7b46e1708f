"""What the published algorithms ask: even shares, one line per kind of release on the card."""

from __future__ import annotations

import math

import numpy as np
import pytest

from publicmoments import GDP, ApproxDP
from publicmoments.families.factors import Ones
from publicmoments.paper import OracleRidge, PMTRidge
from publicmoments.paper.published import Spending
from publicmoments.privacy.account import Account
from publicmoments.privacy.claim import Spendable
from publicmoments.privacy.noise import SeededNoise
from publicmoments.rows.recipe import GramRecipe, TotalRecipe
from publicmoments.session.door import Session

N, D = 50, 3
UNPROTECTED = "Not private: a test."


@pytest.fixture
def spend(make_rows):
    """A session at mu = 2 that is shared by some releases."""
    rng = np.random.default_rng(0)
    rows = make_rows(rng.normal(size=(N, D)), rng.normal(size=N))

    def opened(releases: int, unprotected: str | None = None) -> Spending:
        bought, budget = Spendable(GDP(2.0), 1e-12), GDP(2.0)
        session = Session(rows, Account(budget), SeededNoise(0), budget, bought, unprotected)
        return Spending(session, releases)

    return opened


def gram(radius=5.0):
    return GramRecipe(np.eye(D), np.zeros((D, 1)), Ones(), radius, radius, N)


def total():
    return TotalRecipe(np.eye(D), np.zeros((D, 1)), Ones(), 5.0, 7.0, N)


def test_releases_share_the_total_evenly(spend):
    spending = spend(4)
    for _ in range(2):
        spending.gram("matrix", gram())
        spending.total_of("vector", total())
    costs = [one.cost.mu for one in spending.session.releases]
    assert costs == pytest.approx([1.0] * 4, rel=1e-12)
    assert math.hypot(*costs) <= 2.0
    with pytest.raises(RuntimeError, match="cost must fit in what is left"):
        spending.gram("matrix", gram())


def test_noise_and_values_are_those_of_the_door(spend):
    spending = spend(4)
    matrix = spending.gram("matrix", gram())
    vector = spending.total_of("vector", total())
    smallest, noise_sd = spending.smallest_eigenvalue(gram())
    assert matrix.shape == (D, D)
    assert vector.shape == (D,)
    # mu = 1 each: 2 * 25 / 50 in every entry, 2 * 7 / 50, and 25 / 50 for the eigenvalue.
    first, second, third = spending.session.releases
    assert (first.noise_sd, first.offdiagonal_sd) == pytest.approx((1.0, 1.0), rel=1e-9)
    assert second.noise_sd == pytest.approx(0.28, rel=1e-9)
    assert noise_sd == third.noise_sd == pytest.approx(0.5, rel=1e-6)
    assert smallest == third.values[0]


def test_the_card_has_one_line_per_kind_and_scale(spend):
    spending = spend(5)
    for radius in (5.0, 5.0, 6.0):
        spending.gram("matrix", gram(radius))
    for _ in range(2):
        spending.total_of("vector", total())
    card = spending.card(None)
    lines = [(one.statistic, one.times) for one in card.passes]
    assert lines == [("matrix", 2), ("matrix", 1), ("vector", 2)]
    assert card.notes == (spending.as_published(),)
    assert card.rho == pytest.approx(sum(one.rho * one.times for one in card.passes), rel=1e-9)


def test_an_unprotected_card_states_noise_in_units_of_the_bound(spend):
    spending = spend(2, UNPROTECTED)
    spending.gram("matrix", gram())
    spending.total_of("vector", total())
    card = spending.card(None)
    # 2 / (sqrt(2) * 50) for both.
    expected = [0.028284271247461903] * 2
    assert [one.noise_sd for one in card.passes] == pytest.approx(expected, rel=1e-9)
    assert card.guarantee == UNPROTECTED
    assert "in units of the bound" in card.notes[-1]


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (["a"], "mu = 2, for its one statistic"),
        (["a", "a"], "mu = 2, for its one statistic"),
        (["a", "b"], "mu = 1.41422, for each of its 2 kinds"),
        (["a", "b", "c"], "mu = 1.15471, for each of its 3 kinds"),
    ],
)
def test_the_budget_in_the_words_of_the_publication(spend, kinds, words):
    spending = spend(len(kinds))
    for kind in kinds:
        spending.total_of(kind, total())
    assert words in spending.as_published()


@pytest.mark.parametrize("model", [PMTRidge, OracleRidge])
def test_what_budgets_buy(model):
    rng = np.random.default_rng(0)
    X, approximate = rng.normal(size=(N, D)), ApproxDP(1.0, 1e-6)
    card = model(privacy=approximate, random_state=0).fit(X, X[:, 0]).card_
    assert 0.999 * approximate.mu < card.mu <= approximate.mu
