"""The encoding of the bank table, on rows made up here."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments.datasets.bank import LEVELS, NUMERIC, YES_NO, bank_table

ROW = {
    "age": "40",
    "job": '"student"',
    "marital": '"single"',
    "education": '"unknown"',
    "default": '"no"',
    "balance": "-12",
    "housing": '"yes"',
    "loan": '"no"',
    "contact": '"cellular"',
    "day": "31",
    "month": '"feb"',
    "duration": "60",
    "campaign": "2",
    "pdays": "-1",
    "previous": "0",
    "poutcome": '"failure"',
    "y": '"yes"',
}


def text(*changes):
    header = ";".join(f'"{name}"' for name in ROW)
    return "\n".join([header, *(";".join((ROW | change).values()) for change in changes)]) + "\n"


def test_a_row():
    X, y, names = bank_table(text({}))
    row = dict(zip(names, X[0], strict=True))
    nonzero = {name: value for name, value in row.items() if value}
    assert nonzero == {
        "age": 40,
        "job=student": 1,
        "marital=single": 1,
        "education=unknown": 1,
        "balance": -12,
        "housing": 1,
        "day": 31,
        "month=feb": 1,
        "duration": 60,
        "campaign": 2,
        "pdays": -1,
    }
    assert y.tolist() == [1]
    assert X.dtype == y.dtype == np.float64


def test_the_columns_do_not_depend_on_the_rows():
    names = bank_table(text({}))[2]
    assert bank_table(text({"job": '"admin."', "month": '"dec"'}))[2] == names
    assert len(names) == 42


@pytest.mark.parametrize("column", LEVELS)
def test_levels(column):
    levels = LEVELS[column]
    X, _, names = bank_table(text(*({column: f'"{level}"'} for level in levels)))
    block = X[:, [i for i, name in enumerate(names) if name.startswith(f"{column}=")]]
    np.testing.assert_array_equal(block, np.eye(len(levels))[:, 1:])
    assert [name for name in names if name.startswith(column)] == [
        f"{column}={level}" for level in levels[1:]
    ]
    assert "unknown" not in levels[:-1]


def test_numeric_only():
    X, y, names = bank_table(text({}, {"age": "41", "y": '"no"'}), numeric_only=True)
    assert names == NUMERIC
    np.testing.assert_array_equal(X[:, 0], [40, 41])
    assert y.tolist() == [1, 0]


@pytest.mark.parametrize("column", [*LEVELS, *YES_NO, "y"])
def test_an_unlisted_category_is_refused(column):
    with pytest.raises(ValueError, match=f"^column '{column}' must hold one of .*got astronaut;"):
        bank_table(text({}, {column: '"astronaut"'}))


def test_a_short_row_is_refused():
    with pytest.raises(ValueError, match="shorter"):
        bank_table(text({}) + "40;1\n")
