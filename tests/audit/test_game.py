"""The distinguishing game against every estimator, at the size of a test."""

from __future__ import annotations

import numpy as np
import pytest

from audit.cases import CASES, MU
from audit.game import mu_lower_bound, play, play_whole_fits, upper_rate

pytestmark = pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")

REACHED = {"PMTLogisticRegression": 0.4, "PMTGLM, Poisson": 0.3}
"""Least share of the claim that the attacker's pair is worth; published noise is wider than need
be, and the two statistics of a Newton step have different worst pairs."""


@pytest.mark.parametrize("name", CASES)
def test_no_attacker_gets_beyond_the_claim(name):
    verdict = play(CASES[name], runs=300)
    assert verdict.sound
    assert verdict.claimed <= MU * (1 + 1e-12)
    least = 0.97 if verdict.tight else REACHED.get(name, 0.6)
    assert verdict.reached >= least * verdict.claimed


@pytest.mark.parametrize("name", ["release_moments", "NoisyGradientDescent"])
def test_the_game_catches_faint_noise(name):
    verdict = play(CASES[name], runs=1_500, factor=0.6)
    assert verdict.shown > verdict.claimed
    assert not verdict.sound


@pytest.mark.parametrize("name", ["PMTRidge", "release_moments"])
def test_whole_fits_stay_below_the_claim(name):
    assert play_whole_fits(CASES[name], runs=24) <= MU


def test_whole_fits_without_noise_are_told_apart(monkeypatch):
    monkeypatch.setattr("publicmoments.privacy.noise.SystemNoise.draw", faint)
    assert play_whole_fits(CASES["release_moments"], runs=60) > MU


def faint(self, count, noise_sd):
    """Next to no noise."""
    return np.random.default_rng(count).integers(-3, 4, size=count)


def test_limits_on_rates_by_hand():
    # No error in n trials: 1 - (1 - confidence)^(1/n).
    assert upper_rate(0, 1000) == pytest.approx(1.0 - 0.001 ** (1 / 1000), rel=1e-9)
    assert upper_rate(5, 5) == 1.0


def test_equal_samples_prove_nothing():
    sample = np.linspace(-1.0, 1.0, 1001)
    assert mu_lower_bound(0.0, sample, sample) < 0.0
