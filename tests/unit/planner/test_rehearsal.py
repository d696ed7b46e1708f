"""Rehearsals tell root mean squares over noise, and their geometric means over populations."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from publicmoments.planner.rehearsal import rehearse

MU = [1.0]


class NoisyTask:
    """Fits that are off by normal noise of the scale that the first column holds."""

    intercepts = 0

    def private_fit(self, X, y, mu, public, seed):
        noise = np.random.default_rng(seed).standard_normal(X.shape[1] + self.intercepts)
        return X[0, 0] * noise, 1.0

    def plain_fit(self, X, y):
        return np.zeros(X.shape[1] + self.intercepts)

    def plain_moments(self, X, coef):
        return np.zeros((len(coef), len(coef))), np.zeros(len(coef))


class NoisyInterceptTask(NoisyTask):
    """The same with an intercept, in the last place."""

    intercepts = 1


class UnlearntTask(NoisyTask):
    """Fits that are off by the scale in the first coefficient, whatever the noise."""

    def private_fit(self, X, y, mu, public, seed):
        return np.append(X[0, 0], np.zeros(X.shape[1] - 1)), 1.0


class HalfLearntTask(NoisyTask):
    """Fits that find the first of two coefficients, but for a hundredth, and not the other."""

    def private_fit(self, X, y, mu, public, seed):
        return np.array([0.99 * X[0, 0], 0.0]), 1.0

    def plain_fit(self, X, y):
        return X[0]


class UnluckyTask(NoisyTask):
    """Non-private fits that are off by twice as much as they should be."""

    def __init__(self, p, *, related):
        self.rng, self.related = np.random.default_rng(0), related
        self.plain = np.zeros(p)

    def private_fit(self, X, y, mu, public, seed):
        self.plain = 2.0 * self.rng.standard_normal(X.shape[1])
        return (self.plain if self.related else super().private_fit(X, y, mu, public, seed)[0]), 1.0

    def plain_fit(self, X, y):
        return self.plain

    def plain_moments(self, X, coef):
        return len(X) * np.eye(len(coef)), np.zeros(len(coef))


def populations(p, scales, columns=None):
    """Populations without effects, that differ in what noise does."""

    def drawn(rng):
        scale = rng.choice(scales)
        return SimpleNamespace(
            coef=np.zeros(p),
            metric=np.eye(p),
            residual_sd=1.0,
            sample=lambda _, n: (np.full((n, columns or p), scale), np.zeros(n)),
        )

    return SimpleNamespace(drawn=drawn, features=SimpleNamespace(inverse_bias=1.0))


def outcome(population, task, repeats, public_coef=None):
    done = rehearse(
        population, task, None, public_coef=public_coef, mus=MU, n_rows=10, repeats=repeats, seed=0
    )
    return done.outcomes[0].population


@pytest.mark.parametrize("p", [1, 2, 8])
def test_noise_is_told_by_its_root_mean_square(p):
    level = outcome(populations(p, [3.0]), NoisyTask(), 4_000)
    assert level.prediction == pytest.approx(9.0 * p, rel=0.05)
    assert level.coef == pytest.approx(np.full(p, 9.0), rel=0.1)


def test_lengths_leave_the_intercept_out():
    level = outcome(populations(3, [3.0], columns=2), NoisyInterceptTask(), 4_000)
    assert level.sizes == pytest.approx((3.0 * np.sqrt(2.0), 3.0 * np.sqrt(3.0)), rel=0.03)


def test_populations_count_by_the_logarithms_of_their_errors():
    level = outcome(populations(4, [1.0, 1.0, 1.0, 81.0]), NoisyTask(), 4_000)
    # Root mean squares of 2 and 162, the former three times as often.
    assert level.sizes == pytest.approx((6.0, 6.0), rel=0.1)
    # All coefficients share alike in that.
    assert level.coef == pytest.approx(np.full(4, level.prediction / 4), rel=0.05)


def test_errors_that_noise_has_no_part_in_are_told_as_they_are():
    level = outcome(populations(2, [5.0]), UnlearntTask(), 20)
    assert level.prediction == pytest.approx(25.0)
    assert level.coef == pytest.approx([25.0, 0.0])


@pytest.mark.parametrize(("related", "expected"), [(True, 1.0), (False, 9.0)])
def test_bad_luck_is_taken_off_as_far_as_the_fits_share_it(related, expected):
    level = outcome(populations(8, [3.0]), UnluckyTask(8, related=related), 400)
    assert level.prediction == pytest.approx(8 * expected, rel=0.06)
    assert level.coef == pytest.approx(np.full(8, expected), rel=0.3)


def half_learnt(**known):
    """Rehearse two coefficients of 3: the first is learnt, the second, in a small column, not."""
    world = SimpleNamespace(
        coef=np.array([3.0, 3.0]),
        metric=np.diag([1.0, 1e-8]),
        residual_sd=1.0,
        sample=lambda _, n: (np.full((n, 2), 3.0), np.zeros(n)),
    )
    population = SimpleNamespace(
        drawn=lambda rng: world, features=SimpleNamespace(inverse_bias=0.25)
    )
    return outcome(population, HalfLearntTask(), 2, **known)


def test_what_is_not_learnt_does_not_go_with_the_inverse_second_moment():
    level = half_learnt()
    assert level.coef == pytest.approx([0.25 * 0.03**2, 9.0], rel=1e-3)
    assert level.sizes == pytest.approx((3.0, 0.03), rel=1e-3)


def test_what_is_left_of_a_public_fit_goes_by_predictions():
    # Half of the squared error of public predictions is left: errors go with the root of 0.25.
    level = half_learnt(public_coef=np.array([3.0 + 0.03 * np.sqrt(2.0), 0.0]))
    assert level.coef == pytest.approx([0.5 * 0.03**2, 0.5 * 9.0], rel=1e-3)
    assert level.sizes == pytest.approx((3.0 * np.sqrt(0.5), 0.03), rel=1e-3)
