"""Logistic regression on tables of every kind: estimates that are sensible, labels, names."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression as PlainLogistic

from publicmoments import GDP, LogisticRegression, PublicMoments, PublicMomentsWarning

N, D = 3000, 3
COEF = np.array([1.0, -2.0, 0.5])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
Y = (X @ COEF + 0.3 + RNG.logistic(size=N) > 0).astype(int)
B = RNG.normal(size=(100, D))
Y_PUBLIC = (B @ COEF + 0.3 + RNG.logistic(size=100) > 0).astype(int)
PUBLIC = {
    "labels": PublicMoments.from_rows(B, response=Y_PUBLIC),
    "rows": PublicMoments.from_rows(B),
    "moments": PublicMoments.from_mean_cov(B.mean(axis=0), np.cov(B.T, bias=True), n=100),
    "matrix": PublicMoments.from_matrix(B.T @ B / 100, n=100),
    "nothing": None,
}
QUIET = pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")


def fitted(table=X, labels=Y, mu=1.0, **parameters):
    chosen = {"privacy": GDP(mu), "public": PUBLIC["rows"], "random_state": 0, **parameters}
    model = LogisticRegression(**chosen).fit(table, labels)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    return model


@QUIET
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", PUBLIC)
def test_coefficients_are_close_to_the_truth(name, fit_intercept):
    shift = 0.3 if fit_intercept else 0.0
    labels = (X @ COEF + shift + np.random.default_rng(1).logistic(size=N) > 0).astype(int)
    model = fitted(labels=labels, public=PUBLIC[name], fit_intercept=fit_intercept)
    assert model.coef_.shape == (1, D)
    # About five times the sampling error of 0.06.
    np.testing.assert_allclose(model.coef_[0], COEF, atol=0.3)
    np.testing.assert_allclose(model.intercept_, [shift], atol=0.3)


def test_no_public_moments_are_said_aloud():
    with pytest.warns(UserWarning, match="no public moments"):
        fitted(public=None)


def test_an_unknown_mean_is_said_aloud():
    with pytest.warns(UserWarning, match="the public mean is unknown"):
        fitted(public=PUBLIC["matrix"])


def test_public_labels_that_differ_are_said_aloud():
    unrelated = PublicMoments.from_rows(B, response=np.random.default_rng(9).integers(2, size=100))
    with pytest.warns(PublicMomentsWarning, match="do not fit the private rows") as said:
        model = fitted(public=unrelated, mu=3.0)
    (warning,) = said
    words = str(warning.message)
    far = re.search(r"the public fit of the response is (\S+) times as far off as its sampl", words)
    # Each coefficient of a fit of 100 labels has a sampling error of about 0.3.
    assert 4.0 < float(far[1]) < 40.0
    assert "column" not in words
    assert model.card_.response_fit_z > 5.0
    # Private rows have the last word all the same.
    np.testing.assert_allclose(model.coef_[0], COEF, atol=0.3)


def test_public_rows_that_differ_are_said_aloud():
    longer = PublicMoments.from_rows(5.0 * B)
    with pytest.warns(PublicMomentsWarning, match="do not fit the private rows") as said:
        model = fitted(public=longer, mu=30.0)
    (warning,) = said
    found = re.findall(r"column (\d) varies (\S+) times as much as in public", str(warning.message))
    assert sorted(found) == [("0", "0.2"), ("1", "0.2"), ("2", "0.2")]
    assert "fit of the response" not in str(warning.message)
    assert model.card_.public_fit_z > 5.0
    assert model.score(X, Y) > 0.75


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("factor", "shift", "side"), [(1.0, 2.0, "lower"), (1.0, -2.0, "higher"), (0.3, 0.0, None)]
)
def test_the_column_that_differs_is_named_and_no_other(named, factor, shift, side):
    rows, table = B.copy(), X
    rows[:, 1] = factor * rows[:, 1] + shift
    if named:
        rows, table = (pd.DataFrame(one, columns=["age", "height", "weight"]) for one in (rows, X))
    with pytest.warns(PublicMomentsWarning, match="do not fit the private rows") as said:
        fitted(table, public=PublicMoments.from_rows(rows), mu=30.0)
    mean, spread = factor * B[:, 1].mean() + shift, factor * B[:, 1].std()
    away, times = (X[:, 1].mean() - mean) / spread, X[:, 1].std() / spread
    how = f"is {side} by about {abs(away):.1f} of its public standard deviations"
    if side is None:
        how = f"varies {times:.1f} times as much as in public"
    words = str(said[0].message)
    assert f"private rows: column {'height' if named else 1} {how}. Privacy does not" in words


def test_the_user_can_say_that_they_differ(recwarn):
    unrelated = PublicMoments.from_rows(B, response=np.random.default_rng(9).integers(2, size=100))
    model = fitted(public=unrelated, mu=3.0, anchor=False)
    assert not recwarn
    np.testing.assert_allclose(model.coef_[0], COEF, atol=0.3)


def test_a_public_population_that_fits_is_not_complained_of(recwarn):
    model = fitted(public=PUBLIC["labels"], mu=10.0)
    assert not recwarn
    assert abs(model.card_.response_fit_z) < 5.0
    assert abs(model.card_.public_fit_z) < 5.0


@QUIET
@pytest.mark.parametrize("mu", [0.1, 10.0])
@pytest.mark.parametrize("name", ["labels", "rows"])
def test_separable_classes(name, mu):
    labels = (X @ COEF > 0).astype(int)
    public = PUBLIC["rows"]
    if name == "labels":
        public = PublicMoments.from_rows(B, response=(B @ COEF > 0).astype(int))
    model = fitted(labels=labels, public=public, mu=mu)
    assert np.linalg.norm(model.coef_) < 100.0
    assert model.score(X, labels) > (0.85 if mu == 0.1 else 0.97)


@pytest.mark.parametrize("mu", [0.1, 10.0])
@pytest.mark.parametrize("share", [0.0, 0.001])
def test_rare_positives_and_none_at_all(share, mu):
    labels = (np.random.default_rng(2).random(N) < share).astype(int)
    model = fitted(labels=labels, mu=mu)
    assert -20.0 < model.intercept_[0] < -1.5
    assert np.linalg.norm(model.coef_) < 10.0
    assert model.predict_proba(X)[:, 1].mean() < 0.1


@QUIET
def test_public_labels_of_one_class_only():
    model = fitted(public=PublicMoments.from_rows(B, response=np.ones(100)), mu=3.0)
    np.testing.assert_allclose(model.coef_[0], COEF, atol=0.6)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", ["labels", "rows", "moments", "nothing"])
@QUIET
def test_one_feature(name, fit_intercept):
    rng = np.random.default_rng(3)
    x, few = rng.normal(size=(N, 1)), rng.normal(size=(50, 1))
    labels = (x[:, 0] + rng.logistic(size=N) > 0).astype(int)
    public = {
        "labels": PublicMoments.from_rows(few, response=(few[:, 0] > 0).astype(int)),
        "rows": PublicMoments.from_rows(few),
        "moments": PublicMoments.from_mean_cov([0.0], [[1.0]], n=50),
        "nothing": None,
    }[name]
    model = fitted(x, labels, public=public, fit_intercept=fit_intercept)
    np.testing.assert_allclose(model.coef_, [[1.0]], atol=0.25)
    np.testing.assert_allclose(model.intercept_, [0.0], atol=0.25)


@QUIET
def test_nothing_but_an_intercept_matters():
    labels = (np.random.default_rng(4).random(N) < 0.8).astype(int)
    model = fitted(labels=labels)
    np.testing.assert_allclose(model.intercept_, [np.log(4.0)], atol=0.3)
    np.testing.assert_allclose(model.coef_, 0.0, atol=0.3)


@QUIET
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_constant_column(fit_intercept):
    table, rows = X.copy(), B.copy()
    table[:, 1] = rows[:, 1] = 4.0
    labels = (table @ [1.0, 0.1, 0.5] + np.random.default_rng(5).logistic(size=N) > 0).astype(int)
    model = fitted(table, labels, public=PublicMoments.from_rows(rows), fit_intercept=fit_intercept)
    np.testing.assert_allclose(model.coef_[0, [0, 2]], [1.0, 0.5], atol=0.3)
    odds = model.decision_function(np.array([[0.0, 4.0, 0.0]]))
    np.testing.assert_allclose(odds, [0.4], atol=0.3)


@QUIET
@pytest.mark.parametrize("name", ["labels", "rows", "moments"])
def test_sixty_features(name):
    rng = np.random.default_rng(6)
    coef = rng.normal(size=60) / 8.0
    table, rows = rng.normal(size=(N, 60)), rng.normal(size=(80, 60))
    labels = (table @ coef + rng.logistic(size=N) > 0).astype(int)
    public = {
        "labels": PublicMoments.from_rows(rows, response=(rows @ coef > 0).astype(int)),
        "rows": PublicMoments.from_rows(rows),
        "moments": PublicMoments.from_mean_cov(np.zeros(60), np.eye(60), n=80),
    }[name]
    model = fitted(table, labels, public=public, mu=2.0)
    plain = PlainLogistic(C=np.inf).fit(table, labels).coef_[0]
    assert np.linalg.norm(model.coef_[0] - coef) < 0.8 * np.linalg.norm(coef)
    assert np.linalg.norm(model.coef_[0] - plain) < 0.5 * np.linalg.norm(plain)


@QUIET
@pytest.mark.parametrize("name", ["labels", "rows", "nothing"])
@pytest.mark.parametrize("rows", [2, 20])
@pytest.mark.parametrize("mu", [0.1, 10.0])
def test_few_rows(name, rows, mu):
    model = fitted(X[:rows], Y[:rows], public=PUBLIC[name], mu=mu)
    assert np.linalg.norm(model.coef_) < 10.0


@QUIET
@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("n_public", [1, 3])
def test_few_public_rows(n_public, labelled):
    response = Y_PUBLIC[:n_public] if labelled and Y_PUBLIC[:n_public].any() else None
    model = fitted(public=PublicMoments.from_rows(B[:n_public], response=response), mu=3.0)
    # Those of 0.82 that can be reached; 0.55 have the likelier class.
    assert model.score(X, Y) > 0.65


# Several classes


@QUIET
@pytest.mark.parametrize("name", ["labels", "rows", "nothing"])
@pytest.mark.parametrize("labels", [("ash", "beech", "cedar"), (7, 1, 3, 2, 9)])
def test_several_classes(name, labels):
    rng = np.random.default_rng(7)
    count = len(labels)
    coef = rng.normal(size=(count, D))
    coef -= coef.mean(axis=0)
    codes = np.argmax(X @ coef.T + rng.gumbel(size=(N, count)), axis=1)
    few = np.argmax(B @ coef.T + rng.gumbel(size=(100, count)), axis=1)
    public = PUBLIC[name]
    if name == "labels":
        # Words are told by their position, numbers by themselves.
        words = isinstance(labels[0], str)
        public = PublicMoments.from_rows(B, response=few if words else np.array(labels)[few])
    y = np.array(labels)[codes]
    model = fitted(labels=y, classes=labels, public=public, mu=2.0)
    assert model.classes_.tolist() == list(labels)
    np.testing.assert_allclose(model.coef_, coef, atol=0.5)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-9)
    assert model.intercept_.shape == (count,)
    chances = model.predict_proba(X[:7])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X[:7])), chances)
    np.testing.assert_array_equal(
        model.predict(X[:7]), np.array(labels)[np.argmax(model.decision_function(X[:7]), axis=1)]
    )
    plain = PlainLogistic(C=np.inf).fit(X, y)
    assert model.score(X, y) > plain.score(X, y) - 0.02


def test_absolute_penalties_leave_zeros():
    model = fitted(alpha=0.1, l1_ratio=1.0)
    assert model.coef_[0, 2] == 0.0
    assert (model.coef_[0, :2] != 0.0).all()
    everything = fitted(alpha=10.0, l1_ratio=1.0)
    np.testing.assert_array_equal(everything.coef_, 0.0)
    classes = fitted(labels=Y + (X[:, 1] > 1), classes=(0, 1, 2), alpha=10.0, l1_ratio=0.5)
    np.testing.assert_array_equal(classes.coef_, 0.0)


# Labels, names, predictions


def test_two_classes_in_the_other_order_change_signs():
    one = fitted(public=PUBLIC["labels"])
    other = fitted(public=PUBLIC["labels"], classes=(1, 0))
    np.testing.assert_allclose(other.coef_, -one.coef_, atol=0.3)
    assert other.score(X, Y) == pytest.approx(one.score(X, Y), abs=0.02)


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (-1, 1), (2.5, 7.5)])
def test_stated_labels(labels):
    y = np.array(labels)[Y]
    model = fitted(labels=y, classes=labels)
    np.testing.assert_array_equal(model.coef_, fitted().coef_)
    assert model.classes_.tolist() == list(labels)
    assert set(model.predict(X).tolist()) == set(labels)
    chances = model.predict_proba(X[:5])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    odds = model.decision_function(X[:5])
    np.testing.assert_allclose(chances[:, 1], 1.0 / (1.0 + np.exp(-odds)))


@pytest.mark.parametrize(
    "make", [pd.DataFrame, lambda d: pl.DataFrame(d)], ids=["pandas", "polars"]
)
def test_data_frames_keep_their_names(make):
    names = ["age", "height", "weight"]
    frame = make(dict(zip(names, X.T, strict=True)))
    public = PublicMoments.from_rows(make(dict(zip(names, B.T, strict=True))))
    model = fitted(frame, pd.Series(Y, name="sick"), public=public)
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(model.coef_, fitted().coef_)
    if make is pd.DataFrame:
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[names[::-1]])
    assert not hasattr(model.fit(X, Y), "feature_names_in_")
