"""Regressions of counts, sizes and numbers: estimates that are sensible, exposures, scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import PoissonRegressor as PlainPoisson
from sklearn.metrics import d2_log_loss_score, d2_tweedie_score

from publicmoments import GDP, GLM, PoissonRegressor, PublicMoments
from publicmoments.families import Bernoulli, Gamma, Gaussian, Poisson

N, D = 3000, 3
COEF = np.array([0.3, -0.6, 0.15])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
B = RNG.normal(size=(100, D))
QUIET = pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")


def counts(rows, level=0.2, exposure=1.0, seed=1):
    return np.random.default_rng(seed).poisson(exposure * np.exp(rows @ COEF + level))


PUBLIC = {
    "counts": PublicMoments.from_rows(B, response=counts(B)),
    "rows": PublicMoments.from_rows(B, response_scale=2.0),
    "moments": PublicMoments.from_mean_cov(
        B.mean(axis=0), np.cov(B.T, bias=True), n=100, response_scale=2.0
    ),
    "nothing": None,
}


def chosen(**parameters):
    return {"privacy": GDP(1.0), "public": PUBLIC["rows"], "random_state": 0, **parameters}


def checked(model):
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_)
    return model


@QUIET
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", PUBLIC)
def test_counts(name, fit_intercept):
    level = 0.2 if fit_intercept else 0.0
    model = PoissonRegressor(**chosen(public=PUBLIC[name], fit_intercept=fit_intercept))
    model = checked(model.fit(X, counts(X, level)))
    assert model.coef_.shape == (D,)
    # About five times the sampling error of 0.02.
    np.testing.assert_allclose(model.coef_, COEF, atol=0.1)
    assert model.intercept_ == pytest.approx(level, abs=0.1)


def test_the_glm_of_counts_is_the_same_model():
    y = counts(X)
    one = PoissonRegressor(**chosen()).fit(X, y)
    other = GLM(Poisson(), **chosen()).fit(X, y)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("mu", [0.1, 10.0])
def test_no_counts_at_all(mu):
    model = checked(PoissonRegressor(**chosen(privacy=GDP(mu))).fit(X, np.zeros(N)))
    # The fit itself runs off to minus infinity; linear predictors are cut at 30.
    assert -30.0 < model.intercept_ < -1.0
    assert np.linalg.norm(model.coef_) < 5.0
    assert np.median(model.predict(X)) < 0.5


@pytest.mark.parametrize("mu", [0.3, 3.0])
@pytest.mark.parametrize("level", [4.0, 7.0])
def test_large_counts(level, mu):
    y, few = counts(X, level), counts(B, level, seed=2)
    public = PublicMoments.from_rows(B, response=few)
    model = checked(PoissonRegressor(**chosen(public=public, privacy=GDP(mu))).fit(X, y))
    np.testing.assert_allclose(model.coef_, COEF, atol=0.03)
    assert model.intercept_ == pytest.approx(level, abs=0.03)
    # Without public counts, means of exp(4) are found too, and larger ones do not diverge.
    alone = checked(PoissonRegressor(**chosen(privacy=GDP(mu))).fit(X, y))
    np.testing.assert_allclose(alone.coef_, COEF, atol=0.1 if level == 4.0 else 3.0)
    assert alone.intercept_ == pytest.approx(level, abs=0.1 if level == 4.0 else 4.0)


def test_one_enormous_count_has_little_to_say():
    y = counts(X)
    spoilt = y.copy()
    spoilt[0] = 10**12
    one, other = (PoissonRegressor(**chosen()).fit(X, counted) for counted in (y, spoilt))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=0.02)


@QUIET
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_one_feature(fit_intercept):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(N, 1))
    y = rng.poisson(np.exp(0.5 * x[:, 0]))
    for public in (PublicMoments.from_rows(rng.normal(size=(50, 1))), None):
        model = PoissonRegressor(**chosen(public=public, fit_intercept=fit_intercept))
        model = checked(model.fit(x, y))
        np.testing.assert_allclose(model.coef_, [0.5], atol=0.15)
        assert model.intercept_ == pytest.approx(0.0, abs=0.15)


@QUIET
@pytest.mark.parametrize("family", [Poisson(), Gamma(), Gaussian(), Bernoulli()], ids=repr)
@pytest.mark.parametrize("rows", [2, 20])
def test_few_rows(family, rows):
    y = np.arange(rows) % 2 + float(isinstance(family, Gamma))
    for public in (PUBLIC["rows"], PublicMoments.from_rows(B[:2], response_scale=1.0), None):
        model = checked(GLM(family, **chosen(public=public)).fit(X[:rows], y))
        assert np.linalg.norm(model.coef_) < 10.0


@pytest.mark.parametrize("family", [Gamma(), Gaussian()], ids=repr)
@pytest.mark.parametrize("labelled", [True, False])
def test_sizes_and_numbers(family, labelled):
    rng = np.random.default_rng(4)
    size, unit = (1.0, 1.0) if isinstance(family, Gamma) else (1e3, 1e3)

    def responses(rows):
        if isinstance(family, Gamma):
            return np.exp(rows @ COEF + 1.0) * rng.gamma(4.0, 0.25, size=len(rows))
        return size * (rows @ COEF + 1.0) + 0.3 * size * rng.normal(size=len(rows))

    y, few = responses(X), responses(B)
    scale = np.sqrt(np.mean(few**2))
    public = (
        PublicMoments.from_rows(B, response=few)
        if labelled
        else PublicMoments.from_rows(B, response_scale=scale)
    )
    model = checked(GLM(family, **chosen(public=public)).fit(X, y))
    np.testing.assert_allclose(model.coef_ / unit, COEF, atol=0.06)
    assert model.intercept_ / unit == pytest.approx(1.0, abs=0.06)
    assert model.card_.predicted_error[0] == pytest.approx(0.03 * unit, rel=1.0)


def test_units_of_numbers_do_not_matter():
    rng = np.random.default_rng(5)
    y, few = X @ COEF + rng.normal(size=N), B @ COEF + rng.normal(size=100)
    models = [
        GLM(Gaussian(), **chosen(public=PublicMoments.from_rows(B, response=unit * few))).fit(
            X, unit * y, offset=np.full(N, unit)
        )
        for unit in (1.0, 1024.0)
    ]
    np.testing.assert_allclose(models[1].coef_, 1024.0 * models[0].coef_, rtol=1e-9)
    assert models[1].intercept_ == pytest.approx(1024.0 * models[0].intercept_, rel=1e-9)
    one, other = (model.card_.predicted_error[0] for model in models)
    assert other == pytest.approx(1024.0 * one, rel=1e-9)


def test_an_unknown_size_of_numbers_is_said_aloud(recwarn):
    public = PublicMoments.from_rows(B)
    with pytest.warns(UserWarning, match="the public moments say nothing of the response"):
        GLM(Gaussian(), **chosen(public=public)).fit(X, X @ COEF)
    recwarn.clear()
    GLM(Poisson(), **chosen(public=public)).fit(X, counts(X))
    assert not recwarn


# Exposures and offsets


@QUIET
@pytest.mark.parametrize(
    ("public", "typical"),
    # Public counts say what a typical exposure would; without, a guess may be wrong by two.
    [("counts", 1.0), ("counts", 5.0), ("rows", 2.5), ("rows", 5.0), ("rows", 10.0)],
)
def test_exposures(public, typical):
    exposure = np.random.default_rng(6).uniform(2.0, 8.0, size=N)
    model = PoissonRegressor(**chosen(public=PUBLIC[public], typical_exposure=typical))
    model = checked(model.fit(X, counts(X, exposure=exposure), exposure=exposure))
    np.testing.assert_allclose(model.coef_, COEF, atol=0.1)
    assert model.intercept_ == pytest.approx(0.2, abs=0.15)
    np.testing.assert_allclose(
        model.predict(X, exposure=exposure), model.predict(X) * exposure, rtol=1e-12
    )


@QUIET
def test_a_typical_exposure_that_is_far_off_costs_accuracy_only():
    exposure = np.random.default_rng(6).uniform(2.0, 8.0, size=N)
    model = PoissonRegressor(**chosen(typical_exposure=0.1))
    model = checked(model.fit(X, counts(X, exposure=exposure), exposure=exposure))
    assert np.abs(model.coef_).max() < 10.0


def test_exposures_may_be_series():
    exposure = np.random.default_rng(6).uniform(0.5, 2.0, size=N)
    y = counts(X, exposure=exposure)
    fits = [
        PoissonRegressor(**chosen()).fit(X, y, exposure=made).coef_
        for made in (exposure, pd.Series(exposure, name="years"), pl.Series(exposure))
    ]
    np.testing.assert_array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[0], fits[2])


@pytest.mark.parametrize("family", [Poisson(), Gamma(), Gaussian(), Bernoulli()], ids=repr)
def test_offsets(family):
    rng = np.random.default_rng(7)
    offset = rng.normal(size=N)
    mean = family.mean(X @ COEF + 0.2 + offset)
    y = {
        Poisson: lambda: rng.poisson(mean),
        Gamma: lambda: mean * rng.gamma(4.0, 0.25, size=N),
        Gaussian: lambda: mean + rng.normal(size=N),
        Bernoulli: lambda: (rng.random(N) < mean).astype(int),
    }[type(family)]()
    model = checked(GLM(family, **chosen(privacy=GDP(3.0))).fit(X, y, offset=offset))
    np.testing.assert_allclose(model.coef_, COEF, atol=0.2)
    assert model.intercept_ == pytest.approx(0.2, abs=0.2)
    predictor = X @ model.coef_ + model.intercept_ + offset
    np.testing.assert_allclose(model.predict(X, offset=offset), family.mean(predictor))


# Scores, names


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(8)
    y = counts(X)
    weights = rng.uniform(size=N)
    poisson = PoissonRegressor(**chosen()).fit(X, y)
    expected = d2_tweedie_score(y, poisson.predict(X), sample_weight=weights, power=1)
    assert poisson.score(X, y, weights) == pytest.approx(expected)
    plain = PlainPoisson(alpha=0.0).fit(X, y)
    assert poisson.score(X, y) == pytest.approx(plain.score(X, y), abs=0.01)
    for family, power, response in [
        (Gaussian(), 0, y),
        (Poisson(), 1, y),
        (Gamma(), 2, y + 0.5),
    ]:
        model = GLM(family, **chosen()).fit(X, response)
        expected = d2_tweedie_score(response, model.predict(X), power=power)
        assert model.score(X, response) == pytest.approx(expected)
    labels = (y > 0).astype(int)
    model = GLM(Bernoulli(), **chosen()).fit(X, labels)
    both = np.column_stack([1.0 - model.predict(X), model.predict(X)])
    assert model.score(X, labels) == pytest.approx(d2_log_loss_score(labels, both))


def test_absolute_penalties_leave_zeros():
    y = counts(X)
    some = PoissonRegressor(0.3, l1_ratio=1.0, **chosen(privacy=GDP(5.0))).fit(X, y)
    assert (some.coef_ == 0.0).tolist() == [False, False, True]
    none = PoissonRegressor(100.0, l1_ratio=0.5, **chosen()).fit(X, y)
    np.testing.assert_array_equal(none.coef_, 0.0)
    assert none.intercept_ == pytest.approx(np.log(y.mean()), abs=0.1)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_data_frames_keep_their_names(make):
    names = ["age", "height", "weight"]
    public = PublicMoments.from_rows(B, columns=names)
    frame = make(dict(zip(names, X.T, strict=True)))
    y = counts(X)
    model = PoissonRegressor(**chosen(public=public)).fit(frame, y)
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame))
    np.testing.assert_array_equal(
        model.coef_, PoissonRegressor(**chosen(public=public)).fit(X, y).coef_
    )
