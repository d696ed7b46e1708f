"""Bad input: a clear error before any charge or draw, and nothing of the rows' values in it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from publicmoments import (
    GDP,
    GLM,
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
