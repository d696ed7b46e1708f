"""Bad input: a clear error before any charge or draw, and nothing of the rows' values in it."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from publicmoments import (
    GDP,
    GLM,
    ZCDP,
    ApproxDP,
    PublicMoments,
)
from publicmoments.families import Multinomial, Poisson
from tests.unit.models.secrets import (
    COUNTS,
    MODELS,
    PUBLIC,
    RESPONSES,
    B,
    X,
    made,
)

NAMED = PublicMoments.from_rows(B, columns=["age", "height", "weight"])

PARAMETERS = [
    ({"alpha": -1.0}, "alpha must be in [0, inf)"),
    ({"alpha": math.nan}, "alpha must be in [0, inf)"),
    ({"alpha": math.inf}, "alpha must be in [0, inf)"),
    ({"alpha": "1"}, "alpha must be a number"),
    ({"l1_ratio": -0.1}, "l1_ratio must be in [0, 1]"),
    ({"l1_ratio": 1.1}, "l1_ratio must be in [0, 1]"),
    ({"l1_ratio": math.nan}, "l1_ratio must be in [0, 1]"),
    ({"passes": 0}, "passes must be an integer >= 1"),
    ({"passes": -1}, "passes must be an integer >= 1"),
    ({"passes": 2.0}, "passes must be an integer >= 1"),
    ({"passes": True}, "passes must be an integer >= 1"),
    ({"passes": "all"}, "passes must be an integer >= 1"),
    ({"anchor": None}, "anchor must be True or False"),
    ({"fit_intercept": "no"}, "fit_intercept must be True or False"),
    ({"privacy": None}, "privacy must be GDP(mu), ApproxDP(epsilon, delta) or ZCDP(rho)"),
    ({"privacy": 1.0}, "privacy must be GDP(mu), ApproxDP(epsilon, delta) or ZCDP(rho)"),
    ({"privacy": GDP(1e-12)}, "privacy must be a budget that noise on the integer grid"),
    ({"privacy": GDP(1e12)}, "privacy must be a budget that noise on the integer grid"),
    ({"privacy": ZCDP(1e24)}, "privacy must be a budget that noise on the integer grid"),
    ({"privacy": ApproxDP(1e-14, 1e-15)}, "privacy must be a budget"),
    ({"privacy": ApproxDP(900.0, 1e-6)}, "epsilon=900.0 is too large"),
    ({"on_invalid": "drop"}, 'on_invalid must be "raise" or "ignore"'),
    ({"random_state": -1}, "random_state must be a non-negative integer"),
    ({"random_state": 1.5}, "random_state must be None"),
    ({"public": B}, "public must be PublicMoments or None, got ndarray"),
    ({"public": "moments.json"}, "public must be PublicMoments or None, got str"),
    ({"public": PublicMoments.identity(4)}, "X has 3 features, but the public moments have 4"),
]


@pytest.mark.parametrize(("parameters", "words"), PARAMETERS)
@pytest.mark.parametrize("name", ["LogisticRegression", "PoissonRegressor", "Gaussian"])
def test_parameters(refusal, name, parameters, words):
    assert words in refusal(made(name, **parameters), X, RESPONSES[name])


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("LogisticRegression", {"classes": (0,)}, "at least two different labels"),
        ("LogisticRegression", {"classes": (1, 1)}, "at least two different labels"),
        ("LogisticRegression", {"classes": (1, True)}, "at least two different labels"),
        ("LogisticRegression", {"classes": "01"}, "classes must be a sequence of labels"),
        ("LogisticRegression", {"classes": {0, 1}}, "classes must be a sequence of labels"),
        ("LogisticRegression", {"classes": None}, "classes must be a sequence of labels"),
        ("LogisticRegression", {"classes": (0, None)}, "classes must not hold None or NaN"),
        ("LogisticRegression", {"classes": (0, math.nan)}, "classes must not hold None or NaN"),
        ("PoissonRegressor", {"typical_exposure": 0.0}, "typical_exposure must be in (0, inf)"),
        ("PoissonRegressor", {"typical_exposure": -1.0}, "typical_exposure must be in (0, inf)"),
        ("PoissonRegressor", {"typical_exposure": math.nan}, "typical_exposure must be in (0,"),
        ("Poisson", {"typical_offset": math.inf}, "typical_offset must be finite"),
        ("Poisson", {"typical_offset": math.nan}, "typical_offset must be finite"),
        ("Poisson", {"typical_offset": "1"}, "typical_offset must be a number, got str"),
        ("Poisson", {"typical_offset": True}, "typical_offset must be a number, got bool"),
    ],
)
def test_parameters_of_one_model(refusal, name, parameters, words):
    assert words in refusal(made(name, **parameters), X, RESPONSES[name])


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("PoissonRegressor", {"typical_exposure": 2.0}), ("Gaussian", {"typical_offset": 1.0})],
)
def test_what_goes_into_the_intercept_needs_one(refusal, name, parameters):
    words = refusal(made(name, fit_intercept=False, **parameters), X, RESPONSES[name])
    assert words.startswith(f"{next(iter(parameters))} needs fit_intercept=True")


@pytest.mark.parametrize(
    ("family", "words"),
    [
        (Multinomial(3), "family must have one predictor; use LogisticRegression for classes"),
        (Poisson, "family must be one of publicmoments.families"),
        ("poisson", "family must be one of publicmoments.families"),
        (None, "family must be one of publicmoments.families"),
    ],
)
def test_families(refusal, family, words):
    assert words in refusal(GLM(family, privacy=GDP(1.0), public=PUBLIC), X, COUNTS)


# Tables


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
    (lambda y: (with_cell(X, -np.inf), y), "X (column 2)"),
    (lambda y: (X, with_cell(y, np.nan)), "y (column 0)"),
    (lambda y: (X[:, :2], y), "X has 2 features, but the public moments have 3"),
]


@pytest.mark.parametrize(("change", "words"), TABLES)
@pytest.mark.parametrize("name", MODELS)
def test_tables(refusal, name, change, words):
    assert words in refusal(made(name), *change(RESPONSES[name]))


@pytest.mark.parametrize("name", MODELS)
def test_two_responses(refusal, name):
    y = RESPONSES[name]
    words = refusal(made(name), X, np.column_stack([y, y]))
    labels = name == "LogisticRegression"
    assert ("vector of labels" if labels else "one response per row, got 2") in words


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["age", "size", "weight"], "missing: height; unexpected: size"),
        (["height", "age", "weight"], "another order"),
    ],
)
@pytest.mark.parametrize("name", ["LogisticRegression", "PoissonRegressor", "Gamma"])
def test_columns_that_public_moments_do_not_have(refusal, name, columns, words):
    frame = pd.DataFrame(X, columns=columns)
    assert words in refusal(made(name, public=NAMED), frame, RESPONSES[name])


# Before and after


@pytest.mark.parametrize("name", MODELS)
def test_a_failed_fit_leaves_an_earlier_one_alone(name):
    y = RESPONSES[name]
    model = made(name, random_state=0).fit(X, y)
    before = pickle.dumps(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(with_cell(X[:40], np.nan), y[:40])
    assert pickle.dumps(vars(model)) == before


@pytest.mark.parametrize("name", MODELS)
def test_prediction_needs_a_fit_and_sound_rows(name):
    with pytest.raises(NotFittedError):
        made(name).predict(X)
    model = made(name, random_state=0).fit(X, RESPONSES[name])
    for table, words in [(with_cell(X, np.nan), "NaN"), (X[:, :2], "X has 2 features")]:
        with pytest.raises(ValueError, match=words) as info:
            model.predict(table)
        assert "12345" not in str(info.value)


@pytest.mark.parametrize("name", MODELS)
def test_a_column_of_responses_is_read_with_a_warning(name):
    y = RESPONSES[name]
    column, vector = made(name, random_state=0), made(name, random_state=0)
    with pytest.warns(UserWarning, match="column-vector y"):
        column.fit(X, y[:, None])
    np.testing.assert_array_equal(column.coef_, vector.fit(X, y).coef_)
