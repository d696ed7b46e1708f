"""Explaining gradients: exact where they are, wary of wrong starts, honest about errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from publicmoments.evidence.posterior import (
    LARGEST_MOVE,
    ErrorParts,
    Observation,
    explained,
    largest_moved,
    surprise,
    told,
)
from publicmoments.evidence.standins import StandIns, recoloured
from publicmoments.evidence.start import Start
from publicmoments.families import Bernoulli, Gaussian, Multinomial, Poisson

P = 4
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(4_000, P))
TRUTH = np.array([0.6, -0.4, 0.2, 0.3])
STAND_INS = StandIns(Gaussian(), recoloured(ROWS))


def start_at(coef, variance=1.0, informed=True, n_public=10**9, k=1):
    coef = np.asarray(coef, dtype=float)
    return Start(coef, variance * np.eye(len(coef)), np.ones(k), informed, n_public)


def observed(gradient, coef, noise_sd=1e-9, bias=0.0, kept=1.0, cut=None):
    cut = np.zeros(len(coef)) if cut is None else cut
    return Observation(coef, gradient, noise_sd, bias, kept, cut, bias * np.eye(len(coef)))


def linear_gradient(coef, rng=None, noise_sd=0.0, truth=TRUTH):
    """Descent direction of white rows."""
    noise = 0.0 if rng is None else noise_sd * rng.normal(size=P)
    return truth - coef + noise


# Exact where gradients are


@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("kept", [1.0, 0.4])
@pytest.mark.parametrize("count", [1, 3])
def test_noise_free_gradients_of_a_linear_problem_give_its_solution(ridge, kept, count):
    root = RNG.normal(size=(P, P))
    penalty = ridge * root @ root.T
    places = [np.zeros(P), np.ones(P), 0.9 * TRUTH][:count]
    seen = [observed(kept * linear_gradient(at), at, kept=kept) for at in places]
    found = explained(STAND_INS, start_at(np.zeros(P)), seen, penalty, places[-1])
    np.testing.assert_allclose(found.coef, np.linalg.solve(np.eye(P) + penalty, TRUTH), atol=1e-5)


@pytest.mark.parametrize("family", [Bernoulli(), Poisson(), Multinomial(3)], ids=repr)
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_noise_free_gradients_of_a_curved_problem_give_its_solution(family, ridge):
    k = family.n_predictors
    rng = np.random.default_rng(1)
    stand_ins = StandIns(family, ROWS)
    truth = np.repeat(TRUTH, k) * rng.uniform(0.5, 1.0, size=P * k)
    penalty = ridge * np.eye(P * k)
    means = family.mean(ROWS @ truth.reshape(P, k))

    def descent(coef):
        return (ROWS.T @ (means - family.mean(stand_ins.predictors(coef))) / len(ROWS)).ravel()

    seen, coef = [], np.zeros(P * k)
    start = start_at(np.zeros(P * k), k=k)
    for _ in range(6):
        seen.append(observed(descent(coef), coef))
        coef = explained(stand_ins, start, seen, penalty, coef).coef
    np.testing.assert_allclose(descent(coef), penalty @ coef, atol=1e-4)
    if ridge == 0.0:
        np.testing.assert_allclose(coef, truth, atol=1e-3)


def test_less_noise_counts_for_more():
    other = TRUTH + 0.1
    seen = [
        observed(linear_gradient(np.zeros(P)), np.zeros(P), 0.1),
        observed(linear_gradient(np.zeros(P), truth=other), np.zeros(P), 0.2),
    ]
    # Nothing is known of the start; both gradients are taken from the same place.
    start = start_at(np.zeros(P), 1e6, informed=False)
    found = explained(STAND_INS, start, seen, np.zeros((P, P)), np.zeros(P)).coef
    np.testing.assert_allclose((found - TRUTH) / 0.1, 0.2, atol=0.05)


def test_without_noise_a_bias_is_not_mistaken_for_precision():
    near = observed(linear_gradient(np.zeros(P)), np.zeros(P), 0.01)
    biased = observed(linear_gradient(np.zeros(P)) + 1.0, np.zeros(P), 1e-6, bias=1.0)
    start = start_at(np.zeros(P), 1e6, informed=False)
    found = explained(STAND_INS, start, [near, biased], np.zeros((P, P)), np.zeros(P)).coef
    np.testing.assert_allclose(found, TRUTH, atol=0.25)


# Starts


def posterior_from(away, noise_sd=0.01, variance=1e-4, seed=0, informed=True):
    """From a start that errs by so many of its standard errors."""
    rng = np.random.default_rng(seed)
    coef = TRUTH + away * np.sqrt(variance) * rng.normal(size=P)
    seen = [observed(linear_gradient(coef, rng, noise_sd), coef, noise_sd) for _ in range(3)]
    start = start_at(coef, variance, informed)
    return explained(STAND_INS, start, seen, np.zeros((P, P)), coef), start


def test_a_start_that_is_as_good_as_it_says_is_used():
    doubts, errors, alone = [], [], []
    for seed in range(40):
        found, _ = posterior_from(1.0, noise_sd=0.05, seed=seed)
        doubts.append(found.doubt)
        errors.append(np.sum((found.coef - TRUTH) ** 2))
        alone.append(P * 0.05**2 / 3.0)
    assert np.median(doubts) < 2.0
    assert np.mean(errors) < 0.5 * np.mean(alone)


@pytest.mark.parametrize("away", [30.0, 1e3])
def test_a_wrong_start_fades(away):
    found, start = posterior_from(away)
    assert found.doubt > 0.1 * away**2
    assert np.linalg.norm(found.coef - TRUTH) < 0.1 * np.linalg.norm(start.coef - TRUTH)
    # Its precision has been taken down by as much.
    np.testing.assert_allclose(found.prior, np.eye(P) / 1e-4 / found.doubt, rtol=1e-9)


def test_doubt_grows_with_the_distance_and_is_no_less_than_one():
    doubts = [posterior_from(away)[0].doubt for away in (0.0, 10.0, 100.0, 1_000.0)]
    assert doubts[0] == 1.0
    assert doubts == sorted(doubts)
    assert doubts[-1] > 1e4
    # Without public responses a start may also turn out better than it says.
    assert posterior_from(0.0, informed=False, variance=1.0)[0].doubt < 0.1


def test_surprise_is_a_normal_score():
    draws = stats.chi2.rvs(5, size=20_000, random_state=0) / 5
    scores = [surprise(doubt, 5) for doubt in draws]
    assert np.mean(scores) == pytest.approx(0.0, abs=0.03)
    assert np.std(scores) == pytest.approx(1.0, abs=0.03)
    assert 5.0 < surprise(100.0, 5) < 100.0
    assert np.isfinite([surprise(1.0, 1), surprise(1e300, 1), surprise(0.0, 5)]).all()


# Errors


@pytest.mark.parametrize("variance", [1e-4, 1.0])
def test_error_parts_are_those_of_many_fits(variance):
    """Starts and noise drawn again; the private rows are the population."""
    noise_sd, found, stated = 0.05, [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        coef = TRUTH + np.sqrt(variance) * rng.normal(size=P)
        seen = [observed(linear_gradient(coef, rng, noise_sd), coef, noise_sd)]
        seen.append(observed(linear_gradient(TRUTH, rng, noise_sd), TRUTH, noise_sd))
        posterior = explained(
            STAND_INS, start_at(coef, variance), seen, np.zeros((P, P)), np.zeros(P)
        )
        found.append(posterior.coef - TRUTH)
        stated.append(np.trace(posterior.errors(seen, np.zeros((P, P))).total))
    assert np.mean(np.square(found)) * P == pytest.approx(np.mean(stated), rel=0.25)


def test_noise_is_that_of_a_repeated_release():
    """With the same start and gradients but for their noise."""
    noise_sd, found, parts = 0.02, [], None
    for seed in range(300):
        rng = np.random.default_rng(seed)
        places = [np.zeros(P), 0.5 * TRUTH]
        seen = [observed(linear_gradient(at, rng, noise_sd), at, noise_sd) for at in places]
        start = start_at(np.zeros(P), 1.0)
        posterior = explained(STAND_INS, start, seen, np.zeros((P, P)), np.zeros(P))
        found.append(posterior.coef)
        parts = parts or posterior.errors(seen, np.zeros((P, P)))
    assert np.var(found, axis=0).sum() == pytest.approx(np.trace(parts.noise), rel=0.25)


def test_what_bounds_cut_off_adds_up_over_gradients():
    cut = np.array([0.0, 0.1, 0.0, 0.0])
    places = [np.zeros(P), TRUTH]
    seen = [observed(linear_gradient(at), at, 0.01, bias=0.03, cut=cut) for at in places]
    posterior = explained(STAND_INS, start_at(TRUTH, 1e4), seen, np.zeros((P, P)), np.zeros(P))
    parts = posterior.errors(seen, np.zeros((P, P)))
    # The whole of the cut in its direction, not half of it, and a little in all.
    np.testing.assert_allclose(np.diag(parts.bias), cut**2 + 0.03**2, rtol=0.02)
    np.testing.assert_allclose(parts.total, parts.noise + parts.sampling + parts.bias)


def test_private_rows_are_believed_as_far_as_anything_was_learned():
    own = 1e-3 * np.eye(P)
    seen = [observed(linear_gradient(np.zeros(P)), np.zeros(P), 1e-6)]
    sure = explained(STAND_INS, start_at(TRUTH, 100.0), seen, np.zeros((P, P)), TRUTH)
    np.testing.assert_allclose(sure.errors(seen, own).sampling, own, rtol=0.01, atol=1e-6)
    blind = [observed(linear_gradient(np.zeros(P)), np.zeros(P), 1e6)]
    none = explained(STAND_INS, start_at(TRUTH, 0.25), blind, np.zeros((P, P)), TRUTH)
    np.testing.assert_allclose(none.errors(blind, own).sampling, 0.25 * np.eye(P), atol=1e-6)


def test_parts_add_up():
    parts = ErrorParts(np.eye(2), 2.0 * np.eye(2), 4.0 * np.eye(2))
    np.testing.assert_array_equal(parts.total, 7.0 * np.eye(2))


# Steps


def test_what_is_told_leaves_out_the_pull_of_the_penalty():
    seen = observed(np.ones(2), np.array([1.0, 2.0]), kept=np.array([0.25, 0.75]))
    np.testing.assert_array_equal(told(seen, np.diag([1.0, 3.0])), [0.5, -2.0])


def test_steps_are_no_longer_than_stand_ins_can_vouch_for():
    stand_ins = StandIns(Poisson(), ROWS)
    short = largest_moved(stand_ins, TRUTH, TRUTH + 1e-3)
    np.testing.assert_allclose(short, TRUTH + 1e-3)
    far = largest_moved(stand_ins, TRUTH, TRUTH + 1e3)
    assert stand_ins.largest_move(far - TRUTH) == pytest.approx(LARGEST_MOVE)
    np.testing.assert_allclose((far - TRUTH) / (far - TRUTH)[0], np.ones(P))
    np.testing.assert_array_equal(largest_moved(stand_ins, TRUTH, TRUTH), TRUTH)
