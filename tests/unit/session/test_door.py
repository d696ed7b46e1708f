"""The door: charge first, then draw; the claimed noise in physical units; nothing else leaves."""

import math
from fractions import Fraction

import numpy as np
import pytest

from publicmoments.data import as_responses, as_table
from publicmoments.privacy import GDP, Account, BudgetExceeded, NoiseLaw, gram_noise_law
from publicmoments.privacy.laws import ENTRY_LIMIT, triangle_noise_law, vector_noise_law
from publicmoments.privacy.noise import SeededNoise, SystemNoise
from publicmoments.privacy.unit import ONE_ROW
from publicmoments.rows.private_rows import InvalidRows
from publicmoments.rows.recipe import CoarseTotalRecipe, CountRecipe, GramRecipe, TotalRecipe
from publicmoments.session.door import Release, noise_source, open_session, private_rows, release
from publicmoments.session.queries import (
    EigenvalueQuery,
    GramQuery,
    SumQuery,
    equal_part,
    everything,
    gram_demand,
    share_of,
    sum_demand,
)
from tests.helpers import query_of, released

UNIT = 2**23
"""Grid units in one, for totals with a bound of 8."""
GRAM_UNIT = 2**13
"""The same where products are summed."""


def response(predictor, responses):
    return responses


EXACT = {
    "sum": np.array([9 * UNIT, -2 * UNIT]),
    "counts": np.array([5 * 2**20, 95 * 2**20]),
    "gram": np.array([[9, -2], [-2, 7]]) * GRAM_UNIT**2,
    "eigenvalue": np.array([[9, -2], [-2, 7]]) * GRAM_UNIT**2,
}


@pytest.fixture(scope="module")
def make_query(make_recipe):
    """A query of some kind over 100 rows, unless told otherwise."""

    def make(name: str, **changes):
        if name == "counts":
            recipe = make_recipe(CountRecipe, l2_bound=1.0, edges=np.array([0.0, 1.0]), **changes)
            return query_of(recipe)
        recipe = make_recipe(TotalRecipe if name == "sum" else GramRecipe, **changes)
        return (
            EigenvalueQuery("an eigenvalue", recipe) if name == "eigenvalue" else query_of(recipe)
        )

    return make


@pytest.fixture(params=EXACT)
def name(request) -> str:
    """Kinds of queries."""
    return request.param


@pytest.fixture
def ask(make_query, name):
    """Release an answer to a query of each kind on an account, from a source of noise."""

    def asked(account, source, mu: float = 0.5) -> Release:
        return release(make_query(name), EXACT[name], GDP(mu), account, source)

    return asked


def alone(query, exact, source, mu: float = 0.5) -> Release:
    """A release on an account of its own."""
    return release(query, exact, GDP(mu), Account(GDP(mu)), source)


# Charges


def test_the_charge_comes_before_every_draw(ask, watch):
    account = watch.account(1.0)
    ask(account, watch.noise())
    assert watch.events[0] == "charge"
    assert set(watch.events[1:]) == {"draw"}
    assert account.spent == 0.5


def test_a_source_that_fails_leaves_the_account_charged(ask, watch):
    account = Account(GDP(1.0))
    with pytest.raises(OSError, match="no entropy"):
        ask(account, watch.noise(fails=True), 0.6)
    assert account.spent == 0.6
    with pytest.raises(BudgetExceeded):
        ask(account, SeededNoise(0), 0.9)


def test_an_overdraft_is_refused_and_nothing_is_drawn(ask, watch):
    account = watch.account(1.0)
    with pytest.raises(BudgetExceeded):
        ask(account, watch.noise(), 1.1)
    assert watch.events == []
    assert account.spent == 0.0


def test_releases_of_all_kinds_compose_on_one_account(make_query):
    account = Account(GDP(1.0))
    for name, mu in (("sum", 0.48), ("counts", 0.36), ("gram", 0.64), ("eigenvalue", 0.48)):
        release(make_query(name), EXACT[name], GDP(mu), account, SeededNoise(0))
    assert account.spent == pytest.approx(1.0)
    with pytest.raises(BudgetExceeded):
        release(make_query("sum"), EXACT["sum"], GDP(0.01), account, SeededNoise(0))


def test_refused_rows_cost_nothing(make_query, name, make_rows, watch):
    account = watch.account(1.0)
    rows = make_rows([[1.0, np.nan]], [1.0])
    with pytest.raises(InvalidRows):
        released(make_query(name, n_rows=1), rows, GDP(1.0), account, watch.noise())
    assert account.spent == 0.0
    assert watch.events == []


