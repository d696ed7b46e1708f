"""Private rows are read in padded blocks; what is not a number is refused or zeroed."""

import math

import numpy as np
import pandas as pd
import pytest

from publicmoments.rows import InvalidRows

X = np.arange(10.0).reshape(5, 2) + 1.0
Y = np.array([10.0, 20.0, 30.0, 40.0, 50.0])


def test_blocks_are_padded_with_zeros(make_rows):
    design, responses = make_rows(X, Y).padded_block(3, 5, 4)
    np.testing.assert_array_equal(design, [[7, 8], [9, 10], [0, 0], [0, 0]])
    np.testing.assert_array_equal(responses, [[40], [50], [0], [0]])


def test_the_intercept_is_one_on_real_rows_only(make_rows):
    rows = make_rows(X, Y, fit_intercept=True)
    design, _ = rows.padded_block(3, 5, 4)
    np.testing.assert_array_equal(design[:, 2], [1, 1, 0, 0])
    assert rows.n_design == 3


def test_padding_has_no_influence(make_rows, make_recipe):
    rows = make_rows(X, Y, fit_intercept=True)
    recipe = make_recipe(p=3, coef=np.full((3, 1), 7.0))
    bounded = recipe.integer_rows(*rows.padded_block(0, 5, 8))
    assert bounded[:5].any(axis=1).all()
    assert not bounded[5:].any()


def test_blocks_are_fresh_and_of_one_layout(make_rows):
    for source in (X, np.asfortranarray(X), X.astype(np.float32), pd.DataFrame(X)):
        design, responses = make_rows(source, Y).padded_block(0, 5, 5)
        assert design.flags.c_contiguous
        assert design.dtype == responses.dtype == np.float64
        assert not np.shares_memory(design, X)
        assert not np.shares_memory(responses, Y)


def test_reading_and_bounding_leave_the_table_alone(make_rows, make_recipe):
    table, answers = 1e200 * X, 1e300 * Y
    before = table.copy(), answers.copy()
    make_recipe().integer_rows(*make_rows(table, answers).padded_block(0, 5, 5))
    np.testing.assert_array_equal(table, before[0])
    np.testing.assert_array_equal(answers, before[1])


def test_ranges_cover_every_row_once(make_rows):
    rows = make_rows(X, Y)
    assert list(rows.ranges(2)) == [(0, 2), (2, 4), (4, 5)]
    assert list(rows.ranges(5)) == list(rows.ranges(9)) == [(0, 5)]


def test_several_responses(make_rows):
    rows = make_rows(X, np.column_stack([Y, -Y]))
    assert rows.n_responses == 2
    np.testing.assert_array_equal(rows.padded_block(4, 5, 2)[1], [[50, -50], [0, 0]])


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
        make_rows(frame, Y).padded_block(0, 5, 8)
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
        make_rows(X, answers).padded_block(0, 5, 5)
    table = X.copy()
    table[0] = math.inf
    with pytest.raises(InvalidRows, match=r"X \(column 0, 1\) and y \(column wage\)"):
        make_rows(table, answers).padded_block(0, 5, 5)


def test_only_the_block_read_is_judged(make_rows):
    table = X.copy()
    table[4, 0] = math.nan
    design, _ = make_rows(table, Y).padded_block(0, 4, 4)
    np.testing.assert_array_equal(design, X[:4])


def test_invalid_rows_are_zeroed_where_the_user_says_so(make_rows):
    table, answers = X.copy(), Y.copy()
    table[1, 0], answers[3] = math.nan, -math.inf
    rows = make_rows(table, answers, fit_intercept=True, ignore_invalid=True)
    design, responses = rows.padded_block(0, 5, 6)
    np.testing.assert_array_equal(np.flatnonzero(~design.any(axis=1)), [1, 3, 5])
    np.testing.assert_array_equal(responses[:, 0], [10, 0, 30, 0, 50, 0])
    np.testing.assert_array_equal(design[4], [9, 10, 1])


def test_representation_hides_the_table(make_rows):
    text = repr(make_rows(1234.5 + X, 6789.5 + Y))
    assert "1234" not in text
    assert "6789" not in text
