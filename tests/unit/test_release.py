"""The door: charge first, then draw; the claimed noise in physical units; nothing else leaves."""

import math

import numpy as np
import pytest

from publicmoments.data import as_responses, as_table
from publicmoments.engines import ExactGram
from publicmoments.privacy import GDP, Account, BudgetExceeded, gram_noise_law
from publicmoments.privacy.laws import ENTRY_LIMIT
from publicmoments.privacy.noise import SeededNoise, SystemNoise
from publicmoments.rows import InvalidRows
from publicmoments.session import measure_gram, noise_source, private_rows, release_gram


@pytest.fixture
def exact() -> ExactGram:
    return ExactGram(np.array([[9, 2, 3], [2, 7, -1], [3, -1, 8]]), 100)


def test_the_charge_comes_before_every_draw(exact, make_recipe, watch):
    account = watch.account(1.0)
    release_gram(exact, make_recipe(), GDP(0.5), account, watch.noise())
    assert watch.events[0] == "charge"
    assert set(watch.events[1:]) == {"draw"}
    assert watch.events.count("charge") == 1
    assert account.spent == 0.5


def test_a_source_that_fails_leaves_the_account_charged(exact, make_recipe, watch):
    account = Account(GDP(1.0))
    with pytest.raises(OSError, match="no entropy"):
        release_gram(exact, make_recipe(), GDP(0.6), account, watch.noise(fails=True))
    assert account.spent == 0.6
    with pytest.raises(BudgetExceeded):
        release_gram(exact, make_recipe(), GDP(0.9), account, SeededNoise(0))


def test_an_overdraft_is_refused_and_nothing_is_drawn(exact, make_recipe, watch):
    account = watch.account(1.0)
    with pytest.raises(BudgetExceeded):
        release_gram(exact, make_recipe(), GDP(1.1), account, watch.noise())
    assert watch.events == []
    assert account.spent == 0.0


def test_releases_compose_on_one_account(exact, make_recipe):
    account = Account(GDP(1.0))
    for mu in (0.6, 0.8):
        release_gram(exact, make_recipe(), GDP(mu), account, SeededNoise(0))
    assert account.spent == pytest.approx(1.0)
    with pytest.raises(BudgetExceeded):
        release_gram(exact, make_recipe(), GDP(0.01), account, SeededNoise(0))


def test_noise_sd_in_physical_units(exact, make_recipe):
    # R^2 = 3^2 + 4^2 = 25, n = 100, mu = 0.5: sd = sqrt(2) 25 / (0.5 * 100) = 0.707107 on the
    # diagonal and 0.5 off it; the grid adds sqrt(3)/2 units to a radius of 65536: 26.4e-6 twice.
    released = release_gram(exact, make_recipe(), GDP(0.5), Account(GDP(1.0)), SeededNoise(0))
    assert released.diagonal_sd == pytest.approx(0.7071068 * (1 + 26.43e-6), rel=1e-7)
    assert released.offdiagonal_sd == pytest.approx(0.5 * (1 + 26.43e-6), rel=1e-7)
    assert released.diagonal_sd >= math.sqrt(2) * 25 / (0.5 * 100)


def test_the_law_is_that_of_the_recipe_and_the_cost(exact, make_recipe):
    recipe, cost = make_recipe(), GDP(0.25)
    released = release_gram(exact, recipe, cost, Account(GDP(1.0)), SeededNoise(0))
    assert released.law == gram_noise_law(recipe.l2_bound_squared, 3, 0.25)
    assert released.law.rho(recipe.l2_bound_squared) <= 0.25**2 / 2
    assert (released.cost, released.recipe, released.n_rows) == (cost, recipe, 100)


def test_the_noise_drawn_is_the_noise_claimed(exact, make_recipe, watch):
    recipe = make_recipe()
    released = release_gram(exact, recipe, GDP(0.5), Account(GDP(1.0)), watch.noise())
    per_row = (5.0 / 65536) ** 2 / 100
    noise = released.noisy_gram - exact.exact_gram * per_row
    wanted = np.full((3, 3), released.offdiagonal_sd)
    np.fill_diagonal(wanted, released.diagonal_sd)
    np.testing.assert_allclose(noise, wanted, rtol=1e-9)


