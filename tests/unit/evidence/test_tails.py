"""Sizes of influences: what counts of known laws say of bounds, and what noise hides."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from publicmoments.evidence.tails import (
    FIRST_OCTAVE,
    OCTAVES,
    REACH,
    Tails,
    excesses,
    normal_quantiles,
    octave_shares,
    signed_edges,
    sorted_in,
)

COUNT = 200_000
RNG = np.random.default_rng(0)
LAWS = {
    "normal": RNG.normal(size=COUNT),
    "shifted": RNG.normal(0.5, 1.0, size=COUNT),
    "long": RNG.standard_t(4.5, size=COUNT),
    "short": RNG.uniform(-1.0, 1.0, size=COUNT),
}


def known(values, unit=1.0, sides=2):
    """Tails of so many rows, counted without noise."""
    shares = sorted_in(values if sides == 2 else np.abs(values), unit, sides)
    return Tails(unit, shares, np.maximum(shares, 1.0 / len(values)) / len(values))


def excess(values, bound):
    return np.mean(np.maximum(np.abs(values) - bound, 0.0))


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("bound", [0.01, 0.3, 0.5, 1.0])
def test_excess_is_that_of_the_law(law, sides, bound):
    # Trapezoids over octaves are a little above what falls, and there may be more beyond.
    found, truth = known(LAWS[law], sides=sides).excess(bound), excess(LAWS[law], bound)
    assert 0.95 * truth < found < 1.4 * truth + 0.04


def test_excess_falls_and_vanishes_slowly():
    tails = known(LAWS["normal"])
    found = np.array([tails.excess(bound) for bound in tails.bounds()])
    assert (np.diff(found) < 0.0).all()
    assert 0.0 < found[-1] < 1e-6
    # Far out a power law: twice the bound, a quarter of the excess.
    assert tails.excess(2000.0) == pytest.approx(tails.excess(1000.0) / 4.0, rel=1e-9)


def test_what_a_bound_cuts_off_points_to_the_longer_side():
    values = LAWS["shifted"]
    tails, half = known(values), known(np.abs(values), sides=1)
    for bound in (0.5, 1.0):
        apart = np.mean(values - np.clip(values, -bound, bound))
        assert tails.bias(bound) >= 0.8 * apart
        # Between what the sides differ by and all of it.
        assert tails.bias(bound) == pytest.approx(
            math.hypot(apart, 0.5 * tails.excess(bound)), rel=0.2
        )
        assert half.bias(bound) == pytest.approx(0.5 * half.excess(bound))
    even = known(LAWS["normal"])
    assert even.bias(0.5) == pytest.approx(0.5 * even.excess(0.5), rel=0.01)


@pytest.mark.parametrize("law", ["normal", "shifted", "short"])
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("unit", [0.5, 1.0, 3.0])
def test_mean_squares_are_those_of_the_law(law, sides, unit):
    found = known(LAWS[law], unit=unit, sides=sides).mean_square()
    # Cells are wide: what is even within an octave has larger squares than what falls, and smaller
    # ones than what is even on a line.
    assert 0.9 < found / np.mean(LAWS[law] ** 2) < 1.7


def test_rows_inside_a_bound():
    tails = known(LAWS["short"])
    assert tails.inside(0.5) == pytest.approx(0.5, abs=0.01)
    assert tails.inside(100.0) == pytest.approx(1.0, abs=1e-6)
    # A bound that cuts all rows leaves some of the curvature.
    assert tails.inside(1e-9) == pytest.approx(0.05)


def test_the_unit_is_a_unit():
    one, ten = known(LAWS["long"]), known(10.0 * LAWS["long"], unit=10.0)
    np.testing.assert_array_equal(one.shares, ten.shares)
    for bound in (0.3, 3.0, 300.0):
        assert ten.excess(10.0 * bound) == pytest.approx(10.0 * one.excess(bound))
        assert ten.bias(10.0 * bound) == pytest.approx(10.0 * one.bias(bound))
    assert ten.mean_square() == pytest.approx(100.0 * one.mean_square())
    np.testing.assert_allclose(ten.bounds(), 10.0 * one.bounds())


# Noise


def test_shares_below_their_noise_are_not_believed():
    exact = sorted_in(LAWS["normal"], 1.0, 2)
    noisy = exact + 0.005 * RNG.normal(size=exact.shape)
    tails = Tails(1.0, noisy, np.full(exact.shape, 0.005**2))
    # No row is beyond 8, but noise adds to the cells of some that would be.
    assert 0.0 < tails.excess(64.0) < 0.01
    assert tails.excess(1.0) == pytest.approx(excess(LAWS["normal"], 1.0), abs=0.1)
    assert tails.mean_square() < 10.0


def test_noise_that_hides_all_gives_finite_answers():
    rng = np.random.default_rng(1)
    shape = (2, OCTAVES)
    tails = Tails(1.0, rng.normal(size=shape), np.ones(shape))
    for bound in tails.bounds():
        assert 0.0 <= tails.excess(float(bound)) < math.inf
        assert 0.0 <= tails.bias(float(bound)) < math.inf
        assert 0.05 <= tails.inside(float(bound)) <= 1.0
    assert 0.0 <= tails.mean_square() < math.inf


def test_shares_beyond_the_median_are_seen_as_far_as_they_are_more_than_noise():
    shares = np.zeros((1, OCTAVES))
    shares[0, 14], shares[0, 17] = 0.9, 0.1
    variances = np.full(shares.shape, 1e-12)
    truth = Tails(1.0, shares, variances).excess(1.0)
    found = []
    for error in (0.003, 0.03, 0.3):
        variances[0, 17] = error**2
        found.append(Tails(1.0, shares, variances).excess(1.0) / truth)
    assert found[0] == pytest.approx(1.0, abs=0.05)
    # What noise may have made falls towards the power law, without a threshold.
    assert found == sorted(found, reverse=True)
    assert 0.2 < found[1] < 0.98
    assert found[2] < 0.5


def test_tails_that_may_be_slower_cut_more_off():
    for law in LAWS.values():
        tails = known(law[:200])
        for bound in (0.3, 1.0, 10.0, 100.0):
            assert tails.most_excess(bound) >= tails.excess(bound)
    # Twice the bound, half of the excess.
    assert tails.most_excess(2000.0) == pytest.approx(tails.most_excess(1000.0) / 2.0, rel=1e-9)


def test_excesses_have_the_mean_that_is_wanted():
    influences = np.abs(LAWS["long"][:300])
    for bound, expected in ((0.1, 0.5), (2.0, 0.01), (50.0, 3.0)):
        found = excesses(influences, bound, expected)
        assert found.mean() == pytest.approx(expected, rel=1e-6)
        # One factor for all: the order stays.
        assert (np.diff(found[np.argsort(influences)]) >= 0.0).all()
    # Rows that a fit goes through have none.
    np.testing.assert_array_equal(excesses(np.zeros(3), 1.0, 0.5), np.zeros(3))


# Fusing


def test_nothing_known_takes_what_comes():
    shares, variances = np.full((2, OCTAVES), 0.02), np.full((2, OCTAVES), 1e-4)
    learned = Tails.unknown(3.0, 2).learned(shares, variances)
    assert learned.unit == 3.0
    np.testing.assert_array_equal(learned.shares, shares)
    np.testing.assert_array_equal(learned.variances, variances)


def test_counts_that_agree_are_weighed_by_their_variances():
    # One octave holds all, so that no other size is likely.
    shares = np.zeros((1, OCTAVES))
    shares[0, 15] = 0.9
    before = Tails(1.0, shares, np.full(shares.shape, 4e-4))
    learned = before.learned(shares + 0.01, np.full(shares.shape, 1e-4))
    np.testing.assert_allclose(learned.shares, shares + 0.008, atol=1e-9)
    np.testing.assert_allclose(learned.variances, 8e-5)


def test_counts_that_are_noise_leave_sizes_as_they_were():
    """More or less: the likeliest size alone would be off by many octaves now and then."""
    shares, rng = np.zeros((1, OCTAVES)), np.random.default_rng(0)
    shares[0, 11:16] = (0.1, 0.2, 0.4, 0.2, 0.1)
    before = Tails(1.0, shares, 0.04 * shares + 1e-3)
    noise = [rng.normal(0.0, 0.2, shares.shape) for _ in range(60)]
    learned = [before.learned(shares + each, np.full(shares.shape, 0.04)) for each in noise]
    top = [float(one.shares[0] @ np.arange(OCTAVES) / one.shares.sum()) for one in learned]
    assert np.median(np.abs(np.array(top) - 13.0)) < 0.5
    assert np.abs(np.array(top) - 13.0).max() < 3.0
    assert all((one.variances > 0.0).all() for one in learned)


def test_counts_tell_that_all_sizes_are_others():
    shares = np.zeros((1, OCTAVES))
    shares[0, 8:13] = (0.1, 0.2, 0.4, 0.2, 0.1)
    smaller = np.roll(shares, -4, axis=1)
    before = Tails(1.0, shares, np.full(shares.shape, 1e-5))
    learned = before.learned(smaller, np.full(shares.shape, 1e-5))
    np.testing.assert_allclose(learned.shares, smaller, atol=1e-4)


def test_no_tail_starts_below_the_median():
    """Where noise hides all but the smallest sizes, rows are not taken to be that small."""
    shares = np.zeros((1, OCTAVES))
    shares[0, 12:15] = (0.3, 0.3, 0.3)
    variances = np.full(shares.shape, 0.02)
    tails = Tails(1.0, shares, variances)
    # Half of the rows are above 2^-1.
    assert tails.excess(0.1) > 0.2
    assert tails.inside(0.1) < 0.5
    # Nothing at all is seen: rows are as large as at the start.
    nothing = Tails(1.0, np.zeros((1, OCTAVES)), np.full((1, OCTAVES), 1.0))
    assert nothing.inside(0.5) < 0.5


# Reach


def with_all_in(octave, variance=1e-8, sides=1):
    shares = np.zeros((sides, OCTAVES))
    shares[:, octave] = 1.0 / sides
    return Tails(1.0, shares, np.full(shares.shape, variance))


@pytest.mark.parametrize("sides", [1, 2])
def test_octaves_grow_where_most_rows_are_in_the_last(sides):
    tails = with_all_in(-1, sides=sides).reaching()
    assert tails.unit == 2.0**REACH
    # That they are large is known, how large is not.
    assert tails.shares[:, -REACH - 1].sum() == pytest.approx(1.0)
    assert (tails.variances[:, -REACH - 1 :] == 1.0).all()
    assert (tails.variances[:, : -REACH - 1] == 1e-8).all()
    found = tails.learned(with_all_in(17, sides=sides).shares, np.full((sides, OCTAVES), 1e-8))
    assert found.reaching() is found


@pytest.mark.parametrize("octave", [0, 14, OCTAVES - 2])
def test_octaves_stay_where_rows_can_be_told_apart(octave):
    tails = with_all_in(octave)
    assert tails.reaching() is tails
    one = replace(tails, shares=0.9 * tails.shares + 0.1 * with_all_in(-1).shares)
    assert one.reaching() is one


def test_octaves_shrink_again_but_not_below_those_of_the_start():
    grown = with_all_in(-1).reaching()
    small = grown.learned(with_all_in(10).shares, np.full((1, OCTAVES), 1e-8))
    back = small.reaching()
    assert back.unit == 1.0
    assert back.shares[0, 10 + REACH] == pytest.approx(1.0, abs=1e-3)
    assert back.reaching() is back


def test_counts_that_disagree_overrule_what_was_known():
    shares = np.full((1, OCTAVES), 0.01)
    before = Tails(1.0, shares, np.full(shares.shape, 1e-6))
    learned = before.learned(shares + 0.5, np.full(shares.shape, 1e-4))
    # By weights alone the old ones would stay: they had a hundred times the precision.
    np.testing.assert_allclose(learned.shares, shares + 0.5, rtol=0.1)


# Cells


@pytest.mark.parametrize("sides", [1, 2])
def test_edges_ascend_and_hold_every_size(sides):
    edges = signed_edges(2.0, sides)
    assert (np.diff(edges) > 0.0).all()
    assert edges[-1] == 2.0 * 2.0 ** (FIRST_OCTAVE + OCTAVES - 1)
    assert len(edges) == (OCTAVES if sides == 1 else 2 * OCTAVES + 1)


def test_values_are_sorted_by_sign_and_octave():
    values = np.array([1.0, 1.9, -1.5, 2.0, 1e-9, -1e-9, 1e9, -np.inf, np.nan, 0.0])
    shares = 10.0 * sorted_in(values, 1.0, 2)
    expected = np.zeros((2, OCTAVES))
    expected[1, -FIRST_OCTAVE], expected[0, -FIRST_OCTAVE], expected[1, 1 - FIRST_OCTAVE] = 2, 1, 1
    expected[1, -1], expected[0, -1] = 1, 1
    np.testing.assert_allclose(shares, expected, atol=1e-12)
    weighed = sorted_in(np.array([1.0, -1.0]), 1.0, 2, np.array([0.25, 0.75]))
    np.testing.assert_allclose(weighed.sum(axis=1), [0.75, 0.25])


def test_counts_are_rearranged_by_side():
    counts = np.arange(2.0 * OCTAVES + 1.0)
    below, above = octave_shares(counts, 2)
    assert below.tolist() == list(range(OCTAVES - 1, -1, -1))
    assert above.tolist() == list(range(OCTAVES + 1, 2 * OCTAVES + 1))
    np.testing.assert_array_equal(octave_shares(counts[:OCTAVES], 1), counts[None, :OCTAVES])


def test_a_thousand_values_stand_for_a_normal_law():
    values = normal_quantiles()
    assert len(values) == 1_000
    assert np.mean(values) == pytest.approx(0.0, abs=1e-12)
    assert np.mean(values**2) == pytest.approx(1.0, rel=0.01)
