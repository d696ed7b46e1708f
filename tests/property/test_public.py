"""Whatever the public rows, the design can be used."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from publicmoments.public import PublicMoments, PublicMomentsWarning

EXPONENTS = st.sampled_from([0, 0, 0, 3, -3, 90, -90])


@st.composite
def public_rows(draw):
    """Rows with constant, collinear, one-hot and wildly scaled columns, often too few of them."""
    n, d = draw(st.integers(1, 25)), draw(st.integers(1, 8))
    rows = draw(arrays(np.float64, (n, d), elements=st.integers(-64, 64))) / 8
    for j in range(d):
        kind = draw(st.sampled_from(["free", "free", "constant", "copy", "level", "shifted"]))
        if kind == "constant":
            rows[:, j] = draw(st.sampled_from([0.0, 1.0, 0.1]))
        elif kind == "copy":
            rows[:, j] = rows[:, 0] - rows[:, d // 2]
        elif kind == "level":
            rows[:, j] = rows[:, j] > 1
        elif kind == "shifted":
            rows[:, j] = rows[:, j] / 8 + 5
    exponents = draw(st.lists(EXPONENTS, min_size=d, max_size=d))
    return rows * 10.0 ** np.array(exponents)


def quiet_design(public, fit_intercept):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PublicMomentsWarning)
        return public.design(fit_intercept)


def assert_usable(design):
    for array in (design.second_moment, design.whitener, design.unwhitener):
        assert np.all(np.isfinite(array))
    p = design.n_columns
    # Through the unit-diagonal matrix: products of the raw one leave the range of floats.
    scales = np.sqrt(np.diag(design.second_moment))
    unit = design.second_moment / scales[:, None] / scales[None, :]
    whitener = design.whitener * scales[:, None]
    np.testing.assert_allclose(whitener.T @ unit @ whitener, np.eye(p), atol=1e-4)
    np.testing.assert_allclose(design.unwhitener @ design.whitener, np.eye(p), atol=1e-4)


@settings(max_examples=150)
@given(public_rows(), st.booleans())
def test_any_rows_whiten(rows, fit_intercept):
    assert_usable(quiet_design(PublicMoments.from_rows(rows), fit_intercept))


@settings(max_examples=100)
@given(public_rows(), st.booleans(), st.booleans())
def test_matrix_and_mean_cov_whiten(rows, fit_intercept, with_mean):
    public = PublicMoments.from_rows(rows)
    mean = public.mean if with_mean else None
    for other in (
        PublicMoments.from_matrix(public.second_moment, public.n, mean=mean),
        PublicMoments.from_mean_cov(public.mean, public.covariance, public.n),
    ):
        assert_usable(quiet_design(other, fit_intercept))


@settings(max_examples=100)
@given(public_rows(), st.booleans(), st.integers(0, 2**32 - 1))
def test_any_public_fit_is_finite(rows, fit_intercept, seed):
    y = np.random.default_rng(seed).normal(3.0, 1.0, size=(len(rows), 2))
    design = quiet_design(PublicMoments.from_rows(rows, response=y), fit_intercept)
    assert np.all(np.isfinite(design.coef))
    assert np.all(design.residual_scale > 0)
    assert np.all(design.residual_scale <= design.response_scale)


@settings(max_examples=100)
@given(public_rows(), st.booleans(), st.lists(st.integers(-40, 40), min_size=8, max_size=8))
def test_units_do_not_change_whitened_rows(rows, fit_intercept, powers):
    rows = rows / np.where(np.max(np.abs(rows), axis=0) > 0, np.max(np.abs(rows), axis=0), 1.0)
    # An all-zero column carries no unit of its own: its size comes from the other columns.
    rows = rows[:, np.any(rows != 0, axis=0)]
    if rows.shape[1] == 0:
        return
    units = 2.0 ** np.array(powers[: rows.shape[1]])
    one = quiet_design(PublicMoments.from_rows(rows), fit_intercept)
    two = quiet_design(PublicMoments.from_rows(rows * units), fit_intercept)
    ones = np.ones((len(rows), int(fit_intercept)))
    np.testing.assert_array_equal(
        np.hstack([rows, ones]) @ one.whitener, np.hstack([rows * units, ones]) @ two.whitener
    )


@settings(max_examples=60)
@given(rows=public_rows())
def test_files_keep_the_fingerprint(rows, tmp_path_factory):
    public = PublicMoments.from_rows(rows)
    path = tmp_path_factory.getbasetemp() / "public.json"
    public.save(path)
    assert PublicMoments.load(path).fingerprint == public.fingerprint
