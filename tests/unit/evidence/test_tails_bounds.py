"""Bounds on influences: wider where noise is small, and never without an error to show for it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from publicmoments.evidence.standins import StandIns
from publicmoments.evidence.tails import LengthBounds, Tails, choose_bound, sorted_in
from publicmoments.families import Bernoulli, Multinomial

P = 5
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(2_000, P))
INFLUENCES = RNG.normal(size=50_000)


def tails():
    shares = sorted_in(INFLUENCES, 1.0, 2)
    return Tails(1.0, shares, np.maximum(shares, 2e-5) / len(INFLUENCES))


def lengths(family):
    return LengthBounds(StandIns(family, ROWS))


KNOWN = {
    "influences": tails(),
    "two classes": lengths(Bernoulli()),
    "three classes": lengths(Multinomial(3)),
}


@pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN)
def test_bounds_grow_as_noise_shrinks_and_without_end(known):
    noises = 10.0 ** np.arange(0.0, -13.0, -1.0)
    chosen = [choose_bound(known, P, noise, float(P)) for noise in noises]
    bounds = np.array([one.bound for one in chosen])
    assert (np.diff(bounds) >= 0.0).all()
    # Nothing that is there to be seen is cut in the end, and errors vanish.
    assert bounds[-1] > 10.0 * bounds[3] > 10.0 * bounds[0]
    errors = np.array([one.error for one in chosen])
    assert (np.diff(errors) < 0.0).all()
    assert errors[-1] < 1e-6 * errors[0]
    assert np.mean(chosen[-1].kept) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN)
def test_the_error_is_that_of_noise_and_bias_over_what_is_kept(known):
    chosen = choose_bound(known, P, 0.01, 7.0)
    assert chosen.bias == pytest.approx(known.bias(chosen.bound) / math.sqrt(P))
    spread = math.hypot(0.01 * chosen.bound, chosen.bias) / np.mean(chosen.kept)
    assert chosen.error == pytest.approx(spread * math.sqrt(7.0 / P))
    assert chosen.bound in known.bounds()


@pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN)
def test_no_other_bound_is_better(known):
    chosen = choose_bound(known, P, 0.01, 1.0)
    for bound in known.bounds():
        inside = known.inside(bound) if isinstance(known, Tails) else known.kept(bound)
        bias = known.bias(float(bound)) / math.sqrt(P)
        other = math.hypot(0.01 * bound, bias) / float(np.mean(inside)) * math.sqrt(1.0 / P)
        assert chosen.error <= other * (1 + 1e-12)


def test_weights_of_rows_bring_them_to_the_radius():
    known = lengths(Multinomial(3))
    kept = known.kept(2.0)
    longest = np.sqrt(np.sum(ROWS**2, axis=1)) * kept
    assert longest.max() <= 2.0 / math.sqrt(2.0) * (1 + 1e-12)
    assert (kept[np.sqrt(np.sum(ROWS**2, axis=1)) < 2.0 / math.sqrt(2.0)] == 1.0).all()


def test_what_lengths_are_cut_by_falls_to_nothing():
    known = lengths(Bernoulli())
    biases = np.array([known.bias(bound) for bound in (0.1, 1.0, 3.0, 10.0, 1e3)])
    assert (np.diff(biases) < 0.0).all()
    assert 0.0 < biases[-1] < 1e-4 * biases[0]
