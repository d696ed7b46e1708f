"""The door for sums of rows and eigenvalues: charge first, draw the noise that was paid for."""

import math
from fractions import Fraction

import numpy as np
import pytest

from publicmoments.engines import ExactGram, ExactTotal
from publicmoments.privacy import GDP, Account, BudgetExceeded, NoiseLaw, gram_noise_law
from publicmoments.privacy.laws import ENTRY_LIMIT, triangle_noise_law, vector_noise_law
from publicmoments.privacy.noise import SeededNoise, SystemNoise
from publicmoments.rows import GramRecipe, InvalidRows, TotalRecipe
from publicmoments.session import (
    gram_grid_bound,
    grid_bound,
    measure_gram,
    measure_smallest_eigenvalue,
    measure_total,
    noise_source,
    release_gram,
    release_total,
    total_grid_bound,
)


def response(predictor, responses):
    return responses


@pytest.fixture
def exact() -> ExactTotal:
    return ExactTotal(np.array([9 * 2**23, -2 * 2**23]), 100)


@pytest.fixture
def recipe(make_scaled) -> TotalRecipe:
    return make_scaled(TotalRecipe)


def one_release(exact, recipe, source, mu: float = 0.5):
    """A release on an account of its own."""
    return release_total(exact, recipe, GDP(mu), Account(GDP(mu)), source)


def test_the_charge_comes_before_the_draw(exact, recipe, watch):
    account = watch.account(1.0)
    release_total(exact, recipe, GDP(0.5), account, watch.noise())
    assert watch.events == ["charge", "draw"]
    assert account.spent == 0.5


def test_a_source_that_fails_leaves_the_account_charged(exact, recipe, watch):
    account = watch.account(1.0)
    with pytest.raises(OSError, match="no entropy"):
        release_total(exact, recipe, GDP(0.6), account, watch.noise(fails=True))
    assert account.spent == 0.6
    with pytest.raises(BudgetExceeded):
        release_total(exact, recipe, GDP(0.9), account, SeededNoise(0))


def test_an_overdraft_is_refused_and_nothing_is_drawn(exact, recipe, watch):
    account = watch.account(1.0)
    with pytest.raises(BudgetExceeded):
        release_total(exact, recipe, GDP(1.1), account, watch.noise())
    assert watch.events == []
    assert account.spent == 0.0


def test_sums_and_matrices_compose_on_one_account(exact, recipe, make_scaled):
    account, gram_recipe = Account(GDP(1.0)), make_scaled(GramRecipe)
    release_total(exact, recipe, GDP(0.6), account, SeededNoise(0))
    gram = ExactGram(np.eye(2, dtype=np.int64), 100)
    release_gram(gram, gram_recipe, GDP(0.8), account, SeededNoise(0))
    assert account.spent == pytest.approx(1.0)
    with pytest.raises(BudgetExceeded):
        release_total(exact, recipe, GDP(0.01), account, SeededNoise(0))


def test_the_mean_and_its_noise_are_per_row_and_in_units(exact, recipe, watch):
    # The bound is 8, n = 100 and mu = 0.5: noise of sd 2 * 8 / (0.5 * 100) = 0.32 a row.
    released = one_release(exact, recipe, watch.noise())
    assert released.noise_sd == 0.32
    np.testing.assert_allclose(released.noisy_mean, [0.09 + 0.32, -0.02 + 0.32], rtol=1e-12)
    assert released.noisy_mean.dtype == np.float64


def test_the_law_is_that_of_the_recipe_and_the_cost(exact, recipe):
    released = one_release(exact, recipe, SeededNoise(0), mu=0.25)
    assert released.law == vector_noise_law(4**26, 2, 0.25)
    assert released.rho == released.law.rho(4**26)
    assert 0.25**2 / 2 * (1 - 1e-12) <= released.rho <= 0.25**2 / 2
    assert (released.cost, released.recipe, released.n_rows) == (GDP(0.25), recipe, 100)


def test_without_noise_the_mean_is_that_of_the_bounded_rows(make_rows, make_scaled, silence):
    # Rows (1, 2) times 1 and (6, 8) times -0.5, the second shortened to (3, 4) before.
    recipe = make_scaled(TotalRecipe, factor=response, radius=5.0, n_rows=2)
    rows = make_rows([[1.0, 2.0], [6.0, 8.0]], [1.0, -0.5])
    released = measure_total(rows, recipe, GDP(1.0), Account(GDP(1.0)), silence)
    np.testing.assert_allclose(released.noisy_mean, [-0.25, 0.0], atol=1e-7)


