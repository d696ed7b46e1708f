"""Populations without public responses have fits as they are stated."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special, stats

from publicmoments import PublicMoments
from publicmoments.planner.features import feature_law
from publicmoments.planner.fits import Task
from publicmoments.planner.knowledge import Stated, population_of
from publicmoments.planner.predictors import PredictorLaw
from publicmoments.planner.truths import drawn_direction, likely
from tests.unit.planner.populations import worlds


def standard_rows(d):
    return np.random.default_rng(0).normal(size=(1_000, d))


def test_a_stated_mean_response_is_met():
    moment = np.array([[2.0, 0.5, 1.0], [0.5, 1.0, 0.0], [1.0, 0.0, 9.0]])
    # Features with such second moments, whose mean nobody told or everybody knows.
    unknown = PublicMoments.from_matrix(moment, n=10**8)
    mean = np.array([1.0, 0.5, 2.0])
    known = PublicMoments.from_mean_cov(mean, moment - np.outer(mean, mean), n=10**8)
    for public, intercept in ((unknown, False), (known, False), (known, True)):
        for model, stated in (("logistic", 0.35), ("poisson", 2.0)):
            task = Task(model, 0.0, intercept)
            wanted = Stated(predictor_sd=1.0, response_mean=stated)
            for k in range(4):
                world = population_of(public, task, wanted).drawn(np.random.default_rng(k))
                X, y = world.sample(np.random.default_rng(1), 100_000)
                predictor = task.design(X) @ world.coef
                size = np.std(predictor) if intercept else np.sqrt(np.mean(predictor**2))
                assert size == pytest.approx(1.0, rel=0.05)
                assert y.mean() == pytest.approx(stated, rel=0.06)
                assert X.T @ X / len(X) == pytest.approx(moment, rel=0.1, abs=0.1)


def test_a_mean_response_out_of_reach_is_met_as_far_as_may_be():
    public = PublicMoments.from_matrix(np.eye(2), n=10**8)
    stated = Stated(predictor_sd=1.0, response_mean=0.01)
    world = population_of(public, Task("logistic", 0.0, False), stated).drawn(
        np.random.default_rng(0)
    )
    X, _ = world.sample(np.random.default_rng(1), 20_000)
    predictor = X @ world.coef
    assert np.sqrt(np.mean(predictor**2)) == pytest.approx(1.0, rel=0.05)
    assert predictor.mean() == pytest.approx(-0.99, abs=0.02)


def test_the_stated_predictor_is_that_of_the_penalised_fit():
    # Columns of one size, so that the penalty is felt in all directions alike.
    public = PublicMoments.from_matrix(2.0 * np.eye(3), n=10**8)
    lengths = {}
    for alpha in (0.0, 0.05):
        task = Task("logistic", alpha, False)
        fitted, true = [], []
        for world in worlds(population_of(public, task, Stated(predictor_sd=2.0)), 10):
            X, y = world.sample(np.random.default_rng(1), 50_000)
            fitted.append(np.sqrt(np.mean((X @ task.plain_fit(X, y)) ** 2)))
            true.append(np.sqrt(np.mean((X @ world.coef) ** 2)))
        assert np.mean(fitted) == pytest.approx(2.0, rel=0.03)
        assert fitted == pytest.approx(2.0 * np.ones(10), rel=0.08)
        lengths[alpha] = np.mean(true)
    assert lengths[0.05] > 1.3 * lengths[0.0]


def fitted_size(world, X, task):
    """Size of the linear predictor of a fit to the probabilities of labels."""
    fitted = X @ task.plain_fit(X, special.expit(X @ world.coef))
    return np.sqrt(np.mean(fitted**2))


def test_lengths_are_those_whose_penalised_fit_is_as_stated():
    # Coefficients of the third column cost ten thousand times as much, and are hardly fitted.
    moment, stated = np.diag([1.0, 1.0, 1e-4]), 1.5
    public, task = PublicMoments.from_matrix(moment, n=10**8), Task("logistic", 0.02, False)
    population = population_of(public, task, Stated(predictor_sd=stated))
    drawn = worlds(population, 150)
    lengths = np.sqrt([world.coef @ moment @ world.coef for world in drawn])
    # The same by drawing directions, and lengths from what is likely before, as they come.
    rng, kept = np.random.default_rng(0), []
    X = standard_rows(3) @ np.sqrt(moment)
    while len(kept) < 100:
        coef = drawn_direction(rng, population.features)
        coef /= np.sqrt(coef @ moment @ coef)
        for length in 0.95 * stated * 30.0 ** rng.uniform(size=200):
            size = fitted_size(SimpleNamespace(coef=length * coef), X, task)
            if abs(size - stated) < 0.075 and rng.uniform() < likely(length):
                kept.append(length)
                break
    assert stats.ks_2samp(lengths, kept).pvalue > 0.01
    assert np.mean(lengths > 1.5 * stated) > 0.1
    sizes = [fitted_size(world, X, task) for world in drawn]
    assert np.mean(np.abs(np.array(sizes) / stated - 1.0) < 0.1) > 0.95


def test_sizes_of_predictors_have_a_half_cauchy_law():
    logs = np.linspace(-20.0, 20.0, 40_001)
    share = np.cumsum(likely(np.exp(logs))) / np.sum(likely(np.exp(logs)))
    for size in (0.1, 1.0, 10.0):
        assert np.interp(np.log(size), logs, share) == pytest.approx(
            stats.halfcauchy.cdf(size), abs=1e-3
        )


def test_sizes_beyond_any_fit_are_met_as_far_as_may_be():
    # No fit is half as long as stated; the longer the truth, the nearer.
    public, task = PublicMoments.from_matrix(np.eye(2), n=10**8), Task("logistic", 0.1, False)
    population, X = population_of(public, task, Stated(predictor_sd=3.0)), standard_rows(2)
    best = fitted_size(SimpleNamespace(coef=np.array([1e3, 0.0])), X, task)
    assert best < 1.5
    for world in worlds(population, 10):
        assert fitted_size(world, X, task) == pytest.approx(best, rel=0.05)


def test_of_many_lengths_with_such_a_fit_short_ones_are_likelier(monkeypatch):
    stated = 0.5
    fit = SimpleNamespace(signal=stated)
    monkeypatch.setattr(PredictorLaw, "_fit", lambda law, truth, seed: fit)
    public, task = PublicMoments.from_matrix(np.eye(2), n=10**8), Task("logistic", 0.1, False)
    drawn = worlds(population_of(public, task, Stated(predictor_sd=stated)), 2_000)
    lengths = [np.linalg.norm(world.coef) for world in drawn]
    ends = stats.halfcauchy.cdf([0.95 * stated, 30.0 * 0.95 * stated])
    for level in (0.1, 0.5, 0.9):
        at = stats.halfcauchy.ppf(ends[0] + level * (ends[1] - ends[0]))
        assert np.mean(lengths < at) == pytest.approx(level, abs=0.03)


@pytest.mark.parametrize("stated", [1e-9, 1e3])
def test_sizes_of_any_order_are_drawn(stated):
    public, task = PublicMoments.from_matrix(np.eye(2), n=10**8), Task("logistic", 1e-3, False)
    for world in worlds(population_of(public, task, Stated(predictor_sd=stated)), 5):
        assert 0.9 * stated < np.linalg.norm(world.coef) < 31.0 * stated


def test_columns_of_like_sizes_have_one_unit_and_others_each_its_own():
    rng = np.random.default_rng(0)
    for size, unit in ((1.2, 1.0), (1e6, 1e6**0.98)):
        law = feature_law(PublicMoments.from_matrix(np.diag([1.0, size**2, 0.0]), n=10**8))
        drawn = np.array([drawn_direction(rng, law) for _ in range(4_000)])
        one, other, none = np.sqrt(np.mean(drawn**2, axis=0))
        assert one / other == pytest.approx(unit, rel=0.05)
        assert none == 0.0


def pseudo_r2(predictor, y):
    """Share of the deviance of labels that a linear predictor explains."""
    left = np.mean(np.logaddexp(0.0, predictor) - y * predictor)
    return 1.0 - left / (special.entr(y.mean()) + special.entr(1.0 - y.mean()))


@pytest.mark.parametrize("alpha", [0.0, 0.01])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("share", [0.5, 0.3])
def test_a_stated_r2_of_labels_is_met_by_classes_that_are_apart(alpha, intercept, share):
    moment = np.array([[1.0, 0.5], [0.5, 4.0]])
    public, task = PublicMoments.from_matrix(moment, n=10**8), Task("logistic", alpha, intercept)
    if intercept:
        public = PublicMoments.from_mean_cov([1.0, 0.5], moment, n=10**8)
    wanted = Stated(predictor_sd=4.0, response_mean=share, r2=0.8)
    for world in worlds(population_of(public, task, wanted), 3):
        X, y = world.sample(np.random.default_rng(1), 100_000)
        fitted = task.design(X) @ task.plain_fit(X, y)
        size = np.std(fitted) if intercept else np.sqrt(np.mean(fitted**2))
        assert size == pytest.approx(4.0, rel=0.08)
        assert y.mean() == pytest.approx(share, abs=0.02)
        assert pseudo_r2(fitted, y) == pytest.approx(0.8, abs=0.03)
        # Normal linear predictors of that size would not explain as much.
        normal = np.random.default_rng(2).normal(0.0, 4.0, size=100_000)
        assert pseudo_r2(normal, special.expit(normal)) < 0.7
        centred = X - X.mean(axis=0) if intercept else X
        assert centred.T @ centred / len(X) == pytest.approx(moment, rel=0.05, abs=0.05)


def test_an_r2_below_that_of_normal_predictors_parts_nothing():
    public, task = PublicMoments.from_matrix(np.eye(2), n=10**8), Task("logistic", 0.0, False)
    population = population_of(public, task, Stated(predictor_sd=2.0, r2=0.05))
    assert [world.features.parting for world in worlds(population, 5)] == 5 * [None]