def too_faint(l2_bound_squared: int, dimension: int, mu: float) -> NoiseLaw:
    """A law for a budget one part in a million larger."""
    return gram_noise_law(l2_bound_squared, dimension, mu * (1 + 1e-6))


def test_a_law_that_costs_more_than_is_charged_is_refused(make_recipe, watch):
    account = watch.account(1.0)
    query = GramQuery("a sum", make_recipe(GramRecipe), too_faint)
    with pytest.raises(ValueError, match=r"the noise law costs rho=0\.50000.*mu=1\.0"):
        release(query, EXACT["gram"], GDP(1.0), account, watch.noise())
    assert watch.events == []
    assert account.spent == 0.0


def test_a_law_that_costs_less_is_welcome_and_its_cost_told(make_recipe, watch):
    account = watch.account(1.0)
    query = GramQuery("a sum", make_recipe(GramRecipe), triangle_noise_law)
    answer = release(query, np.eye(2, dtype=np.int64), GDP(1.0), account, watch.noise())
    assert answer.rho == pytest.approx(0.25, rel=1e-13)
    assert account.spent == 1.0
    # 2 * 8^2 / (1 * 100) in every entry
    assert answer.noise_sd == answer.offdiagonal_sd == pytest.approx(1.28, rel=1e-12)
    np.testing.assert_allclose(answer.values, np.full((2, 2), 1.28), rtol=1e-6)


# What comes out


def test_sums_and_their_noise_are_per_row_and_in_units(make_query, watch):
    # The bound is 8, n = 100 and mu = 0.5: noise of sd 2 * 8 / (0.5 * 100) = 0.32 a row.
    answer = alone(make_query("sum"), EXACT["sum"], watch.noise())
    assert answer.noise_sd == answer.offdiagonal_sd == 0.32
    np.testing.assert_allclose(answer.values, [0.09 + 0.32, -0.02 + 0.32], rtol=1e-12)
    assert answer.values.dtype == np.float64


def test_matrices_and_their_noise_are_per_row_and_in_units(make_query, watch):
    # R^2 = 64, n = 100, mu = 0.5: sd = sqrt(2) 64 / (0.5 * 100) on the diagonal and 1.28 off it.
    answer = alone(make_query("gram"), EXACT["gram"], watch.noise())
    assert answer.noise_sd == pytest.approx(1.28 * math.sqrt(2.0), rel=1e-9)
    assert answer.offdiagonal_sd == pytest.approx(1.28, rel=1e-9)
    assert answer.noise_sd >= 1.28 * math.sqrt(2.0) * (1 - 1e-15)
    noise = answer.values - [[0.09, -0.02], [-0.02, 0.07]]
    wanted = np.full((2, 2), answer.offdiagonal_sd)
    np.fill_diagonal(wanted, answer.noise_sd)
    np.testing.assert_allclose(noise, wanted, rtol=1e-8)


def test_the_law_is_that_of_the_recipe_and_the_cost(make_query, name):
    query = make_query(name)
    answer = alone(query, EXACT[name], SeededNoise(0), mu=0.25)
    mark = 2**20
    assert (
        answer.law
        == {
            "sum": vector_noise_law(Fraction(4 * 4**26), 2, 0.25),
            "counts": vector_noise_law(Fraction(2 * mark**2), 2, 0.25),
            "gram": gram_noise_law(4**16, 2, 0.25),
            "eigenvalue": vector_noise_law(query.squared_change(ONE_ROW), 1, 0.25),
        }[name]
    )
    assert answer.rho == answer.law.cost(query.squared_change(ONE_ROW))
    assert 0.25**2 / 2 * (1 - 1e-12) <= answer.rho <= 0.25**2 / 2
    assert (answer.cost, answer.query, answer.n_rows) == (GDP(0.25), query, 100)
    assert answer.statistic == query.statistic


def test_without_noise_the_mean_is_that_of_the_bounded_rows(make_query, make_rows, silence):
    # Rows (1, 2) times 1 and (6, 8) times -0.5, the second shortened to (3, 4) before.
    rows = make_rows([[1.0, 2.0], [6.0, 8.0]], [1.0, -0.5])
    scaled = np.array([[1.0, 2.0], [-1.5, -2.0]])
    for name, wanted, near in (
        ("sum", [-0.25, 0.0], 1e-7),
        ("gram", scaled.T @ scaled / 2, 1e-3),
    ):
        query = make_query(name, factor=response, radius=5.0, n_rows=2)
        answer = released(query, rows, GDP(1.0), Account(GDP(1.0)), silence)
        np.testing.assert_allclose(answer.values, wanted, atol=near)