def test_without_noise_the_gram_matrix_is_that_of_the_scaled_rows(make_rows, make_scaled, silence):
    recipe = make_scaled(GramRecipe, factor=response, radius=5.0, n_rows=2)
    rows = make_rows([[1.0, 2.0], [6.0, 8.0]], [1.0, -0.5])
    released = measure_gram(rows, recipe, GDP(1.0), Account(GDP(1.0)), silence)
    scaled = np.array([[1.0, 2.0], [-1.5, -2.0]])
    np.testing.assert_allclose(released.noisy_gram, scaled.T @ scaled / 2, atol=1e-3)


SOURCES = [
    (noise_source(None), True),
    (noise_source(7), False),
    (noise_source(np.random.default_rng(7)), False),
    (noise_source(None, protects=False), False),
    (noise_source(7, protects=False), False),
]


@pytest.mark.parametrize(("source", "private"), SOURCES)
def test_only_protecting_system_noise_makes_a_private_release(
    exact, recipe, make_rows, make_scaled, source, private
):
    assert one_release(exact, recipe, source).private is private
    gram_recipe, cost = make_scaled(GramRecipe, n_rows=2), GDP(1.0)
    gram = ExactGram(np.eye(2, dtype=np.int64), 2)
    assert release_gram(gram, gram_recipe, cost, Account(cost), source).private is private
    rows = make_rows(np.eye(2), np.ones(2))
    smallest = measure_smallest_eigenvalue(rows, gram_recipe, cost, Account(cost), source)
    assert smallest.private is private


def test_unprotected_noise_is_drawn_all_the_same(exact, recipe):
    seeded, unprotected = (
        one_release(exact, recipe, noise_source(7, protects=protects)).noisy_mean.tolist()
        for protects in (True, False)
    )
    assert seeded == unprotected
    first, second = (
        one_release(exact, recipe, noise_source(None, protects=False)).noisy_mean for _ in range(2)
    )
    assert (first != second).all()


def test_representations_hide_what_is_private(exact, recipe):
    assert repr(exact) == "ExactTotal(n_rows=100)"
    released = one_release(exact, recipe, SystemNoise())
    assert "noisy_mean" not in repr(released)
    assert not hasattr(released, "exact_total")


@pytest.mark.parametrize("n_rows", [1, 100, 2**36 - 1, 2**36, 2**50])
@pytest.mark.parametrize("sign", [1, -1])
def test_no_rows_at_all_can_fail_the_check_on_entries(make_scaled, n_rows, sign):
    recipe = make_scaled(TotalRecipe, n_rows=n_rows)
    largest = n_rows * math.isqrt(recipe.l2_bound_squared)
    assert largest < ENTRY_LIMIT
    released = one_release(
        ExactTotal(np.array([sign * largest, 0]), n_rows), recipe, SeededNoise(0)
    )
    # All rows at the bound of 8; the noise is far below that but for a single row.
    assert released.noisy_mean[0] == pytest.approx(sign * 8.0, abs=7 * released.noise_sd)


@pytest.mark.parametrize("measure", [measure_total, measure_gram, measure_smallest_eigenvalue])
def test_refused_rows_cost_nothing(make_rows, make_scaled, watch, measure):
    account = watch.account(1.0)
    kind = TotalRecipe if measure is measure_total else GramRecipe
    rows = make_rows([[1.0, np.nan]], [1.0])
    with pytest.raises(InvalidRows):
        measure(rows, make_scaled(kind, n_rows=1), GDP(1.0), account, watch.noise())
    assert account.spent == 0.0
    assert watch.events == []


def too_faint(l2_bound_squared: int, dimension: int, mu: float) -> NoiseLaw:
    """A law for a budget one part in a million larger."""
    return gram_noise_law(l2_bound_squared, dimension, mu * (1 + 1e-6))


def test_a_law_that_costs_more_than_is_charged_is_refused(make_rows, make_scaled, watch):
    account, recipe = watch.account(1.0), make_scaled(GramRecipe, n_rows=2)
    rows = make_rows(np.eye(2), np.ones(2))
    with pytest.raises(ValueError, match=r"the noise law costs rho=0\.50000.*mu=1\.0"):
        measure_gram(rows, recipe, GDP(1.0), account, watch.noise(), too_faint)
    assert watch.events == []
    assert account.spent == 0.0


