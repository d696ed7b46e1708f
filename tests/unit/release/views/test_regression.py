"""Any column on any others: with noise off as scikit-learn, with noise on as each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression
from sklearn.linear_model import Ridge as PlainRidge

from publicmoments import GDP, PublicMoments
from publicmoments.privacy.account import Account
from publicmoments.privacy.noise import SeededNoise, SystemNoise
from publicmoments.release import release_moments

N = 1500
NAMES = ["age", "height", "weight", "income", "score"]
QUESTIONS = [
    ("score", None),
    ("age", None),
    (3, [0, 4]),
    ("height", ["score", "age", "income"]),
    ("weight", ["age"]),
    (-1, (2,)),
]


def columns_of(table, response, features):
    frame = pd.DataFrame(table, columns=NAMES)
    name = NAMES[response] if isinstance(response, int) else response
    chosen = [n for n in NAMES if n != name] if features is None else features
    chosen = [NAMES[f] if isinstance(f, int) else f for f in chosen]
    return frame[chosen].to_numpy(), frame[name].to_numpy(), tuple(chosen)


def assert_same_fit(fit, plain, tolerance=1e-5):
    size = np.abs(plain.coef_).max()
    np.testing.assert_allclose(fit.coef, plain.coef_, atol=tolerance * size, rtol=tolerance)
    assert fit.intercept == pytest.approx(plain.intercept_, abs=20 * tolerance * max(size, 0.1))


# Noise off


@pytest.mark.parametrize(("response", "features"), QUESTIONS)
@pytest.mark.parametrize("alpha", [0.0, 0.7])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ridge_is_that_of_the_rows(exact, table, response, features, alpha, fit_intercept):
    X, y, names = columns_of(table, response, features)
    fit = exact.ridge(response, alpha, features, fit_intercept)
    plain = PlainRidge(alpha=N * alpha, fit_intercept=fit_intercept, solver="svd").fit(X, y)
    assert fit.features == names
    assert_same_fit(fit, plain)
    np.testing.assert_allclose(fit.predict(X), plain.predict(X), atol=1e-4)


@pytest.mark.parametrize(("response", "features"), QUESTIONS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_lasso_and_elastic_net_are_those_of_the_rows(
    exact, table, response, features, fit_intercept
):
    X, y, _ = columns_of(table, response, features)
    options = {"fit_intercept": fit_intercept, "tol": 1e-12, "max_iter": 100_000}
    fit = exact.lasso(response, 0.3, features, fit_intercept)
    assert_same_fit(fit, Lasso(0.3, **options).fit(X, y))
    fit = exact.elastic_net(response, 0.4, 0.6, features, fit_intercept)
    assert_same_fit(fit, ElasticNet(alpha=0.4, l1_ratio=0.6, **options).fit(X, y))


def test_lasso_selects(exact):
    fit = exact.lasso("score", 1.5)
    assert 0 < np.count_nonzero(fit.coef) < len(fit.coef)


def test_moments_are_those_of_the_rows(exact, table):
    np.testing.assert_allclose(exact.mean, table.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(exact.covariance, np.cov(table.T, bias=True), atol=1e-4)
    rows = np.column_stack([table, np.ones(len(table))])
    np.testing.assert_allclose(exact.second_moment, rows.T @ rows / len(rows), atol=1e-4)


def test_residual_variance_has_its_degrees_of_freedom(exact, table):
    X, y, _ = columns_of(table, "score", None)
    residuals = y - LinearRegression().fit(X, y).predict(X)
    unbiased = residuals @ residuals / (N - 5)
    # One part in N: the correction is first-order, and itself 5 / N.
    assert exact.ridge("score").residual_variance == pytest.approx(unbiased, rel=1e-4)
    assert exact.prediction_error("score") == pytest.approx(unbiased * (1 + 5 / N), rel=1e-4)


def test_a_mean_is_a_regression_on_nothing(exact, table):
    fit = exact.ridge("age", features=[])
    assert fit.coef.shape == (0,)
    assert fit.intercept == pytest.approx(table[:, 0].mean(), abs=1e-5)
    assert fit.std_err[0] == pytest.approx(table[:, 0].std() / np.sqrt(N), rel=1e-3)


@pytest.mark.usefixtures("silent")
def test_units_and_origin_do_not_matter():
    rng = np.random.default_rng(0)
    plain = rng.normal(size=(900, 3)) @ [[1.0, 0.3, 0.8], [0.0, 1.0, -0.5], [0.0, 0.0, 0.4]]
    units, origin = np.array([1e-6, 1e5, 30.0]), np.array([1.0, 1e7, -50.0])
    moved = plain * units + origin
    fits = []
    for rows in (plain, moved):
        public = PublicMoments.from_rows(rows[:200])
        release = release_moments(
            rows[200:], privacy=GDP(1e6), public=public, anchor=False, radius=30.0
        )
        fits.append(release.ridge(2))
    np.testing.assert_allclose(fits[1].coef * units[:2] / 30.0, fits[0].coef, rtol=1e-5)
    ratio = fits[1].std_err[:2] * units[:2] / 30.0 / fits[0].std_err[:2]
    np.testing.assert_allclose(ratio, 1.0, rtol=1e-4)


# Noise on


@pytest.mark.parametrize(("response", "features"), QUESTIONS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_path_is_that_of_single_fits(noisy, response, features, fit_intercept):
    alphas = [3.0, 0.0, 1e-8, 0.2, 50.0]
    path = noisy.path(response, alphas, features, fit_intercept)
    assert path.coefs.shape == (5, len(path.features))
    for k, alpha in enumerate(alphas):
        fit = noisy.ridge(response, alpha, features, fit_intercept)
        np.testing.assert_allclose(path.coefs[k], fit.coef, rtol=1e-8, atol=1e-10)
        assert path.intercepts[k] == pytest.approx(fit.intercept, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(("response", "features"), QUESTIONS)
@pytest.mark.parametrize("center", [True, False])
def test_pseudo_rows_stand_in_for_the_private_ones(noisy, response, features, center):
    X, y = noisy.pseudo_rows(response, features, center)
    assert X.shape[0] == y.shape[0] == 6
    options = {"fit_intercept": False}
    fits = [
        (noisy.ridge(response, 0.0, features, center), LinearRegression(**options)),
        (noisy.ridge(response, 0.4, features, center), PlainRidge(N * 0.4, **options)),
    ]
    options |= {"tol": 1e-13, "max_iter": 100_000}
    penalty = N / len(X)
    fits += [
        (noisy.lasso(response, 0.2, features, center), Lasso(0.2 * penalty, **options)),
        (
            noisy.elastic_net(response, 0.2, 0.3, features, center),
            ElasticNet(alpha=0.2 * penalty, l1_ratio=0.3, **options),
        ),
    ]
    for fit, model in fits:
        model.fit(X, y)
        np.testing.assert_allclose(model.coef_, fit.coef, rtol=1e-6, atol=1e-8)
        if center:
            named = [noisy.columns.index(name) for name in fit.features]
            mean_y = noisy.mean[noisy.columns.index(fit.response)]
            intercept = mean_y - noisy.mean[named] @ model.coef_
            assert intercept == pytest.approx(fit.intercept, rel=1e-6, abs=1e-6)


def test_pseudo_rows_hold_the_gram_matrix(noisy):
    X, y = noisy.pseudo_rows("score", center=False)
    both = np.column_stack([X, y])
    np.testing.assert_allclose(both.T @ both, N * noisy.second_moment[:5, :5], rtol=1e-10)


def test_nothing_is_charged_by_any_number_of_readings(noisy, monkeypatch):
    def refuse(self, *arguments):
        pytest.fail("budget was spent, or noise drawn")

    monkeypatch.setattr(Account, "charge", refuse)
    for source in (SeededNoise, SystemNoise):
        monkeypatch.setattr(source, "draw", refuse)
    card = noisy.card.to_json()
    for k in range(10):
        path = noisy.path(k % 5, np.geomspace(1e-3, 1e3, 100), [j for j in range(5) if j != k % 5])
        assert path.coefs.shape == (100, 4)
    noisy.principal_components()
    noisy.bootstrap("score", n=3)
    assert noisy.card.to_json() == card
    assert noisy.card.mu == 1.0
    assert len(noisy.card.passes) == 1


def test_penalties_are_chosen_by_prediction_error(noisy):
    alphas = [0.0, 0.01, 0.1, 1.0, 100.0]
    errors = [noisy.prediction_error("income", alpha) for alpha in alphas]
    assert noisy.choose_alpha("income", alphas) == alphas[int(np.argmin(errors))]
    assert errors[-1] > 2 * min(errors)
    fit = noisy.lasso("income", 0.1)
    assert noisy.prediction_error(fit) == fit.prediction_error > 0.0
    # Coefficients that the penalty has set to zero have not adapted to anything.
    alone = noisy.ridge("income", features=[]).prediction_error
    assert noisy.lasso("income", 1e6).prediction_error == pytest.approx(alone, rel=1e-12)


# Refusals


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda r: r.ridge("size"), "response must name a column, got 'size' among age, height"),
        (lambda r: r.ridge(5), "response must be a position below 5, got 5"),
        (lambda r: r.ridge(1.0), "response must be a column name or position, got float"),
        (lambda r: r.ridge(True), "response must be a column name or position, got bool"),
        (lambda r: r.ridge("age", features=["age"]), "features must not contain the response"),
        (lambda r: r.ridge("age", features=["score", 4]), "features must name each column once"),
        (lambda r: r.ridge("age", features=[], fit_intercept=False), "at least one column"),
        (lambda r: r.ridge("age", -1.0), "alpha must be in [0, inf)"),
        (lambda r: r.ridge("age", np.nan), "alpha must be in [0, inf)"),
        (lambda r: r.ridge("age", fit_intercept="no"), "fit_intercept must be True or False"),
        (lambda r: r.elastic_net("age", 1.0, 1.5), "l1_ratio must be in [0, 1]"),
        (lambda r: r.path("age", []), "alphas must be a sequence of numbers"),
        (lambda r: r.path("age", [[1.0]]), "alphas must be a sequence of numbers"),
        (lambda r: r.path("age", ["a"]), "alphas must be a sequence of numbers"),
        (lambda r: r.path("age", [1.0, np.nan]), "alphas must be in [0, inf)"),
        (lambda r: r.choose_alpha("age", [-1.0]), "alphas must be in [0, inf)"),
        (lambda r: r.bootstrap("age", n=1), "n must be at least 2"),
        (lambda r: r.bootstrap("age", n=2.0), "n must be an integer"),
        (lambda r: r.bootstrap("age", seed="a"), "seed must be None"),
        (lambda r: r.pseudo_rows("age", center=1), "center must be True or False"),
        (lambda r: r.lasso("age", 1.0).conf_int(), "standard errors must be asked of a fit"),
        (lambda r: r.ridge("age").conf_int(1.0), "level must be in (0, 1)"),
        (lambda r: r.ridge("age").predict(np.ones((2, 3))), "X has 3 features"),
        (lambda r: r.ridge("age").predict(np.full((2, 4), np.nan)), "NaN or infinity"),
        (
            lambda r: r.ridge("age").predict(pd.DataFrame(np.ones((2, 4)), columns=list("abcd"))),
            "missing: height",
        ),
    ],
)
def test_refusals(noisy, ask, words):
    with pytest.raises((TypeError, ValueError)) as info:
        ask(noisy)
    assert words in str(info.value)
