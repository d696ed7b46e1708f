"""Rows that stand for private ones: curvature as of any rows, corrected by what gradients show."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments.evidence.standins import (
    Secant,
    StandIns,
    enough_rows,
    made_up_rows,
    recoloured,
)
from publicmoments.families import Bernoulli, Gamma, Gaussian, Multinomial, Poisson

P, N = 3, 400
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(N, P))
FAMILIES = [Gaussian(), Gaussian(2), Bernoulli(), Poisson(), Gamma(), Multinomial(3)]


def some_coef(family, seed=1):
    return 0.4 * np.random.default_rng(seed).normal(size=P * family.n_predictors)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_curvature_is_the_mean_over_rows(family, weighted):
    stand_ins, coef = StandIns(family, ROWS), some_coef(family)
    kept = RNG.uniform(0.2, 1.0, size=N) if weighted else np.ones(N)
    k = family.n_predictors
    information = family.information(ROWS @ coef.reshape(P, k))
    expected = np.zeros((P * k, P * k))
    for z, matrix, weight in zip(ROWS, information, kept, strict=True):
        expected += weight * np.kron(np.outer(z, z), matrix) / N
    np.testing.assert_allclose(stand_ins.squares(information * kept[:, None, None]), expected)
    # No direction is near the floor.
    assert np.linalg.eigvalsh(expected)[0] > 0.05 * np.trace(expected) / len(expected)
    found = stand_ins.curvature(coef, kept if weighted else 1.0)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert stand_ins.size == P * k
    spread = np.einsum("ijj->", information) / (N * k)
    assert stand_ins.spread(coef) == pytest.approx(spread)


@pytest.mark.parametrize("family", [Bernoulli(), Poisson(), Multinomial(3)], ids=repr)
def test_curvature_is_the_derivative_of_the_mean(family):
    stand_ins, coef, step = StandIns(family, ROWS), some_coef(family), 1e-5
    columns = []
    for j in range(len(coef)):
        move = np.zeros(len(coef))
        move[j] = step
        ends = [family.mean(stand_ins.predictors(at)) for at in (coef + move, coef - move)]
        columns.append((ROWS.T @ (ends[0] - ends[1]) / N).ravel() / (2.0 * step))
    np.testing.assert_allclose(stand_ins.curvature(coef), np.array(columns).T, atol=1e-8)


def test_offsets_move_predictors():
    moved = StandIns(Poisson(), ROWS, offsets=np.full((N, 1), np.log(2.0)))
    plain, coef = StandIns(Poisson(), ROWS), some_coef(Poisson())
    np.testing.assert_allclose(moved.predictors(coef), plain.predictors(coef) + np.log(2.0))
    np.testing.assert_allclose(moved.curvature(coef), 2.0 * plain.curvature(coef))


def test_enormous_coefficients_have_finite_curvature():
    stand_ins = StandIns(Poisson(), ROWS)
    for size in (1e3, 1e150):
        assert np.isfinite(stand_ins.curvature(np.full(P, size))).all()
        assert np.abs(stand_ins.predictors(np.full(P, size))).max() == 30.0


def test_directions_without_rows_have_a_little_curvature():
    flat = ROWS.copy()
    flat[:, 2] = 0.0
    curvature = StandIns(Gaussian(), flat).curvature(np.zeros(P))
    mean = np.sum(flat**2) / N / P
    assert curvature[2, 2] == pytest.approx(0.03 * mean)


def test_moves_and_lengths():
    for family in (Gaussian(2), Poisson()):
        stand_ins, move = StandIns(family, ROWS), some_coef(family)
        expected = np.abs(ROWS @ move.reshape(P, -1)).max()
        assert stand_ins.largest_move(move) == pytest.approx(expected)
    stand_ins, move = StandIns(Multinomial(3), ROWS), some_coef(Multinomial(3))
    expected = np.mean((ROWS @ move.reshape(P, 2)) ** 4) ** 0.25
    assert stand_ins.largest_move(move) == pytest.approx(expected)
    np.testing.assert_allclose(stand_ins.lengths, np.linalg.norm(ROWS, axis=1))


# Secants


def with_secant(weight, change=None, kept=1.0, move=(0.3, -0.2, 0.1)):
    plain, move = StandIns(Bernoulli(), ROWS), np.array(move)
    at = np.zeros(P)
    hessian = plain.curvature(at, kept)
    change = 1.5 * plain.curvature(at) @ move if change is None else change
    expected = float(move @ plain.curvature(at) @ move)
    taught = StandIns(Bernoulli(), ROWS, secants=(Secant(move, change, expected, weight),))
    return taught.curvature(at, kept), hessian, move, change


@pytest.mark.parametrize("kept", [1.0, 0.6])
def test_a_trusted_secant_is_met(kept):
    found, _, move, change = with_secant(1.0, kept=kept)
    np.testing.assert_allclose(found @ move, kept * change, rtol=1e-9)


def test_half_a_trust_goes_half_the_way():
    found, plain, move, change = with_secant(0.5)
    np.testing.assert_allclose(found @ move, (change + plain @ move) / 2.0, rtol=1e-9)


def test_other_directions_stay_as_they_were():
    found, plain, move, _ = with_secant(1.0)
    # Those that the curvature does not mix with the move.
    across = np.linalg.svd((plain @ move)[None, :])[2][1:]
    np.testing.assert_allclose(across @ found @ across.T, across @ plain @ across.T, atol=1e-12)
    assert np.linalg.eigvalsh(found)[0] > 0.0


def test_what_a_secant_teaches_is_a_factor():
    """Where curvature is another, it is wrong by the same share."""
    plain, move, far = StandIns(Poisson(), ROWS), np.array([0.3, -0.2, 0.1]), np.full(P, 0.8)
    near = plain.curvature(np.zeros(P))
    secant = Secant(move, 1.5 * near @ move, float(move @ near @ move), 1.0)
    taught = StandIns(Poisson(), ROWS, secants=(secant,)).curvature(far)
    expected = 1.5 * float(move @ plain.curvature(far) @ move)
    assert float(move @ taught @ move) == pytest.approx(expected)
    assert expected > 3.0 * float(move @ near @ move)


def test_curvature_between_is_the_mean_over_the_way():
    plain, first, last = StandIns(Poisson(), ROWS), np.zeros(P), np.full(P, 0.5)
    shares = (np.arange(400) + 0.5) / 400
    expected = np.mean([plain.curvature(share * last) for share in shares], axis=0)
    np.testing.assert_allclose(plain.between(first, last), expected, rtol=2e-3, atol=2e-3)
    # So that it is what a gradient changes by.
    means = [Poisson().mean(plain.predictors(at)) for at in (first, last)]
    change = (ROWS.T @ (means[1] - means[0]) / N).ravel()
    np.testing.assert_allclose(plain.between(first, last) @ (last - first), change, rtol=5e-3)


@pytest.mark.parametrize("change", [np.zeros(P), np.array([-1.0, 0.0, 0.0])])
def test_curvature_stays_positive_whatever_a_secant_says(change):
    found, plain, _, _ = with_secant(1.0, change)
    np.testing.assert_array_equal(found, plain)
    distrusted, plain, _, _ = with_secant(0.0, change)
    np.testing.assert_allclose(distrusted, plain, atol=1e-15)


# Made-up rows


@pytest.mark.parametrize("p", [1, 2, 7, 60])
def test_made_up_rows_are_white(p):
    rows = made_up_rows(p, None)
    np.testing.assert_allclose(rows.T @ rows / len(rows), np.eye(p), atol=1e-9)
    np.testing.assert_array_equal(rows, made_up_rows(p, None))
    # Longer tails than normal ones, whose fourth moment is 3.
    assert np.mean(rows**4) > (3.2 if p > 1 else 3.0)


@pytest.mark.parametrize("p", [1, 2, 7])
def test_made_up_rows_have_an_intercept(p):
    constant = np.arange(1.0, p + 1.0)
    rows = made_up_rows(p, constant)
    np.testing.assert_allclose(rows @ constant, 1.0)
    # In other directions they are white and have no mean.
    across = np.linalg.svd(constant[None, :])[2][1:]
    others = rows @ across.T
    np.testing.assert_allclose(others.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(others.T @ others / len(rows), np.eye(p - 1), atol=1e-9)


def test_recoloured_rows_are_white():
    rows = recoloured(ROWS @ np.array([[5.0, 1.0, 0.0], [0.0, 0.5, 0.0], [0.0, 2.0, 1.0]]))
    np.testing.assert_allclose(rows.T @ rows / N, np.eye(P), atol=1e-9)
    assert np.isfinite(recoloured(np.zeros((N, P)))).all()


@pytest.mark.parametrize("constant", [None, np.array([1.0, 0.0, 0.0])])
def test_few_rows_are_joined_by_made_up_ones(constant):
    many = enough_rows(ROWS[: 2 * P], constant)
    assert len(many) == 2 * P
    for n in (1, 2 * P - 1):
        rows = enough_rows(ROWS[:n], constant)
        assert len(rows) > 100
        np.testing.assert_allclose(rows.T @ rows / len(rows), np.eye(P), atol=1e-9)
