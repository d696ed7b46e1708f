"""Standard errors and intervals of the private estimators, against what they are derived from."""

from __future__ import annotations

import itertools
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from publicmoments import GDP, LogisticRegression, PublicMoments, Ridge
from publicmoments.evidence.posterior import Observation, Posterior
from publicmoments.models.inference import around, half_width, mean_interval

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


def parts_of(model):
    """Covariances of noise, sampling and bias."""
    return model.noise_covariance_, model.sampling_covariance_, model.bias_covariance_


def total(model):
    return sum(parts_of(model))


def sizes(covariance):
    """Standard deviations."""
    return np.sqrt(np.diag(covariance))


def of_the_public_fit():
    """Covariance of the fit of the public rows."""
    rows = np.column_stack([X[:N_PUBLIC], np.ones(N_PUBLIC)])
    return SD**2 * np.linalg.inv(rows.T @ rows)


# The split of an estimate


def split(before, noise_sd, own, bias=0.0, cut=None):
    """Split the error of a start that was updated once, by an exact curvature of one."""
    information, prior = np.eye(len(before)) / noise_sd**2, np.linalg.inv(before)
    precision = prior + information
    gain = np.linalg.inv(precision) @ information
    coef, cut = np.zeros(len(before)), np.zeros(len(before)) if cut is None else cut
    seen = Observation(coef, coef, noise_sd, bias, 1.0, cut, bias * np.eye(len(before)))
    return Posterior(coef, precision, prior, 1.0, (gain,)).errors([seen], own), gain


def test_the_error_of_an_update_splits_as_that_of_a_linear_estimate_does():
    """Estimate by hand: A times a noisy measurement of noisy rows, I - A times the start."""
    rng = np.random.default_rng(0)
    before, own = (random_covariance(rng, 3, s) for s in (1.0, 0.1))
    cut = np.array([0.2, 0.0, -0.1])
    parts, gain = split(before, 0.5, own, 0.3, cut)
    np.testing.assert_allclose(gain, before @ np.linalg.inv(before + 0.25 * np.eye(3)), atol=1e-12)
    rest = np.eye(3) - gain
    np.testing.assert_allclose(parts.noise, 0.25 * gain @ gain.T, atol=1e-12)
    expected = rest @ before @ rest.T + gain @ own @ gain.T
    np.testing.assert_allclose(parts.sampling, expected, atol=1e-12)
    expected = 0.09 * gain @ gain.T + np.outer(gain @ cut, gain @ cut)
    np.testing.assert_allclose(parts.bias, expected, atol=1e-12)
    # Of rows that are the population, without bounds: the covariance of a Bayesian update.
    exact, _ = split(before, 0.5, np.zeros((3, 3)))
    updated = np.linalg.inv(np.linalg.inv(before) + 4.0 * np.eye(3))
    np.testing.assert_allclose(exact.total, updated, atol=1e-12)


def test_what_nothing_was_learned_of_keeps_its_start():
    prior, gain = np.diag([1.0, 0.25]), np.diag([1.0, 0.0])
    coef = np.zeros(2)
    seen = Observation(coef, coef, 1e-6, 0.0, 1.0, coef, np.zeros((2, 2)))
    posterior = Posterior(coef, prior + np.diag([1e12, 0.0]), prior, 1.0, (gain,))
    parts = posterior.errors([seen], 0.01 * np.eye(2))
    np.testing.assert_allclose(np.diag(parts.sampling), [0.01, 4.0], rtol=1e-6)
    np.testing.assert_allclose(np.diag(parts.noise), [1e-12, 0.0])


# Ridge


def test_without_noise_the_covariance_is_that_of_least_squares():
    model = fitted(mu=1e5)
    residuals = Y[N_PUBLIC:] - model.predict(X[N_PUBLIC:])
    expected = sizes(residuals @ residuals / N * np.linalg.inv(DESIGN.T @ DESIGN))
    noise, sampling, bias = (sizes(part) for part in parts_of(model))
    # The shape is that of 200 public rows, and sizes were counted by the octave.
    np.testing.assert_allclose(sampling, expected, rtol=0.15)
    assert (noise < 1e-3 * expected).all()
    assert (bias < 1e-3 * expected).all()
    assert model.residual_scale_ == pytest.approx(SD, rel=0.12)


def without_budget():
    """Fits that learn nothing but noise."""
    return [
        Ridge(privacy=GDP(1e-4), public=PUBLIC, random_state=seed).fit(X[N_PUBLIC:], Y[N_PUBLIC:])
        for seed in range(15)
    ]


def test_without_budget_the_covariance_is_that_of_the_public_fit():
    models = without_budget()
    ratios = [sizes(total(model)) / sizes(of_the_public_fit()) for model in models]
    assert (np.median(ratios, axis=0) > 0.9).all()
    assert (np.median(ratios, axis=0) < 1.2).all()
    noise = [sizes(model.noise_covariance_) / sizes(total(model)) for model in models]
    assert np.median(noise) < 0.1


