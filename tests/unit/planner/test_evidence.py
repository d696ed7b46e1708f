"""Coefficients are drawn from what public labels leave possible."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments import PublicMoments
from publicmoments.planner import evidence
from publicmoments.planner.fits import Task
from publicmoments.planner.knowledge import Stated, population_of
from tests.unit.planner.populations import worlds


def labels_law(count, coef, seed=0):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(count, len(coef)))
    y = (rng.logistic(size=count) < B @ coef).astype(float)
    public = PublicMoments.from_rows(B, response=y)
    return population_of(public, Task("logistic", 0.0, False), Stated())


def test_separable_labels_give_a_finite_population():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(40, 3))
    public = PublicMoments.from_rows(B, response=(B[:, 0] > 0).astype(float))
    population = population_of(public, Task("logistic", 0.0, True), Stated())
    drawn = np.array([world.coef for world in worlds(population, 100)])
    assert np.isfinite(drawn).all()
    assert 1.0 < np.median(drawn[:, 0]) < 50.0


def test_coefficients_of_many_labels_vary_as_their_fit_does():
    coef = np.array([1.0, -0.5])
    population = labels_law(1_000, coef)
    drawn = np.array([world.coef for world in worlds(population, 1_500)])
    z = population.law.z
    fit = Task("logistic", 0.0, False).plain_fit(z, population.law.y)
    curvature = population.task.family.curvature(z @ fit)
    scaler = population.law.scaler
    covariance = scaler @ np.linalg.inv((z * curvature[:, None]).T @ z) @ scaler.T
    assert np.cov(drawn, rowvar=False) == pytest.approx(covariance, rel=0.2, abs=1e-3)
    assert drawn.mean(axis=0) == pytest.approx(scaler @ fit, abs=0.02)


def test_draws_have_the_skewed_posterior_of_few_labels():
    # One coefficient: the posterior, prior sizes and all, by adding it up on a grid.
    population = labels_law(25, np.array([3.0]), seed=4)
    law = population.law
    grid = np.linspace(-5.0, 150.0, 20_001)
    loss = np.array([law.family.loss(law.z[:, 0] * at, law.y).sum() for at in grid])
    density = np.zeros_like(grid)
    for variance in evidence.PRIOR_VARIANCES:
        prior = np.exp(-(grid**2) / (2 * variance)) / np.sqrt(variance)
        # A half-Cauchy law of the size, on a grid of its logarithms.
        density += np.sqrt(variance) / (1.0 + variance) * prior * np.exp(loss.min() - loss)
    density /= density.sum()
    share = np.cumsum(density)
    drawn = np.array([world.coef[0] for world in worlds(population, 1_500)]) / law.scaler[0, 0]
    for level in (0.1, 0.5, 0.9):
        assert np.mean(drawn <= grid[np.searchsorted(share, level)]) == pytest.approx(
            level, abs=0.06
        )


def test_a_rare_indicator_has_an_effect_of_the_size_of_others():
    # None of its fifteen rows is positive: the labels allow any large negative coefficient.
    rng = np.random.default_rng(0)
    B = np.column_stack([rng.normal(size=(3_000, 3)), np.arange(3_000) < 15])
    y = (rng.logistic(size=3_000) < B[:, :3] @ [0.8, -0.5, 0.3] - 1.0).astype(float)
    y[:15] = 0.0
    public = PublicMoments.from_rows(B, response=y)
    population = population_of(public, Task("logistic", 0.0, True), Stated())
    rare = np.array([world.coef[3] for world in worlds(population, 300)])
    assert -2.0 < np.median(rare) < -0.2
    assert np.quantile(np.abs(rare), 0.9) < 3.5


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_units_and_origins_of_columns_do_not_matter_where_there_is_an_intercept(size):
    rng = np.random.default_rng(1)
    B = rng.normal(size=(60, 2))
    y = (rng.logistic(size=60) < B @ [1.0, -1.0] + 0.5).astype(float)
    task, shift = Task("logistic", 0.0, True), np.array([3.0, -20.0]) * size
    plain = evidence.ResponseLaw.of_rows(task, B, y)
    moved = evidence.ResponseLaw.of_rows(task, size * B + shift, y)
    features = population_of(PublicMoments.from_rows(B, response=y), task, Stated()).features
    coef = plain.drawn(np.random.default_rng(2), features).coef
    other = moved.drawn(np.random.default_rng(2), features).coef
    assert size * other[:2] == pytest.approx(coef[:2], rel=1e-5)
    assert other[2] + shift @ other[:2] == pytest.approx(coef[2], rel=1e-5)


def test_a_constant_column_beside_an_intercept_has_no_effect():
    rng = np.random.default_rng(3)
    B = np.column_stack([rng.normal(size=(50, 2)), np.full(50, 0.1)])
    y = (rng.logistic(size=50) < B[:, 0]).astype(float)
    law = evidence.ResponseLaw.of_rows(Task("logistic", 0.0, True), B, y)
    features = population_of(
        PublicMoments.from_rows(B[:, :2]), Task("ridge", 0.0, True), Stated(r2=0.5)
    ).features
    coef = law.drawn(rng, features).coef
    assert coef[2] == 0.0
    assert np.isfinite(coef).all()