def test_without_noise_the_eigenvalue_is_the_smallest(make_recipe, make_rows, silence):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4)) * [3.0, 1.0, 2.0, 0.5]
    recipe = make_recipe(GramRecipe, 4, factor=response, radius=4.0, n_rows=300)
    y = rng.uniform(-1.0, 1.0, size=300)
    query = EigenvalueQuery("an eigenvalue", recipe)
    answer = released(query, make_rows(X, y), GDP(1.0), Account(GDP(1.0)), silence)
    kept = np.minimum(1.0, 4.0 / np.linalg.norm(X, axis=1))
    bounded = X * (y * kept)[:, None]
    eigenvalues = np.linalg.eigvalsh(bounded.T @ bounded / 300)
    assert answer.values.shape == (1,)
    # Rounding moves a row of length at most 4 by at most one grid unit.
    assert answer.values[0] == pytest.approx(eigenvalues[0], abs=8 * recipe.grid_unit)
    assert eigenvalues[1] > 2 * eigenvalues[0]


@pytest.mark.parametrize("n_rows", [2, 100_000])
@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_the_noise_of_the_eigenvalue_covers_a_row_and_the_arithmetic(
    make_recipe, make_rows, watch, n_rows, mu
):
    query = EigenvalueQuery("an eigenvalue", make_recipe(GramRecipe, 3, n_rows=n_rows))
    rows = make_rows(np.broadcast_to(np.ones((1, 3)), (n_rows, 3)), np.ones(n_rows))
    account = watch.account(2.0)
    answer = released(query, rows, GDP(mu), account, watch.noise())
    bound = 4**16
    float_error = Fraction(3 * n_rows * bound, 2**48)
    change = Fraction(answer.law.noise_sd) * Fraction(mu)
    assert change >= bound + 1 + 2 * float_error
    assert change <= (bound + 1 + 2 * (float_error + 1)) * (1 + Fraction(1, 10**12))
    assert mu**2 / 2 * (1 - 1e-12) <= answer.rho <= mu**2 / 2
    # In units: the bound is 8, so one row moves the smallest eigenvalue by 64 / n.
    assert answer.noise_sd == pytest.approx(64 / (mu * n_rows), rel=1e-6)
    assert answer.values[0] == pytest.approx(answer.noise_sd, rel=1e-6)
    assert watch.events == ["charge", "draw"]
    assert account.spent == mu


@pytest.mark.parametrize("source", [SystemNoise(), SeededNoise(3)], ids=repr)
def test_released_matrices_are_symmetric(make_query, source):
    answer = alone(make_query("gram"), EXACT["gram"], source)
    assert answer.values.dtype == np.float64
    np.testing.assert_array_equal(answer.values, answer.values.T)
    assert len(np.unique(answer.values)) == 3


def test_representations_hide_what_is_released(ask):
    answer = ask(Account(GDP(1.0)), SystemNoise())
    assert "values" not in repr(answer)
    assert not any("exact" in field for field in vars(answer))


@pytest.mark.parametrize("n_rows", [1, 100, 2**30 - 1, 2**30, 2**36 - 1, 2**36, 2**50])
@pytest.mark.parametrize("sign", [1, -1])
def test_no_rows_at_all_can_fail_the_check_on_entries(make_query, n_rows, sign):
    query = make_query("sum", n_rows=n_rows)
    largest = n_rows * math.isqrt(query.recipe.l2_bound_squared)
    assert largest < ENTRY_LIMIT
    answer = alone(query, np.array([sign * largest, 0]), SeededNoise(0))
    # All rows at the bound of 8; the noise is far below that but for a single row.
    assert answer.values[0] == pytest.approx(sign * 8.0, abs=7 * answer.noise_sd)
    if n_rows <= 2**44:
        # The largest Gram matrix that rows within the bound can have: all of them alike.
        query = make_query("gram", n_rows=n_rows)
        largest = n_rows * query.recipe.l2_bound_squared
        assert largest < ENTRY_LIMIT
        gram = np.array([[largest, sign * largest], [sign * largest, largest]])
        assert np.isfinite(alone(query, gram, SeededNoise(0), mu=1.0).values).all()


# Where noise comes from

SOURCES = [
    (noise_source(None, protects=True), True),
    (noise_source(7, protects=True), False),
    (noise_source(np.random.default_rng(7), protects=True), False),
    (noise_source(np.random.RandomState(7), protects=True), False),
    (noise_source(None, protects=False), False),
    (noise_source(7, protects=False), False),
]


