"""Bounds are chosen by predicted error, and the prediction has the right shape."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from publicmoments.planner.bounds import BoundsRequest, Situation, choose_bounds, pass_shares

BASE = Situation(
    n_design=10,
    n_responses=1,
    n_rows=10_000,
    mu=1.0,
    inflation=1.0,
    coef_variance=1 / 200,
    rows=None,
    residuals=None,
    final=True,
)


def total_radius(bounds, q=1):
    return np.sqrt(bounds.x_radius**2 + q * (bounds.weight * bounds.response_bound) ** 2)


def heavy_rows(count, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.standard_t(3, size=(count, 10)) / np.sqrt(3)
    return rows, rng.standard_t(3, size=(count, 1)) / np.sqrt(3)


def test_noise_is_that_of_a_ball_of_the_chosen_radius():
    # By hand: v = (R^2 / (mu n kept))^2 (1 / a^2 + s), then v t / (v + t) per coefficient.
    bounds = choose_bounds(BASE)
    t, signal = BASE.coef_variance, 10 * BASE.coef_variance
    spread = total_radius(bounds) ** 4 * (1 / bounds.weight**2 + signal)
    variance = spread / (1.0 * 10_000 * bounds.kept) ** 2
    assert bounds.noise == pytest.approx(10 * variance * t / (variance + t), rel=1e-9)


def test_bounds_widen_with_the_budget_and_never_narrow():
    radii = [choose_bounds(replace(BASE, mu=mu)).x_radius for mu in (0.01, 0.1, 1, 10, 100, 1000)]
    assert radii == sorted(radii)
    assert radii[-1] > 4 * radii[0]


def test_truncation_vanishes_in_the_limit():
    bounds = choose_bounds(replace(BASE, mu=1e4, n_rows=10**7))
    assert bounds.kept > 0.9999
    assert bounds.inside > 0.9999


def test_bounds_scale_with_the_length_of_whitened_rows():
    plain, long = choose_bounds(BASE), choose_bounds(replace(BASE, inflation=4.0))
    assert long.x_radius == pytest.approx(2 * plain.x_radius)
    assert long.weight == pytest.approx(2 * plain.weight)
    assert long.noise == pytest.approx(plain.noise)


def test_heavy_tailed_public_rows_ask_for_wider_bounds_and_pay_for_them():
    rng = np.random.default_rng(1)
    light = rng.standard_normal((2_000, 10)), rng.standard_normal((2_000, 1))
    situation = replace(BASE, mu=3.0)
    narrow = choose_bounds(replace(situation, rows=light[0], residuals=light[1]))
    rows, residuals = heavy_rows(2_000)
    wide = choose_bounds(replace(situation, rows=rows, residuals=residuals))
    assert wide.noise > 1.1 * narrow.noise


def test_a_misfit_that_public_rows_show_is_counted():
    # The residual depends on the size of the row, so that weights move the target.
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((5_000, 10))
    residuals = rng.standard_normal((5_000, 1))
    crooked = residuals + 3.0 * (rows[:, :1] ** 3 - 3 * rows[:, :1]) / np.sqrt(6)
    request = BoundsRequest(x_radius=3.0, response_bound=3.0, weight=1.0)
    fits = choose_bounds(replace(BASE, rows=rows, residuals=residuals), request)
    bends = choose_bounds(replace(BASE, rows=rows, residuals=crooked), request)
    assert bends.bias > 10 * fits.bias


def test_an_early_pass_takes_narrower_bounds_than_the_last():
    early, last = choose_bounds(replace(BASE, final=False)), choose_bounds(BASE)
    assert early.noise < 0.9 * last.noise
    assert early.bias > last.bias


def test_what_is_asked_for_is_used():
    request = BoundsRequest(x_radius=5.0, response_bound=2.0, weight=0.7)
    bounds = choose_bounds(replace(BASE, inflation=1.5), request)
    got = bounds.x_radius, bounds.response_bound, bounds.weight
    assert got == pytest.approx((5.0, 2.0, 0.7))


@pytest.mark.parametrize("name", ["x_radius", "response_bound", "weight"])
def test_one_bound_can_be_fixed_and_the_others_chosen(name):
    bounds = choose_bounds(replace(BASE, n_responses=2), BoundsRequest(**{name: 1.7}))
    assert getattr(bounds, name) == pytest.approx(1.7)
    assert np.isfinite([bounds.x_radius, bounds.response_bound, bounds.weight]).all()


@pytest.mark.parametrize("p", [1, 2, 300])
@pytest.mark.parametrize("mu", [1e-3, 1.0, 1e3])
def test_any_size_and_budget_has_an_answer(p, mu):
    bounds = choose_bounds(replace(BASE, n_design=p, mu=mu, coef_variance=1e8))
    values = [bounds.x_radius, bounds.response_bound, bounds.weight, bounds.noise, bounds.bias]
    assert np.isfinite(values).all()
    assert min(values[:3]) > 0


def test_the_last_pass_gets_twice_the_share():
    assert pass_shares(1) == [2.0]
    assert pass_shares(4) == [1.0, 1.0, 1.0, 2.0]
