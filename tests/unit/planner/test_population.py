"""Made-up populations agree with what is public, and differ by what it leaves open."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from publicmoments import PublicMoments
from publicmoments.planner.fits import Task
from publicmoments.planner.knowledge import Stated, population_of
from tests.unit.planner.populations import public_rows, worlds


def test_residual_sds_are_typically_right_and_spread_as_their_freedom_says():
    B, y = public_rows(23)
    population = population_of(
        PublicMoments.from_rows(B, response=y), Task("ridge", 0.0, True), Stated()
    )
    # With f = 19 the logarithm of a public variance is short of the true one by this on average,
    # and so that of a drawn one has to be above the public one by it; its mean is s^2 f / (f - 2).
    short = np.log(19 / 2) - special.digamma(19 / 2)
    sds = np.array([world.residual_sd for world in worlds(population, 3_000)])
    logs = 2.0 * np.log(sds / population.law.residual_sd)
    assert logs.mean() == pytest.approx(short, abs=3 * logs.std() / np.sqrt(3_000))
    assert np.mean(np.exp(logs)) == pytest.approx(19 / 17, rel=0.02)


def test_coefficients_vary_as_the_public_fit_does():
    B, y = public_rows(50)
    population = population_of(
        PublicMoments.from_rows(B, response=y), Task("ridge", 0.0, True), Stated()
    )
    drawn = np.array([world.coef for world in worlds(population, 2_000)])
    X = np.column_stack([B, np.ones(50)])
    variance = population.law.residual_sd**2 * np.diag(np.linalg.inv(X.T @ X))
    assert drawn.var(axis=0) == pytest.approx(variance, rel=0.15)
    assert drawn.mean(axis=0) == pytest.approx(
        population.law.centre, abs=4 * np.sqrt(variance.max() / 2_000)
    )


def test_a_stated_r2_is_met():
    public = PublicMoments.from_matrix(np.diag([1.0, 100.0]), n=10_000, response_scale=3.0)
    population = population_of(public, Task("ridge", 0.0, False), Stated(r2=0.75))
    world = population.drawn(np.random.default_rng(0))
    X, y = world.sample(np.random.default_rng(1), 100_000)
    assert np.mean(y**2) == pytest.approx(9.0, rel=0.03)
    assert np.mean((X @ world.coef) ** 2) == pytest.approx(0.75 * 9.0, rel=0.03)


def test_a_stated_residual_sd_is_met_with_a_known_mean():
    public = PublicMoments.from_mean_cov([1.0, 7.0], np.diag([1.0, 25.0]), n=10_000, response=1)
    assert population_of(public, Task("ridge", 0.0, True), Stated()).law.freedom == 9_998
    unknown = PublicMoments.from_matrix(np.eye(2), n=100, response_scale=2.0)
    law = population_of(unknown, Task("ridge", 0.0, False), Stated(residual_sd=1.0)).law
    assert (law.residual_sd, law.signal) == pytest.approx((1.0, np.sqrt(3.0)))


def test_labels_and_counts_follow_their_models():
    public = PublicMoments.from_mean_cov([3.0, -2.0], np.eye(2), n=100_000)
    for model, mean in (("logistic", 0.5), ("poisson", np.exp(0.5**2 / 2))):
        population = population_of(public, Task(model, 0.0, True), Stated(predictor_sd=0.5))
        world = population.drawn(np.random.default_rng(0))
        X, y = world.sample(np.random.default_rng(1), 50_000)
        predictor = X @ world.coef[:2] + world.coef[2]
        assert np.sqrt(np.mean(predictor**2)) == pytest.approx(0.5, rel=0.05)
        assert y.mean() == pytest.approx(mean, rel=0.03)
        assert np.mean((y - world.task.family.mean(predictor)) * predictor) == pytest.approx(
            0.0, abs=0.02
        )


def test_bends_leave_least_squares_alone():
    B, y = public_rows(30)
    population = population_of(
        PublicMoments.from_rows(B, response=y), Task("ridge", 0.0, True), Stated()
    )
    world = population.drawn(np.random.default_rng(0))
    z, _ = world.features.whitened(np.random.default_rng(1), 5_000)
    X = world.features.mean + z @ world.features.root
    bends = np.array([world._bend(np.random.default_rng(k), z, X) for k in range(400)])
    assert np.abs(bends @ X).max() < 1e-6
    # One part in 450 for each of three directions, of which 30 public rows show next to nothing.
    assert np.mean(bends**2) == pytest.approx(3.0 / 450.0, rel=0.1)
    # They grow with the square of the length of a row, less a multiple of the length.
    length = np.linalg.norm(z, axis=1)
    sizes = np.sqrt(np.mean(bends**2, axis=0))
    centre = np.mean(length**3) / np.mean(length**2)
    long = length > 1.5 * centre
    expected = length[long] * (length[long] - centre)
    assert np.polyfit(np.log(expected), np.log(sizes[long]), 1)[0] == pytest.approx(1.0, abs=0.1)


def test_bends_are_less_what_residuals_show_that_go_with_their_rows():
    # Of 900 rows two thirds are trusted, in all rows but those that stand for unseen ones.
    shown = (900.0 / 1_350.0) * (1.0 - 1.0 / (1.0 + (900.0 / 400.0) ** 2))
    B, y = public_rows(900)
    population = population_of(
        PublicMoments.from_rows(B, response=y), Task("ridge", 0.0, True), Stated()
    )
    world = population.drawn(np.random.default_rng(0))
    z, picked = world.features.whitened(np.random.default_rng(1), 20_000)
    assert np.mean(picked >= 0) == pytest.approx(shown * 1.5, abs=0.01)
    X = world.features.mean + z @ world.features.root
    bends = np.array([world._bend(np.random.default_rng(k), z, X) for k in range(200)])
    assert np.mean(bends**2) == pytest.approx(3.0 * (1.0 - shown) / 450.0, rel=0.1)


def test_residuals_leave_the_population_what_it_is():
    # Residuals of a fit without an intercept have a mean; on features with one it would bend it.
    B, y = public_rows(40)
    public = PublicMoments.from_rows(B, response=y + 3.0)
    population = population_of(public, Task("ridge", 0.0, False), Stated())
    world = population.drawn(np.random.default_rng(0))
    X, y = world.sample(np.random.default_rng(1), 200_000)
    away = np.linalg.lstsq(X, y, rcond=None)[0] - world.coef
    expected = 3 * world.residual_sd**2 / len(X)
    assert away @ world.metric @ away < 5.0 * expected


def test_residuals_have_tails_where_nobody_has_seen_them():
    def residuals(public, stated):
        population = population_of(public, Task("ridge", 0.0, False), stated)
        world = population.drawn(np.random.default_rng(0))
        _, picked = world.features.whitened(np.random.default_rng(1), 400_000)
        return world._residuals(np.random.default_rng(2), picked)

    # Student factors of eight degrees of freedom make the kurtosis of normal numbers 4.5.
    alone = residuals(
        PublicMoments.from_matrix(np.eye(3), n=100, response_scale=1.0), Stated(r2=0.5)
    )
    assert stats.kurtosis(alone, fisher=False) == pytest.approx(4.5, abs=0.3)
    assert np.mean(alone**2) == pytest.approx(1.0, rel=0.02)
    # Of many public rows nearly all has been seen.
    B, y = public_rows(8_000)
    shown = residuals(PublicMoments.from_rows(B, response=y), Stated())
    assert stats.kurtosis(shown, fisher=False) == pytest.approx(3.0, abs=0.3)