@pytest.mark.parametrize(("source", "private"), SOURCES)
def test_only_protecting_system_noise_makes_a_private_release(ask, source, private):
    assert ask(Account(GDP(1.0)), source).private is private


def test_unprotected_noise_is_drawn_all_the_same(ask):
    seeded, unprotected = (
        ask(Account(GDP(1.0)), noise_source(7, protects=protects)).values.tolist()
        for protects in (True, False)
    )
    assert seeded == unprotected


@pytest.mark.parametrize("protects", [True, False])
def test_system_noise_differs_from_release_to_release(ask, protects):
    source = noise_source(None, protects=protects)
    first, second = (ask(Account(GDP(1.0)), source).values for _ in range(2))
    assert (first != second).all()


# Sessions


def test_private_rows_are_handed_over_as_they_are():
    rows = private_rows(
        as_table([[1.0], [2.0]]), as_responses([3, 4]), fit_intercept=True, ignore_invalid=True
    )
    assert (rows.n_rows, rows.n_design, rows.n_responses) == (2, 2, 1)
    assert rows.ignore_invalid


@pytest.fixture
def session(make_rows):
    """Open a session over 100 rows."""
    rng = np.random.default_rng(0)
    rows = make_rows(rng.normal(size=(100, 2)), np.ones(100))

    def opened(mu: float, *demands, random_state=0):
        return open_session(rows, GDP(mu), demands, random_state=random_state)

    return opened


def test_shares_are_of_the_squared_budget(session, make_query):
    gram, cross = gram_demand(100, 2, share_of(0.25)), sum_demand(100, 2, share_of(0.75))
    with session(2.0, gram, cross) as opened:
        one = opened.ask(make_query("gram"), share_of(0.25))
        other = opened.ask(make_query("sum"), share_of(0.75))
    assert one.cost.mu == pytest.approx(1.0, rel=1e-12)
    assert one.cost.mu <= 1.0
    assert other.cost.mu == pytest.approx(math.sqrt(3.0))
    assert opened.account.spent == pytest.approx(2.0)
    assert other.noise_sd == pytest.approx(2.0 * 8.0 / (math.sqrt(3.0) * 100), rel=1e-6)
    assert opened.releases == [one, other]
    assert {"private": False}.items() <= opened.claim().items()


@pytest.mark.parametrize("mu", [0.1, 1.0, 7.3, 0.23670438052954665])
@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_equal_parts_never_exceed_the_budget_by_rounding(session, make_query, mu, parts):
    with session(mu, sum_demand(100, 2, equal_part(parts), parts)) as opened:
        answers = [opened.ask(make_query("sum"), equal_part(parts)) for _ in range(parts)]
    assert sum(Fraction(one.rho) for one in answers) <= Fraction(mu) ** 2 / 2 * (1 + 10**-12)
    assert opened.account.spent == pytest.approx(mu, rel=1e-12)


def test_more_than_was_announced_is_refused_and_not_charged(session, make_query):
    with session(1.0, sum_demand(100, 2, share_of(0.5))) as opened:
        opened.ask(make_query("sum"), share_of(0.5))
        with pytest.raises(RuntimeError, match="must ask for what it announced, got another a sum"):
            opened.ask(make_query("sum"), share_of(0.25))
        assert opened.account.spent == pytest.approx(math.sqrt(0.5))
        assert len(opened.releases) == 1


def test_more_than_all_is_refused_before_noise_is_drawn(session, make_query, watch):
    # Announced often enough, but each at the cost of all.
    with session(1.0, sum_demand(100, 2, everything, 2)) as opened:
        opened.source = watch.noise()
        opened.ask(make_query("sum"), everything)
        watch.events.clear()
        with pytest.raises(BudgetExceeded):
            opened.ask(make_query("sum"), everything)
    assert watch.events == []


def test_answers_of_a_session_with_system_noise_are_private(session, make_query):
    for random_state, private in ((None, True), (0, False)):
        demand = sum_demand(100, 2, everything)
        with session(1.0, demand, random_state=random_state) as opened:
            assert opened.ask(make_query("sum"), everything).private is private
            assert opened.claim()["private"] is private


def test_sums_on_a_coarse_grid_have_the_same_noise_in_units(session, make_recipe):
    query = SumQuery("a sum", make_recipe(CoarseTotalRecipe))
    with session(1.0, sum_demand(100, 2, everything, kind=CoarseTotalRecipe)) as opened:
        assert opened.ask(query, everything).noise_sd == pytest.approx(0.16, rel=1e-9)
