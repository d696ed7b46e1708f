"""The design: whitening, the intercept, and the public fit."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from publicmoments.public import PublicMoments, PublicMomentsWarning, well_conditioned

RNG = np.random.default_rng(11)
B = RNG.normal([1.0, -20.0, 300.0], [1.0, 0.1, 50.0], size=(80, 3))
Y = B @ [[1.0, 0.0], [2.0, 1.0], [-0.5, 1.0]] + RNG.normal(size=(80, 2)) * [1.0, 3.0]
ONES = np.column_stack([B, np.ones(80)])

quiet = pytest.mark.filterwarnings("ignore::publicmoments.checks.PublicMomentsWarning")


def whitened(design):
    return design.whitener.T @ design.second_moment @ design.whitener


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_design_of_rows_is_exact(fit_intercept):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        design = PublicMoments.from_rows(B, response=Y).design(fit_intercept)
    X = ONES if fit_intercept else B
    p = X.shape[1]
    model = LinearRegression(fit_intercept=fit_intercept).fit(B, Y)
    residual = Y - model.predict(B)
    np.testing.assert_allclose(design.second_moment, X.T @ X / 80, rtol=1e-12)
    np.testing.assert_allclose(whitened(design), np.eye(p), atol=1e-7)
    np.testing.assert_allclose(design.whitener @ design.unwhitener, np.eye(p), atol=1e-8)
    np.testing.assert_allclose(design.coef[:3], model.coef_.T, rtol=1e-6)
    np.testing.assert_allclose(
        design.residual_scale, np.sqrt(np.sum(residual**2, axis=0) / (80 - p)), rtol=1e-6
    )
    np.testing.assert_allclose(design.response_scale, np.sqrt(np.mean(Y**2, axis=0)))
    np.testing.assert_array_equal(design.rows, X)
    np.testing.assert_array_equal(design.responses, Y)
    assert (design.n, design.shrinkage, design.n_columns) == (80, 0.0, p)
    if fit_intercept:
        np.testing.assert_allclose(design.coef[3], model.intercept_, rtol=1e-6)


def test_whitened_norms_are_those_of_the_symmetric_root():
    design = PublicMoments.from_rows(B).design(fit_intercept=True)
    norms = np.sum((ONES @ design.whitener) ** 2, axis=1)
    mahalanobis = np.einsum("ij,jk,ik->i", ONES, np.linalg.inv(ONES.T @ ONES / 80), ONES)
    np.testing.assert_allclose(norms, mahalanobis, rtol=1e-6)


def test_coefficients_change_coordinates():
    design = PublicMoments.from_rows(B, response=Y).design(fit_intercept=True)
    Z = ONES @ design.whitener
    np.testing.assert_allclose(Z @ (design.unwhitener @ design.coef), ONES @ design.coef)
    np.testing.assert_allclose(Z @ design.unwhitener, ONES, rtol=1e-9)


def test_units_and_origin_do_not_change_whitened_rows():
    units, origin = np.array([1e-30, 1e6, 1e40]), np.array([5.0, -100.0, 1e4])
    moved = (B + origin) * units
    Z = ONES @ PublicMoments.from_rows(B).design(True).whitener
    other = PublicMoments.from_rows(moved).design(True)
    np.testing.assert_allclose(
        np.column_stack([moved, np.ones(80)]) @ other.whitener, Z, rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("column", [np.full(80, 3.7), np.zeros(80)])
def test_a_constant_column_beside_the_intercept(column):
    rows = np.column_stack([B, column])
    public = PublicMoments.from_rows(pd.DataFrame(rows, columns=list("abcd")), response=Y)
    with pytest.warns(PublicMomentsWarning, match=r"column\(s\) d do not vary"):
        design = public.design(fit_intercept=True)
    np.testing.assert_allclose(whitened(design), np.eye(5), atol=1e-7)
    plain = PublicMoments.from_rows(B, response=Y).design(fit_intercept=True)
    assert design.shrinkage == 0
    np.testing.assert_allclose(design.coef[:3], plain.coef[:3], rtol=1e-6)
    np.testing.assert_array_equal(design.coef[3], [0.0, 0.0])


def test_every_level_beside_the_intercept():
    rng = np.random.default_rng(3)
    levels = np.eye(3)[rng.integers(0, 3, size=80)]
    y = levels @ [1.0, 2.0, 4.0] + rng.normal(scale=0.1, size=80)
    with pytest.warns(PublicMomentsWarning, match="collinear columns 0, 1, 2"):
        design = PublicMoments.from_rows(levels, response=y).design(fit_intercept=True)
    np.testing.assert_allclose(whitened(design), np.eye(4), atol=1e-7)
    fitted = np.column_stack([levels, np.ones(80)]) @ design.coef[:, 0]
    means = levels @ ((levels.T @ y) / levels.sum(axis=0))
    np.testing.assert_allclose(fitted, means, rtol=1e-8)


def test_an_unknown_mean_is_assumed_zero_aloud():
    both = np.column_stack([B, Y])
    public = PublicMoments.from_matrix(both.T @ both / 80, 80, response=[3, 4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = public.design(fit_intercept=False)
    with pytest.warns(PublicMomentsWarning, match="mean is unknown"):
        design = public.design(fit_intercept=True)
    np.testing.assert_array_equal(design.second_moment[3], [0.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(design.coef[:3], plain.coef)
    np.testing.assert_array_equal(design.coef[3], [0.0, 0.0])
    np.testing.assert_allclose(design.residual_scale, plain.residual_scale * np.sqrt(77 / 76))


def test_a_perfect_fit_keeps_a_residual_scale():
    design = PublicMoments.from_rows(B, response=B @ [1.0, 2.0, 3.0]).design(True)
    np.testing.assert_allclose(design.residual_scale, 1e-6 * design.response_scale)


@quiet
def test_fewer_rows_than_columns():
    rng = np.random.default_rng(3)
    few = rng.normal(5.0, 1.0, size=(6, 20))
    design = PublicMoments.from_rows(few, response=few[:, 0]).design(fit_intercept=True)
    assert design.shrinkage > 0
    np.testing.assert_allclose(whitened(design), np.eye(21), atol=1e-7)
    # No degrees of freedom are left to judge the fit by.
    np.testing.assert_array_equal(design.residual_scale, design.response_scale)
    # Centring leaves the ones column out of the shrinkage: means survive.
    np.testing.assert_allclose(design.second_moment[-1, :-1], few.mean(axis=0))


@quiet
def test_shrinkage_is_that_of_the_centred_rows():
    rng = np.random.default_rng(3)
    few = rng.normal(50.0, 1.0, size=(15, 10)) + 3 * rng.standard_t(2, size=(15, 1))
    centred = few - few.mean(axis=0)
    design = PublicMoments.from_rows(few).design(fit_intercept=True)
    _, expected = well_conditioned(centred.T @ centred / 15, 15, centred)
    assert design.shrinkage == pytest.approx(expected, rel=1e-6)
    # The rows matter here: the matrix alone would be shrunk less.
    assert well_conditioned(centred.T @ centred / 15, 15)[1] < 0.9 * expected < 0.9


@quiet
def test_shrunk_fit_has_an_honest_residual():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(12, 8))
    y = rows @ np.ones(8) + rng.normal(size=12)
    design = PublicMoments.from_rows(rows, response=y).design(fit_intercept=False)
    assert design.shrinkage > 0
    residual = np.mean((y - rows @ design.coef[:, 0]) ** 2) * 12 / 4
    expected = min(np.sqrt(residual), np.sqrt(np.mean(y**2)))
    np.testing.assert_allclose(design.residual_scale, [expected], rtol=1e-9)
    least = np.linalg.lstsq(rows, y, rcond=None)[0]
    assert np.linalg.norm(design.coef[:, 0] - least) > 1e-3


def test_no_response():
    design = PublicMoments.from_rows(B).design(fit_intercept=True)
    assert design.coef is None
    assert design.residual_scale is None
    assert design.response_scale is None
    assert design.responses is None


def test_a_matrix_has_no_rows():
    design = PublicMoments.from_mean_cov(np.zeros(2), np.eye(2), 10).design(True)
    assert design.rows is None


def test_pickled_design_stays_read_only():
    design = pickle.loads(pickle.dumps(PublicMoments.from_rows(B).design(True)))
    assert not design.whitener.flags.writeable
    assert not design.rows.flags.writeable
