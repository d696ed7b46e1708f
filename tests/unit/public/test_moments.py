"""Constructors of public moments: the same sample, however it arrives."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from publicmoments.public import PublicMoments

RNG = np.random.default_rng(7)
B = RNG.normal([1.0, -2.0, 30.0], [1.0, 0.1, 5.0], size=(60, 3))
Y = B @ [1.0, 2.0, -0.5] + RNG.normal(size=60)
BOTH = np.column_stack([B, Y])
NAMES = ["a", "b", "c", "y"]


def test_moments_of_rows():
    public = PublicMoments.from_rows(B, response=Y)
    np.testing.assert_allclose(public.second_moment, B.T @ B / 60, rtol=1e-12)
    np.testing.assert_allclose(public.mean, B.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(public.covariance, np.cov(B.T, bias=True), rtol=1e-9)
    np.testing.assert_allclose(public.response.scale, [np.sqrt(np.mean(Y**2))], rtol=1e-12)
    np.testing.assert_allclose(public.response.cross[:, 0], B.T @ Y / 60, rtol=1e-12)
    np.testing.assert_allclose(public.response.moment, [[np.mean(Y**2)]], rtol=1e-12)
    np.testing.assert_allclose(public.response.mean, [Y.mean()], rtol=1e-12)
    np.testing.assert_array_equal(public.rows, B)
    np.testing.assert_array_equal(public.response_rows[:, 0], Y)
    assert public.n == 60
    assert not public.assumed


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_response_columns_are_split_off_by_name(make):
    frame = make({name: BOTH[:, i] for i, name in enumerate(NAMES)})
    public = PublicMoments.from_rows(frame, response="b")
    assert public.columns == ("a", "c", "y")
    assert public.response.names == ("b",)
    np.testing.assert_array_equal(public.rows, BOTH[:, [0, 2, 3]])
    np.testing.assert_array_equal(public.response_rows, BOTH[:, [1]])
    several = PublicMoments.from_rows(frame, response=["y", "a"])
    assert several.columns == ("b", "c")
    assert several.response.names == ("y", "a")
    np.testing.assert_allclose(several.response.cross, BOTH[:, [1, 2]].T @ BOTH[:, [3, 0]] / 60)


def test_named_array_equals_frame():
    frame = PublicMoments.from_rows(pd.DataFrame(BOTH, columns=NAMES), response="y")
    array = PublicMoments.from_rows(BOTH, response="y", columns=NAMES)
    assert frame == array
    assert frame.fingerprint == array.fingerprint


def test_series_response_keeps_its_name():
    public = PublicMoments.from_rows(B, response=pd.Series(Y, name="price"))
    assert public.response.names == ("price",)
    assert public.columns is None


def test_matrix_and_mean_cov_agree_with_rows():
    S, mean, cov = BOTH.T @ BOTH / 60, BOTH.mean(axis=0), np.cov(BOTH.T, bias=True)
    rows = PublicMoments.from_rows(B, response=Y)
    for public in (
        PublicMoments.from_matrix(S, 60, mean=mean, columns=NAMES, response="y"),
        PublicMoments.from_matrix(S, 60, mean=mean, response=-1),
        PublicMoments.from_matrix(pd.DataFrame(S, columns=NAMES), 60, mean=mean, response=["y"]),
        PublicMoments.from_mean_cov(mean, cov, 60, response=3),
        PublicMoments.from_mean_cov(mean, cov, np.int64(60), columns=NAMES, response=[np.int64(3)]),
    ):
        np.testing.assert_allclose(public.second_moment, rows.second_moment, rtol=1e-9)
        np.testing.assert_allclose(public.covariance, rows.covariance, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(public.response.cross, rows.response.cross, rtol=1e-9)
        np.testing.assert_allclose(public.response.mean, rows.response.mean, rtol=1e-9)
        for intercept in (False, True):
            np.testing.assert_allclose(
                public.design(intercept).coef, rows.design(intercept).coef, rtol=1e-6
            )
    assert PublicMoments.from_matrix(S, 60, columns=NAMES, response="y").columns == ("a", "b", "c")


def test_matrix_without_mean_is_kept_as_it_is():
    S = B.T @ B / 60
    public = PublicMoments.from_matrix(S, 60)
    np.testing.assert_array_equal(public.second_moment, (S + S.T) / 2)
    assert public.mean is None
    assert public.covariance is None
    assert public.response is None


def test_covariance_keeps_its_digits_beside_large_means():
    shifted = PublicMoments.from_rows(B + 1e9)
    np.testing.assert_allclose(shifted.covariance, np.cov(B.T, bias=True), rtol=1e-4, atol=1e-6)


def test_only_two_thousand_rows_are_kept():
    many = np.arange(5001.0)[:, None] + 1
    public = PublicMoments.from_rows(many, response=many[:, 0])
    assert public.rows.shape == (2000, 1)
    assert public.rows[0] == 1
    assert public.rows[-1] == 5001
    assert np.ptp(np.diff(public.rows[:, 0])) <= 1
    np.testing.assert_array_equal(public.rows, public.response_rows)
    np.testing.assert_allclose(public.second_moment, np.mean(many**2))
    assert public.n == 5001


def test_identity():
    public = PublicMoments.identity(3)
    assert public.assumed
    assert public.n is None
    np.testing.assert_array_equal(public.response.scale, [1.0])
    np.testing.assert_array_equal(public.design(fit_intercept=True).whitener, np.eye(4))
    assert PublicMoments.identity(["u", "v"]).columns == ("u", "v")
    assert PublicMoments.identity(2) != PublicMoments.identity(3)


def test_response_scale_alone():
    public = PublicMoments.from_rows(B, response_scale=[2.0, 3.0])
    np.testing.assert_array_equal(public.response.scale, [2.0, 3.0])
    design = public.design(fit_intercept=True)
    assert design.coef is None
    np.testing.assert_array_equal(design.residual_scale, [2.0, 3.0])


def test_arrays_are_read_only_also_after_copies():
    public = PublicMoments.from_rows(B, response=Y)
    for one in (public, copy.deepcopy(public), pickle.loads(pickle.dumps(public))):
        assert one == public
        assert hash(one) == hash(public)
        for array in (one.second_moment, one.rows, one.response.cross, one.design(True).whitener):
            assert not array.flags.writeable
    source = B.copy()
    kept = PublicMoments.from_rows(source)
    source[:] = 0
    np.testing.assert_array_equal(kept.rows, B)


def test_fingerprint_sees_moments_counts_and_names():
    S = B.T @ B / 60
    base = PublicMoments.from_matrix(S, 60)
    assert base == PublicMoments.from_matrix(S, 60)
    others = [
        PublicMoments.from_matrix(S * (1 + 1e-15), 60),
        PublicMoments.from_matrix(S, 61),
        PublicMoments.from_matrix(S, 60, columns=["a", "b", "c"]),
        PublicMoments.from_matrix(S, 60, response=0),
        PublicMoments.from_matrix(S, 60, response_scale=1.0),
        PublicMoments.from_matrix(S, 60, mean=np.zeros(3)),
    ]
    assert len({one.fingerprint for one in [base, *others]}) == 7


def test_a_column_constant_up_to_rounding_has_no_variance():
    column = np.where(np.arange(60) % 2, 0.1 + 0.2, 0.3)
    assert np.ptp(column) > 0
    public = PublicMoments.from_rows(np.column_stack([B, column]))
    np.testing.assert_array_equal(public.covariance[3], np.zeros(4))
    matrix = PublicMoments.from_matrix([[1.0]], 60, mean=[1 - 2.0**-53])
    np.testing.assert_array_equal(matrix.covariance, [[0.0]])


def test_rounding_asymmetry_is_averaged():
    public = PublicMoments.from_matrix([[2.0, 1.0 + 2e-9], [1.0, 2.0]], 50)
    np.testing.assert_allclose(public.second_moment, [[2, 1 + 1e-9], [1 + 1e-9, 2]], rtol=1e-15)


def test_slightly_wrong_matrices_are_mended():
    S = np.array([[1.0, 1.0 + 1e-9], [1.0 + 2e-9, 1.0]])
    mended = PublicMoments.from_matrix(S, 50).second_moment
    np.testing.assert_array_equal(mended, mended.T)
    assert np.linalg.eigvalsh(mended)[0] >= -1e-15
    np.testing.assert_allclose(mended, np.ones((2, 2)), atol=1e-8)


def rows_error(**changes):
    return lambda: PublicMoments.from_rows(**{"B": B, **changes})


def matrix_error(S, n=10, **changes):
    return lambda: PublicMoments.from_matrix(S, n, **changes)


HOLED = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.nan]})


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (rows_error(B=HOLED), r"B must be finite.*column\(s\) b;"),
        (rows_error(response=[1.0] * 59), "response must have one row per row of B, got 59 for 60"),
        (rows_error(response=[np.nan] * 60), "response must be finite"),
        (rows_error(response=np.zeros(60)), "response must have a positive second moment"),
        (rows_error(response=Y, response_scale=1.0), "must not both be given"),
        (rows_error(response="y"), "response must name a column, got 'y'"),
        (rows_error(response_scale=0.0), "response_scale must be a positive"),
        (rows_error(response_scale=[1.0, -1.0]), "response_scale must be a positive"),
        (rows_error(response_scale=np.inf), "response_scale must be finite"),
        (rows_error(columns=["a", "b"]), "got 2 names for 3"),
        (rows_error(columns=["a", "b", "a"]), "distinct column names.* a;"),
        (rows_error(columns=["a", "b", 3]), "columns must be strings"),
        (rows_error(B=HOLED[:1], columns=["u", "v"]), "names that B already has"),
        (rows_error(B=B * [1, 1e120, 1]), r"column\(s\) 1; rescale"),
        (rows_error(B=B * [1, 1, 1e300]), r"column\(s\) 2; rescale"),
        (rows_error(B=B * [1e-200, 1, 1]), r"column\(s\) 0; rescale"),
        (matrix_error(np.ones((2, 3))), "S must be a square matrix, got shape"),
        (matrix_error(np.ones(3)), "Expected 2D array, got 1D array instead: S"),
        (matrix_error([[np.nan]]), "S must be finite"),
        (matrix_error([[np.inf]]), "S must be finite"),
        (matrix_error([[1.0, 0.5], [0.4, 1.0]]), "S must be symmetric"),
        (matrix_error([[1.0, 2.0], [2.0, 1.0]]), "S must be positive semi-definite"),
        (matrix_error([[-1.0]]), "negative diagonal"),
        (matrix_error([[1e250]]), "rescale"),
        (matrix_error([[1e-250]]), "rescale"),
        (matrix_error(np.eye(2), n=0), "n must be"),
        (matrix_error(np.eye(2), mean=[0.0]), r"mean must have shape \(2,\)"),
        (matrix_error(np.eye(2), mean=[0.0, np.nan]), "mean must be finite"),
        (matrix_error(np.eye(2), mean=[0.9, 0.9]), "mean must agree"),
        (matrix_error(np.eye(2), columns=["a"]), "got 1 names for 2"),
        (matrix_error(np.eye(2), response=2), "position below 2"),
        (matrix_error(np.eye(2), response=[0, 1]), "leave a feature"),
        (matrix_error(np.eye(3), response=[0, 0]), "distinct columns"),
        (matrix_error(np.eye(2), response=0, response_scale=1.0), "must not both"),
        (lambda: PublicMoments.from_mean_cov([1.0], np.eye(2), 5), "mean must have shape"),
        (lambda: PublicMoments.from_mean_cov([1e150], [[1.0]], 5), "rescale"),
        (lambda: PublicMoments.from_mean_cov([0, 0], [[1, 2], [2, 1]], 5), "cov must be positive"),
        (lambda: PublicMoments.identity(0), "columns_or_d must be"),
        (lambda: PublicMoments.identity(["a", "a"]), "distinct"),
    ],
)
def test_refusals_name_the_parameter(build, words):
    with pytest.raises(ValueError, match=words):
        build()


@pytest.mark.parametrize("n", [1.5, "many", None, True])
def test_the_count_must_be_an_integer(n):
    with pytest.raises((TypeError, ValueError), match="n must be"):
        PublicMoments.from_matrix(np.eye(2), n)


def test_a_mean_wrong_by_rounding_is_accepted():
    ones = np.ones((2, 2))
    public = PublicMoments.from_matrix(ones, 5, mean=[1.0, 1.0 + 1e-8])
    np.testing.assert_array_equal(public.covariance, np.zeros((2, 2)))