def test_without_budget_no_noise_makes_errors_small():
    ratios = [sizes(total(model)) / sizes(of_the_public_fit()) for model in without_budget()]
    assert np.min(ratios) > 0.7


def test_noise_grows_as_budgets_shrink_and_sampling_does_not():
    noise = [sizes(fitted(mu).noise_covariance_) for mu in (0.3, 3.0, 30.0)]
    assert (noise[0] > 2.5 * noise[1]).all()
    assert (noise[1] > 2.5 * noise[2]).all()
    sampling = [np.diag(fitted(mu).sampling_covariance_) for mu in (1.0, 10.0)]
    np.testing.assert_allclose(sampling[0], sampling[1], rtol=0.3)


def test_bounds_cost_less_and_less():
    bias = [sizes(fitted(mu).bias_covariance_) for mu in (1.0, 10.0, 100.0, 1e4)]
    for one, next_one in itertools.pairwise(bias):
        assert (next_one < 0.5 * one).all()


@pytest.mark.parametrize("alpha", [0.3, 30.0])
def test_a_penalty_shrinks_errors_with_the_coefficients(alpha):
    """Against the sandwich of the penalised problem: its scores are x (y - x.b), less its mean."""
    model = fitted(mu=1e5, alpha=alpha)
    moment = DESIGN.T @ DESIGN / N
    inverse = np.linalg.inv(moment + alpha * np.diag([1.0] * D + [0.0]))
    scores = DESIGN * (Y[N_PUBLIC:] - model.predict(X[N_PUBLIC:]))[:, None]
    expected = inverse @ np.cov(scores.T) @ inverse / N
    found = sizes(model.sampling_covariance_) / sizes(expected)
    # The shape is that of 200 public rows, and sizes were counted by the octave.
    assert (found > 0.85).all()
    assert (found < 1.3).all()


def test_several_responses_have_errors_of_their_own():
    both = np.column_stack([Y, 3.0 * Y])
    public = PublicMoments.from_rows(X[:N_PUBLIC], response=both[:N_PUBLIC])
    model = fitted(y=both, public=public)
    assert {part.shape for part in parts_of(model)} == {(2, D + 1, D + 1)}
    assert model.conf_int().shape == (2, D + 1, 2)
    ratio = np.diff(model.conf_int()[1]) / np.diff(model.conf_int()[0])
    # Each has curvature of its own, as far as noisy moves teach it.
    np.testing.assert_allclose(ratio, 3.0, rtol=0.1)
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
    covariance = total(model)
    ends = model.conf_int(0.9)
    np.testing.assert_allclose(ends.mean(axis=1), [*model.coef_, model.intercept_])
    np.testing.assert_allclose(np.diff(ends)[:, 0], 2 * 1.6448536 * sizes(covariance))
    rows = X[:6]
    interval = model.predict_interval(rows, 0.9)
    np.testing.assert_allclose(interval.mean(axis=1), model.predict(rows))
    design = np.column_stack([rows, np.ones(6)])
    expected = 2 * 1.6448536 * sizes(design @ covariance @ design.T)
    np.testing.assert_allclose(np.diff(interval)[:, 0], expected)


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
    errors = [plain[name] for name in ("noise_err", "sampling_err", "bias_err")]
    for error, part in zip(errors, parts_of(model), strict=True):
        np.testing.assert_allclose(error, sizes(part))
        assert min(error) > 0.0
    np.testing.assert_allclose(plain["std_err"], sizes(total(model)))
    np.testing.assert_allclose(np.linalg.norm(errors, axis=0), plain["std_err"])
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


@pytest.mark.parametrize("factor", [10.0, 50.0])
def test_responses_that_outgrow_their_public_fit_have_wide_intervals(factor):
    with pytest.warns(match="do not fit"):
        model = fitted(y=factor * Y[::-1].copy())
    expected = sizes(np.linalg.inv(DESIGN.T @ DESIGN)) * factor * Y.std()
    assert (sizes(total(model)) > 0.9 * expected).all()


def test_units_of_columns_and_responses_are_those_of_their_errors():
    columns = np.array([0.01, 1.0, 1e3])
    public = PublicMoments.from_rows(X[:N_PUBLIC] * columns, response=7.0 * Y[:N_PUBLIC])
    other = Ridge(privacy=GDP(1.0), public=public, random_state=0)
    other.fit(X[N_PUBLIC:] * columns, 7.0 * Y[N_PUBLIC:])
    units = 7.0 / np.append(columns, 1.0)
    for one, part in zip(parts_of(other), parts_of(fitted()), strict=True):
        np.testing.assert_allclose(one, part * np.outer(units, units), rtol=1e-2)


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
    expected = total(model)
    scale = sizes(expected)
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
