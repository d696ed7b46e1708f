"""Bad input: a clear error before any noise is drawn, and nothing of the rows' values in it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from publicmoments import GDP, ZCDP, ApproxDP, PublicMoments, Ridge
from tests.helpers import refusal_of

SECRET = 123456.789
"""Stands in the private rows and must not be seen anywhere."""

N, D = 60, 3
NAMES = ["age", "height", "weight"]


def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=N)
    X[17, 1] = SECRET
    y[23] = -SECRET
    return X, y


X, Y = rows()
PUBLIC_ROWS = np.random.default_rng(4).normal(size=(40, D))
PUBLIC = PublicMoments.from_rows(PUBLIC_ROWS, response=PUBLIC_ROWS @ [1.0, 2.0, 3.1])
NAMED = PublicMoments.from_rows(
    pd.DataFrame(PUBLIC_ROWS, columns=NAMES), response=PUBLIC_ROWS @ [1.0, 2.0, 3.1]
)


def refusal(model, X=X, y=Y):
    """The words in which a fit is refused."""
    return refusal_of(lambda: model.fit(X, y), model)


def with_cell(table, value, row=5, column=2):
    changed = table.copy()
    changed[(row, column) if changed.ndim == 2 else row] = value
    return changed


# NaN and infinity


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_invalid_features_are_refused_by_column(value):
    message = refusal(Ridge(privacy=GDP(1.0), public=PUBLIC), with_cell(X, value))
    assert "NaN or infinity" in message
    assert "X (column 2)" in message
    assert 'on_invalid="ignore"' in message


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_invalid_responses_are_refused(value):
    message = refusal(Ridge(privacy=GDP(1.0), public=PUBLIC), y=with_cell(Y, value))
    assert "NaN or infinity" in message
    assert "y (column" in message


def test_invalid_cells_are_told_by_column_name():
    frame = pd.DataFrame(with_cell(X, np.nan), columns=NAMES)
    assert "X (column weight)" in refusal(Ridge(privacy=GDP(1.0), public=NAMED), frame)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(X, columns=NAMES).convert_dtypes().mask(lambda f: f == f.iloc[5, 2]),
        pl.DataFrame(X, schema=NAMES).with_columns(weight=pl.lit(None)),
    ],
    ids=["pandas", "polars"],
)
def test_missing_cells_of_data_frames_count_as_nan(frame):
    assert "weight" in refusal(Ridge(privacy=GDP(1.0), public=NAMED), frame)


# Shapes and lengths


@pytest.mark.parametrize(
    ("table", "response", "words"),
    [
        (X[:, 0], Y, "Reshape your data"),
        (X[None], Y, "dim 3"),
        (np.float64(SECRET), Y, "scalar"),
        (X[:0], Y[:0], "0 sample"),
        (X[:, :0], Y, "0 feature"),
        ([], [], "Expected 2D"),
        (X[:1], Y[:1], "minimum of 2"),
        (X, Y[:-1], "X has 60 rows and y has 59"),
        (X, Y[:0], "0 sample"),
        (X, None, "requires y"),
        (X, Y[None, :, None], "vector (n,) or a table (n, q)"),
        (X, np.column_stack([Y, Y]), "y has 2 columns, but the public moments have 1"),
        (X[:, :2], Y, "X has 2 features, but the public moments have 3"),
        ([[1.0, 2.0, 3.0], [SECRET]], Y[:2], "same length"),
    ],
)
def test_wrong_shapes(table, response, words):
    assert words in refusal(Ridge(privacy=GDP(1.0), public=PUBLIC), table, response)


# Names


def test_other_names_are_listed():
    frame = pd.DataFrame(X, columns=["age", "size", "weight"])
    message = refusal(Ridge(privacy=GDP(1.0), public=NAMED), frame)
    assert "missing: height" in message
    assert "unexpected: size" in message


def test_a_missing_column_is_named_too():
    frame = pd.DataFrame(X[:, :2], columns=NAMES[:2])
    assert "missing: weight" in refusal(Ridge(privacy=GDP(1.0), public=NAMED), frame)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_another_order_is_refused(make):
    frame = make(dict(zip(NAMES[::-1], X.T, strict=True)))
    assert "another order" in refusal(Ridge(privacy=GDP(1.0), public=NAMED), frame)


def test_duplicate_names():
    frame = pd.DataFrame(X, columns=["age", "age", "weight"])
    assert "more than one of age" in refusal(Ridge(privacy=GDP(1.0), public=PUBLIC), frame)


def test_another_response_name_is_refused():
    frame = pd.DataFrame(PUBLIC_ROWS, columns=[*NAMES[:2], "income"])
    public = PublicMoments.from_rows(frame, response="income")
    message = refusal(
        Ridge(privacy=GDP(1.0), public=public),
        pd.DataFrame(X[:, :2], columns=NAMES[:2]),
        pd.Series(Y, name="wage"),
    )
    assert "y must have the columns income" in message
    assert "unexpected: wage" in message


# What is not numbers


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (sparse.csr_matrix(X), "sparse"),
        (sparse.coo_array(X), "sparse"),
        (X.astype(complex), "Complex data not supported"),
        (X.astype(str), "X must hold numbers"),
        (np.ma.masked_less(X, 0), "masked"),
        (X.astype("datetime64[s]"), "X must hold numbers"),
        (with_cell(X.astype(object), "tall 123456.789"), "column(s) 2"),
        (with_cell(X.astype(object), 1j * SECRET), "column(s) 2"),
        (pd.DataFrame(X, columns=NAMES).assign(height="123456.789 m"), "height"),
        (pd.DataFrame(X, columns=NAMES).assign(height=pd.Categorical([str(SECRET)] * N)), "height"),
        (pl.DataFrame(X, schema=NAMES).with_columns(height=pl.lit("123456.789")), "height"),
        (pl.DataFrame(X, schema=NAMES).lazy(), "collect"),
        ("123456.789", "X must hold numbers"),
        ({"a": SECRET}, "Expected 2D"),
    ],
)
def test_what_is_not_a_table_of_numbers(table, words):
    assert words in refusal(Ridge(privacy=GDP(1.0), public=PUBLIC), table)


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (sparse.csr_matrix(Y[:, None]), "sparse"),
        (Y.astype(complex), "Complex data not supported"),
        (Y.astype(str), "y must hold numbers"),
        (with_cell(Y.astype(object), "123456.789 m"), "float"),
        (pd.Series(Y.astype(str), name="income"), "income"),
        (pl.Series("income", Y.astype(str)), "income"),
    ],
)
def test_responses_that_are_not_numbers(response, words):
    assert words in refusal(Ridge(privacy=GDP(1.0), public=PUBLIC), y=response)


# Parameters


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GDP(np.nan), "mu must be in (0, inf)"),
        (lambda: GDP(-1.0), "mu must be in (0, inf)"),
        (lambda: GDP(0.0), "mu must be in (0, inf)"),
        (lambda: GDP(np.inf), "mu must be in (0, inf)"),
        (lambda: ZCDP(0.0), "rho must be in (0, inf)"),
        (lambda: ZCDP(np.nan), "rho must be in (0, inf)"),
        (lambda: ApproxDP(-1.0, 1e-6), "epsilon must be in (0, inf)"),
        (lambda: ApproxDP(np.inf, 1e-6), "epsilon must be in (0, inf)"),
        (lambda: ApproxDP(1.0, 0.0), "delta must be in (0, 1)"),
        (lambda: ApproxDP(1.0, 1.0), "delta must be in (0, 1)"),
        (lambda: ApproxDP(1.0, np.nan), "delta must be in (0, 1)"),
        (lambda: ApproxDP(1.0), "needs a delta"),
    ],
)
def test_budgets(make, words):
    with pytest.raises(
        (TypeError, ValueError), match=words.replace("(", r"\(").replace(")", r"\)")
    ):
        make()


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[1.0, 0.5], [0.2, 1.0]], "S must be symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "S must be positive semi-definite"),
        ([[1.0, np.nan], [np.nan, 1.0]], "S must be finite"),
        ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "S must be a square matrix"),
    ],
)
def test_public_matrices(matrix, words):
    with pytest.raises(ValueError, match=words):
        PublicMoments.from_matrix(matrix, n=100)


def test_public_matrix_of_the_wrong_size():
    public = PublicMoments.from_matrix(np.eye(4), n=100, response_scale=1.0)
    message = refusal(Ridge(privacy=GDP(1.0), public=public))
    assert "X has 3 features, but the public moments have 4" in message


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
def test_a_failed_fit_leaves_an_earlier_one_alone():
    model = Ridge(privacy=GDP(1.0), public=PUBLIC).fit(X, Y)
    before = model.coef_.copy(), model.card_
    with pytest.raises(ValueError, match="NaN"):
        model.fit(with_cell(X, np.nan), Y)
    np.testing.assert_array_equal(model.coef_, before[0])
    assert model.card_ is before[1]


# Prediction


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("table", "words"),
    [
        (with_cell(X, np.nan), "NaN"),
        (with_cell(X.astype(object), "123456.789 m"), "column"),
        (X[:, :2], "X has 2 features"),
        (pd.DataFrame(X, columns=["age", "size", "weight"]), "size"),
        (sparse.csr_matrix(X), "sparse"),
    ],
)
def test_prediction_refuses_and_quotes_nothing(table, words):
    model = Ridge(privacy=GDP(1.0), public=NAMED).fit(pd.DataFrame(X, columns=NAMES), Y)
    with pytest.raises((TypeError, ValueError)) as info:
        model.predict(table)
    assert words in str(info.value)
    assert "123456" not in str(info.value)
