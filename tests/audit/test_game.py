"""The distinguishing game against every estimator, at the size of a test."""

from __future__ import annotations

import math

import numpy as np
import pytest

from audit.cases import CASES, MU
from audit.game import mu_lower_bound, play, play_whole_fits, upper_rate
from publicmoments.paper import truncation_radius

pytestmark = pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")

REACHED = {"PMTLogisticRegression": 0.45, "PMTGLM, Poisson": 0.55, "PMTRidge": 0.749} | {
    name: 0.7 if name.startswith("LogisticRegression") else 0.9
    for name in CASES
    if name.partition(",")[0] in ("Ridge", "LogisticRegression", "PoissonRegressor", "GLM")
}
"""Least share of the claim that the attacker's pair is worth. The published noise is wider than
need be, and the paths of the first two are random. Other fits release a second moment, counts and
gradients: no pair of rows moves all of them by as much as each allows, but for at most a tenth, or
three tenths where slopes are bounded; how much of it depends on the path."""

MOST = {
    "PMTLogisticRegression": math.sqrt((81 / 256 + 2 / 2) / 3),
    "PMTGLM, Poisson": 0.75,
    "PMTRidge": 0.75,
}
"""What no pair can exceed, by `newton_worth`; of the three logistic updates the first starts at
zero."""


@pytest.mark.parametrize("name", CASES)
def test_no_attacker_gets_beyond_the_claim(name):
    verdict = play(CASES[name], runs=300)
    assert verdict.sound
    assert verdict.claimed <= MU * (1 + 1e-12)
    least = 0.97 if verdict.tight else REACHED.get(name, 0.6)
    assert least * verdict.claimed <= verdict.reached
    assert verdict.reached <= MOST.get(name, 1.0) * verdict.claimed * (1 + 1e-4)


def newton_worth(slopes, curvatures, cosine):
    """
    Share of a published update's budget that two rows of full length can be worth.

    A gradient and a Hessian have half of it each. Slopes and curvatures are in units of their
    bounds; the cosine is that of the angle between one row and the other with its sign turned so
    that the gradients point apart.
    """
    (s, t), (c, d) = slopes, curvatures
    gradient = (s**2 + t**2 + 2.0 * s * t * cosine) / 4.0
    hessian = (c**2 + d**2 - 2.0 * c * d * cosine**2) / 4.0
    return np.sqrt((gradient + hessian) / 2.0)


COSINES = np.linspace(-1.0, 1.0, 801)


def most_worth(slope, curvature):
    """The most that any two of some rows can be worth, at any angle."""
    pairs = (slope[:, None], slope[None]), (curvature[:, None], curvature[None])
    return max(newton_worth(*pairs, cosine).max() for cosine in COSINES[::10])


def test_how_much_the_published_bounds_leave_to_no_pair():
    # The two statistics of a ridge: both at their bounds whatever the row.
    assert newton_worth((1.0, 1.0), (1.0, 1.0), COSINES).max() == pytest.approx(0.75)
    # At the start every logistic slope is half of its bound and every curvature at its bound.
    assert newton_worth((0.5, 0.5), (1.0, 1.0), COSINES).max() == pytest.approx(9 / 16)
    # Elsewhere a slope t comes with a curvature 4 t (1 - t) in units of 1/4, and rows can be short.
    slopes, lengths = np.meshgrid(np.linspace(0.0, 1.0, 33), np.linspace(0.0, 1.0, 9))
    curvatures = 4.0 * slopes * (1.0 - slopes) * lengths**2
    assert most_worth((slopes * lengths).ravel(), curvatures.ravel()) == pytest.approx(0.5**0.5)


def test_how_much_poisson_bounds_leave_to_no_pair():
    # The radius of 30 rows of two columns, coefficients up to 0.1, responses from -1 to 1.
    reach = 0.1 * truncation_radius(2, 30, 0.05)
    largest = math.exp(reach)
    means, lengths = np.meshgrid(np.exp(np.linspace(-reach, reach, 25)), np.linspace(0.0, 1.0, 9))
    slopes = (means + 1.0) / (largest + 1.0) * lengths
    curvatures = means / largest * lengths**2
    assert most_worth(slopes.ravel(), curvatures.ravel()) == pytest.approx(0.75)


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
