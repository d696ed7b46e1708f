"""What a budget buys, and what several releases together guarantee."""

import math
from fractions import Fraction
from types import SimpleNamespace

import pytest

from publicmoments import GDP, ZCDP, ApproxDP
from publicmoments.privacy.claim import claim, spendable
from publicmoments.privacy.curves import gdp_delta
from publicmoments.privacy.laws import (
    VectorNoiseLaw,
    extra_delta,
    gram_noise_law,
    vector_noise_law,
)
from publicmoments.privacy.unit import ONE_ROW

GRAM_BOUND = 4**16
CHANGES = ONE_ROW.gram_square(GRAM_BOUND, 3), ONE_ROW.sum_square(4**26)


def both_laws(total: GDP) -> list:
    """A matrix and a vector, at 0.6 and 0.8 of the budget."""
    matrix, vector = total.split(0.36, 0.64)
    return [
        gram_noise_law(GRAM_BOUND, 3, matrix.mu),
        vector_noise_law(CHANGES[1], 30, vector.mu),
    ]


def charged(total: GDP) -> list:
    """The same as releases that have been made."""
    return [
        SimpleNamespace(law=law, rho=law.cost(change))
        for law, change in zip(both_laws(total), CHANGES, strict=True)
    ]


BOUGHT = spendable(GDP(0.7), both_laws)


@pytest.mark.parametrize("privacy", [GDP(0.7), GDP(30.0), ZCDP(0.1)])
def test_gaussian_and_concentrated_budgets_are_spent_whole(privacy):
    bought = spendable(privacy, both_laws)
    assert bought.total == privacy.to_gdp()
    tv = [law.gdp_extra_tv for law in both_laws(bought.total)]
    assert bought.extra_tv == pytest.approx(sum(tv), rel=1e-14, abs=0.0)


@pytest.mark.parametrize("privacy", [ApproxDP(1.0, 1e-6), ApproxDP(8.0, 1e-5)])
@pytest.mark.parametrize("noise_sd", [2.0**20, 3e4])
def test_what_the_grid_costs_is_set_aside_from_delta(privacy, noise_sd):
    laws = [VectorNoiseLaw(noise_sd, 20), VectorNoiseLaw(noise_sd, 10)]
    bought = spendable(privacy, lambda total: laws)
    total = bought.total
    aside = extra_delta(30 / (48 * noise_sd**2), privacy.epsilon)
    assert gdp_delta(total.mu, privacy.epsilon) + aside <= privacy.delta * (1 + 1e-9)
    assert gdp_delta(total.mu, privacy.epsilon) == pytest.approx(privacy.delta - aside, rel=1e-6)
    assert total.mu < privacy.to_gdp().mu


def test_laws_are_asked_for_the_whole_budget():
    asked = []
    spendable(GDP(0.7), lambda total: asked.append(total) or both_laws(total))
    assert asked == [GDP(0.7)]


def test_an_epsilon_that_the_grid_swamps_is_refused():
    laws = [VectorNoiseLaw(10.0, 20)]
    with pytest.raises(ValueError, match=r"epsilon=5\.0 is too large for delta=1e-06"):
        spendable(ApproxDP(5.0, 1e-6), lambda total: laws)


@pytest.mark.parametrize("mu", [1e-9, 1e30])
def test_budgets_that_no_grid_can_meet_are_refused(mu):
    with pytest.raises(ValueError, match=r"privacy must be a budget that noise on the integer"):
        spendable(GDP(mu), both_laws)


def test_noise_too_fine_for_a_gaussian_statement_is_refused():
    with pytest.raises(ValueError, match=r"privacy must be a budget that noise on the integer"):
        spendable(GDP(1.0), lambda total: [VectorNoiseLaw(9.9, 1)])


def test_costs_of_matrices_and_vectors_add_up():
    releases = charged(GDP(0.7))
    stated = claim(releases, BOUGHT, GDP(0.7), private=True)
    spent = sum(Fraction(release.rho) for release in releases)
    assert spent <= Fraction(stated["rho"]) <= spent * (1 + Fraction(1, 2**50))
    assert 0.245 * (1 - 1e-12) <= stated["rho"] <= 0.245
    assert stated["mu"] == 0.7
    assert stated["guarantee"].startswith("Satisfies 0.245-zCDP exactly, and 0.7-Gaussian DP")
    # That of the longest path, not of the releases that were made.
    assert stated["extra_tv"] == BOUGHT.extra_tv
    assert claim(releases[:1], BOUGHT, GDP(0.7), private=True)["extra_tv"] == BOUGHT.extra_tv


@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_every_point_of_the_curve_pays_for_the_grid(delta):
    # GDP(0.7) has a delta of 0.00113 at epsilon = 2: one budget is met and the other is not.
    stated = claim(charged(GDP(0.7)), BOUGHT, ApproxDP(2.0, delta), private=True)
    assert len(stated["epsilon_delta"]) >= 4
    for epsilon, told in stated["epsilon_delta"]:
        extra = (1 + math.exp(epsilon)) * stated["extra_tv"]
        assert told >= (gdp_delta(0.7, epsilon) + extra) * (1 - 1e-9)
    assert stated["epsilon_delta"][0] == (2.0, pytest.approx(max(delta, 0.0011327), rel=1e-4))


def test_without_protection_there_is_no_curve():
    stated = claim(charged(GDP(0.7)), BOUGHT, GDP(0.7), private=False)
    assert stated["private"] is False
    assert stated["epsilon_delta"] == ()
    assert stated["guarantee"].startswith("No privacy guarantee: the noise is reproducible")
