"""Whitening again: rows of another shape come out white, and scores tell whether they were."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments import PublicMoments
from publicmoments.evidence.look import look_radius, looked

P, N = 4, 50_000
SHAPE = np.array([[2.0, 0.5, 0.0, 0.1], [0.0, 1.0, 0.3, 0.0], [0.0, 0.0, 3.0, 1.0], [0, 0, 0, 0.2]])


def rows(n, seed, shape=SHAPE):
    return np.random.default_rng(seed).normal(size=(n, P)) @ shape


def design_of(public):
    return public.design(fit_intercept=False)


PUBLIC = {
    "rows": PublicMoments.from_rows(rows(400, 1)),
    "matrix": PublicMoments.from_matrix(SHAPE.T @ SHAPE, n=400),
}


def look_at(private, public, noise_sd=1e-3, radius=1e3, seed=0):
    """Release a second moment of rows in public coordinates, and look at it."""
    design = design_of(public)
    z = private @ design.whitener
    z *= np.minimum(1.0, radius / np.linalg.norm(z, axis=1))[:, None]
    noise = np.random.default_rng(seed).normal(size=(P, P)) * noise_sd
    noisy = z.T @ z / len(z) + (noise + noise.T) / np.sqrt(2.0)
    return looked(design, noisy, noise_sd, radius)


def second_moment(private, found):
    z = private @ found.whitener
    return z.T @ z / len(z)


OTHERS = {
    "larger": SHAPE * 4.0,
    "smaller": SHAPE / 3.0,
    "one column": SHAPE @ np.diag([1.0, 5.0, 1.0, 1.0]),
    "turned": SHAPE @ np.linalg.qr(np.random.default_rng(3).normal(size=(P, P)))[0],
}


@pytest.mark.parametrize("shape", OTHERS.values(), ids=OTHERS)
def test_rows_of_another_population_are_whitened(shape):
    private, public = rows(N, 2, shape), PUBLIC["rows"]
    found = look_at(private, public, noise_sd=1e-6)
    np.testing.assert_allclose(found.whitener @ found.unwhitener, np.eye(P), atol=1e-8)
    before = second_moment(private, design_of(public))
    after = second_moment(private, found)
    assert np.abs(after - np.eye(P)).max() < 0.1 * np.abs(before - np.eye(P)).max()


@pytest.mark.parametrize("shape", OTHERS.values(), ids=OTHERS)
def test_without_public_rows_one_factor_may_be_what_the_radius_cut(shape):
    private = rows(N, 2, shape)
    after = second_moment(private, look_at(private, PUBLIC["matrix"], noise_sd=1e-6))
    size = np.trace(after) / P
    assert 0.19 < size < 1.21
    assert np.abs(after / size - np.eye(P)).max() < 0.1


@pytest.mark.parametrize("public", PUBLIC.values(), ids=PUBLIC)
def test_noise_alone_does_not_change_the_coordinates(public):
    private = rows(N, 2)
    calm = look_at(private, public, noise_sd=1e-9)
    # Noise as large as what it is added to; what is believed of it is less.
    noisy = look_at(private, public, noise_sd=0.5)
    away = np.linalg.norm(second_moment(private, noisy) - np.eye(P))
    assert away < 0.5 * np.linalg.norm(noisy.ratio - np.eye(P))
    assert np.linalg.norm(second_moment(private, calm) - np.eye(P)) < 0.05


def test_matched_rows_have_calm_scores_and_others_loud_ones():
    for name, public in PUBLIC.items():
        for noise_sd in (1e-6, 0.05):
            scores = [look_at(rows(N, 10 + k), public, noise_sd, seed=k).z_score for k in range(5)]
            assert max(scores) < 4.5, name
        for other, shape in OTHERS.items():
            if (name, other) != ("matrix", "smaller"):
                assert look_at(rows(N, 2, shape), public).z_score > 10.0, (name, other)


def test_noise_that_hides_everything_raises_no_alarm():
    shape = OTHERS["one column"] / 3.0
    scores = [look_at(rows(N, 2, shape), PUBLIC["rows"], 1e3, seed=k).z_score for k in range(20)]
    assert max(scores) < 4.5


def test_nothing_public_is_contradicted_by_nothing():
    assert look_at(rows(N, 2), PublicMoments.identity(P)).z_score == 0.0


def test_what_the_radius_cuts_off_is_cut_off_both():
    found = look_at(rows(N, 2), PUBLIC["rows"], radius=2.0)
    assert found.z_score < 4.5
    # Whitening is of whole rows, although what was released is shorter.
    assert np.trace(second_moment(rows(N, 2), found)) / P == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("noise_sd", [1e-6, 1e-3, 0.05])
def test_directions_without_rows_are_not_blown_up(noise_sd):
    flat = SHAPE @ np.diag([1.0, 1.0, 1.0, 0.0])
    design = design_of(PUBLIC["rows"])
    found = look_at(rows(N, 2, flat), PUBLIC["rows"], noise_sd=noise_sd)
    assert np.isfinite(found.whitener).all()
    longest = np.linalg.norm(found.whitener, 2) / np.linalg.norm(design.whitener, 2)
    # By no more than noise lets anyone tell.
    assert longest < 1.0 / np.sqrt(2.0 * noise_sd * np.sqrt(4.0)) * 1.1


def test_the_radius_grows_with_budget_and_rows_only_where_noise_is_small():
    assert look_radius(1e-3, 100, 4) == look_radius(1.0, 100, 4) == pytest.approx(np.sqrt(12.0))
    radii = [look_radius(mu, 10**6, 4) for mu in (0.1, 1.0, 10.0)]
    assert radii == sorted(radii)
    assert radii[2] / radii[1] == pytest.approx(10.0**0.25)
