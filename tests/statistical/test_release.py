"""Through the door: released entries have the claimed noise, and not one that is 20 % off."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from publicmoments.engines.dispatch import exact_sum
from publicmoments.privacy import GDP, Account
from publicmoments.privacy.noise import SeededNoise, SystemNoise
from publicmoments.rows.recipe import GramRecipe, TotalRecipe
from tests.helpers import released

RELEASES = 300
# Two-sided level of every test here; failing by chance is out of the question.
LEVEL = 1e-9


def scale_accepted(errors: np.ndarray, noise_sd: float) -> bool:
    """Whether the errors fit independent Gaussians of mean zero and this sd."""
    statistic = float(np.sum((errors / noise_sd) ** 2))
    tails = chi2.cdf(statistic, errors.size), chi2.sf(statistic, errors.size)
    return min(tails) > LEVEL / 2


@pytest.fixture(scope="module", params=[SystemNoise(), SeededNoise(77)], ids=repr)
def errors(request, make_recipe, make_rows):
    """Errors of many releases of one tiny table, on and off the diagonal, and the claims."""
    rng = np.random.default_rng(12)
    rows = make_rows(rng.normal(size=(6, 8)), rng.normal(size=6), fit_intercept=True)
    recipe = make_recipe(GramRecipe, 9, radius=math.inf, l2_bound=5.0, n_rows=6)
    truth = exact_sum(rows, recipe) * recipe.grid_unit**2 / 6
    answers = [
        released(recipe, rows, GDP(0.7), Account(GDP(1.0)), request.param) for _ in range(RELEASES)
    ]
    noise = np.stack([one.values for one in answers]) - truth
    above = np.triu_indices(9, k=1)
    claims = answers[0].noise_sd, answers[0].offdiagonal_sd
    return np.diagonal(noise, axis1=1, axis2=2).ravel(), noise[:, above[0], above[1]], claims


def test_claimed_noise_is_accepted(errors):
    diagonal, off_diagonal, (diagonal_sd, offdiagonal_sd) = errors
    assert scale_accepted(diagonal, diagonal_sd)
    assert scale_accepted(off_diagonal, offdiagonal_sd)


@pytest.mark.parametrize("factor", [1.2, 1 / 1.2])
def test_noise_20_percent_off_is_rejected(errors, factor):
    diagonal, off_diagonal, (diagonal_sd, offdiagonal_sd) = errors
    assert not scale_accepted(diagonal, factor * diagonal_sd)
    assert not scale_accepted(off_diagonal, factor * offdiagonal_sd)


def test_the_claim_is_the_gaussian_mechanism_in_physical_units(errors):
    # sqrt(2) R^2 / (mu n) = sqrt(2) 25 / (0.7 * 6)
    _, _, (diagonal_sd, offdiagonal_sd) = errors
    assert diagonal_sd == pytest.approx(8.4179, rel=1e-4)
    assert offdiagonal_sd == pytest.approx(5.9524, rel=1e-4)


def test_noise_has_mean_zero(errors):
    diagonal, off_diagonal, (diagonal_sd, offdiagonal_sd) = errors
    for noise, noise_sd in ((diagonal, diagonal_sd), (off_diagonal, offdiagonal_sd)):
        assert abs(noise.mean()) < 6.5 * noise_sd / np.sqrt(noise.size)


@pytest.fixture(scope="module", params=[SystemNoise(), SeededNoise(78)], ids=repr)
def total_errors(request, make_recipe, make_rows):
    """Errors of many released totals of one tiny table, and the claimed sd."""
    rng = np.random.default_rng(13)
    rows = make_rows(rng.normal(size=(6, 5)), rng.normal(size=(6, 2)))
    recipe = make_recipe(
        TotalRecipe,
        5,
        2,
        coef=rng.normal(size=(5, 2)),
        factor=lambda predictor, responses: responses - predictor,
        radius=2.0,
        l2_bound=3.0,
        n_rows=6,
    )
    truth = exact_sum(rows, recipe) * recipe.grid_unit / 6
    answers = [
        released(recipe, rows, GDP(0.7), Account(GDP(1.0)), request.param) for _ in range(RELEASES)
    ]
    return np.stack([one.values for one in answers]) - truth, answers[0].noise_sd


def test_claimed_noise_of_totals_is_accepted(total_errors):
    noise, noise_sd = total_errors
    assert scale_accepted(noise, noise_sd)
    assert all(scale_accepted(entry, noise_sd) for entry in noise.T)


@pytest.mark.parametrize("factor", [1.2, 1 / 1.2])
def test_noise_of_totals_20_percent_off_is_rejected(total_errors, factor):
    noise, noise_sd = total_errors
    assert not scale_accepted(noise, factor * noise_sd)


def test_the_claim_for_totals_is_the_gaussian_mechanism_in_physical_units(total_errors):
    # 2 * 3 / (mu n) = 6 / (0.7 * 6)
    assert total_errors[1] == pytest.approx(1.428571, rel=1e-6)


def test_noise_of_totals_has_mean_zero_and_no_correlation(total_errors):
    noise, noise_sd = total_errors
    assert abs(noise.mean()) < 6.5 * noise_sd / np.sqrt(noise.size)
    products = noise[:, :-1] * noise[:, 1:] / noise_sd**2
    assert abs(products.mean()) < 6.5 / np.sqrt(products.size)
