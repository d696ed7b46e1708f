"""Responses, exposures and offsets that are refused before any charge or draw, or left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from publicmoments import PublicMoments
from tests.unit.models.secrets import (
    COUNTS,
    LABELS,
    MODELS,
    RESPONSES,
    SECRET,
    B,
    N,
    X,
    made,
)


def with_cell(table, value, row=5, column=2):
    changed = table.astype(float)
    changed[(row, column) if changed.ndim == 2 else row] = value
    return changed


UNKNOWN = {
    "numbers": np.where(LABELS == 1, 31337, 0),
    "fractions": np.where(LABELS == 1, SECRET, 0.0),
    "infinity": np.where(LABELS == 1, np.inf, 0.0),
    "objects": np.array(["12345" if label else 0 for label in LABELS], dtype=object),
    "categories": pd.Series(np.where(LABELS == 1, 12345, 0)).astype("category"),
}


@pytest.mark.parametrize("classes", [(0, 1), (0, 1, 2)])
@pytest.mark.parametrize("labels", UNKNOWN.values(), ids=UNKNOWN)
def test_labels_that_were_not_stated(refusal, classes, labels):
    words = refusal(made("LogisticRegression", classes=classes), X, labels)
    assert words.startswith(f"y holds labels that are not among classes={classes!r}")


@pytest.mark.parametrize("classes", [(0, 1), (0, 1, 2)])
@pytest.mark.parametrize("labels", [UNKNOWN["numbers"], UNKNOWN["objects"], UNKNOWN["categories"]])
def test_labels_that_were_not_stated_can_be_counted_as_zeros(classes, labels):
    parameters = {"classes": classes, "random_state": 0, "fit_intercept": False}
    ignored = made("LogisticRegression", on_invalid="ignore", **parameters).fit(X, labels)
    zeroed = made("LogisticRegression", **parameters).fit(
        np.where(LABELS[:, None] == 1, 0.0, X), np.zeros(N, dtype=int)
    )
    np.testing.assert_array_equal(ignored.coef_, zeroed.coef_)


@pytest.mark.parametrize("on_invalid", ["raise", "ignore"])
def test_a_type_that_cannot_hold_the_classes_is_refused_for_itself(refusal, on_invalid):
    labels = np.where(LABELS == 1, "12345", "0")
    words = refusal(made("LogisticRegression", on_invalid=on_invalid), X, labels)
    assert words.startswith("classes=(0, 1) must be labels that a column of type <U5 can hold")


OUT_OF_RANGE = pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("PoissonRegressor", -31337.0, "y must hold non-negative whole numbers only"),
        ("PoissonRegressor", SECRET, "y must hold non-negative whole numbers only"),
        ("Poisson", -31337.0, "y must hold non-negative whole numbers only"),
        ("Poisson", 0.5, "y must hold non-negative whole numbers only"),
        ("Gamma", 0.0, "y must hold positive numbers only"),
        ("Gamma", -31337.0, "y must hold positive numbers only"),
        ("Bernoulli", 2.0, "y must hold 0 and 1 only"),
        ("Bernoulli", SECRET, "y must hold 0 and 1 only"),
    ],
)


@OUT_OF_RANGE
def test_responses_out_of_range(refusal, name, value, words):
    assert words in refusal(made(name), X, with_cell(RESPONSES[name], value))


@OUT_OF_RANGE
def test_responses_out_of_range_can_be_counted_as_zeros(name, value, words):
    parameters, y = {"random_state": 0, "fit_intercept": False}, RESPONSES[name]
    ignored = made(name, on_invalid="ignore", **parameters).fit(X, with_cell(y, value))
    rows = np.array(X)
    rows[5] = 0.0
    np.testing.assert_array_equal(ignored.coef_, made(name, **parameters).fit(rows, y).coef_)


# Exposure and offset


@pytest.mark.parametrize(
    ("exposure", "words"),
    [
        (with_cell(np.ones(N), 0.0), "exposure must hold positive numbers only"),
        (with_cell(np.ones(N), -31337.0), "exposure must hold positive numbers only"),
        (with_cell(np.ones(N), np.nan), "y (column exposure)"),
        (with_cell(np.ones(N), np.inf), "y (column exposure)"),
        (np.ones(N - 1), "60 and 59 rows; pass one number per row"),
        (np.ones((N, 2)), "exposure must have one response per row, got 2"),
        (np.full(N, "12345"), "exposure must hold numbers"),
    ],
)
def test_exposures(refusal, exposure, words):
    assert words in refusal(made("PoissonRegressor"), X, COUNTS, exposure=exposure)


@pytest.mark.parametrize(
    ("offset", "words"),
    [
        (with_cell(np.zeros(N), np.nan), "y (column offset)"),
        (with_cell(np.zeros(N), -np.inf), "y (column offset)"),
        (np.zeros(N + 1), "60 and 61 rows; pass one number per row"),
        (np.zeros((N, 2)), "offset must have one response per row, got 2"),
    ],
)
@pytest.mark.parametrize("name", ["Poisson", "Gaussian"])
def test_offsets(refusal, name, offset, words):
    assert words in refusal(made(name), X, RESPONSES[name], offset=offset)


# Public responses


@pytest.mark.parametrize(
    ("name", "parameters", "response", "words"),
    [
        ("LogisticRegression", {}, np.arange(40) % 3, "must be among classes=(0, 1)"),
        ("LogisticRegression", {"classes": (1, 2)}, np.arange(40) % 2, "among classes=(1, 2)"),
        ("LogisticRegression", {"classes": ("a", "b")}, np.arange(40) % 3, "among classes="),
        ("LogisticRegression", {"classes": (0, 1, 2)}, np.arange(40) % 4, "among classes="),
        ("PoissonRegressor", {}, np.arange(40) - 1, "must be non-negative whole numbers"),
        ("PoissonRegressor", {}, np.arange(40) / 2, "must be non-negative whole numbers"),
        ("Gamma", {}, np.arange(40), "must be positive numbers"),
        ("Bernoulli", {}, np.arange(40) % 3, "must be 0 and 1"),
    ],
)
def test_public_responses_out_of_range(refusal, name, parameters, response, words):
    public = PublicMoments.from_rows(B, response=response)
    model = made(name, public=public, **parameters)
    labels = np.array(parameters.get("classes", (0, 1)))[LABELS]
    y = labels if name == "LogisticRegression" else RESPONSES[name]
    message = refusal(model, X, y)
    assert message.startswith("responses of the public moments must be ")
    assert words in message


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "public",
    [
        PublicMoments.from_rows(B, response=np.column_stack([np.ones(40), np.ones(40)])),
        PublicMoments.from_matrix(np.eye(5), n=40, response=[3, 4]),
    ],
    ids=["rows", "matrix"],
)
def test_two_public_responses(refusal, name, public):
    words = refusal(made(name, public=public), X, RESPONSES[name])
    assert "the public moments must have one response, got 2" in words


# Rows that count as zeros


@pytest.mark.parametrize("name", MODELS)
def test_invalid_rows_can_be_counted_as_zeros(name):
    y, rows = RESPONSES[name], np.array(X)
    rows[[4, 5, 6]] = 0.0
    holes = with_cell(with_cell(X, np.nan, 4), np.inf, 5)
    parameters = {"random_state": 0, "fit_intercept": False}
    ignored = made(name, on_invalid="ignore", **parameters).fit(holes, with_cell(y, np.nan, 6))
    zeroed = made(name, **parameters).fit(rows, y)
    np.testing.assert_array_equal(ignored.coef_, zeroed.coef_)


@pytest.mark.parametrize("missing", [np.nan, np.inf, 0.0, -1.0])
def test_rows_without_exposure_can_be_counted_as_zeros(missing):
    rows, exposure = np.array(X), np.linspace(1.0, 2.0, N)
    rows[6] = 0.0
    parameters = {"random_state": 0, "fit_intercept": False}
    ignored = made("PoissonRegressor", on_invalid="ignore", **parameters)
    ignored.fit(X, COUNTS, exposure=with_cell(exposure, missing, 6))
    zeroed = made("PoissonRegressor", **parameters).fit(rows, COUNTS, exposure=exposure)
    np.testing.assert_array_equal(ignored.coef_, zeroed.coef_)
