"""Bad input: a clear error before any charge or draw, and nothing of the rows' values in it."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from publicmoments import GDP, PublicMoments
from publicmoments.families import Gaussian, Poisson
from publicmoments.paper import (
    PMTGLM,
    AdaSSP,
    NoisyGradientDescent,
    OracleLogisticRegression,
    OracleRidge,
    PMTElasticNet,
    PMTLogisticRegression,
    PMTRidge,
)
from tests.helpers import refusal_of

SECRET = 123456.789
"""Stands in the private rows and must not be seen anywhere."""

N, D = 60, 3
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, D))
X[17, 1] = SECRET
LABELS = np.arange(N) % 2
Y = X @ [1.0, 2.0, 3.0]
Y[23] = -SECRET
B = RNG.normal(size=(40, D))
PUBLIC = PublicMoments.from_rows(B, response=B @ [1.0, 2.0, 3.1])

MODELS = {
    "PMTRidge": lambda **k: PMTRidge(**{"public": PUBLIC, **k}),
    "OracleRidge": OracleRidge,
    "AdaSSP": AdaSSP,
    "PMTLogisticRegression": lambda **k: PMTLogisticRegression(**{"public": PUBLIC, **k}),
    "OracleLogisticRegression": OracleLogisticRegression,
    "PMTGLM": lambda **k: PMTGLM(**{"family": Gaussian(), "public": PUBLIC, **k}),
    "NoisyGradientDescent": lambda **k: NoisyGradientDescent(**{"iterations": 3, **k}),
    "PMTElasticNet": lambda **k: PMTElasticNet(**{"public": PUBLIC, **k}),
}
CLASSIFIERS = ["PMTLogisticRegression", "OracleLogisticRegression"]
ORACLES = ["OracleRidge", "OracleLogisticRegression"]


def made(name, **parameters):
    return MODELS[name](**{"privacy": GDP(1.0), **parameters})


def response_of(name):
    return LABELS if name in CLASSIFIERS else Y


def refusal(model, table, response):
    """The words in which a fit is refused."""
    return refusal_of(lambda: model.fit(table, response), model)


def cases(names, *pairs):
    return [(name, parameters, words) for name in names for parameters, words in pairs]


PARAMETERS = [
    *cases(
        ["PMTRidge", "PMTElasticNet"],
        (
            {"public": PublicMoments.from_rows(B, response=B[:, :2])},
            "y has 1 columns, but the public moments have 2 responses",
        ),
    ),
    *cases(
        CLASSIFIERS,
        ({"classes": (0,)}, "classes must be 2 labels, got 1"),
        ({"classes": (0, 1, 2)}, "classes must be 2 labels, got 3"),
        ({"classes": 2}, "classes must be a sequence of labels such as (0, 1), got int"),
    ),
    *cases(
        ["PMTGLM"],
        ({"coef_bound": 1e200}, "l2_bound must have a square within floats"),
        ({"family": Poisson(), "coef_bound": 100.0}, "lower the bound on the coefficients"),
    ),
    *cases(
        ORACLES,
        ({"alpha": -1.0}, "alpha must be in [0, inf)"),
        ({"eta": 1.0}, "eta must be in (0, 1)"),
        ({"privacy": None}, "privacy must be GDP(mu), ApproxDP(epsilon, delta) or ZCDP(rho)"),
        ({"on_invalid": "drop"}, 'on_invalid must be "raise" or "ignore"'),
        ({"random_state": -1}, "random_state must be a non-negative integer"),
    ),
    *cases(
        ["OracleRidge"],
        ({"coef_norm": 0.0}, "coef_norm must be in (0, inf)"),
        ({"coef_norm": math.nan}, "coef_norm must be in (0, inf)"),
    ),
]


@pytest.mark.parametrize(("name", "parameters", "words"), PARAMETERS)
def test_parameters(name, parameters, words):
    assert words in refusal(made(name, **parameters), X, response_of(name))


def with_cell(table, value, row=5, column=2):
    changed = table.astype(float)
    changed[(row, column) if changed.ndim == 2 else row] = value
    return changed


TABLES = [
    (lambda y: (X[:, 0], y), "Expected 2D"),
    (lambda y: (X[:1], y[:1]), "minimum of 2"),
    (lambda y: (X, y[:-1]), "X has 60 rows and y has 59"),
    (lambda y: (X, None), "requires y"),
    (lambda y: (X[:, :0], y), "0 feature"),
    (lambda y: (X.astype(str), y), "X must hold numbers"),
    (lambda y: (with_cell(X, np.nan), y), "X (column 2)"),
    (lambda y: (with_cell(X, np.inf), y), "X (column 2)"),
    (lambda y: (X, with_cell(y, np.nan)), "y (column 0)"),
]


@pytest.mark.parametrize(("change", "words"), TABLES)
@pytest.mark.parametrize("name", ORACLES)
def test_tables(name, change, words):
    assert words in refusal(made(name), *change(response_of(name)))


@pytest.mark.parametrize("name", MODELS)
def test_two_responses(name):
    y = response_of(name)
    words = refusal(made(name), X, np.column_stack([y, y]))
    assert ("vector of labels" if name in CLASSIFIERS else "one response per row, got 2") in words


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize(
    "labels",
    [
        np.where(LABELS == 1, 31337, 0),
        np.where(LABELS == 1, SECRET, 0.0),
        pd.Series(np.where(LABELS == 1, "123456", "0")).astype("category"),
    ],
    ids=["numbers", "fractions", "categories"],
)
def test_labels_that_were_not_stated(name, labels):
    words = refusal(made(name), X, labels)
    assert words.startswith("y holds labels that are not among classes=(0, 1)")


def test_labels_that_were_not_stated_can_be_counted_as_zeros():
    labels = np.where(LABELS == 1, 31337, 0)
    name = "PMTLogisticRegression"
    ignored = made(name, on_invalid="ignore", random_state=0).fit(X, labels)
    rows = np.where(LABELS[:, None] == 1, 0.0, X)
    zeroed = made(name, random_state=0).fit(rows, np.zeros(N, dtype=int))
    np.testing.assert_array_equal(ignored.coef_, zeroed.coef_)


@pytest.mark.parametrize("name", ["OracleRidge", "OracleLogisticRegression"])
@pytest.mark.parametrize("size", [0.0, 1e200])
def test_an_oracle_without_a_radius_quotes_no_number(name, size):
    words = refusal(made(name), size * np.ones((N, D)), response_of(name))
    assert words.startswith("X must have a mean square in (0, inf)")
    assert "0.0" not in words
    assert "got" not in words


def test_an_oracle_without_responses_quotes_no_number():
    words = refusal(made("OracleRidge"), X, np.zeros(N))
    assert words.startswith("y must have a mean square in (0, inf)")


@pytest.mark.parametrize("missing", [np.nan, None])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_rows_with_missing_labels_can_be_counted_as_zeros(name, missing):
    labels = LABELS.astype(object)
    labels[[4, 5]] = missing
    zeros = X.copy()
    zeros[[4, 5]] = 0.0
    chosen = {"alpha": 1.0, "privacy": GDP(5.0), "random_state": 0}
    ignored = made(name, on_invalid="ignore", **chosen).fit(X, labels)
    zeroed = made(name, **chosen).fit(zeros, LABELS)
    np.testing.assert_array_equal(ignored.coef_, zeroed.coef_)
    assert "y (column 0)" in refusal(made(name), X, labels)


@pytest.mark.parametrize("name", ORACLES)
def test_a_failed_fit_leaves_an_earlier_one_alone(name):
    y = response_of(name)
    model = made(name, random_state=0).fit(X, y)
    before = pickle.dumps(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(with_cell(X[:40], np.nan), y[:40])
    assert pickle.dumps(vars(model)) == before


@pytest.mark.parametrize("name", MODELS)
def test_prediction_needs_a_fit_and_sound_rows(name):
    with pytest.raises(NotFittedError):
        made(name).predict(X)
    model = made(name, random_state=0).fit(X, response_of(name))
    for table, words in [(with_cell(X, np.nan), "NaN"), (X[:, :2], "X has 2 features")]:
        with pytest.raises(ValueError, match=words) as info:
            model.predict(table)
        assert "123456" not in str(info.value)


@pytest.mark.parametrize("name", ["PMTRidge", "PMTElasticNet"])
def test_an_unknown_response_scale_is_said_aloud(name):
    public = PublicMoments.from_rows(B)
    with pytest.warns(UserWarning, match="the public moments say nothing of the response"):
        made(name, public=public, alpha=1.0).fit(X, Y)


@pytest.mark.parametrize("name", MODELS)
def test_a_column_of_responses_is_read_with_a_warning(name):
    y = response_of(name)
    column, vector = made(name, random_state=0), made(name, random_state=0)
    with pytest.warns(UserWarning, match="column-vector y"):
        column.fit(X, y[:, None])
    np.testing.assert_array_equal(column.coef_, vector.fit(X, y).coef_)