def test_a_law_that_costs_less_is_welcome_and_its_cost_told(make_scaled, watch):
    recipe, account = make_scaled(GramRecipe), watch.account(1.0)
    gram = ExactGram(np.eye(2, dtype=np.int64), 100)
    released = release_gram(gram, recipe, GDP(1.0), account, watch.noise(), triangle_noise_law)
    assert released.rho == pytest.approx(0.25, rel=1e-13)
    assert account.spent == 1.0
    # 2 * 8^2 / (1 * 100) in every entry
    assert released.diagonal_sd == released.offdiagonal_sd == pytest.approx(1.28, rel=1e-12)
    np.testing.assert_allclose(released.noisy_gram, np.full((2, 2), 1.28), rtol=1e-6)


@pytest.mark.parametrize("n_rows", [1, 2**30, 2**36, 2**45])
def test_bounds_known_before_any_recipe_are_those_of_the_recipes(make_recipe, make_scaled, n_rows):
    for p in (1, 4):
        row, gram = make_recipe(p, n_rows=n_rows), make_scaled(GramRecipe, p, n_rows=n_rows)
        assert grid_bound(n_rows, p + 1) == row.l2_bound_squared
        assert gram_grid_bound(n_rows, p) == gram.l2_bound_squared
    assert total_grid_bound(n_rows) == make_scaled(TotalRecipe, n_rows=n_rows).l2_bound_squared


def test_without_noise_the_eigenvalue_is_the_smallest(make_rows, make_scaled, silence):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4)) * [3.0, 1.0, 2.0, 0.5]
    recipe = make_scaled(GramRecipe, 4, factor=response, radius=4.0, n_rows=300)
    y = rng.uniform(-1.0, 1.0, size=300)
    released = measure_smallest_eigenvalue(
        make_rows(X, y), recipe, GDP(1.0), Account(GDP(1.0)), silence
    )
    kept = np.minimum(1.0, 4.0 / np.linalg.norm(X, axis=1))
    bounded = X * (y * kept)[:, None]
    eigenvalues = np.linalg.eigvalsh(bounded.T @ bounded / 300)
    assert released.noisy_mean.shape == (1,)
    # Rounding moves a row of length at most 4 by at most one grid unit.
    assert released.noisy_mean[0] == pytest.approx(eigenvalues[0], abs=8 * recipe.grid_unit)
    assert eigenvalues[1] > 2 * eigenvalues[0]


@pytest.mark.parametrize("n_rows", [2, 100_000])
@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_the_noise_of_the_eigenvalue_covers_a_row_and_the_arithmetic(
    make_rows, make_scaled, watch, n_rows, mu
):
    recipe = make_scaled(GramRecipe, 3, n_rows=n_rows)
    rows = make_rows(np.broadcast_to(np.ones((1, 3)), (n_rows, 3)), np.ones(n_rows))
    account = watch.account(2.0)
    released = measure_smallest_eigenvalue(rows, recipe, GDP(mu), account, watch.noise())
    bound = 4**16
    float_error = Fraction(3 * n_rows * bound, 2**48)
    change = Fraction(released.law.noise_sd) * Fraction(mu)
    assert change >= bound + 1 + 2 * float_error
    assert change <= (bound + 1 + 2 * (float_error + 1)) * (1 + Fraction(1, 10**12))
    assert mu**2 / 2 * (1 - 1e-12) <= released.rho <= mu**2 / 2
    # In units: the bound is 8, so one row moves the smallest eigenvalue by 64 / n.
    assert released.noise_sd == pytest.approx(64 / (mu * n_rows), rel=1e-6)
    assert released.noisy_mean[0] == pytest.approx(released.noise_sd, rel=1e-6)
    assert watch.events == ["charge", "draw"]
    assert account.spent == mu


def test_an_eigenvalue_beyond_the_budget_is_not_drawn(make_rows, make_scaled, watch):
    rows, recipe = make_rows(np.eye(2), np.ones(2)), make_scaled(GramRecipe, n_rows=2)
    account = watch.account(0.5)
    with pytest.raises(BudgetExceeded):
        measure_smallest_eigenvalue(rows, recipe, GDP(0.6), account, watch.noise())
    assert watch.events == []