def test_without_noise_the_gram_matrix_is_that_of_the_bounded_rows(make_rows, make_recipe, silence):
    # Rows (1, 2 | 1) and (6, 8 | 2), the second scaled by 0.3 to (1.8, 2.4 | 0.6).
    rows = make_rows([[1.0, 2.0], [6.0, 8.0]], [1.0, 2.0])
    released = measure_gram(rows, make_recipe(n_rows=2), GDP(1.0), Account(GDP(1.0)), silence)
    bounded = np.array([[1.0, 2.0, 1.0], [1.8, 2.4, 0.6]])
    np.testing.assert_allclose(released.noisy_gram, bounded.T @ bounded / 2, atol=2e-4)


@pytest.mark.parametrize("source", [SystemNoise(), SeededNoise(3)], ids=repr)
def test_released_matrix_is_symmetric(exact, make_recipe, source):
    released = release_gram(exact, make_recipe(), GDP(1.0), Account(GDP(1.0)), source)
    assert released.noisy_gram.dtype == np.float64
    np.testing.assert_array_equal(released.noisy_gram, released.noisy_gram.T)
    assert len(np.unique(released.noisy_gram)) == 6


def test_only_system_noise_makes_a_private_release(exact, make_recipe):
    def private(source) -> bool:
        return release_gram(exact, make_recipe(), GDP(1.0), Account(GDP(1.0)), source).private

    assert private(noise_source(None)) is True
    assert private(noise_source(7)) is False
    assert private(noise_source(np.random.default_rng(7))) is False
    assert private(noise_source(np.random.RandomState(7))) is False


def test_system_noise_differs_from_release_to_release(exact, make_recipe):
    first, second = (
        release_gram(
            exact, make_recipe(), GDP(1.0), Account(GDP(1.0)), noise_source(None)
        ).noisy_gram
        for _ in range(2)
    )
    assert (first != second).all()


def test_representations_hide_what_is_private(exact, make_recipe):
    assert repr(exact) == "ExactGram(n_rows=100)"
    released = release_gram(exact, make_recipe(), GDP(1.0), Account(GDP(1.0)), SeededNoise(0))
    assert "noisy_gram" not in repr(released)
    assert not hasattr(released, "exact_gram")


@pytest.mark.parametrize("n_rows", [1, 100, 2**30 - 1, 2**30, 2**44])
@pytest.mark.parametrize("p", [1, 60])
def test_no_rows_at_all_can_fail_the_check_on_entries(make_recipe, n_rows, p):
    # The largest Gram matrix that n rows within the bound can have: all of them alike.
    recipe = make_recipe(p, n_rows=n_rows)
    largest = n_rows * recipe.l2_bound_squared
    assert largest < ENTRY_LIMIT
    for sign in (1, -1):
        gram = np.full((p + 1, p + 1), sign * largest)
        np.fill_diagonal(gram, largest)
        released = release_gram(
            ExactGram(gram, n_rows), recipe, GDP(1.0), Account(GDP(1.0)), SeededNoise(0)
        )
        assert np.isfinite(released.noisy_gram).all()


def test_refused_rows_cost_nothing(make_rows, make_recipe, watch):
    account = watch.account(1.0)
    rows = make_rows([[1.0, np.nan]], [1.0])
    with pytest.raises(InvalidRows):
        measure_gram(rows, make_recipe(n_rows=1), GDP(1.0), account, watch.noise())
    assert account.spent == 0.0
    assert watch.events == []


def test_private_rows_are_handed_over_as_they_are():
    rows = private_rows(
        as_table([[1.0], [2.0]]), as_responses([3, 4]), fit_intercept=True, ignore_invalid=True
    )
    assert (rows.n_rows, rows.n_design, rows.n_responses) == (2, 2, 1)
    assert rows.ignore_invalid
