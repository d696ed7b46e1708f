"""What public moments and releases add up to."""

from __future__ import annotations

import math

import numpy as np
import pytest

from publicmoments import GDP, PublicMoments, PublicMomentsWarning, Ridge
from publicmoments.models import passes as passes_module
from publicmoments.models.knowledge import initial_knowledge, plan_pass
from publicmoments.models.passes import run_passes
from publicmoments.planner.bounds import BoundsRequest
from publicmoments.privacy import Account
from publicmoments.release import grid_bound, noise_source, private_rows
from publicmoments.tables import as_responses, as_table

COEF = np.array([1.0, -2.0, 0.5])


def draw(n, rng, residual_sd=0.5):
    X = rng.standard_normal((n, 3)) @ np.diag([1.0, 5.0, 0.2])
    return X, X @ COEF + residual_sd * rng.standard_normal(n)


def start(n_public=200, *, labelled=True, anchor=True, seed=0):
    X, y = draw(n_public, np.random.default_rng(seed))
    if labelled:
        public = PublicMoments.from_rows(X, response=y)
    else:
        scale = float(np.sqrt(np.mean(y**2)))
        public = PublicMoments.from_matrix(X.T @ X / n_public, n=n_public, response_scale=scale)
    return initial_knowledge(public.design(fit_intercept=False), 1, anchor)


def rows_of(X, y):
    return private_rows(as_table(X), as_responses(y), fit_intercept=False, ignore_invalid=False)


def measured(knowledge, passes, mu, n=20_000, seed=1, noise_seed=0):
    X, y = draw(n, np.random.default_rng(seed))
    return (
        X,
        y,
        run_passes(
            knowledge,
            rows_of(X, y),
            Account(GDP(mu)),
            passes,
            request=BoundsRequest(),
            source=noise_source(noise_seed),
        ),
    )


def test_a_public_fit_starts_with_its_own_sampling_error():
    knowledge = start(n_public=200)
    # Residual sd 0.5, three coefficients, 200 rows: E error^2 of predictions is 3 x 0.25 / 200.
    assert knowledge.prediction_error(0) == pytest.approx(3 * 0.25 / 200, rel=0.2)
    assert knowledge.scale[0] == pytest.approx(0.5, rel=0.15)


def test_without_a_fit_the_start_is_zero_and_the_scale_that_of_the_response():
    knowledge = start(labelled=False)
    assert not knowledge.coef.any()
    assert knowledge.scale[0] == pytest.approx(np.sqrt(1 + 100 + 0.01 + 0.25), rel=0.15)


def test_each_pass_shrinks_the_residual_scale_down_to_the_noise_of_the_model():
    _, _, result = measured(start(labelled=False), passes=4, mu=1.0)
    scales = [record.scale[0] for record in result.records]
    assert scales[0] > 8.0
    assert scales[-1] == pytest.approx(0.5, rel=0.2)
    # The residuals have sd 0.5; a scale that came out a little too small is widened again.
    assert scales[0] > 10 * max(scales[1:])
    assert min(scales) > 0.4


def test_later_passes_gain_on_one_pass_at_the_same_total_budget():
    errors = {1: [], 4: []}
    for passes, found in errors.items():
        for seed in range(8):
            X, y, result = measured(
                start(labelled=False), passes, mu=0.3, seed=seed + 1, noise_seed=seed
            )
            away = result.knowledge.coef[:, 0] - np.linalg.lstsq(X, y, rcond=None)[0]
            found.append(np.sqrt(np.mean((X @ away) ** 2)))
    assert np.median(errors[4]) < np.median(errors[1]) / 10


def test_the_predicted_error_is_the_realised_one():
    predicted, realised = [], []
    for seed in range(30):
        X, y, result = measured(start(seed=seed), passes=2, mu=0.2, seed=seed + 99, noise_seed=seed)
        away = result.knowledge.coef[:, 0] - np.linalg.lstsq(X, y, rcond=None)[0]
        realised.append(np.mean((X @ away) ** 2))
        predicted.append(result.knowledge.prediction_error(0))
    ratio = np.sqrt(np.mean(realised) / np.mean(predicted))
    assert 0.75 < ratio < 1.33


