"""Private rows are read in padded blocks; what is not a number is refused or zeroed."""

import math

import numpy as np
import pandas as pd
import pytest

from publicmoments.rows.private_rows import InvalidRows
from publicmoments.rows.recipe import TotalRecipe
from tests.helpers import block_rows

X = np.arange(10.0).reshape(5, 2) + 1.0
Y = np.array([10.0, 20.0, 30.0, 40.0, 50.0])


def test_blocks_are_padded_with_zeros(make_rows):
    design, responses = make_rows(X, Y).settled(3, 5, 4)
    np.testing.assert_array_equal(design, [[7, 9, 0, 0], [8, 10, 0, 0]])
    np.testing.assert_array_equal(responses, [[40, 50, 0, 0]])


def test_the_intercept_is_one_on_real_rows_only(make_rows):
    rows = make_rows(X, Y, fit_intercept=True)
    np.testing.assert_array_equal(rows.settled(3, 5, 4)[0][2], [1, 1, 0, 0])
    assert rows.n_design == 3


def test_padding_has_no_influence(make_rows, make_recipe):
    rows = make_rows(X, Y, fit_intercept=True)
    recipe = make_recipe(TotalRecipe, 3)
    bounded = block_rows(recipe, rows, 0, 5, 8)
    assert bounded[:5].any(axis=1).all()
    assert not bounded[5:].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_block_is_filled_whatever_it_held_before(make_rows, dtype):
    for source in (X, np.asfortranarray(X), X.astype(np.float32), pd.DataFrame(X)):
        design, responses = np.full((3, 7), 99.0, dtype=dtype), np.full((1, 7), 99.0)
        make_rows(source, Y, fit_intercept=True).fill(design, responses, 1, 5)
        expected = np.column_stack([X[1:], np.ones(4)]).T
        np.testing.assert_array_equal(design, np.pad(expected, ((0, 0), (0, 3))))
        np.testing.assert_array_equal(responses, [[*Y[1:], 0, 0, 0]])


def test_reading_and_bounding_leave_the_table_alone(make_rows, make_recipe):
    table, answers = 1e200 * X, 1e300 * Y
    before = table.copy(), answers.copy()
    block_rows(make_recipe(TotalRecipe), make_rows(table, answers), 0, 5, 5)
    np.testing.assert_array_equal(table, before[0])
    np.testing.assert_array_equal(answers, before[1])


def test_several_responses(make_rows):
    rows = make_rows(X, np.column_stack([Y, -Y]))
    assert rows.n_responses == 2
    np.testing.assert_array_equal(rows.settled(4, 5, 2)[1], [[50, 0], [-50, 0]])


def test_lengths_agree(make_rows):
    with pytest.raises(ValueError, match="X has 5 rows and y has 4"):
        make_rows(X, Y[:4])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("named", [True, False])
def test_invalid_rows_are_refused_by_parameter_and_column(make_rows, value, named):
    table = 987_654.0 + X
    table[3, 1] = value
    frame = pd.DataFrame(table, columns=["age", "height"]) if named else table
    with pytest.raises(InvalidRows) as caught:
        make_rows(frame, Y).settled(0, 5, 8)
    message = str(caught.value)
    assert f"X (column {'height' if named else '1'})" in message
    assert "y (" not in message
    assert 'on_invalid="ignore"' in message
    # Nothing of the contents: not the value, not its neighbours, not the row.
    assert not any(word in message for word in ("9876", "inf)", "nan", "40", "3", "row 4"))


def test_invalid_responses_are_refused(make_rows):
    answers = pd.Series(Y, name="wage")
    answers[2] = math.nan
    with pytest.raises(InvalidRows, match=r"infinity: y \(column wage\);"):
        make_rows(X, answers).settled(0, 5, 5)
    table = X.copy()
    table[0] = math.inf
    with pytest.raises(InvalidRows, match=r"X \(column 0, 1\) and y \(column wage\)"):
        make_rows(table, answers).settled(0, 5, 5)


def test_only_the_block_read_is_judged(make_rows):
    table = X.copy()
    table[4, 0] = math.nan
    np.testing.assert_array_equal(make_rows(table, Y).settled(0, 4, 4)[0], X[:4].T)


def test_invalid_rows_are_zeroed_where_the_user_says_so(make_rows):
    table, answers = X.copy(), Y.copy()
    table[1, 0], answers[3] = math.nan, -math.inf
    rows = make_rows(table, answers, fit_intercept=True, ignore_invalid=True)
    design, responses = rows.settled(0, 5, 6)
    np.testing.assert_array_equal(np.flatnonzero(~design.any(axis=0)), [1, 3, 5])
    np.testing.assert_array_equal(responses, [[10, 0, 30, 0, 50, 0]])
    np.testing.assert_array_equal(design[:, 4], [9, 10, 1])


def test_representation_hides_the_table(make_rows):
    text = repr(make_rows(1234.5 + X, 6789.5 + Y))
    assert "1234" not in text
    assert "6789" not in text
