"""Well-conditioned matrices: when they are changed, by how much, and what is said."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf_shrinkage, oas

from publicmoments.public import PublicMomentsWarning, well_conditioned
from publicmoments.public.conditioning import oas_intensity


def second_moment(rows):
    return rows.T @ rows / len(rows)


def test_a_good_matrix_is_untouched():
    rng = np.random.default_rng(3)
    S = second_moment(rng.normal(size=(50, 4)) * [1, 1e-9, 1e9, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matrix, intensity = well_conditioned(S, 50)
    assert matrix is S
    assert intensity == 0


@pytest.mark.parametrize(("n", "shrunk"), [(7, True), (8, False)])
def test_two_rows_per_column_are_enough(n, shrunk):
    rng = np.random.default_rng(3)
    S = second_moment(rng.normal(size=(n, 4)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (well_conditioned(S, n)[1] > 0) == shrunk


def test_oas_agrees_with_scikit_learn():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(12, 5)) @ rng.normal(size=(5, 5))
    expected = oas(rows, assume_centered=True)[1]
    assert oas_intensity(second_moment(rows), 12) == pytest.approx(expected, rel=1e-12)


def test_rows_let_ledoit_wolf_speak():
    rng = np.random.default_rng(3)
    # One large common factor in few rows: heavy tails, which the matrix alone does not show.
    rows = rng.normal(size=(20, 15)) + 3 * rng.standard_t(2, size=(20, 1))
    S = second_moment(rows)
    unit = rows / np.sqrt(np.diag(S))
    expected = ledoit_wolf_shrinkage(unit, assume_centered=True)
    assert oas_intensity(second_moment(unit), 20) < 0.9 * expected < 0.9
    with pytest.warns(PublicMomentsWarning, match="only n=20 rows for 15 columns"):
        matrix, intensity = well_conditioned(S, 20, rows)
    assert intensity == pytest.approx(expected)
    np.testing.assert_allclose(np.diag(matrix), np.diag(S))
    off = ~np.eye(15, dtype=bool)
    np.testing.assert_allclose(matrix[off], (1 - intensity) * S[off])


@pytest.mark.filterwarnings("ignore::publicmoments.checks.PublicMomentsWarning")
def test_units_do_not_matter():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(6, 5))
    units = np.array([1.0, 1e6, 1e-6, 1e50, 1e-50])
    plain, one = well_conditioned(second_moment(rows), 6, rows)
    scaled, two = well_conditioned(second_moment(rows * units), 6, rows * units)
    assert one == pytest.approx(two, rel=1e-9)
    np.testing.assert_allclose(scaled / np.outer(units, units), plain, rtol=1e-8, atol=1e-12)


def test_collinear_columns_are_named():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(100, 4))
    rows[:, 3] = rows[:, 0] - rows[:, 1]
    with pytest.warns(PublicMomentsWarning, match="collinear columns a, b, d;"):
        matrix, intensity = well_conditioned(second_moment(rows), 100, columns=tuple("abcd"))
    assert intensity > 0
    assert np.linalg.cond(matrix) < 1e4


def test_a_column_never_seen_counts_as_seen_once():
    S = np.diag([4.0, 0.0, 2.0, 3.0])
    with pytest.warns(PublicMomentsWarning, match=r"column\(s\) b do not vary"):
        matrix, intensity = well_conditioned(S, 30, columns=tuple("abcd"))
    np.testing.assert_allclose(np.diag(matrix), [4.0, 3.0 / 30, 2.0, 3.0])
    assert intensity == 0


def test_a_constant_column_takes_its_own_size():
    with pytest.warns(PublicMomentsWarning, match=r"column\(s\) 1 do not vary"):
        matrix, _ = well_conditioned(np.diag([4.0, 0.0]), 10, sizes=np.array([5.0, 1e6]))
    np.testing.assert_allclose(np.diag(matrix), [4.0, 1e5])


@pytest.mark.filterwarnings("ignore::publicmoments.checks.PublicMomentsWarning")
def test_nothing_seen_at_all():
    matrix, _ = well_conditioned(np.zeros((3, 3)), 10)
    np.testing.assert_array_equal(matrix, np.eye(3))


@pytest.mark.filterwarnings("ignore::publicmoments.checks.PublicMomentsWarning")
def test_a_single_row_gives_an_invertible_matrix():
    rng = np.random.default_rng(3)
    row = rng.normal(size=(1, 6))
    matrix, intensity = well_conditioned(second_moment(row), 1, row)
    assert intensity > 0.1
    assert np.linalg.cond(matrix / np.outer(row, row)) < 1e3


@pytest.mark.filterwarnings("ignore::publicmoments.checks.PublicMomentsWarning")
def test_a_known_singular_matrix_is_moved_just_enough():
    matrix, intensity = well_conditioned(np.ones((2, 2)), None)
    assert 0 < intensity <= 1e-8
    assert np.linalg.eigvalsh(matrix)[0] > 0
