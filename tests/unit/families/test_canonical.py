"""Families: derivatives that belong together, bounds that are reached, ranges."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from publicmoments.families import Bernoulli, Family, Gaussian, Poisson, checked_family

FAMILIES = [Gaussian(), Bernoulli(), Poisson()]
PREDICTORS = np.array([-3.0, -0.5, 0.0, 0.7, 2.5])


@pytest.mark.parametrize(
    ("family", "mean", "curvature"),
    [
        (Gaussian(), [-2.0, 0.0, math.log(3.0)], [1.0, 1.0, 1.0]),
        # p = 1/4 and 3/4 at log odds of -+log 3.
        (Bernoulli(), [0.11920292202211755, 0.5, 0.75], [0.1049935854035065, 0.25, 0.1875]),
        (Poisson(), [0.1353352832366127, 1.0, 3.0], [0.1353352832366127, 1.0, 3.0]),
    ],
    ids=repr,
)
def test_means_and_curvatures_by_hand(family, mean, curvature):
    predictor = np.array([-2.0, 0.0, math.log(3.0)])
    np.testing.assert_allclose(family.mean(predictor), mean, rtol=1e-12)
    np.testing.assert_allclose(family.curvature(predictor), curvature, rtol=1e-12)


@pytest.mark.parametrize(
    ("family", "loss"),
    # At t = log 3 and y = 2: t^2/2 - 2t, log(4) - 2t and 3 - 2t.
    [
        (Gaussian(), -1.5937500969299285),
        (Bernoulli(), -0.8109302162163288),
        (Poisson(), 0.8027754226637804),
    ],
    ids=repr,
)
def test_losses_by_hand(family, loss):
    value = family.loss(np.array([math.log(3.0)]), np.array([2.0]))
    np.testing.assert_allclose(value, [loss], rtol=1e-12)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_the_slope_of_the_loss_is_the_mean_less_the_response(family):
    for response in (0.0, 1.0, 4.0):
        y = np.full_like(PREDICTORS, response)
        slopes = approx_fprime(PREDICTORS, lambda t, y=y: family.loss(t, y), 1e-7)
        np.testing.assert_allclose(np.diag(slopes), family.mean(PREDICTORS) - y, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_the_slope_of_the_mean_is_the_curvature(family):
    slopes = approx_fprime(PREDICTORS, family.mean, 1e-7)
    np.testing.assert_allclose(np.diag(slopes), family.curvature(PREDICTORS), atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
@pytest.mark.parametrize("reach", [0.0, 0.3, 1.0, 5.0])
def test_bounds_hold_within_the_reach_and_are_reached(family, reach):
    predictor = np.linspace(-reach, reach, 1001)
    largest = np.abs(family.mean(predictor)).max()
    assert family.largest_mean(reach) == pytest.approx(largest, rel=1e-12)
    largest = np.abs(family.curvature(predictor)).max()
    assert family.largest_curvature(reach) == pytest.approx(largest, rel=1e-12)


def test_log_odds_far_out_stay_numbers():
    far = np.array([-1e4, 1e4])
    np.testing.assert_array_equal(Bernoulli().mean(far), [0.0, 1.0])
    np.testing.assert_array_equal(Bernoulli().curvature(far), [0.0, 0.0])
    np.testing.assert_array_equal(Bernoulli().loss(far, np.array([0.0, 1.0])), [0.0, 0.0])


@pytest.mark.parametrize("bound", [Poisson().largest_mean, Poisson().largest_curvature])
def test_counts_of_no_finite_mean_are_refused(bound):
    assert bound(300.0) == math.exp(300.0)
    assert math.isfinite(bound(300.0) ** 2)
    for reach in (300.1, 1000.0):
        with pytest.raises(ValueError, match="lower the bound on the coefficients"):
            bound(reach)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
@pytest.mark.parametrize("reach", [-1.0, math.nan, math.inf])
def test_a_reach_is_not_negative(family, reach):
    with pytest.raises(ValueError, match=r"reach must be in \[0, inf\)"):
        family.largest_mean(reach)


RESPONSES = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, np.nan, np.inf])


@pytest.mark.parametrize(
    ("family", "allowed", "words"),
    [
        (Gaussian(), [True, True, True, True, True, False, False], "finite numbers"),
        (Bernoulli(), [False, True, False, True, False, False, False], "0 and 1"),
        (
            Poisson(),
            [False, True, False, True, True, False, False],
            "non-negative whole numbers",
        ),
    ],
    ids=repr,
)
def test_ranges(family, allowed, words):
    assert family.allows(RESPONSES).tolist() == allowed
    assert family.range == words


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_families_are_values(family):
    assert family == type(family)()
    assert pickle.loads(pickle.dumps(family)) == family
    assert hash(family) == hash(type(family)())
    assert isinstance(family, Family)
    assert checked_family(family) is family


@pytest.mark.parametrize("other", ["poisson", Poisson, None, 1])
def test_what_is_not_a_family(other):
    with pytest.raises(TypeError, match=r"family must be one of publicmoments\.families"):
        checked_family(other)
