"""The inverse covariance of a release and its partial correlations, with their standard errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from publicmoments import GDP, PublicMoments, release_moments
from tests.helpers import redrawn_noise


@pytest.fixture
def noisier(exact):
    """Exact moments that claim noise of some size."""
    sd = 0.004
    return replace(exact, diagonal_sd=np.sqrt(2.0) * sd, offdiagonal_sd=sd)


def partial_of(matrix):
    sizes = np.sqrt(np.diag(matrix))
    partial = -matrix / np.outer(sizes, sizes)
    np.fill_diagonal(partial, 1.0)
    return partial


@pytest.mark.parametrize("alpha", [0.0, 2.0])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("features", [None, ["score", "age"], [1]])
def test_without_noise_it_is_the_plain_inverse(exact, table, alpha, center, features):
    found = exact.precision(alpha, features, center)
    names = list(exact.columns)
    where = [k if isinstance(k, int) else names.index(k) for k in features or range(len(names))]
    rows = (table - table.mean(axis=0) if center else table)[:, where]
    plain = np.linalg.inv(rows.T @ rows / len(rows) + alpha * np.eye(len(where)))
    np.testing.assert_allclose(found.matrix, plain, rtol=1e-6, atol=1e-6 * np.abs(plain).max())
    assert found.features == tuple(names[k] for k in where)
    assert (found.alpha, found.center) == (alpha, center)
    np.testing.assert_allclose(found.partial_correlations.matrix, partial_of(plain), atol=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 3.0])
@pytest.mark.parametrize("center", [True, False])
def test_noise_errors_are_those_of_the_noise(noisier, alpha, center):
    found, rng = noisier.precision(alpha, center=center), np.random.default_rng(2)
    draws = [redrawn_noise(noisier, rng).precision(alpha, center=center) for _ in range(1500)]
    for stated, drawn in (
        (found, [one.matrix for one in draws]),
        (found.partial_correlations, [one.partial_correlations.matrix for one in draws]),
    ):
        simulated = np.std(drawn, axis=0)
        off = ~np.eye(len(simulated), dtype=bool) | (stated is found)
        np.testing.assert_allclose(stated.noise_error[off], simulated[off], rtol=0.1)
        np.testing.assert_array_equal(stated.noise_error, stated.noise_error.T)


def test_sampling_errors_are_those_of_gaussian_rows():
    rng = np.random.default_rng(6)
    mixing = rng.normal(size=(3, 3))
    public = PublicMoments.from_rows(rng.normal(size=(2_000, 3)) @ mixing)
    found = [
        release_moments(
            rng.normal(size=(600, 3)) @ mixing, privacy=GDP(1e4), public=public, anchor=False
        ).precision()
        for _ in range(400)
    ]
    for of in (lambda one: one, lambda one: one.partial_correlations):
        simulated = np.std([of(one).matrix for one in found], axis=0)
        stated = np.mean([of(one).std_error for one in found], axis=0)
        off = ~np.eye(3, dtype=bool)
        np.testing.assert_allclose(stated[off], simulated[off], rtol=0.15)
        assert np.mean([of(one).noise_error for one in found]) < 0.05 * stated[off].min()


def test_errors_add_up_and_names_are_kept(noisy):
    found = noisy.precision(0.1)
    np.testing.assert_allclose(found.std_error**2, found.noise_error**2 + found.sampling_error**2)
    frame = found.partial_correlations.to_frame()
    assert list(frame.columns) == list(frame.index) == list(noisy.columns)
    assert np.all(np.diag(frame) == 1.0)
    assert np.abs(frame.to_numpy()).max() <= 1.0 + 1e-12
    assert not found.matrix.flags.writeable


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"alpha": -1.0}, "alpha must be in"),
        ({"alpha": float("nan")}, "alpha must be in"),
        ({"features": ["nobody"]}, "features must name a column"),
        ({"features": []}, "features must name at least one column"),
        ({"features": [0, 0]}, "each column once"),
        ({"center": 1}, "center must be"),
    ],
)
def test_bad_questions(noisy, arguments, words):
    with pytest.raises((TypeError, ValueError), match=words):
        noisy.precision(**arguments)
