"""The public stage: weights, second moments, the intercept; what a curvature teaches it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from publicmoments import PublicMoments
from publicmoments.families import Bernoulli, Gaussian, Multinomial, Poisson
from publicmoments.models.glm.stage import (
    MADE_UP_ROWS,
    MOST_UNTRUE,
    Lesson,
    Stage,
    believed_root,
    made_up_rows,
    make_stage,
)

D = 3
B = np.random.default_rng(0).normal(2.0, 1.0, size=(150, D)) @ np.array(
    [[1.0, 0.5, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 2.0]]
)
PUBLIC = {
    "rows": PublicMoments.from_rows(B),
    "few rows": PublicMoments.from_rows(B[:5]),
    "moments": PublicMoments.from_mean_cov(B.mean(axis=0), np.cov(B.T, bias=True), n=150),
    "matrix": PublicMoments.from_matrix(B.T @ B / 150, n=150),
    "nothing": PublicMoments.identity(D),
}


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", PUBLIC)
def test_stages_stand_for_whitened_rows(name, fit_intercept):
    design = PUBLIC[name].design(fit_intercept=fit_intercept)
    stage = make_stage(design, Bernoulli(), 0.0)
    p = D + fit_intercept
    assert stage.rows.shape[1] == p == stage.size
    assert (stage.weights > 0.0).all()
    assert stage.weights.sum() == pytest.approx(1.0)
    moment = (stage.rows * stage.weights[:, None]).T @ stage.rows
    assert np.abs(moment - np.eye(p)).max() < (0.6 if name == "few rows" else 0.05)
    assert 0.0 < stage.untruth <= MOST_UNTRUE
    if fit_intercept:
        # Every row has the constant one among its columns, whitened as the others are.
        np.testing.assert_allclose(stage.rows @ design.unwhitener[:, -1], 1.0, atol=1e-9)


def test_public_rows_come_first_and_count_most():
    design = PUBLIC["rows"].design(fit_intercept=True)
    stage = make_stage(design, Bernoulli(), 0.0)
    np.testing.assert_allclose(stage.rows[:150], design.rows @ design.whitener)
    assert stage.weights[:150].sum() == pytest.approx(150 / (150 + D + 1))


def test_more_public_rows_make_a_truer_stage():
    rng = np.random.default_rng(1)
    untruths = [
        make_stage(
            PublicMoments.from_rows(rng.normal(size=(n, D))).design(fit_intercept=True),
            Bernoulli(),
            0.0,
        ).untruth
        for n in (10, 100, 1000)
    ]
    assert untruths == sorted(untruths, reverse=True)
    assert untruths[-1] < 0.01


def test_rows_that_were_not_kept_count_for_nothing():
    rows = np.random.default_rng(2).normal(size=(6000, D))
    many, kept = (
        PublicMoments.from_rows(rows[:n]).design(fit_intercept=False) for n in (6000, 2000)
    )
    assert len(many.rows) == len(kept.rows) == 2000
    untruths = [make_stage(design, Bernoulli(), 0.0).untruth for design in (many, kept)]
    assert untruths[0] == pytest.approx(untruths[1], rel=0.1)


@pytest.mark.parametrize("p", [1, 2, 7])
def test_made_up_rows(p):
    rows = made_up_rows(p, MADE_UP_ROWS, None)
    assert rows.shape == (MADE_UP_ROWS, p)
    np.testing.assert_allclose(rows.T @ rows / len(rows), np.eye(p), atol=1e-9)
    np.testing.assert_allclose(rows.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_array_equal(rows, made_up_rows(p, MADE_UP_ROWS, None))
    # Tails heavier than normal ones: a fourth moment above 3.
    assert np.mean(rows[:, 0] ** 4) > 3.2


@pytest.mark.parametrize("constant", [[2.0], [0.6, 0.8], [1.0, 2.0, 2.0]])
def test_made_up_rows_with_an_intercept(constant):
    constant = np.array(constant)
    rows = made_up_rows(len(constant), 500, constant)
    np.testing.assert_allclose(rows @ constant, 1.0)
    axis = constant / np.linalg.norm(constant)
    others = rows - np.outer(rows @ axis, axis)
    rank = len(constant) - 1
    np.testing.assert_allclose(np.trace(others.T @ others / len(rows)), rank, atol=1e-9)


def test_made_up_rows_cannot_be_spoilt():
    with pytest.raises(ValueError, match="read-only"):
        made_up_rows(3, 500, None)[0, 0] = 1.0


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_penalty_is_that_of_raw_coefficients_without_the_intercept(fit_intercept):
    design = PUBLIC["rows"].design(fit_intercept=fit_intercept)
    penalty = make_stage(design, Bernoulli(), 0.7).penalty
    raw = np.arange(1.0, D + 1 + fit_intercept)
    whitened = design.unwhitener @ raw
    assert whitened @ penalty @ whitened == pytest.approx(0.7 * np.sum(raw[:D] ** 2))


def test_what_weights_keep():
    rows = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    even = np.full(3, 1.0 / 3.0)
    stage = Stage(Bernoulli(), rows, even, np.zeros((2, 2)), 0.1)
    np.testing.assert_allclose(stage.kept(np.zeros(2), 2.0), [0.4, 1.0, 1.0])
    counts = Stage(Poisson(), rows, even, np.zeros((2, 2)), 0.1)
    # Spreads of sqrt(1 + exp(log 3)) = 2 on the first row.
    coef = np.array([0.0, math.log(3.0) / 4.0])
    np.testing.assert_allclose(counts.kept(coef, 2.0)[0], 0.2)


@pytest.mark.parametrize("family", [Gaussian(), Poisson(), Multinomial(3)], ids=repr)
def test_hessians_are_sums_over_rows(family):
    rng = np.random.default_rng(3)
    rows, k = rng.normal(size=(20, 2)), family.n_predictors
    weights, kept = rng.dirichlet(np.ones(20)), rng.random(20)
    stage = Stage(family, rows, weights, 0.3 * np.eye(2), 0.1)
    coef = rng.normal(size=2 * k)
    information = family.information(rows @ coef.reshape(2, k))
    expected = 0.3 * np.eye(2 * k)
    for row, weight, keep, matrix in zip(rows, weights, kept, information, strict=True):
        expected += weight * keep * np.kron(np.outer(row, row), matrix)
    np.testing.assert_allclose(stage.hessian(coef, kept), expected, rtol=1e-12)


def test_predictors_stay_within_what_exponentials_bear():
    stage = Stage(Poisson(), np.array([[1.0], [-1.0]]), np.full(2, 0.5), np.zeros((1, 1)), 0.1)
    np.testing.assert_array_equal(stage.predictors(np.array([1e6])), [[30.0], [-30.0]])
    moved = stage.after_move(np.array([[1.0], [2.0]]), np.array([0.5]))
    np.testing.assert_array_equal(moved, [[1.5], [1.5]])


def test_a_lesson_stretches_moves_and_is_forgotten_far_away():
    rows = np.random.default_rng(4).normal(size=(50, 2))
    stage = Stage(Bernoulli(), rows, np.full(50, 0.02), np.zeros((2, 2)), 0.5)
    stretch = np.array([[2.0, 0.0], [0.0, 0.5]])
    taught = stage.taught(Lesson(stretch, np.zeros(2), 0.01))
    np.testing.assert_array_equal(taught.moving_rows, rows @ stretch)
    np.testing.assert_array_equal(stage.moving_rows, rows)
    assert taught.untruth_at(np.zeros(2)) == 0.01
    assert taught.untruth_at(np.array([1.0, 0.0])) == pytest.approx(0.11)
    assert taught.untruth_at(np.array([100.0, 0.0])) == stage.untruth == 0.5
    assert stage.untruth_at(np.zeros(2)) == 0.5


def test_a_curvature_without_noise_is_believed_within_limits():
    axes, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(4, 4)))
    root = believed_root((axes * [0.001, 0.06, 1.0, 300.0]) @ axes.T, 0.0)
    np.testing.assert_allclose(root, root.T, atol=1e-12)
    np.testing.assert_allclose(root @ root, (axes * [0.05, 0.06, 1.0, 20.0]) @ axes.T, atol=1e-9)


def test_noise_alone_is_never_taken_for_half_a_curvature():
    rng, p, sd = np.random.default_rng(6), 40, 0.02
    for _ in range(20):
        noise = rng.normal(size=(p, p)) * sd
        noise = (noise + noise.T) / math.sqrt(2.0)
        curvature = np.diag(np.r_[0.05, np.ones(p - 1)])
        root = believed_root(curvature + noise, sd)
        largest = np.abs(np.linalg.eigvalsh(noise)).max()
        # The largest eigenvalue of such noise is within 20 % of its limit, of which two are asked.
        assert np.linalg.eigvalsh(root @ root)[0] == pytest.approx(2.0 * largest, rel=0.2)


def test_a_curvature_lost_in_noise_is_not_taken_for_more_than_the_stage_has():
    root = believed_root(np.diag([-3.0, 0.4, 2.0]), 10.0)
    np.testing.assert_allclose(root @ root, np.diag([1.0, 1.0, 2.0]), atol=1e-12)
