"""Explaining gradients: exact ones are solved exactly, and Gaussian ones by the closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from publicmoments.families import Bernoulli, Gaussian, Multinomial, Poisson
from publicmoments.families import base as families
from publicmoments.models.belief import CoefBelief
from publicmoments.models.glm.explain import Observation, explain
from publicmoments.models.glm.stage import SHAPE_ROWS, Stage

P, N = 3, 400
RNG = np.random.default_rng(1)
ROWS = RNG.normal(size=(N, P))
FLAT = 1e8


@pytest.fixture
def unclipped(monkeypatch):
    """Slopes that are not clipped, so that those of the Gaussian family are linear."""
    monkeypatch.setattr(families, "CLIP", 100.0)


def stage_of(family, untruth=0.01, penalty=0.0):
    return Stage(family, ROWS, np.full(N, 1.0 / N), penalty * np.eye(P), untruth)


def expected_gradient(stage, at, truth):
    """Mean slope over the rows of the stage, if responses follow the truth."""
    k = stage.family.n_predictors
    slopes = stage.family.expected_slope(
        ROWS @ at.reshape(-1, k), ROWS @ np.asarray(truth).reshape(-1, k)
    )
    return (ROWS.T @ slopes / N).ravel()


def seen(at, gradient, noise_sd=1e-7, far=1.0):
    covariance = noise_sd**2 * np.eye(len(at))
    return Observation(at, gradient, np.ones(N), covariance, far, late=False)


def flat(size):
    return CoefBelief.centred([FLAT * np.eye(size)], [0.0])


def test_what_few_public_rows_tell_is_told_with_doubt(unclipped):
    # One row in fifty has the rare column, all the others alternate in the first.
    n, rare, untruth = 200, 0.02, 0.01
    rows = np.column_stack([np.tile([1.0, -1.0], n // 2), np.zeros(n)])
    rows[: round(rare * n)] = [0.0, 1.0 / np.sqrt(rare)]
    rows[round(rare * n) :, 0] /= np.sqrt(1.0 - rare)
    moves = {"common": np.array([0.1, 0.0]), "rare": np.array([0.0, 0.1])}
    variances = {}
    for n_public in (0, n):
        stage = Stage(Gaussian(), rows, np.full(n, 1.0 / n), np.zeros((2, 2)), untruth, n_public)
        for which, truth in moves.items():
            slopes = stage.family.expected_slope(np.zeros((n, 1)), rows @ truth[:, None])
            gradient = (rows.T @ slopes / n).ravel()
            released = Observation(np.zeros(2), gradient, np.ones(n), 1e-12 * np.eye(2), 1.0, False)
            found = explain(flat(2), [released], stage, np.zeros(2)).belief
            np.testing.assert_allclose(found.mean, truth, rtol=1e-4, atol=1e-6)
            variances[n_public, which] = float(truth @ found.covariance @ truth) / 0.1**4
    # Gaussian rows: the untruth, over two directions. A mean of a share of n rows: 1 / share - 1.
    for which in moves:
        assert variances[0, which] == pytest.approx(untruth / 2, rel=0.01)
    believed = n / (n + SHAPE_ROWS)
    for which, share in (("common", 1.0 - rare), ("rare", rare)):
        expected = (1.0 - believed) * untruth / 2 + believed * (1.0 / share - 1.0) / n
        assert variances[n, which] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("family", [Gaussian(), Bernoulli(), Poisson(), Multinomial(3)], ids=repr)
def test_one_exact_gradient_gives_the_coefficients_away(family):
    stage = stage_of(family, untruth=1e-12)
    size = stage.size
    truth = 0.6 * np.cos(np.arange(size))
    start = np.zeros(size)
    found = explain(flat(size), [seen(start, expected_gradient(stage, start, truth))], stage, start)
    np.testing.assert_allclose(found.belief.mean, truth, atol=1e-4)
    np.testing.assert_allclose(found.unexplained, 0.0, atol=1e-4)


@pytest.mark.parametrize("family", [Bernoulli(), Poisson()], ids=repr)
def test_gradients_of_the_rows_themselves_lead_to_their_penalised_fit(family):
    penalty, stage = 0.2, stage_of(family, penalty=0.2)
    responses = RNG.poisson(family.mean(ROWS @ np.array([[0.5], [-0.5], [0.2]])))
    responses = np.minimum(responses, 1) if isinstance(family, Bernoulli) else responses

    def loss(coef):
        return float(
            family.loss(ROWS @ coef[:, None], responses).mean() + penalty / 2 * coef @ coef
        )

    best = minimize(loss, np.zeros(P), tol=1e-12).x
    coef, observations = np.zeros(P), []
    for _ in range(6):
        slopes = family.mean(ROWS @ coef[:, None]) - responses
        observations.append(seen(coef, (ROWS.T @ slopes / N).ravel()))
        coef = explain(flat(P), observations, stage, coef).belief.mean
    np.testing.assert_allclose(coef, best, atol=1e-5)


@pytest.mark.usefixtures("unclipped")
def test_gaussian_gradients_are_conditioned_in_closed_form():
    # The gradient at b0 is M (b0 - b) - penalty b, and noise.
    stage = stage_of(Gaussian(), untruth=0.0, penalty=0.3)
    moment = ROWS.T @ ROWS / N
    prior = CoefBelief.centred([0.04 * np.eye(P), 0.5 * np.diag([1.0, 2.0, 3.0])], [-0.2, -1.7])
    at, noise_sd = np.array([0.1, 0.0, -0.2]), 0.05
    gradient = np.array([0.1, -0.2, 0.15])
    found = explain(prior, [seen(at, gradient, noise_sd)], stage, np.zeros(P)).belief
    expected = prior.updated(
        moment + 0.3 * np.eye(P), moment @ at - gradient, noise_sd**2 * np.eye(P)
    )
    np.testing.assert_allclose(found.covariances, expected.covariances, rtol=1e-6)
    np.testing.assert_allclose(found.weights, expected.weights, rtol=0.1)
    # Components may share the mean of the whole where it explains as much.
    assert np.linalg.norm(found.mean - expected.mean) < 0.1 * np.sqrt(np.trace(expected.covariance))


@pytest.mark.usefixtures("unclipped")
def test_one_component_is_conditioned_exactly():
    stage = stage_of(Gaussian(), untruth=0.0)
    moment = ROWS.T @ ROWS / N
    prior = CoefBelief.centred([0.3 * np.eye(P)], [0.0])
    gradient = np.array([0.1, -0.2, 0.15])
    found = explain(prior, [seen(np.zeros(P), gradient, 0.1)], stage, np.zeros(P)).belief
    expected = prior.updated(moment, -gradient, 0.01 * np.eye(P))
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-5)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-6)


def test_much_noise_leaves_the_prior():
    stage = stage_of(Bernoulli())
    prior = CoefBelief.centred([0.1 * np.eye(P)], [0.0]).moved(-np.ones(P))
    found = explain(prior, [seen(np.ones(P), np.full(P, 0.3), 1e3)], stage, np.ones(P)).belief
    np.testing.assert_allclose(found.mean, 1.0, atol=1e-4)
    np.testing.assert_allclose(found.covariance, 0.1 * np.eye(P), atol=1e-6)


@pytest.mark.usefixtures("unclipped")
def test_noise_is_not_called_unexplained():
    # A stage that is true: what the prior does not explain is the gradient's noise.
    stage = stage_of(Gaussian(), untruth=0.0)
    prior = CoefBelief.centred([1e-6 * np.eye(P)], [0.0])
    found = explain(prior, [seen(np.zeros(P), np.full(P, 0.5), 0.3)], stage, np.zeros(P))
    np.testing.assert_allclose(found.unexplained, 0.0, atol=1e-9)


@pytest.mark.usefixtures("unclipped")
def test_surprise_is_in_units_of_what_was_expected():
    stage = stage_of(Gaussian(), untruth=0.0)
    moment = ROWS.T @ ROWS / N
    prior = CoefBelief.centred([0.04 * np.eye(P)], [0.0])
    covariance = moment @ (0.04 * np.eye(P)) @ moment + 0.01 * np.eye(P)
    gradient = 3.0 * np.linalg.cholesky(covariance)[:, 0]
    found = explain(prior, [seen(np.zeros(P), gradient, 0.1)], stage, np.zeros(P))
    assert found.surprise == pytest.approx(9.0, rel=1e-6)


def test_gradients_that_contradict_each_other_are_met_half_way():
    # Curvatures twice what the stage has: a full step overshoots by as much as it should go.
    stage = stage_of(Gaussian(), untruth=0.02)
    moment, truth = ROWS.T @ ROWS / N, np.array([0.5, -0.5, 0.5])
    first = np.zeros(P)
    second = 2.0 * truth
    observations = [seen(at, 2.0 * moment @ (at - truth)) for at in (first, second)]
    found = explain(flat(P), observations, stage, second).belief.mean
    np.testing.assert_allclose(found, truth, atol=0.05)


def test_where_every_slope_is_clipped_nothing_breaks():
    # Counts of mean exp(6) at the start: slopes of -4 sqrt(2) whatever the coefficients are.
    stage = stage_of(Poisson())
    limit = 4.0 * math.sqrt(2.0)
    gradient = -limit * ROWS.mean(axis=0)
    prior = CoefBelief.centred([np.eye(P)], [0.0])
    found = explain(prior, [seen(np.zeros(P), gradient)], stage, np.full(P, 20.0))
    assert np.isfinite(found.belief.mean).all()
    assert np.isfinite(found.belief.covariance).all()


def test_more_gradients_leave_less_doubt():
    stage = stage_of(Bernoulli())
    prior = CoefBelief.centred([np.eye(P)], [0.0])
    truth, observations, doubts = np.array([0.5, -0.5, 0.5]), [], []
    for _ in range(4):
        gradient = expected_gradient(stage, np.zeros(P), truth)
        observations.append(seen(np.zeros(P), gradient, 0.05))
        found = explain(prior, observations, stage, np.zeros(P)).belief
        doubts.append(np.trace(found.covariance))
    assert doubts == sorted(doubts, reverse=True)
    assert doubts[-1] < 0.6 * doubts[0]
