"""Choosing radii and curvatures: formulas by hand, and directions in which choices must go."""

from __future__ import annotations

import math

import numpy as np
import pytest

from publicmoments import PublicMoments
from publicmoments.families import Bernoulli, Gaussian, Multinomial, Poisson
from publicmoments.models.glm.plan import (
    CURVATURE_SHARE,
    FACTORS,
    GROWTH,
    MISFIT_ROWS,
    choose_curvature,
    choose_radius,
    gradient_recipe,
    pass_budgets,
)
from publicmoments.models.glm.stage import Lesson, Stage, make_stage

P = 4


def stage_of(family, n_public=200, alpha=0.0, seed=0):
    B = np.random.default_rng(seed).normal(size=(n_public, P))
    design = PublicMoments.from_rows(B).design(fit_intercept=False)
    return make_stage(design, family, alpha)


def chosen(stage, *, mu=1.0, n_rows=5000, away=0.1, final=True, wanted=None, residuals=None):
    return choose_radius(
        stage,
        np.zeros(stage.size),
        away * np.eye(stage.size),
        n_rows=n_rows,
        mu=mu,
        final=final,
        wanted=wanted,
        residuals=residuals,
    )


@pytest.mark.parametrize(
    ("n_rows", "mu", "bits"),
    [(10, 0.1, 20), (2**22, 16.0, 20), (2**22 + 1, 16.0, 26), (10, 16.1, 26), (2**40, 1.0, 21)],
)
def test_grids_are_coarse_only_where_rounding_vanishes(n_rows, mu, bits):
    assert gradient_recipe(n_rows, mu).bits_for(n_rows) == bits


def test_budgets_grow():
    budgets = np.array(pass_budgets(5))
    np.testing.assert_allclose(budgets[1:] / budgets[:-1], GROWTH)
    assert pass_budgets(1) == [1.0]
    assert 0.0 < CURVATURE_SHARE < 0.5


@pytest.mark.parametrize(
    ("family", "limit"),
    [(Bernoulli(), 1.0), (Poisson(), 4.0), (Gaussian(), 4.0), (Multinomial(3), math.sqrt(2.0))],
    ids=repr,
)
def test_noise_is_twice_the_longest_row_over_mu_n(family, limit):
    radius = chosen(stage_of(family), wanted=3.0, mu=0.5, n_rows=1000)
    assert radius.radius == 3.0
    assert radius.noise_sd == pytest.approx(2.0 * 3.0 * limit / (0.5 * 1000), rel=1e-12)
    # Noise, and on top of it what the weights change.
    extra = radius.covariance - radius.noise_sd**2 * np.eye(len(radius.covariance))
    assert np.linalg.eigvalsh(extra)[0] > -1e-9
    assert np.trace(extra) > 0.0


def test_a_wide_radius_changes_nothing_but_noise():
    radius = chosen(stage_of(Bernoulli()), wanted=1e3)
    np.testing.assert_allclose(
        radius.covariance, radius.noise_sd**2 * np.eye(P), atol=1e-9 * radius.noise_sd**2
    )


@pytest.mark.parametrize("family", [Bernoulli(), Poisson(), Multinomial(3)], ids=repr)
def test_more_budget_or_more_rows_widen_the_radius(family):
    stage = stage_of(family)
    by_budget = [chosen(stage, mu=mu).radius for mu in (0.1, 1.0, 10.0, 1e3)]
    by_rows = [chosen(stage, n_rows=n).radius for n in (500, 5000, 500_000)]
    for radii in (by_budget, by_rows):
        assert radii == sorted(radii)
        assert radii[-1] > 2.0 * radii[0]


def test_the_radius_is_in_units_of_what_it_bounds():
    stage = stage_of(Bernoulli())
    typical = math.sqrt(float(stage.weights @ stage.lengths**2))
    ratio = (chosen(stage).radius / typical) ** 2
    assert np.isclose(ratio, FACTORS).any()
    # With an unlimited budget nothing is shortened that public rows show.
    assert chosen(stage, mu=1e4).radius > 0.9 * stage.lengths.max()


def test_counts_are_bounded_with_their_spread():
    stage = stage_of(Poisson())
    small = chosen(stage).radius
    coef = np.zeros(P)
    coef[0] = 2.0
    # Larger means spread more: the bound is on rows times their spread.
    large = choose_radius(
        stage,
        coef,
        0.1 * np.eye(P),
        n_rows=5000,
        mu=1.0,
        final=True,
        wanted=None,
        residuals=None,
    ).radius
    assert large > 1.5 * small