def test_a_public_residual_scale_that_is_too_small_does_no_harm():
    # Few public rows, whose residuals happen to be small: private ones are cut more than planned.
    predicted, realised = [], []
    for seed in range(12):
        X_public, y_public = draw(12, np.random.default_rng(seed))
        fitted = np.linalg.lstsq(X_public, y_public, rcond=None)[0]
        y_public = X_public @ fitted + 0.4 * (y_public - X_public @ fitted)
        public = PublicMoments.from_rows(X_public, response=y_public)
        knowledge = initial_knowledge(public.design(fit_intercept=False), 1, True)
        X, y, result = measured(knowledge, passes=2, mu=0.3, n=50_000, seed=seed + 50)
        away = result.knowledge.coef[:, 0] - np.linalg.lstsq(X, y, rcond=None)[0]
        realised.append(np.mean((X @ away) ** 2))
        predicted.append(result.knowledge.prediction_error(0))
    assert np.sqrt(np.mean(realised) / np.mean(predicted)) < 3.0


def test_what_the_passes_cost_composes_to_the_total():
    _, _, result = measured(start(), passes=3, mu=0.7)
    assert sum(record.cost.mu**2 for record in result.records) == pytest.approx(0.49)
    bound = grid_bound(20_000, 4)
    assert all(record.rho == record.law.rho(bound) for record in result.records)
    assert 0.499 * 0.49 <= sum(record.rho for record in result.records) <= 0.49 / 2


def test_no_anchor_means_no_opinion():
    knowledge = start(anchor=False)
    assert knowledge.prediction_error(0) > 1e6 * start().prediction_error(0)
    assert knowledge.effective_n == 0.0
    assert knowledge.coef == pytest.approx(start().coef)


def test_plans_do_not_look_at_rows():
    knowledge = start()
    recipe, bounds = plan_pass(
        knowledge, 1_000, 1.0, final=True, fit_intercept=False, request=BoundsRequest()
    )
    assert recipe.n_rows == 1_000
    assert recipe.x_radius == bounds.x_radius
    assert recipe.coef is knowledge.coef


@pytest.mark.parametrize(("mu", "expected"), [(10.0, 1), (0.02, 2)])
def test_a_large_table_is_read_once_where_noise_vanishes(monkeypatch, mu, expected):
    monkeypatch.setattr(passes_module, "LARGE_TABLE", 5_000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5_000, 2))
    y = X @ [1.0, -1.0] + rng.normal(size=5_000)
    B = rng.normal(size=(200, 2))
    public = PublicMoments.from_rows(B, response=B @ [1.0, -1.0] + rng.normal(size=200))
    model = Ridge(privacy=GDP(mu), public=public, random_state=0).fit(X, y)
    assert len(model.card_.passes) == expected
    share = passes_module.ALONE if expected == 1 else 1 / 3
    assert model.card_.passes[0].mu == pytest.approx(mu * math.sqrt(share))
    # A release decides whether the rest is used: the claim is that of a fit that used it.
    full = Ridge(privacy=GDP(mu), public=public, passes=2, random_state=0).fit(X, y).card_
    assert model.card_.rho == pytest.approx(mu**2 / 2, rel=1e-9)
    assert model.card_.rho >= full.rho * (1 - 1e-12)
    assert model.card_.extra_tv == pytest.approx(full.extra_tv, rel=1e-6)
    assert Ridge(privacy=GDP(mu), public=public, passes=2).fit(X, y).card_.passes[1:] != ()
    # Public responses of another kind show in the first pass, and the rest of the budget is spent.
    other = PublicMoments.from_rows(B, response=1e-3 * rng.normal(size=200))
    with pytest.warns(PublicMomentsWarning):
        wrong = Ridge(privacy=GDP(mu), public=other, random_state=0).fit(X, y)
    assert len(wrong.card_.passes) > 1
