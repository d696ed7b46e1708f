"""With noise out of the way and budget that lets bounds grow, the estimate is scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge as PlainRidge

from publicmoments import GDP, PublicMoments, Ridge
from tests.helpers import noise_off

N, N_PUBLIC, D = 2000, 300, 4
FINE_GRID = 22
"""Bits of a grid so fine that rounding is below the tolerance; the sums are still exact."""

BUDGET = GDP(1e5)
"""So large that the anchor, which weighs by the noise it expects, has no say."""

TOLERANCE = 1e-6


@pytest.fixture
def silent():
    """No noise, and a fine grid."""
    with noise_off(PRODUCT_BITS=FINE_GRID):
        yield


def sample(q):
    """Correlated features off the origin, responses with residuals; public rows first."""
    rng = np.random.default_rng(7)
    X = rng.normal(2.0, 1.0, size=(N_PUBLIC + N, D)) @ rng.normal(size=(D, D))
    Y = X @ rng.normal(size=(D, q)) + 1.0 + 0.1 * rng.normal(size=(N_PUBLIC + N, q))
    return X, Y[:, 0] if q == 1 else Y


def public_rows(B, given):
    return PublicMoments.from_rows(B, response=given)


def public_matrix(B, given):
    scale = np.sqrt(np.mean(given**2, axis=0))
    return PublicMoments.from_matrix(B.T @ B / len(B), n=len(B), response_scale=scale)


def public_mean_cov(B, given):
    both = np.column_stack([B, given])
    last = list(range(D, both.shape[1]))
    cov = np.cov(both.T, bias=True)
    return PublicMoments.from_mean_cov(both.mean(axis=0), cov, n=len(B), response=last)


PUBLIC = [public_rows, public_matrix, public_mean_cov]


def relative_error(model, plain):
    ours = np.column_stack([model.coef_.reshape(-1, D), np.ravel(model.intercept_)])
    theirs = np.column_stack(
        [plain.coef_.reshape(-1, D), np.broadcast_to(plain.intercept_, len(ours))]
    )
    return np.abs(ours - theirs).max() / np.abs(theirs).max()


@pytest.mark.usefixtures("silent")
@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("anchor", [True, False], ids=["anchor", "free"])
@pytest.mark.parametrize("make_public", PUBLIC, ids=lambda f: f.__name__)
@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "origin"])
def test_coefficients_are_those_of_scikit_learn(fit_intercept, alpha, q, make_public, anchor):
    X, y = sample(q)
    public = make_public(X[:N_PUBLIC], y[:N_PUBLIC])
    X, y = X[N_PUBLIC:], y[N_PUBLIC:]
    plain = PlainRidge(alpha=N * alpha, fit_intercept=fit_intercept, solver="svd").fit(X, y)
    model = Ridge(
        alpha,
        privacy=BUDGET,
        public=public,
        fit_intercept=fit_intercept,
        anchor=anchor,
    ).fit(X, y)
    assert relative_error(model, plain) < TOLERANCE
    np.testing.assert_allclose(model.predict(X), plain.predict(X), rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(("passes", "tolerance"), [(1, 5e-3), (2, 1e-5), (4, 1e-6)])
def test_every_gradient_brings_it_closer(passes, tolerance):
    X, y = sample(1)
    public = public_rows(X[:N_PUBLIC], y[:N_PUBLIC])
    X, y = X[N_PUBLIC:], y[N_PUBLIC:]
    model = Ridge(privacy=BUDGET, public=public, passes=passes).fit(X, y)
    assert relative_error(model, PlainRidge(alpha=0.0).fit(X, y)) < tolerance


@pytest.mark.usefixtures("silent")
def test_units_and_origin_of_the_columns_do_not_matter():
    X, y = sample(1)
    X = X * [1e-6, 1.0, 1e5, 30.0] + [1.0, 1e3, 0.0, -50.0]
    public = public_rows(X[:N_PUBLIC], y[:N_PUBLIC])
    X, y = X[N_PUBLIC:], y[N_PUBLIC:]
    model = Ridge(privacy=BUDGET, public=public).fit(X, y)
    centre, spread = X.mean(axis=0), X.std(axis=0)
    plain = PlainRidge(alpha=0.0, solver="svd").fit((X - centre) / spread, y)
    np.testing.assert_allclose(model.coef_ * spread, plain.coef_, rtol=1e-5, atol=1e-6)


def test_the_default_grid_costs_nearly_nothing():
    X, y = sample(1)
    public = public_rows(X[:N_PUBLIC], y[:N_PUBLIC])
    X, y = X[N_PUBLIC:], y[N_PUBLIC:]
    with noise_off():
        model = Ridge(privacy=BUDGET, public=public).fit(X, y)
    # Far below the sampling error, which is near 1e-2 here.
    assert relative_error(model, PlainRidge(alpha=0.0).fit(X, y)) < 1e-4