def test_predicted_errors_fall_with_the_budget_and_never_exceed_what_was_believed():
    stage = stage_of(Bernoulli())
    errors = [chosen(stage, mu=mu).predicted_error for mu in (1e-3, 0.1, 1.0, 10.0)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] <= math.sqrt(0.1 * P) * (1 + 1e-9)
    assert errors[0] == pytest.approx(math.sqrt(0.1 * P), rel=0.05)
    assert errors[-1] < 0.2 * errors[0]


def test_public_residuals_say_what_weights_change():
    stage = stage_of(Bernoulli())
    none = chosen(stage, wanted=1.0)
    surprising = chosen(stage, wanted=1.0, residuals=np.full(200, 0.99))
    boring = chosen(stage, wanted=1.0, residuals=np.full(200, 0.01))
    traces = [np.trace(one.covariance) for one in (boring, none, surprising)]
    assert traces == sorted(traces)
    assert traces[2] > 1.5 * traces[0]


# Curvature


def test_no_curvature_of_several_classes():
    assert (
        choose_curvature(stage_of(Multinomial(3)), np.zeros(2 * P), n_rows=10**9, mu=100.0) is None
    )


@pytest.mark.parametrize("family", [Bernoulli(), Poisson(), Gaussian()], ids=repr)
def test_a_curvature_only_where_budget_and_rows_are_worth_it(family):
    stage = stage_of(family)
    assert choose_curvature(stage, np.zeros(P), n_rows=1000, mu=0.05) is None
    choice = choose_curvature(stage, np.zeros(P), n_rows=100_000, mu=10.0)
    assert choice is not None
    # sqrt(2) R^2 times the largest curvature over mu n.
    noise_sd = math.sqrt(2.0) * choice.radius**2 * family.curvature_limit / (10.0 * 100_000)
    assert choice.noise_sd == pytest.approx(noise_sd, rel=1e-12)
    assert choice.error < 0.25 * stage.untruth
    assert choice.expected.shape == (P, P)
    assert np.linalg.eigvalsh(choice.expected)[0] > 0.0


def test_a_true_stage_needs_no_curvature():
    stage = stage_of(Bernoulli())
    true = Stage(stage.family, stage.rows, stage.weights, stage.penalty, untruth=1e-9)
    assert choose_curvature(true, np.zeros(P), n_rows=100_000, mu=10.0) is None


@pytest.mark.parametrize("radius", [0.05, 1.0, 3.0, 100.0])
def test_what_the_weights_change_is_the_same_however_it_is_summed(radius):
    # The mean of |(c - H_c H^-1) s|^2 row by row, where few rows are cut and where all are.
    stage, n_rows = stage_of(Bernoulli()), 5000
    choice = chosen(stage, wanted=radius, n_rows=n_rows)
    kept = stage.kept(np.zeros(P), radius)
    hessian, bent = (
        stage.squares(weights, np.full((len(kept), 1, 1), 0.25))
        for weights in (np.ones(len(kept)), kept)
    )
    ratio = bent @ np.linalg.inv(hessian)
    rows = stage.rows[:, :, None] * 0.5
    moved = kept[:, None, None] * rows - ratio @ rows
    lost = np.einsum("n,nij,nkj->ik", stage.weights, moved, moved)
    expected = choice.noise_sd**2 * np.eye(P) + lost * (1.0 / n_rows + 1.0 / MISFIT_ROWS)
    np.testing.assert_allclose(choice.covariance, expected, atol=1e-15)


def test_squares_of_moving_rows_follow_from_those_of_plain_ones():
    plain, weights = stage_of(Bernoulli()), np.linspace(0.1, 1.0, len(stage_of(Bernoulli()).rows))
    stretch = np.random.default_rng(1).normal(size=(P, P))
    taught = plain.taught(Lesson(stretch, np.zeros(P), 0.1))
    matrices = np.full((len(weights), 1, 1), 0.25)
    still = taught.squares(weights, matrices, moving=False)
    np.testing.assert_allclose(taught.moved(still), taught.squares(weights, matrices), rtol=1e-12)
    assert plain.moved(still) is still
