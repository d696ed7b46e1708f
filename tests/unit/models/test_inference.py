"""Standard errors and intervals of the private estimators, against what they are derived from."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from publicmoments import GDP, LogisticRegression, PublicMoments, Ridge
from publicmoments.models.belief import CoefBelief
from publicmoments.models.inference import around, half_width, mean_interval
from publicmoments.models.spread import ErrorParts, error_parts

N, D, N_PUBLIC, SD = 4000, 3, 200, 0.7
COEF = np.array([1.0, -2.0, 0.5])
RNG = np.random.default_rng(8)
SCALES = np.array([1.0, 20.0, 0.1])
X = RNG.normal(1.0, 1.0, size=(N_PUBLIC + N, D)) * SCALES
Y = X @ (COEF / SCALES) + 4.0 + SD * RNG.normal(size=len(X))
PUBLIC = PublicMoments.from_rows(X[:N_PUBLIC], response=Y[:N_PUBLIC])
DESIGN = np.column_stack([X[N_PUBLIC:], np.ones(N)])


def fitted(mu=1.0, y=Y, public=PUBLIC, **parameters):
    model = Ridge(privacy=GDP(mu), public=public, random_state=0, **parameters)
    return model.fit(X[N_PUBLIC:], y[N_PUBLIC:])


def relative(found, expected):
    """Largest difference of two covariances, in units of the second."""
    sizes = np.sqrt(np.diag(expected))
    return np.abs((found - expected) / np.outer(sizes, sizes)).max()


def random_covariance(rng, p, size=1.0):
    root = rng.normal(size=(p, 2 * p))
    return size * root @ root.T / (2 * p)


# The split of a belief


def test_a_gaussian_belief_splits_as_a_linear_estimate_does():
    """Estimate by hand: A times the prior mean, I - A times a noisy measurement of noisy rows."""
    rng = np.random.default_rng(0)
    before, noise, own = (random_covariance(rng, 3, s) for s in (1.0, 0.3, 0.1))
    prior = CoefBelief.centred([before], [0.0])
    posterior = prior.updated(np.eye(3), np.array([0.3, -0.2, 1.0]), noise)
    parts = error_parts(prior, posterior, own)
    gain = before @ np.linalg.inv(before + noise)
    rest = np.eye(3) - gain
    np.testing.assert_allclose(parts.noise, gain @ noise @ gain.T, atol=1e-12)
    expected = rest @ before @ rest.T + gain @ own @ gain.T
    np.testing.assert_allclose(parts.sampling, expected, atol=1e-12)
    without = error_parts(prior, posterior, np.zeros((3, 3)))
    np.testing.assert_allclose(without.total, posterior.covariance, atol=1e-12)


def test_components_that_disagree_add_their_spread():
    prior = CoefBelief.centred([np.eye(2), 100.0 * np.eye(2)], [0.0, 0.0])
    posterior = prior.updated(np.eye(2), np.array([3.0, 0.0]), 1.0)
    parts = error_parts(prior, posterior, np.zeros((2, 2)))
    np.testing.assert_allclose(parts.total, posterior.covariance, atol=1e-12)
    weights = posterior.weights
    assert 0.01 < weights[0] < 0.99
    apart = weights[0] * weights[1] * (posterior.means[0] - posterior.means[1])[0] ** 2
    share = weights[0] * 0.25 + weights[1] * 100 / 101**2
    assert parts.sampling[0, 0] == pytest.approx(apart + share)


def test_what_nothing_was_learned_of_keeps_its_prior():
    prior = CoefBelief.centred([np.diag([1.0, 4.0])], [0.0])
    posterior = prior.updated(np.diag([1.0, 0.0]), np.array([0.5, 0.0]), 1e-12)
    parts = error_parts(prior, posterior, 0.01 * np.eye(2))
    np.testing.assert_allclose(np.diag(parts.sampling), [0.01, 4.0], rtol=1e-6)
    assert (np.linalg.eigvalsh(parts.noise) >= 0.0).all()


def test_parts_are_carried_by_a_matrix():
    matrix = np.array([[1.0, 2.0], [0.0, 3.0], [1.0, 0.0]])
    parts = ErrorParts(np.eye(2), np.diag([1.0, 2.0])).carried(matrix)
    np.testing.assert_array_equal(parts.noise, matrix @ matrix.T)
    np.testing.assert_array_equal(parts.total, matrix @ np.diag([2.0, 3.0]) @ matrix.T)


# Ridge


def test_without_noise_the_covariance_is_that_of_least_squares():
    model = fitted(mu=1e7)
    residuals = Y[N_PUBLIC:] - model.predict(X[N_PUBLIC:])
    expected = residuals @ residuals / N * np.linalg.inv(DESIGN.T @ DESIGN)
    assert relative(model.sampling_covariance_, expected) < 0.02
    assert relative(model.noise_covariance_ + expected, expected) < 1e-3
    assert model.residual_scale_ == pytest.approx(SD, rel=0.05)


def test_without_budget_the_covariance_is_that_of_the_public_fit():
    model = fitted(mu=1e-4)
    rows = np.column_stack([X[:N_PUBLIC], np.ones(N_PUBLIC)])
    expected = SD**2 * np.linalg.inv(rows.T @ rows)
    total = model.noise_covariance_ + model.sampling_covariance_
    sizes = np.sqrt(np.diag(total) / np.diag(expected))
    assert (sizes > 0.9).all()
    assert (sizes < 1.2).all()
    assert np.diag(model.noise_covariance_).max() < 0.1 * np.diag(total).max()


def test_noise_grows_as_budgets_shrink_and_sampling_does_not():
    noise = [np.diag(fitted(mu).noise_covariance_) for mu in (0.3, 1.0, 3.0)]
    assert (noise[0] > 2 * noise[1]).all()
    assert (noise[1] > 2 * noise[2]).all()
    sampling = [np.diag(fitted(mu).sampling_covariance_) for mu in (1.0, 10.0)]
    np.testing.assert_allclose(sampling[0], sampling[1], rtol=0.15)


@pytest.mark.parametrize("alpha", [0.3, 30.0])
def test_a_penalty_shrinks_errors_with_the_coefficients(alpha):
    """Against the sandwich of the penalised problem: its scores are x (y - x.b), less its mean."""
    model = fitted(mu=1e7, alpha=alpha)
    moment = DESIGN.T @ DESIGN / N
    inverse = np.linalg.inv(moment + alpha * np.diag([1.0] * D + [0.0]))
    scores = DESIGN * (Y[N_PUBLIC:] - model.predict(X[N_PUBLIC:]))[:, None]
    expected = inverse @ np.cov(scores.T) @ inverse / N
    found = np.sqrt(np.diag(model.sampling_covariance_) / np.diag(expected))
    # The rows are Gaussian but for their ones, whose products vary less than those of a Gaussian.
    assert (found[:D] > 0.9).all()
    assert (found[:D] < 1.1).all()
    assert 0.9 < found[D] < 1.5


def test_several_responses_have_errors_of_their_own():
    both = np.column_stack([Y, 3.0 * Y])
    public = PublicMoments.from_rows(X[:N_PUBLIC], response=both[:N_PUBLIC])
    model = fitted(y=both, public=public)
    assert model.noise_covariance_.shape == model.sampling_covariance_.shape == (2, D + 1, D + 1)
    assert model.conf_int().shape == (2, D + 1, 2)
    ratio = np.diff(model.conf_int()[1]) / np.diff(model.conf_int()[0])
    np.testing.assert_allclose(ratio, 3.0, rtol=0.05)
    interval = model.predict_interval(X[:5])
    assert interval.shape == (5, 2, 2)
    np.testing.assert_allclose(interval.mean(axis=2), model.predict(X[:5]))
    summary = model.summary()
    assert summary.names[:2] == ("y0: x0", "y0: x1")
    assert summary.names[-1] == "y1: (intercept)"
    np.testing.assert_allclose(summary.coef[D + 1 : 2 * D + 1], model.coef_[1])
    assert summary.residual_sd is None


def test_a_column_of_responses_keeps_its_axis():
    model = fitted(y=Y[:, None])
    assert model.noise_covariance_.shape == (1, D + 1, D + 1)
    assert model.conf_int().shape == (1, D + 1, 2)
    assert model.predict_interval(X[:4]).shape == (4, 1, 2)
    assert model.residual_scale_.shape == (1,)


def test_intervals_are_centred_and_as_wide_as_stated():
    model = fitted()
    total = model.noise_covariance_ + model.sampling_covariance_
    ends = model.conf_int(0.9)
    np.testing.assert_allclose(ends.mean(axis=1), [*model.coef_, model.intercept_])
    np.testing.assert_allclose(np.diff(ends)[:, 0], 2 * 1.6448536 * np.sqrt(np.diag(total)))
    rows = X[:6]
    interval = model.predict_interval(rows, 0.9)
    np.testing.assert_allclose(interval.mean(axis=1), model.predict(rows))
    design = np.column_stack([rows, np.ones(6)])
    sizes = np.sqrt(np.diag(design @ total @ design.T))
    np.testing.assert_allclose(np.diff(interval)[:, 0], 2 * 1.6448536 * sizes)


def test_without_an_intercept_there_is_none_among_the_errors():
    model = fitted(fit_intercept=False)
    assert model.noise_covariance_.shape == (D, D)
    assert model.conf_int().shape == (D, 2)
    assert model.summary().names == ("x0", "x1", "x2")
    np.testing.assert_allclose(model.predict_interval(X[:3]).mean(axis=1), model.predict(X[:3]))


def test_a_summary_tells_all_of_it():
    frame = pd.DataFrame(X, columns=["age", "income", "ratio"])
    public = PublicMoments.from_rows(frame[:N_PUBLIC], response=Y[:N_PUBLIC])
    model = Ridge(0.01, privacy=GDP(1.0), public=public).fit(frame[N_PUBLIC:], Y[N_PUBLIC:])
    summary = model.summary(0.9)
    lines = str(summary).splitlines()
    assert lines[0] == f"Response y: 4000 rows, residual sd {model.residual_scale_:.4g}, alpha 0.01"
    assert [line.split()[0] for line in lines[2:]] == ["age", "income", "ratio", "(intercept)"]
    assert lines[1].split()[-2:] == ["[0.05", "0.95]"]
    plain = json.loads(json.dumps(summary.to_dict()))
    np.testing.assert_allclose(plain["coef"], [*model.coef_, model.intercept_])
    np.testing.assert_allclose(np.square(plain["noise_err"]), np.diag(model.noise_covariance_))
    np.testing.assert_allclose(
        np.square(plain["sampling_err"]), np.diag(model.sampling_covariance_)
    )
    np.testing.assert_allclose(
        np.hypot(plain["noise_err"], plain["sampling_err"]), plain["std_err"]
    )
    np.testing.assert_allclose(np.transpose([plain["low"], plain["high"]]), model.conf_int(0.9))
    z = np.divide(plain["coef"], plain["std_err"])
    np.testing.assert_allclose(plain["p_value"], 2 * norm.sf(np.abs(z)), rtol=1e-6, atol=1e-300)
    assert summary.private
    assert "No privacy guarantee" in str(fitted().summary())


def test_errors_are_light_and_survive_pickling():
    model = fitted()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.conf_int(), model.conf_int())
    bare = pickle.dumps({k: v for k, v in vars(model).items() if not k.endswith("covariance_")})
    assert len(pickle.dumps(vars(model))) - len(bare) < 1000


def test_responses_that_outgrow_their_public_fit_have_wide_intervals():
    """Where the fit starts again, its errors are those of the new start."""
    with pytest.warns(match="do not fit"):
        model = fitted(y=50.0 * Y[::-1].copy())
    expected = np.sqrt(np.diag(np.linalg.inv(DESIGN.T @ DESIGN))) * 50.0 * Y.std()
    sizes = np.sqrt(np.diag(model.noise_covariance_ + model.sampling_covariance_))
    assert (sizes > 0.9 * expected).all()


# Parts


@pytest.mark.parametrize("level", [0.0, 1.0, np.nan, 95.0])
def test_levels_are_fractions(level):
    with pytest.raises(ValueError, match="level"):
        half_width(level)


def test_ends_and_mean_intervals():
    assert half_width(0.6826895) == pytest.approx(1.0)
    np.testing.assert_array_equal(around(np.array([1.0]), np.array([0.25])), [[0.75, 1.25]])
    covariance = np.array([[1.0, 0.5], [0.5, 4.0]])
    ends = mean_interval(np.array([[1.0, 2.0]]), np.array([7.0]), covariance, 0.6826895)
    np.testing.assert_allclose(ends, [[7.0 - np.sqrt(19.0), 7.0 + np.sqrt(19.0)]])


def test_the_bootstrap_draws_from_the_law_of_the_estimate():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = X @ [1.0, -2.0] + rng.normal(size=500)
    public = PublicMoments.from_rows(X[:100], response=y[:100])
    model = Ridge(privacy=GDP(0.5), public=public, random_state=0).fit(X, y)
    found = model.bootstrap(20_000, random_state=1)
    assert found.names == ("x0", "x1", "(intercept)")
    np.testing.assert_array_equal(found.estimate, [*model.coef_, model.intercept_])
    expected = model.noise_covariance_ + model.sampling_covariance_
    scale = np.sqrt(np.diag(expected))
    away = (np.cov(found.draws, rowvar=False) - expected) / np.outer(scale, scale)
    assert np.abs(away).max() < 0.05
    np.testing.assert_allclose(found.conf_int(0.9), model.conf_int(0.9), atol=0.05 * scale.max())
    assert (model.bootstrap(5, random_state=1).draws != model.bootstrap(5).draws).all()
    with pytest.raises(ValueError, match="n_draws"):
        model.bootstrap(0)


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
def test_the_bootstrap_of_several_classes_and_responses():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    labels = rng.integers(3, size=400)
    public = PublicMoments.from_rows(X[:100])
    classes = LogisticRegression(
        classes=(0, 1, 2), passes=2, privacy=GDP(5.0), public=public, random_state=0
    ).fit(X, labels)
    assert classes.bootstrap(7).draws.shape == (7, 9)
    two = Ridge(privacy=GDP(5.0), random_state=0).fit(X, np.column_stack([labels, -labels]))
    drawn = two.bootstrap(9_000, random_state=0)
    assert drawn.draws.shape == (9_000, 6)
    assert drawn.names[3] == "y1: x0"
    np.testing.assert_allclose(
        np.std(drawn.draws, axis=0),
        (two.conf_int()[..., 1] - two.conf_int()[..., 0]).ravel() / 3.92,
        rtol=0.05,
    )
