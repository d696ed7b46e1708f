"""How large residuals were before they were cut, read off a release."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from publicmoments.models.learning import _spreads

RADIUS, WEIGHT, P = 5.0, 2.0, 2
KNOWLEDGE = SimpleNamespace(coef=np.zeros((P, 1)))
BOUNDS = SimpleNamespace(weight=WEIGHT, kept=1.0)


def released(features, response, noise_sd=0.0):
    """A release with the given mean squares of the features and of the cut response."""
    return SimpleNamespace(
        noisy_gram=np.diag([features / P] * P + [response * WEIGHT**2]),
        diagonal_sd=noise_sd,
        recipe=SimpleNamespace(radius=RADIUS, n_design=P),
    )


def cut_mean_square(spread, features=9.0):
    """Mean square of normal residuals cut at what the features leave of the radius."""
    limit = np.sqrt(RADIUS**2 - features) / WEIGHT
    draws = np.random.default_rng(0).normal(0.0, np.sqrt(spread), size=400_000)
    return float(np.mean(np.clip(draws, -limit, limit) ** 2))


@pytest.mark.parametrize("spread", [2.0, 4.0, 10.0])
def test_the_spread_before_the_cut_is_found(spread):
    found = _spreads(KNOWLEDGE, released(9.0, cut_mean_square(spread)), BOUNDS)
    assert found[0] == pytest.approx(spread, rel=0.07)


def test_residuals_as_small_as_planned_are_left_alone():
    assert _spreads(KNOWLEDGE, released(9.0, cut_mean_square(0.8)), BOUNDS) == (1.0,)


def test_what_noise_could_explain_is_not_believed():
    response = cut_mean_square(4.0)
    assert _spreads(KNOWLEDGE, released(9.0, response, noise_sd=5.0), BOUNDS) == (1.0,)


def test_noise_that_hides_the_limit_changes_nothing():
    assert _spreads(KNOWLEDGE, released(30.0, 0.5), BOUNDS) == (1.0,)
