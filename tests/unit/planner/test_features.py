"""Laws of features agree with what is public, and differ by what it leaves open."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments import PublicMoments
from publicmoments.planner.features import feature_law
from tests.unit.planner.populations import public_rows


def test_drawn_rows_have_the_public_moments():
    B, _ = public_rows(2_000)
    law = feature_law(PublicMoments.from_rows(B))
    z, _ = law.whitened(np.random.default_rng(0), 200_000)
    X = law.mean + z @ law.root
    assert X.mean(axis=0) == pytest.approx(B.mean(axis=0), rel=0.02, abs=0.02)
    assert np.cov(X, rowvar=False) == pytest.approx(np.cov(B, rowvar=False), rel=0.05, abs=0.05)


@pytest.mark.parametrize(("stated", "kurtosis"), [(0.8, 1.0), (1.0, 1.0), (1.5, 1.5)])
def test_drawn_rows_have_the_stated_kurtosis(stated, kurtosis):
    law = feature_law(PublicMoments.from_matrix(np.eye(3), n=10**8), stated)
    z, _ = law.whitened(np.random.default_rng(0), 400_000)
    fourth = np.mean(np.sum(z**2, axis=1) ** 2) / (3 * 5)
    # The eighth moment of heavy tails is infinite: their fourth is known badly.
    assert fourth == pytest.approx(kurtosis, rel=0.02 if kurtosis == 1.0 else 0.15)


def test_tails_are_taken_to_be_heavier_in_proportion_to_what_is_seen():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(400, 5))
    heavy = rows * np.sqrt(6.0 / rng.chisquare(8.0, size=400))[:, None]
    taken = [whole_excess(feature_law(PublicMoments.from_rows(B))) for B in (rows, heavy)]
    # Of Student rows with 8 degrees of freedom it is a half; few rows show less of it.
    assert taken[0] < 0.1
    assert 0.5 < taken[1] < 1.5


def whole_excess(law):
    """Excess of the fourth moment of smoothed public rows, longer by Student factors."""
    fourth = np.mean(np.sum(law.rows**2, axis=1) ** 2) / (law.rank * (law.rank + 2))
    smoothed = 1.0 + (fourth - 1.0) / (1.0 + law.jitter**2) ** 2
    return smoothed * (1.0 + 2.0 / (law.tail - 4.0)) - 1.0


def test_rows_that_nobody_has_seen_have_tails_beyond_those_that_are_public():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(100, 5)) * np.sqrt(4.0 / rng.chisquare(6.0, size=100))[:, None]
    law = feature_law(PublicMoments.from_rows(rows))
    z, like = law.whitened(rng, 400_000)
    fourth = np.sum(z**2, axis=1) ** 2 / (5 * 7)
    # One row in 1 + (100 / 400)^2 is like none of the public ones.
    assert np.mean(like < 0) == pytest.approx(1.0 / 1.0625, abs=0.005)
    assert fourth[like < 0].mean() == pytest.approx(1.0 + whole_excess(law), rel=0.1)
    assert fourth[like >= 0].mean() < 0.9 * fourth[like < 0].mean()


def test_few_public_rows_show_classes_that_are_apart():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 3))
    rows[:, 0] = np.repeat([-1.0, 1.0], 50) + 0.1 * rows[:, 0]
    law = feature_law(PublicMoments.from_rows(rows))
    z, _ = law.whitened(rng, 20_000)
    X = law.mean + z @ law.root
    # One normal row in four would be between them.
    assert np.mean(np.abs(X[:, 0]) < 0.3) < 0.02


def test_a_constant_column_stays_constant():
    B, _ = public_rows(100)
    law = feature_law(PublicMoments.from_rows(np.column_stack([B, np.ones(100)])))
    drawn = law.drawn(np.random.default_rng(1))
    z, _ = drawn.whitened(np.random.default_rng(0), 50)
    assert law.rank == 3
    assert np.ptp((drawn.mean + z @ drawn.root)[:, 3]) == pytest.approx(0.0, abs=1e-9)


def test_second_moments_vary_as_those_of_so_many_rows_do():
    d, n = 4, 30
    law = feature_law(PublicMoments.from_matrix(np.eye(d), n=n))
    rng = np.random.default_rng(0)
    mean = np.mean([law.drawn(rng).covariance for _ in range(2_000)], axis=0)
    # The mean of an inverted Wishart matrix.
    assert np.diag(mean) == pytest.approx(n / (n - d - 1), rel=0.05)


def test_second_moments_of_heavy_tailed_rows_vary_more():
    d, n, kurtosis = 3, 400, 2.0
    rng = np.random.default_rng(0)
    public = PublicMoments.from_matrix(np.eye(d), n=n)
    drawn = [feature_law(public, kurtosis).drawn(rng).covariance[0, 0] for _ in range(3_000)]
    # Normal rows of which every other one is zero, and the rest longer, have that kurtosis.
    rows = rng.standard_normal((3_000, n)) * np.sqrt(2.0 * rng.integers(2, size=(3_000, n)))
    sampled = np.mean(rows**2, axis=1)
    assert np.std(np.log(drawn)) == pytest.approx(np.std(np.log(sampled)), rel=0.07)
    light = [feature_law(public, 1.0).drawn(rng).covariance[0, 0] for _ in range(3_000)]
    assert np.std(np.log(drawn)) > 1.4 * np.std(np.log(light))


@pytest.mark.parametrize("moment", [np.eye(4), np.diag([1.0, 1e-2, 1e-4, 1e-6])])
def test_a_draw_is_to_coefficients_what_a_sample_is(moment):
    # Of Gaussian rows, c' S c / c' T c follows chi^2 over its degrees of freedom, S being the
    # second moment of a sample and T the true one, and the mean of S over T is one, whatever c is.
    n, coef = 12, np.array([1.0, -2.0, 0.5, 3.0])
    law = feature_law(PublicMoments.from_matrix(moment, n=n))
    rng = np.random.default_rng(3)
    draws = [law.drawn(rng, coef).covariance for _ in range(4_000)]
    ratios = np.array([coef @ moment @ coef / (coef @ drawn @ coef) for drawn in draws])
    assert ratios.mean() == pytest.approx(1.0, abs=0.03)
    assert ratios.var() == pytest.approx(2 / n, rel=0.1)
    traces = [np.trace(np.linalg.solve(drawn, moment)) for drawn in draws]
    assert np.mean(traces) == pytest.approx(4.0, rel=0.02)


def test_inverses_of_drawn_moments_are_typically_right_once_corrected():
    rng, logs = np.random.default_rng(0), []
    for _ in range(3_000):
        rows = rng.normal(size=(20, 6))
        law = feature_law(PublicMoments.from_matrix(rows.T @ rows / 20, n=20))
        inverse = np.linalg.inv(law.drawn(rng).second_moment)
        logs.append(np.log(law.inverse_bias * inverse[0, 0]))
    assert np.mean(logs) == pytest.approx(0.0, abs=0.05)
