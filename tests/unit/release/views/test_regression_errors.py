"""Standard errors against simulations of the laws they are derived from."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LinearRegression

from tests.helpers import redrawn_noise

N = 1500


@pytest.fixture
def noisier(exact):
    """Exact moments that claim noise of some size, as one would have at mu = 0.5 or so."""
    sd = 0.01
    return replace(exact, diagonal_sd=np.sqrt(2.0) * sd, offdiagonal_sd=sd)


@pytest.mark.parametrize(
    ("alpha", "fit_intercept", "features"),
    [(0.0, True, None), (1.0, True, [0, 3]), (0.0, False, [0, 3]), (1.0, False, None)],
)
def test_the_noise_covariance_is_that_of_the_noise(noisier, alpha, fit_intercept, features):
    question = {"alpha": alpha, "features": features, "fit_intercept": fit_intercept}
    fit = noisier.ridge("score", **question)
    rng = np.random.default_rng(1)
    draws = []
    for _ in range(1000):
        one = redrawn_noise(noisier, rng).ridge("score", **question)
        draws.append(np.append(one.coef, one.intercept) if fit_intercept else one.coef)
    simulated = np.cov(np.transpose(draws))
    sizes = np.sqrt(np.diag(simulated))
    np.testing.assert_allclose(np.sqrt(np.diag(fit.noise_covariance)), sizes, rtol=0.1)
    difference = (simulated - fit.noise_covariance) / np.outer(sizes, sizes)
    assert np.abs(difference).max() < 0.15


def basis(p):
    """Symmetric matrices of one entry each, of its sd: 1 off the diagonal, root 2 on it."""
    for i, j in zip(*np.triu_indices(p), strict=True):
        one = np.zeros((p, p))
        one[i, j] = one[j, i] = 1.0 if i != j else np.sqrt(2.0)
        yield one


@pytest.mark.parametrize("alpha", [0.0, 5.0])
def test_covariances_add_up_entry_by_entry(noisier, alpha):
    """Move each entry of the noise, and of the mean of products, by one standard deviation."""
    features, response, law = [0, 1, 2, 3, 5], 4, noisier.error_law
    fit, S = noisier.ridge("score", alpha), noisier.second_moment
    penalty = alpha * np.diag([1.0] * 4 + [0.0])
    inverse = np.linalg.inv(S[np.ix_(features, features)] + penalty)
    a = np.zeros(6)
    a[features], a[response] = [*-fit.coef, -fit.intercept], 1.0
    for root, variance, covariance in (
        (noisier.evidence.noise_root, law.noise, fit.noise_covariance),
        (noisier.evidence.root, law.sampling, fit.sampling_covariance),
    ):
        moves = [inverse @ (root.T @ one @ (root @ a))[features] for one in basis(6)]
        np.testing.assert_allclose(covariance, variance * np.transpose(moves) @ moves, rtol=1e-6)


def test_weights_scale_the_noise(noisier):
    """Rows that count for half leave half of the moment to the same noise."""
    halved = replace(
        noisier,
        noisy_gram=noisier.noisy_gram / 2,
        weights=replace(noisier.weights, kept=0.5, kept_ones=0.5, second=0.3),
    )
    whole, half = noisier.ridge("score"), halved.ridge("score")
    np.testing.assert_allclose(half.coef, whole.coef, rtol=1e-8)
    np.testing.assert_allclose(half.noise_covariance, 4 * whole.noise_covariance, rtol=1e-6)
    ratio = half.sampling_covariance / whole.sampling_covariance
    np.testing.assert_allclose(ratio, 4 * 0.3 / noisier.weights.second, rtol=1e-6)


def test_a_shape_is_restored_from_what_is_left_of_it(exact):
    """Shrink departures from the mean diagonal, as weights do, and say so."""
    gram = exact.noisy_gram.copy()
    level = np.trace(gram[:-1, :-1]) / 5 * np.eye(5)
    gram[:-1, :-1] = level + 0.8 * (gram[:-1, :-1] - level)
    shrunk = replace(exact, noisy_gram=gram)
    told = replace(shrunk, weights=replace(exact.weights, kept_shape=0.8))
    np.testing.assert_allclose(told.covariance, exact.covariance, rtol=1e-8, atol=1e-8)
    assert np.abs(shrunk.ridge("score").coef - exact.ridge("score").coef).max() > 1e-3
    ratio = told.error_law.noise / exact.error_law.noise
    assert ratio == pytest.approx(1 / 0.8**2)


def test_the_sampling_covariance_is_that_of_least_squares(exact, table):
    fit = exact.ridge("score")
    X = np.column_stack([table[:, :4], np.ones(N)])
    residuals = table[:, 4] - LinearRegression().fit(table[:, :4], table[:, 4]).predict(
        table[:, :4]
    )
    expected = residuals @ residuals / N * np.linalg.inv(X.T @ X)
    np.testing.assert_allclose(fit.sampling_covariance, expected, rtol=1e-3)
    # What is left of the noise at so large a budget is nothing beside it.
    assert np.abs(fit.noise_covariance).max() < 1e-6 * np.abs(expected).max()


def test_the_anchor_divides_errors_by_trust(noisier):
    anchored = replace(noisier, anchor=True, offdiagonal_sd=0.1, diagonal_sd=0.1 * np.sqrt(2))
    free = replace(anchored, anchor=False)
    trust, variance = anchored.evidence.trust, anchored.evidence.public_variance
    kept = anchored.weights.kept * anchored.weights.kept_shape
    assert 0.1 < trust < 0.9
    assert trust == pytest.approx(variance / (variance + (0.1 / kept) ** 2))
    assert free.evidence.trust == 1.0
    assert anchored.error_law.noise == pytest.approx(trust**2 * free.error_law.noise)
    expected = trust**2 * free.error_law.sampling + (1 - trust) ** 2 * variance
    assert anchored.error_law.sampling == pytest.approx(expected)


@pytest.mark.parametrize("times", [1.0, 5.0], ids=["more sampling", "more noise"])
def test_the_bootstrap_agrees_with_the_formulas(noisy, times):
    noisy = replace(noisy, offdiagonal_sd=times * noisy.offdiagonal_sd, anchor=False)
    fit = noisy.ridge("score")
    mostly_noise = np.diag(fit.noise_covariance) > np.diag(fit.sampling_covariance)
    assert (mostly_noise == (times > 1.0)).all()
    simulated = noisy.bootstrap("score", n=800, seed=2)
    np.testing.assert_allclose(simulated.std_err, fit.std_err, rtol=0.15)
    widths = [np.diff(one.conf_int(0.9), axis=1) for one in (simulated, fit)]
    np.testing.assert_allclose(widths[0], widths[1], rtol=0.2)
    assert simulated.names == (*fit.features, "(intercept)")
    np.testing.assert_allclose(simulated.estimate[:-1], fit.coef)
    again = noisy.bootstrap("score", n=800, seed=2)
    np.testing.assert_array_equal(simulated.draws, again.draws)


def test_the_bootstrap_works_where_columns_are_selected(noisy):
    simulated = noisy.bootstrap("score", 1.0, l1_ratio=1.0, n=50, seed=0)
    fit = noisy.lasso("score", 1.0)
    np.testing.assert_allclose(simulated.estimate, np.append(fit.coef, fit.intercept))
    assert (simulated.std_err[np.flatnonzero(fit.coef)] > 0).all()


def test_intervals_of_predictions(noisy, table):
    fit = noisy.ridge("score")
    rows = table[:7, :4]
    interval = fit.predict_interval(rows, 0.9)
    np.testing.assert_allclose(interval.mean(axis=1), fit.predict(rows))
    design = np.column_stack([rows, np.ones(7)])
    sizes = np.sqrt(np.diag(design @ fit.covariance @ design.T))
    np.testing.assert_allclose(np.diff(interval, axis=1)[:, 0] / 2, 1.6448536 * sizes, rtol=1e-6)
    far, near = (
        np.diff(fit.predict_interval(noisy.mean[None, :4] + shift)) for shift in (30.0, 0.0)
    )
    assert far > 3 * near


def test_a_summary_is_a_table(noisy):
    fit = noisy.ridge("score", features=["age", "income"])
    summary = fit.summary()
    lines = str(summary).splitlines()
    assert lines[0].startswith("Response score: 1500 rows")
    assert lines[1].split() == [
        *("coef", "std", "err", "noise", "sampling", "bias", "z", "P>|z|", "[0.025", "0.975]"),
    ]
    assert [line.split()[0] for line in lines[2:5]] == ["age", "income", "(intercept)"]
    assert len({len(line) for line in lines[1:5]}) == 1
    plain = json.loads(json.dumps(summary.to_dict()))
    np.testing.assert_allclose(plain["coef"], [*fit.coef, fit.intercept])
    np.testing.assert_allclose(plain["std_err"], fit.std_err)
    parts = np.hypot(plain["noise_err"], plain["sampling_err"])
    np.testing.assert_allclose(parts, plain["std_err"])
    # What weights do to moments is undone.
    assert plain["bias_err"] == [0.0] * 3
    np.testing.assert_allclose(np.transpose([plain["low"], plain["high"]]), fit.conf_int())
    z = np.array(plain["coef"]) / plain["std_err"]
    np.testing.assert_allclose(plain["z"], z)
    np.testing.assert_allclose(plain["p_value"], 2 * norm.sf(np.abs(z)), rtol=1e-6, atol=1e-300)
    assert "[0.05" in str(fit.summary(0.9))
