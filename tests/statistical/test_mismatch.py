"""Public data from another population: never unsafe, noticed, and overcome given enough budget."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from publicmoments import GDP, PublicMoments, PublicMomentsWarning, Ridge

N, D = 20_000, 6
RESIDUAL_SD = 0.1


def population(rng, n):
    """Correlated features of condition 100 off the origin, and a linear response."""
    axes, _ = np.linalg.qr(np.random.default_rng(99).normal(size=(D, D)))
    X = 1.0 + rng.normal(size=(n, D)) * np.geomspace(0.3, 3.0, D) @ axes
    return X, X @ np.linspace(-1.0, 1.5, D) + 0.5 + RESIDUAL_SD * rng.normal(size=n)


PRIVATE = population(np.random.default_rng(1), N)
SOLUTION = np.linalg.lstsq(np.column_stack([PRIVATE[0], np.ones(N)]), PRIVATE[1], rcond=None)[0]


def scaled_down(rng, X, y):
    return 0.1 * X, y


def scaled_up(rng, X, y):
    return 10.0 * X, y


def rotated(rng, X, y):
    return (X - 1.0) @ np.linalg.qr(rng.normal(size=(D, D)))[0] + 1.0, y


def shifted(rng, X, y):
    return X + 10.0, y


def unrelated(rng, X, y):
    return X, rng.permutation(y)


def response_too_small(rng, X, y):
    return X, 0.01 * y


def response_too_large(rng, X, y):
    return X, 100.0 * y


def residuals_too_small(rng, X, y):
    return X, X @ np.linspace(-1.0, 1.5, D) + 0.5 + 1e-3 * RESIDUAL_SD * rng.normal(size=len(X))


def residuals_too_large(rng, X, y):
    return X, y + 100.0 * RESIDUAL_SD * rng.normal(size=len(X))


OTHER_FEATURES = [scaled_down, scaled_up, rotated, shifted]
OTHER_RESPONSES = [unrelated, response_too_small, response_too_large]
OTHER_RESIDUALS = [residuals_too_small, residuals_too_large]
EVERY_WAY = OTHER_FEATURES + OTHER_RESPONSES + OTHER_RESIDUALS


def with_responses(X, y):
    return PublicMoments.from_rows(X, response=y)


def matrix_only(X, y):
    scale = float(np.sqrt(np.mean(y**2)))
    return PublicMoments.from_mean_cov(
        X.mean(axis=0), np.cov(X.T, bias=True), n=len(X), response_scale=scale
    )


KINDS = [with_responses, matrix_only]


def public_of(change, n_public, kind):
    rng = np.random.default_rng(n_public)
    return kind(*change(rng, *population(rng, n_public)))


def fit(public, mu, rows=PRIVATE, **parameters):
    """Fit reproducibly; return the model and whether it warned of a misfit."""
    model = Ridge(privacy=GDP(mu), public=public, random_state=0, **parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*rows)
    warned = any(
        issubclass(w.category, PublicMomentsWarning) and "do not fit" in str(w.message)
        for w in caught
    )
    return model, warned


def prediction_error(model):
    """Error of predictions against those of least squares, in units of the response."""
    X, y = PRIVATE
    away = model.predict(X) - np.column_stack([X, np.ones(N)]) @ SOLUTION
    return np.sqrt(np.mean(away**2)) / y.std()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_public", [20, 200])
@pytest.mark.parametrize("change", EVERY_WAY)
def test_enough_budget_overcomes_any_mismatch(change, n_public, kind):
    model, _ = fit(public_of(change, n_public, kind), mu=20.0)
    assert np.isfinite(model.coef_).all()
    assert prediction_error(model) < 0.03


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", EVERY_WAY)
@pytest.mark.parametrize("anchor", [True, False])
@pytest.mark.parametrize("mu", [0.01, 1.0])
def test_little_budget_gives_finite_coefficients(change, kind, anchor, mu):
    rows = PRIVATE[0][:500], PRIVATE[1][:500]
    model, _ = fit(public_of(change, 20, kind), mu, rows, anchor=anchor)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_)
    assert model.card_.to_json()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_public", [20, 200])
@pytest.mark.parametrize("change", OTHER_FEATURES)
def test_other_features_are_noticed(change, n_public, kind):
    model, warned = fit(public_of(change, n_public, kind), mu=20.0)
    assert warned
    assert model.card_.public_fit_z > 5.0


@pytest.mark.parametrize("change", [*OTHER_RESPONSES, residuals_too_small])
def test_another_response_is_noticed(change):
    _, warned = fit(public_of(change, 200, with_responses), mu=20.0)
    assert warned


def test_without_anchor_there_is_nothing_to_warn_of():
    model, warned = fit(public_of(scaled_up, 200, with_responses), mu=20.0, anchor=False)
    assert not warned
    assert prediction_error(model) < 0.03


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_public", [20, 200])
@pytest.mark.parametrize("mu", [1.0, 20.0])
def test_a_matching_population_gives_no_alarm(mu, n_public, kind):
    alarms = 0
    for seed in range(20):
        rng = np.random.default_rng([7, seed])
        public = kind(*population(rng, n_public))
        alarms += fit(public, mu, population(rng, 2_000))[1]
    assert alarms <= 1


def skewed(rng, n):
    """Features so skewed that a few rows carry most of the second moment."""
    X = rng.lognormal(size=(n, 4)) * [1.0, 100.0, 0.01, 5.0]
    return X, X @ [1.0, 0.02, -30.0, 0.2] + 2.0 + rng.standard_t(4, size=n)


def test_public_rows_with_heavy_tails_give_no_alarm():
    alarms = 0
    for seed in range(20):
        rng = np.random.default_rng([8, seed])
        alarms += fit(with_responses(*skewed(rng, 200)), 1.0, skewed(rng, 5_000))[1]
    assert alarms <= 1


def real_table(file, delimiter):
    folder = os.environ.get("PUBLICMOMENTS_DATA")
    path = Path(folder or ".") / file
    if folder is None or not path.is_file():
        pytest.skip(f"set PUBLICMOMENTS_DATA to a folder that holds {file}")
    return np.loadtxt(path, delimiter=delimiter, skiprows=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("file", "delimiter", "n_public"),
    [("winequality-white.csv", ";", 245), ("ccpp.csv", ",", 192)],
)
def test_a_split_of_a_real_table_gives_no_alarm(file, delimiter, n_public, kind):
    table = real_table(file, delimiter)
    alarms = 0
    for seed in range(20):
        rows = table[np.random.default_rng(seed).permutation(len(table))]
        public = kind(rows[:n_public, :-1], rows[:n_public, -1])
        alarms += fit(public, 1.0, (rows[n_public:, :-1], rows[n_public:, -1]))[1]
    assert alarms <= 1


@pytest.mark.parametrize("mu", [1.0, 10.0])
def test_public_responses_that_are_all_alike_do_not_hold_a_fit_back(mu):
    """Their fit goes through all of them, and would be certain by its own residuals."""
    public = PublicMoments.from_rows(PRIVATE[0][:40], response=np.full(40, PRIVATE[1].mean()))
    model, warned = fit(public, mu)
    assert prediction_error(model) < 0.1
    assert warned
