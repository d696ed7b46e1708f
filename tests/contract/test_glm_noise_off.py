"""With noise out of the way and budget that lets bounds grow, models are scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import GammaRegressor
from sklearn.linear_model import LogisticRegression as PlainLogistic
from sklearn.linear_model import PoissonRegressor as PlainPoisson
from sklearn.linear_model import Ridge as PlainRidge

from publicmoments import GDP, GLM, LogisticRegression, PoissonRegressor, PublicMoments
from publicmoments.families import Bernoulli, Gamma, Gaussian, Poisson
from tests.helpers import noise_off

N, N_PUBLIC, D = 600, 600, 3
FINE_GRID = 34
"""Bits of a grid so fine that rounding is below the tolerance; the sums are still exact."""

BUDGET = GDP(1e5)
"""So large that the anchor, which weighs by the noise it expects, has no say."""

TOLERANCE = 1e-6

# Without noise, the least mismatch between public and private rows is many standard errors.
pytestmark = pytest.mark.filterwarnings("ignore:the public data do not fit")


@pytest.fixture(autouse=True)
def silent():
    """No noise, and a fine grid."""
    with noise_off(TOTAL_BITS=FINE_GRID):
        yield


def sample(kind):
    """Correlated features off the origin; exposures of one unless they matter."""
    rng = np.random.default_rng(7)
    count = N_PUBLIC + N
    X = rng.normal(1.0, 1.0, size=(count, D)) @ rng.normal(size=(D, D))
    coef = rng.normal(size=D)
    exposure = rng.uniform(0.5, 2.0, size=count) if kind == "exposure" else np.ones(count)
    predictor = X @ coef * 0.2 + 0.3
    responses = {
        "labels": lambda: (2.0 * predictor + rng.logistic(size=count) > 0).astype(int),
        "classes": lambda: np.argmax(
            X @ (0.4 * rng.normal(size=(D, 3))) + rng.gumbel(size=(count, 3)), axis=1
        ),
        "counts": lambda: rng.poisson(np.exp(predictor)),
        "exposure": lambda: rng.poisson(exposure * np.exp(predictor)),
        "sizes": lambda: np.exp(predictor) * rng.gamma(2.0, 0.5, size=count),
        "numbers": lambda: 7.0 * predictor + 3.0 * rng.normal(size=count),
    }
    return X, responses[kind](), exposure


def labelled(B, response):
    return PublicMoments.from_rows(B, response=response)


def rows(B, response):
    return PublicMoments.from_rows(B, response_scale=2.0)


def mean_cov(B, response):
    return PublicMoments.from_mean_cov(
        B.mean(axis=0), np.cov(B.T, bias=True), n=len(B), response_scale=2.0
    )


PUBLIC = [labelled, rows, mean_cov]


def relative_error(model, plain):
    ours = np.append(model.coef_, model.intercept_)
    theirs = np.append(plain.coef_, plain.intercept_)
    return np.abs(ours - theirs).max() / np.abs(theirs).max()


def plain_logistic(alpha, l1_ratio, fit_intercept):
    if alpha == 0.0:
        alpha = 1e-300
    chosen = {"C": 1.0 / (alpha * N), "fit_intercept": fit_intercept, "max_iter": 50_000}
    if l1_ratio == 0.0:
        return PlainLogistic(tol=1e-10, solver="newton-cholesky", **chosen)
    return PlainLogistic(l1_ratio=l1_ratio, solver="saga", tol=1e-11, **chosen)


def violation(X, y, coef, intercept, l1, ridge):
    """Largest violation of the conditions that only the minimum meets, by any coefficient."""
    slopes = 1.0 / (1.0 + np.exp(-X @ coef - intercept)) - y
    gradient = X.T @ slopes / len(X) + ridge * coef
    at_zero = np.maximum(np.abs(gradient) - l1, 0.0)
    return np.where(coef == 0.0, at_zero, np.abs(gradient + l1 * np.sign(coef))).max()


@pytest.mark.parametrize("make_public", PUBLIC, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("alpha", "l1_ratio", "fit_intercept"),
    [(0.0, 0.0, False), (0.1, 0.0, True), (0.1, 0.7, True), (0.05, 1.0, False)],
)
def test_logistic_regression(alpha, l1_ratio, fit_intercept, make_public):
    X, y, _ = sample("labels")
    public = make_public(X[:N_PUBLIC], y[:N_PUBLIC])
    X, y = X[N_PUBLIC:], y[N_PUBLIC:]
    chosen = {"privacy": BUDGET, "public": public, "fit_intercept": fit_intercept}
    plain = plain_logistic(alpha, l1_ratio, fit_intercept).fit(X, y)
    model = LogisticRegression(alpha, l1_ratio=l1_ratio, passes=10, **chosen).fit(X, y)
    assert relative_error(model, plain) < TOLERANCE
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-6)
    l1, ridge = alpha * l1_ratio, alpha * (1.0 - l1_ratio)
    assert violation(X, y, model.coef_[0], model.intercept_[0], l1, ridge) < 1e-6
    # What the absolute penalty sets to zero is zero, not nearly so.
    np.testing.assert_array_equal(model.coef_ == 0.0, plain.coef_ == 0.0)


@pytest.mark.parametrize("make_public", PUBLIC, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("alpha", "l1_ratio"), [(0.0, 0.0), (0.1, 0.7)])
def test_the_default_passes_are_nearly_enough(alpha, l1_ratio, make_public):
    X, y, _ = sample("labels")
    public = make_public(X[:N_PUBLIC], y[:N_PUBLIC])
    X, y = X[N_PUBLIC:], y[N_PUBLIC:]
    model = LogisticRegression(alpha, l1_ratio=l1_ratio, privacy=BUDGET, public=public).fit(X, y)
    assert relative_error(model, plain_logistic(alpha, l1_ratio, True).fit(X, y)) < 1e-5


@pytest.mark.parametrize(
    ("make_public", "fit_intercept", "l1_ratio"),
    [
        (labelled, False, 0.0),
        (mean_cov, True, 0.0),
        (labelled, True, 0.7),
        (rows, False, 1.0),
    ],
)
def test_several_classes(make_public, fit_intercept, l1_ratio):
    X, y, _ = sample("classes")
    public = make_public(X[:N_PUBLIC], y[:N_PUBLIC])
    X, y = X[N_PUBLIC:], y[N_PUBLIC:]
    plain = plain_logistic(0.05, l1_ratio, fit_intercept).fit(X, y)
    model = LogisticRegression(
        0.05,
        l1_ratio=l1_ratio,
        classes=(0, 1, 2),
        privacy=BUDGET,
        public=public,
        fit_intercept=fit_intercept,
        passes=12,
    ).fit(X, y)
    assert relative_error(model, plain) < 1e-5
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-5)
    np.testing.assert_array_equal(model.coef_ == 0.0, plain.coef_ == 0.0)


def poisson(alpha, fit_intercept, X, y, exposure):
    plain = PlainPoisson(
        # Their penalty is relative to the mean weight.
        alpha=alpha / np.mean(exposure),
        fit_intercept=fit_intercept,
        tol=1e-10,
        solver="newton-cholesky",
    )
    return plain.fit(X, y / exposure, sample_weight=exposure)


def gamma(alpha, fit_intercept, X, y, exposure):
    plain = GammaRegressor(
        alpha=alpha, fit_intercept=fit_intercept, tol=1e-10, solver="newton-cholesky"
    )
    return plain.fit(X, y)


def ridge(alpha, fit_intercept, X, y, exposure):
    return PlainRidge(alpha=alpha * len(X), fit_intercept=fit_intercept, solver="svd").fit(X, y)


KINDS = {
    "counts": (PoissonRegressor, poisson),
    "exposure": (PoissonRegressor, poisson),
    "sizes": (lambda *a, **k: GLM(Gamma(), *a, **k), gamma),
    "numbers": (lambda *a, **k: GLM(Gaussian(), *a, **k), ridge),
}


@pytest.mark.parametrize(
    ("make_public", "alpha", "fit_intercept"),
    [(labelled, 0.0, True), (rows, 0.1, False), (mean_cov, 0.1, True)],
)
@pytest.mark.parametrize("kind", KINDS)
def test_regressions(kind, make_public, alpha, fit_intercept):
    make, make_plain = KINDS[kind]
    X, y, exposure = sample(kind)
    public = make_public(X[:N_PUBLIC], y[:N_PUBLIC])
    X, y, exposure = X[N_PUBLIC:], y[N_PUBLIC:], exposure[N_PUBLIC:]
    plain = make_plain(alpha, fit_intercept, X, y, exposure)
    model = make(alpha, privacy=BUDGET, public=public, fit_intercept=fit_intercept, passes=16)
    model.fit(X, y, **({"exposure": exposure} if kind == "exposure" else {}))
    assert relative_error(model, plain) < TOLERANCE
    np.testing.assert_allclose(model.predict(X), plain.predict(X), rtol=1e-5, atol=1e-5)


def test_an_offset_is_the_logarithm_of_an_exposure():
    X, y, exposure = sample("exposure")
    public = rows(X[:N_PUBLIC], None)
    chosen = {"privacy": BUDGET, "public": public, "passes": 12}
    plain = poisson(0.1, True, X, y, exposure)
    offset = GLM(Poisson(), 0.1, typical_offset=0.4, **chosen).fit(X, y, offset=np.log(exposure))
    assert relative_error(offset, plain) < 1e-5
    lasted = PoissonRegressor(0.1, typical_exposure=3.0, **chosen).fit(X, y, exposure=exposure)
    assert relative_error(lasted, plain) < 1e-5


def test_typical_values_do_not_matter_where_rows_have_none():
    X, y, _ = sample("counts")
    chosen = {"privacy": BUDGET, "public": rows(X[:N_PUBLIC], None), "passes": 12}
    plain = poisson(0.1, True, X, y, np.ones(len(X)))
    for model in (
        PoissonRegressor(0.1, typical_exposure=3.0, **chosen),
        GLM(Poisson(), 0.1, typical_offset=-0.5, **chosen),
        GLM(Poisson(), 0.1, typical_offset=1.0, **chosen),
    ):
        assert relative_error(model.fit(X, y), plain) < 1e-5


@pytest.mark.parametrize("make_public", PUBLIC, ids=lambda f: f.__name__)
def test_offsets_of_numbers_are_in_their_units(make_public):
    X, y, _ = sample("numbers")
    public = make_public(X[:N_PUBLIC], y[:N_PUBLIC])
    X, y = X[N_PUBLIC:], y[N_PUBLIC:]
    offset = np.linspace(-20.0, 30.0, len(X))
    model = GLM(Gaussian(), 0.1, privacy=BUDGET, public=public, passes=16)
    model.set_params(typical_offset=5.0).fit(X, y + offset, offset=offset)
    assert relative_error(model, ridge(0.1, True, X, y, None)) < TOLERANCE


def test_bernoulli_responses_are_labels():
    X, y, _ = sample("labels")
    public = labelled(X[:N_PUBLIC], y[:N_PUBLIC])
    chosen = {"privacy": BUDGET, "public": public}
    labels = LogisticRegression(0.1, **chosen).fit(X, y)
    responses = GLM(Bernoulli(), 0.1, **chosen).fit(X, y)
    np.testing.assert_array_equal(responses.coef_, labels.coef_[0])
    assert responses.intercept_ == labels.intercept_[0]
