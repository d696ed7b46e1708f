"""DP-GD and the noisy elastic net against scales, bounds and budgets worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from publicmoments import GDP, PublicMoments
from publicmoments.families import Bernoulli, Poisson
from publicmoments.paper import NoisyGradientDescent, PMTElasticNet

N, D, T = 100, 4, 16
# 1 + log(2n / eta) = 10: radii sqrt(40) and sqrt(10), whose product is 20.
ETA = 200.0 * math.exp(-9.0)
# One statistic: the total is the published mu.
BUDGET = GDP(0.5)

PUBLIC = PublicMoments.from_matrix(np.eye(D), n=10**6, response_scale=2.0)


def unit_rows():
    """Rows of length 1, as many along each axis."""
    X = np.tile(np.eye(D), (N // D, 1))
    return X, X @ [1.0, -1.0, 0.5, 0.0]


def descent(**parameters):
    chosen = {"alpha": 0.5, "iterations": T, "clip": 1.5, "step": 0.1, "privacy": BUDGET}
    return NoisyGradientDescent(**{**chosen, **parameters})


def elastic_net(**parameters):
    chosen = {"alpha": 0.5, "eta": ETA, "iterations": T, "privacy": BUDGET, "public": PUBLIC}
    return PMTElasticNet(**{**chosen, **parameters})


# 2 clip sqrt(T) / (mu n) = 12 / 50, and with 20 for the clip 160 / 50.
CASES = [
    pytest.param(descent, 0.24, id="DP-GD"),
    pytest.param(elastic_net, 3.2, id="elastic net"),
]


@pytest.mark.parametrize(("make", "vector_sd"), CASES)
def test_every_step_has_the_published_noise(door, make, vector_sd):
    model = make().fit(*unit_rows())
    assert door.kinds == ["total"] * T
    for gradient in door.passages:
        np.testing.assert_allclose(gradient.noise, np.full(D, vector_sd), rtol=1e-9)
    assert door.source.counts == [D] * T
    assert model.coef_path_.shape == (T + 1, D)
    np.testing.assert_array_equal(model.coef_path_[0], np.zeros(D))
    np.testing.assert_array_equal(model.coef_path_[-1], model.coef_)


@pytest.mark.parametrize(("make", "vector_sd"), CASES)
def test_all_steps_together_cost_the_published_mu(door, make, vector_sd):
    card = make().fit(*unit_rows()).card_
    # mu / sqrt(T) = 1/8 each.
    assert [one.mu for one in door.passages] == pytest.approx([0.125] * T, rel=1e-12)
    assert door.total_mu <= card.mu == 0.5
    assert card.private
    assert card.rho == pytest.approx(0.125, rel=1e-9)
    assert card.rho <= card.mu**2 / 2
    (only,) = card.passes
    assert (only.statistic, only.times) == ("gradient", T)
    assert only.noise_sd == pytest.approx(vector_sd, rel=1e-9)
    assert card.notes == ("The publication states this budget as mu = 0.5, for its one statistic.",)


# DP-GD


def test_a_step_of_gradient_descent(door):
    X, y = unit_rows()
    model = descent(random_state=0).fit(X, y)
    coef = np.zeros(D)
    for t, gradient in enumerate(door.passages):
        np.testing.assert_allclose(gradient.recipe.coef[:, 0], coef, rtol=1e-9, atol=1e-12)
        # Rows of length 1 and residuals below 1.5 are not clipped.
        if np.abs(X @ coef - y).max() < 1.5:
            np.testing.assert_allclose(gradient.silent, X.T @ (X @ coef - y) / N, atol=1e-6)
        coef = coef - 0.1 * (gradient.noisy + 0.5 * coef)
        np.testing.assert_allclose(model.coef_path_[t + 1], coef, rtol=1e-9)


def test_gradients_of_rows_are_clipped_whole(door):
    door.source.factor = 0.0
    X = np.tile([30.0, 40.0, 0.0, 0.0], (N, 1))
    descent(iterations=1).fit(X, np.full(N, -1e5))
    # The slope 1e5 times a row of length 50, shortened to 1.5 along (0.6, 0.8).
    np.testing.assert_allclose(door.passages[0].silent, [0.9, 1.2, 0.0, 0.0], rtol=1e-6)
    assert door.passages[0].recipe.l2_bound == 1.5
    assert door.passages[0].recipe.radius == math.inf


@pytest.mark.parametrize(("family", "slope"), [(Bernoulli(), -0.5), (Poisson(), 0.0)])
def test_other_families(door, family, slope):
    door.source.factor = 0.0
    X, _ = unit_rows()
    descent(iterations=1, family=family).fit(X, np.ones(N))
    # 1/2 - 1 and exp(0) - 1, a quarter of the rows along each axis.
    np.testing.assert_allclose(door.passages[0].silent, np.full(D, slope / 4), atol=1e-6)


def test_defaults_are_those_of_the_simulation():
    model = NoisyGradientDescent()
    assert (model.iterations, model.clip, model.step) == (1000, 1.0, 0.09)


# Elastic net


def test_elastic_net_truncates_rows_and_residuals(door):
    door.source.factor = 0.0
    X = np.zeros((N, D))
    X[:, 2] = 1e6
    model = elastic_net(iterations=1).fit(X, np.full(N, -1e9))
    assert model.radius_ == pytest.approx(math.sqrt(40.0), rel=1e-12)
    assert model.response_radius_ == pytest.approx(math.sqrt(10.0), rel=1e-12)
    np.testing.assert_allclose(door.passages[0].silent, [0.0, 0.0, 20.0, 0.0], rtol=1e-6)
    assert door.passages[0].recipe.l2_bound == pytest.approx(20.0, rel=1e-12)


def test_elastic_net_clips_residuals_whatever_the_length_of_the_row(door):
    door.source.factor = 0.0
    X = np.zeros((N, D))
    X[:, 0] = 1.0
    model = elastic_net(iterations=2).fit(X, np.full(N, -1e9))
    # sqrt(10) at the start, and again at coefficients that have moved.
    for gradient in door.passages:
        np.testing.assert_allclose(gradient.silent[0], math.sqrt(10.0), rtol=1e-6)
    assert model.coef_path_[1, 0] < -1.0


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_a_step_of_elastic_net_on_one_axis_each(door, l1_ratio):
    # With identity moments the proximal part is soft thresholding, coefficient by coefficient.
    X, y = unit_rows()
    model = elastic_net(l1_ratio=l1_ratio, step=0.25, random_state=0).fit(X, y)
    coef = np.zeros(D)
    for t, gradient in enumerate(door.passages):
        np.testing.assert_allclose(gradient.recipe.coef[:, 0], coef / 2.0, rtol=1e-6, atol=1e-9)
        moved = coef - 0.25 * 2.0 * gradient.noisy
        short = np.maximum(np.abs(moved) - 0.25 * 0.5 * l1_ratio, 0.0)
        coef = np.sign(moved) * short / (1.0 + 0.25 * 0.5 * (1.0 - l1_ratio))
        np.testing.assert_allclose(model.coef_path_[t + 1], coef, rtol=1e-6, atol=1e-9)


def test_residuals_of_elastic_net_are_in_public_units(door):
    door.source.factor = 0.0
    X, y = unit_rows()
    elastic_net(iterations=1).fit(X, y)
    np.testing.assert_allclose(door.passages[0].silent, -X.T @ y / N / 2.0, atol=1e-6)
