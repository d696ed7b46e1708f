"""With noise silent and no row truncated, the published estimators are the plain ones.

Rounding to the grid is all that is left. It is relative to the bounds, so the rows here nearly fill
their radius, as public moments may be of any size; then 1e-8 is reached.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)

from publicmoments import GDP, PublicMoments
from publicmoments.families import Bernoulli, Gaussian, Poisson
from publicmoments.families.factors import Ones
from publicmoments.paper import (
    PMTGLM,
    AdaSSP,
    NoisyGradientDescent,
    OracleLogisticRegression,
    OracleRidge,
    OracleSecondMoment,
    PMTElasticNet,
    PMTLogisticRegression,
    PMTRidge,
    PMTSecondMoment,
    pmt,
)
from publicmoments.rows.recipe import GramRecipe
from tests.helpers import noise_off

N, D = 20_000, 3
BUDGET = GDP(10.0)
TOLERANCE = 1e-8
# The default eta is 0.05.
RESPONSE_RADIUS = math.sqrt(1.0 + math.log(2 * N / 0.05))
RADIUS = math.sqrt(D) * RESPONSE_RADIUS
PENALTIES = [0.0, 0.3]


@pytest.fixture(autouse=True)
def silent():
    """No noise; rounding averages out over the rows, to below 1e-8, and sums are still exact."""
    with noise_off(PRODUCT_BITS=22):
        yield


def long_rows(rng, radius):
    """Rows in all directions, of lengths just within the radius."""
    directions = rng.normal(size=(N, D))
    lengths = radius * rng.uniform(0.8, 0.99, size=(N, 1))
    return lengths * directions / np.linalg.norm(directions, axis=1)[:, None]


def second_moment(rng, condition):
    """Second moment of the given condition number, in some orientation."""
    axes = np.linalg.qr(rng.normal(size=(D, D)))[0]
    return (axes * np.geomspace(1.0, 1.0 / condition, D)) @ axes.T


def root(S):
    values, vectors = np.linalg.eigh(S)
    return (vectors * np.sqrt(values)) @ vectors.T


@pytest.fixture(scope="module", params=[1.0, 1e4], ids=["cond 1", "cond 1e4"])
def guided(request):
    """Public moments, rows within their radius, and coefficients of a predictor within +-2.5."""
    rng = np.random.default_rng(17)
    S = second_moment(rng, request.param)
    X = long_rows(rng, RADIUS) @ root(S)
    coef = np.linalg.solve(root(S), [2.0, -1.0, 1.0]) / RADIUS
    return S, X, coef


def public_moments(S, **response):
    return PublicMoments.from_matrix(S, n=10**6, **response)


def agree(ours, theirs):
    """Whether coefficients agree, relative to the largest."""
    return np.abs(ours - theirs).max() <= TOLERANCE * np.abs(theirs).max()


def linear_responses(X, coef):
    """Responses with residuals, and a public scale that leaves them just within the radius."""
    y = X @ coef + np.random.default_rng(1).uniform(-1.0, 1.0, size=N)
    return y, np.abs(y).max() / (0.99 * RESPONSE_RADIUS)


# Ridge regression


@pytest.mark.parametrize("alpha", PENALTIES)
def test_pmt_ridge_is_ridge(guided, alpha):
    S, X, coef = guided
    y, scale = linear_responses(X, coef)
    model = PMTRidge(alpha, privacy=BUDGET, public=public_moments(S, response_scale=scale))
    plain = Ridge(N * alpha, fit_intercept=False, solver="svd").fit(X, y)
    assert agree(model.fit(X, y).coef_, plain.coef_)


@pytest.mark.parametrize("alpha", PENALTIES)
def test_pmt_ridge_is_the_same_whatever_the_public_moments(guided, alpha):
    # Theorem 4.1: the recovered coefficients are those of the rows before whitening.
    S, X, coef = guided
    y, scale = linear_responses(X, coef)
    other = root(S) @ (np.eye(D) + 0.3 * np.diag([0.0, 1.0, -0.5])) @ root(S) * 1.3
    for moment in (S, other):
        public = public_moments(moment, response_scale=1.1 * scale)
        Z = pmt(X, public)
        assert np.linalg.norm(Z, axis=1).max() < RADIUS
        plain = np.linalg.solve(X.T @ X / N + alpha * np.eye(D), X.T @ y / N)
        assert agree(PMTRidge(alpha, privacy=BUDGET, public=public).fit(X, y).coef_, plain)


@pytest.mark.parametrize("alpha", PENALTIES)
@pytest.mark.parametrize("coef_norm", [None, 0.2])
def test_oracle_ridge_is_ridge(alpha, coef_norm):
    rng = np.random.default_rng(18)
    # Of length 12 at most, where the radius is above sqrt(9.6^2 + 38).
    X = long_rows(rng, 12.0)
    y = X @ [0.15, -0.1, 0.05] + 0.1 * rng.uniform(-1.0, 1.0, size=N)
    model = OracleRidge(alpha, coef_norm=coef_norm, privacy=BUDGET).fit(X, y)
    assert agree(model.coef_, Ridge(N * alpha, fit_intercept=False, solver="svd").fit(X, y).coef_)


def test_adassp_without_a_penalty_is_least_squares():
    rng = np.random.default_rng(19)
    X = long_rows(rng, 2.0) @ np.diag([1.0, 0.8, 0.9])
    y = X @ [1.0, -1.0, 0.5] + 0.1 * rng.uniform(-1.0, 1.0, size=N)
    model = AdaSSP(2.0, 3.0, privacy=BUDGET).fit(X, y)
    assert model.penalty_ == 0.0
    assert agree(model.coef_, LinearRegression(fit_intercept=False).fit(X, y).coef_)


# Logistic regression


def labels(X, coef):
    return (np.random.default_rng(2).random(N) < expit(X @ coef)).astype(int)


def plain_logistic(X, y, alpha):
    inverse = 1.0 / (N * alpha) if alpha else 1e14
    model = LogisticRegression(
        C=inverse, fit_intercept=False, solver="newton-cholesky", tol=1e-13, max_iter=100
    )
    return model.fit(X, y).coef_[0]


@pytest.mark.parametrize("alpha", PENALTIES)
def test_pmt_logistic_regression_is_logistic_regression(guided, alpha):
    S, X, coef = guided
    y = labels(X, coef)
    model = PMTLogisticRegression(
        alpha, iterations=8, privacy=BUDGET, public=public_moments(S)
    ).fit(X, y)
    theirs = plain_logistic(X, y, alpha)
    assert agree(model.coef_, theirs)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(X @ theirs), atol=1e-7)


@pytest.mark.parametrize("alpha", PENALTIES)
def test_oracle_logistic_regression_is_logistic_regression(alpha):
    rng = np.random.default_rng(20)
    X = long_rows(rng, 12.0)
    y = labels(X, np.array([0.1, -0.05, 0.05]))
    model = OracleLogisticRegression(alpha, iterations=8, privacy=BUDGET).fit(X, y)
    assert agree(model.coef_, plain_logistic(X, y, alpha))


def newton_path(family, X, y, alpha, steps):
    """Plain Newton iterations on the rows themselves."""
    path = [np.zeros(D)]
    for _ in range(steps):
        predictor = X @ path[-1]
        hessian = (X * family.curvature(predictor)[:, None]).T @ X / N + alpha * np.eye(D)
        gradient = X.T @ (family.mean(predictor) - y) / N + alpha * path[-1]
        path.append(path[-1] - np.linalg.solve(hessian, gradient))
    return np.stack(path)


@pytest.mark.parametrize("alpha", PENALTIES)
def test_every_logistic_iterate_is_that_of_the_raw_rows(guided, alpha):
    # Theorem 5.1.
    S, X, coef = guided
    y = labels(X, coef)
    model = PMTLogisticRegression(
        alpha, iterations=6, privacy=BUDGET, public=public_moments(S)
    ).fit(X, y)
    theirs = newton_path(Bernoulli(), X, y, alpha, 6)
    for ours, plain in zip(model.coef_path_[1:], theirs[1:], strict=True):
        assert agree(ours, plain)


def test_newton_is_affine_invariant_at_every_iteration(guided):
    S, X, coef = guided
    y = labels(X, coef)
    mix = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, 3.0]])
    plain, mapped = (
        PMTLogisticRegression(iterations=6, privacy=BUDGET, public=public_moments(moment))
        .fit(rows, y)
        .coef_path_
        for moment, rows in ((S, X), (mix.T @ S @ mix, X @ mix))
    )
    for one, other in zip(plain[1:], mapped[1:], strict=True):
        assert agree(mix @ other, one)


# Generalised linear models


@pytest.mark.parametrize("alpha", PENALTIES)
def test_pmt_glm_of_counts_is_poisson_regression(guided, alpha):
    S, X, coef = guided
    y = np.random.default_rng(3).poisson(np.exp(0.5 * X @ coef)).astype(float)
    # The solution is 0.5 |(2, -1, 1)| / RADIUS = 0.18 long.
    model = PMTGLM(
        Poisson(),
        alpha,
        response_bound=float(y.max()),
        coef_bound=0.25,
        iterations=8,
        privacy=BUDGET,
        public=public_moments(S),
    ).fit(X, y)
    plain = PoissonRegressor(
        alpha=alpha, fit_intercept=False, solver="newton-cholesky", tol=1e-13, max_iter=100
    ).fit(X, y)
    assert agree(model.coef_, plain.coef_)
    theirs = newton_path(Poisson(), X, y, alpha, 8)
    # The first steps from zero overshoot the ball, and are projected; the last are not.
    assert agree(model.coef_, theirs[-1])


@pytest.mark.parametrize("alpha", PENALTIES)
def test_pmt_glm_of_numbers_is_ridge(guided, alpha):
    S, X, coef = guided
    y, _ = linear_responses(X, coef)
    model = PMTGLM(
        Gaussian(),
        alpha,
        response_bound=float(np.abs(y).max()),
        coef_bound=0.5,
        iterations=3,
        privacy=BUDGET,
        public=public_moments(S),
    ).fit(X, y)
    assert agree(model.coef_, Ridge(N * alpha, fit_intercept=False, solver="svd").fit(X, y).coef_)


@pytest.mark.parametrize("alpha", PENALTIES)
def test_pmt_glm_of_labels_is_logistic_regression(guided, alpha):
    S, X, coef = guided
    y = labels(X, coef)
    model = PMTGLM(Bernoulli(), alpha, iterations=8, privacy=BUDGET, public=public_moments(S)).fit(
        X, y
    )
    assert agree(model.coef_, plain_logistic(X, y, alpha))


# First-order methods


@pytest.mark.parametrize("alpha", PENALTIES)
def test_gradient_descent_comes_to_ridge(alpha):
    rng = np.random.default_rng(22)
    X = long_rows(rng, math.sqrt(3.0))
    y = X @ [1.0, -1.0, 0.5] + 0.1 * rng.uniform(-1.0, 1.0, size=N)
    model = NoisyGradientDescent(alpha, clip=8.0, step=1.0, iterations=25, privacy=BUDGET)
    assert agree(
        model.fit(X, y).coef_, Ridge(N * alpha, fit_intercept=False, solver="svd").fit(X, y).coef_
    )


def test_gradient_descent_comes_to_logistic_regression():
    rng = np.random.default_rng(23)
    X = long_rows(rng, math.sqrt(3.0))
    y = labels(X, np.array([1.0, -1.0, 0.5]))
    model = NoisyGradientDescent(
        0.1, family=Bernoulli(), clip=2.0, step=3.0, iterations=40, privacy=BUDGET
    )
    assert agree(model.fit(X, y).coef_, plain_logistic(X, y, 0.1))


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_pmt_elastic_net_is_elastic_net(guided, l1_ratio):
    S, X, coef = guided
    y, scale = linear_responses(X, coef)
    alpha = 0.1 * np.abs(X.T @ y / N).max()
    public = public_moments(S, response_scale=scale)
    # Curvatures are near RADIUS^2 / D in coordinates where the public moments are 1.
    step = D / RADIUS**2
    model = PMTElasticNet(
        alpha, l1_ratio=l1_ratio, step=step, iterations=25, privacy=BUDGET, public=public
    ).fit(X, y)
    if l1_ratio == 0.0:
        plain = Ridge(N * alpha, fit_intercept=False, solver="svd").fit(X, y).coef_
    elif l1_ratio == 1.0:
        plain = Lasso(alpha, fit_intercept=False, tol=1e-12, max_iter=10_000).fit(X, y).coef_
    else:
        plain = ElasticNet(alpha, l1_ratio=l1_ratio, fit_intercept=False, tol=1e-12).fit(X, y).coef_
    assert agree(model.coef_, plain)
    np.testing.assert_array_equal(model.coef_ == 0.0, plain == 0.0)


# The second moment and its inverse


@pytest.fixture(scope="module", params=[1.0, 1e4], ids=["cond 1", "cond 1e4"])
def on_grid(request):
    """Public moments, their whitener, and rows within the radius that rounding leaves as they are.

    Rounding other rows to the grid moves the inverse by a few 1e-9 at the finest grid there is.
    """
    rng = np.random.default_rng(18)
    public = public_moments(second_moment(rng, request.param))
    whitener = public.design(fit_intercept=False).whitener
    unit = GramRecipe(np.eye(D), np.zeros((D, 1)), Ones(), RADIUS, RADIUS, N).grid_unit
    rows = unit * np.rint(long_rows(rng, RADIUS) / unit)
    return public, whitener, rows @ np.linalg.inv(whitener)


@pytest.mark.parametrize("alpha", PENALTIES)
def test_the_inverse_is_the_plain_inverse(on_grid, alpha):
    public, _, X = on_grid
    fitted = PMTSecondMoment(alpha, privacy=BUDGET, public=public).fit(X)
    plain = np.linalg.inv(X.T @ X / N + alpha * np.eye(D))
    assert np.abs(fitted.inverse_ - plain).max() <= 1e-9 * np.abs(plain).max()


@pytest.mark.parametrize("alpha", PENALTIES)
def test_the_recovery_identity(on_grid, alpha):
    """Theorem 3.3: S_B^(1/2) (M + alpha S_B^-1) S_B^(1/2) is the second moment plus alpha I."""
    public, whitener, X = on_grid
    fitted = PMTSecondMoment(alpha, privacy=BUDGET, public=public).fit(X)
    back = np.linalg.inv(whitener)
    recovered = back.T @ (fitted.transformed_ + alpha * whitener.T @ whitener) @ back
    plain = X.T @ X / N + alpha * np.eye(D)
    for identity in (recovered, fitted.second_moment_ + alpha * np.eye(D)):
        assert np.abs(identity - plain).max() <= 1e-10 * np.abs(plain).max()


def test_an_oracle_inverts_what_it_is_given(guided):
    _, X, _ = guided
    # The trace is that of the rows: all of them lie within the radius.
    rows = X[np.linalg.norm(X, axis=1) <= np.sqrt(np.mean(np.sum(X**2, axis=1)))]
    fitted = OracleSecondMoment(0.1, privacy=BUDGET).fit(rows)
    plain = np.linalg.inv(rows.T @ rows / len(rows) + 0.1 * np.eye(D))
    assert np.abs(fitted.inverse_ - plain).max() <= 1e-7 * np.abs(plain).max()
