"""Algorithm 1 as a function of its own."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from publicmoments import PublicMoments, PublicMomentsWarning
from publicmoments.paper import pmt

N, D = 100, 4
# 1 + log(2n / eta) = 10.
ETA, RADIUS = 200.0 * math.exp(-9.0), math.sqrt(40.0)


@pytest.fixture
def moment():
    rows = np.random.default_rng(0).normal(3.0, 2.0, size=(50, D))
    return rows.T @ rows / 50


def test_rows_are_whitened_and_shortened(moment):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, D)) * np.geomspace(1e-3, 1e3, N)[:, None]
    Z = pmt(X, PublicMoments.from_matrix(moment, n=10**6), eta=ETA)
    # Lengths and angles do not depend on the rotation: x' S^-1 w.
    plain = X @ np.linalg.solve(moment, X.T)
    lengths = np.sqrt(np.diag(plain))
    kept = np.minimum(1.0, RADIUS / lengths)
    assert 10 < np.sum(kept < 1.0) < 90
    np.testing.assert_allclose(Z @ Z.T, plain * np.outer(kept, kept), rtol=1e-6, atol=1e-9)
    assert np.linalg.norm(Z, axis=1).max() <= RADIUS * (1 + 1e-12)


def test_identity_moments_leave_short_rows_alone():
    X = np.random.default_rng(2).uniform(-1.0, 1.0, size=(N, D))
    np.testing.assert_array_equal(pmt(X, PublicMoments.identity(D), eta=ETA), X)


@pytest.mark.parametrize("size", [1e9, 1e200, 1e308])
def test_enormous_rows_come_to_the_radius(size):
    X = np.zeros((N, D))
    X[0], X[1] = [size, size, 0.0, 0.0], [1.0, 2.0, 2.0, 0.0]
    Z = pmt(X, PublicMoments.identity(D), eta=ETA)
    np.testing.assert_allclose(Z[0], RADIUS * np.array([0.5, 0.5, 0.0, 0.0]) ** 0.5, rtol=1e-12)
    np.testing.assert_array_equal(Z[1], X[1])


def test_what_was_passed_in_is_not_changed():
    X = np.full((N, D), 1e100)
    before = X.copy()
    Z = pmt(X, PublicMoments.identity(D), eta=ETA)
    np.testing.assert_array_equal(X, before)
    assert not np.shares_memory(Z, X)


def test_data_frames_are_matched_by_name(moment):
    names = ["a", "b", "c", "d"]
    rows = np.random.default_rng(3).normal(size=(N, D))
    public = PublicMoments.from_rows(pd.DataFrame(rows, columns=names))
    Z = pmt(pd.DataFrame(rows, columns=names), public)
    assert Z.shape == (N, D)
    with pytest.raises(ValueError, match="another order"):
        pmt(pd.DataFrame(rows, columns=names[::-1]), public)


@pytest.mark.parametrize(
    ("X", "public", "eta", "words"),
    [
        (np.ones((5, 3)), PublicMoments.identity(4), 0.05, "X has 3 features"),
        (np.ones(5), PublicMoments.identity(5), 0.05, "Expected 2D"),
        (np.ones((5, 2)), np.eye(2), 0.05, "public must be PublicMoments or None, got ndarray"),
        (np.ones((5, 2)), PublicMoments.identity(2), 0.0, "eta must be in (0, 1)"),
        (np.ones((5, 2)), PublicMoments.identity(2), 1.0, "eta must be in (0, 1)"),
        (np.ones((5, 2)), PublicMoments.identity(2), math.nan, "eta must be in (0, 1)"),
        (np.full((5, 2), math.nan), PublicMoments.identity(2), 0.05, "NaN or infinity"),
        (np.full((5, 2), math.inf), PublicMoments.identity(2), 0.05, "NaN or infinity"),
    ],
)
def test_refusals(X, public, eta, words):
    with pytest.raises((TypeError, ValueError)) as info:
        pmt(X, public, eta=eta)
    assert words in str(info.value)


def test_no_moments_are_identity_moments_and_said_aloud():
    X = np.random.default_rng(4).normal(size=(N, D))
    with pytest.warns(PublicMomentsWarning, match="no public moments"):
        Z = pmt(X, None)
    np.testing.assert_array_equal(Z, X)
