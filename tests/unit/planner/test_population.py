"""Made-up populations agree with what is public, and differ by what it leaves open."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special, stats

from publicmoments import PublicMoments
from publicmoments.planner import evidence, predictors
from publicmoments.planner.features import feature_law
from publicmoments.planner.fits import Task
from publicmoments.planner.knowledge import Stated, population_of
from publicmoments.planner.truths import likely

COEF = np.array([1.0, -2.0, 0.5])


def public_rows(count, seed=0, sd=0.5):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(count, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, 1.0]
    return B, B @ COEF + sd * rng.normal(size=count)


def standard_rows(d):
    return np.random.default_rng(0).normal(size=(1_000, d))


def worlds(population, count=300):
    return [population.drawn(np.random.default_rng([k])) for k in range(count)]


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


def test_residual_sds_are_typically_right_and_spread_as_their_freedom_says():
    B, y = public_rows(23)
    population = population_of(
        PublicMoments.from_rows(B, response=y), Task("ridge", 0.0, True), Stated()
    )
    # With f = 19 the logarithm of a public variance is short of the true one by this on average,
    # and so that of a drawn one has to be above the public one by it; its mean is s^2 f / (f - 2).
    short = np.log(19 / 2) - special.digamma(19 / 2)
    sds = np.array([world.residual_sd for world in worlds(population, 3_000)])
    logs = 2.0 * np.log(sds / population.law.residual_sd)
    assert logs.mean() == pytest.approx(short, abs=3 * logs.std() / np.sqrt(3_000))
    assert np.mean(np.exp(logs)) == pytest.approx(19 / 17, rel=0.02)


def test_coefficients_vary_as_the_public_fit_does():
    B, y = public_rows(50)
    population = population_of(
        PublicMoments.from_rows(B, response=y), Task("ridge", 0.0, True), Stated()
    )
    drawn = np.array([world.coef for world in worlds(population, 2_000)])
    X = np.column_stack([B, np.ones(50)])
    variance = population.law.residual_sd**2 * np.diag(np.linalg.inv(X.T @ X))
    assert drawn.var(axis=0) == pytest.approx(variance, rel=0.15)
    assert drawn.mean(axis=0) == pytest.approx(
        population.law.centre, abs=4 * np.sqrt(variance.max() / 2_000)
    )


def test_a_stated_r2_is_met():
    public = PublicMoments.from_matrix(np.diag([1.0, 100.0]), n=10_000, response_scale=3.0)
    population = population_of(public, Task("ridge", 0.0, False), Stated(r2=0.75))
    world = population.drawn(np.random.default_rng(0))
    X, y = world.sample(np.random.default_rng(1), 100_000)
    assert np.mean(y**2) == pytest.approx(9.0, rel=0.03)
    assert np.mean((X @ world.coef) ** 2) == pytest.approx(0.75 * 9.0, rel=0.03)


def test_a_stated_residual_sd_is_met_with_a_known_mean():
    public = PublicMoments.from_mean_cov([1.0, 7.0], np.diag([1.0, 25.0]), n=10_000, response=1)
    assert population_of(public, Task("ridge", 0.0, True), Stated()).law.freedom == 9_998
    unknown = PublicMoments.from_matrix(np.eye(2), n=100, response_scale=2.0)
    law = population_of(unknown, Task("ridge", 0.0, False), Stated(residual_sd=1.0)).law
    assert (law.residual_sd, law.signal) == pytest.approx((1.0, np.sqrt(3.0)))


def test_labels_and_counts_follow_their_models():
    public = PublicMoments.from_mean_cov([3.0, -2.0], np.eye(2), n=100_000)
    for model, mean in (("logistic", 0.5), ("poisson", np.exp(0.5**2 / 2))):
        population = population_of(public, Task(model, 0.0, True), Stated(predictor_sd=0.5))
        world = population.drawn(np.random.default_rng(0))
        X, y = world.sample(np.random.default_rng(1), 50_000)
        predictor = X @ world.coef[:2] + world.coef[2]
        assert np.sqrt(np.mean(predictor**2)) == pytest.approx(0.5, rel=0.05)
        assert y.mean() == pytest.approx(mean, rel=0.03)
        assert np.mean((y - world.task.family.mean(predictor)) * predictor) == pytest.approx(
            0.0, abs=0.02
        )


def test_bends_leave_least_squares_alone():
    B, y = public_rows(30)
    population = population_of(
        PublicMoments.from_rows(B, response=y), Task("ridge", 0.0, True), Stated()
    )
    world = population.drawn(np.random.default_rng(0))
    z, _ = world.features.whitened(np.random.default_rng(1), 5_000)
    X = world.features.mean + z @ world.features.root
    bends = np.array([world._bend(np.random.default_rng(k), z, X) for k in range(400)])
    assert np.abs(bends @ X).max() < 1e-6
    # One part in 550 for each of three directions, of which 30 public rows show some.
    assert np.mean(bends**2) == pytest.approx(3.0 * (1.0 - 30.0 / 580.0) / 550.0, rel=0.1)
    # They grow with the square of the length of a row, less a multiple of the length.
    length = np.linalg.norm(z, axis=1)
    sizes = np.sqrt(np.mean(bends**2, axis=0))
    centre = np.mean(length**3) / np.mean(length**2)
    long = length > 1.5 * centre
    expected = length[long] * (length[long] - centre)
    assert np.polyfit(np.log(expected), np.log(sizes[long]), 1)[0] == pytest.approx(1.0, abs=0.1)


def test_a_stated_mean_response_is_met():
    moment = np.array([[2.0, 0.5, 1.0], [0.5, 1.0, 0.0], [1.0, 0.0, 9.0]])
    # Features with such second moments, whose mean nobody told or everybody knows.
    unknown = PublicMoments.from_matrix(moment, n=10**8)
    mean = np.array([1.0, 0.5, 2.0])
    known = PublicMoments.from_mean_cov(mean, moment - np.outer(mean, mean), n=10**8)
    for public, intercept in ((unknown, False), (known, False), (known, True)):
        for model, stated in (("logistic", 0.35), ("poisson", 2.0)):
            task = Task(model, 0.0, intercept)
            wanted = Stated(predictor_sd=1.0, response_mean=stated)
            for k in range(4):
                world = population_of(public, task, wanted).drawn(np.random.default_rng(k))
                X, y = world.sample(np.random.default_rng(1), 100_000)
                predictor = task.design(X) @ world.coef
                size = np.std(predictor) if intercept else np.sqrt(np.mean(predictor**2))
                assert size == pytest.approx(1.0, rel=0.05)
                assert y.mean() == pytest.approx(stated, rel=0.06)
                assert X.T @ X / len(X) == pytest.approx(moment, rel=0.1, abs=0.1)


def test_a_mean_response_out_of_reach_is_met_as_far_as_may_be():
    public = PublicMoments.from_matrix(np.eye(2), n=10**8)
    stated = Stated(predictor_sd=1.0, response_mean=0.01)
    world = population_of(public, Task("logistic", 0.0, False), stated).drawn(
        np.random.default_rng(0)
    )
    X, _ = world.sample(np.random.default_rng(1), 20_000)
    predictor = X @ world.coef
    assert np.sqrt(np.mean(predictor**2)) == pytest.approx(1.0, rel=0.05)
    assert predictor.mean() == pytest.approx(-0.99, abs=0.02)


def test_the_stated_predictor_is_that_of_the_penalised_fit():
    # Columns of one size, so that the penalty is felt in all directions alike.
    public = PublicMoments.from_matrix(2.0 * np.eye(3), n=10**8)
    lengths = {}
    for alpha in (0.0, 0.05):
        task = Task("logistic", alpha, False)
        fitted, true = [], []
        for world in worlds(population_of(public, task, Stated(predictor_sd=2.0)), 10):
            X, y = world.sample(np.random.default_rng(1), 50_000)
            fitted.append(np.sqrt(np.mean((X @ task.plain_fit(X, y)) ** 2)))
            true.append(np.sqrt(np.mean((X @ world.coef) ** 2)))
        assert np.mean(fitted) == pytest.approx(2.0, rel=0.03)
        assert fitted == pytest.approx(2.0 * np.ones(10), rel=0.08)
        lengths[alpha] = np.mean(true)
    assert lengths[0.05] > 1.3 * lengths[0.0]


def fitted_size(world, X, task):
    """Size of the linear predictor of a fit to the probabilities of labels."""
    fitted = X @ task.plain_fit(X, special.expit(X @ world.coef))
    return np.sqrt(np.mean(fitted**2))


def test_lengths_are_those_whose_penalised_fit_is_as_stated():
    # Coefficients of the third column cost ten thousand times as much, and are hardly fitted.
    moment, stated = np.diag([1.0, 1.0, 1e-4]), 1.5
    public, task = PublicMoments.from_matrix(moment, n=10**8), Task("logistic", 0.02, False)
    drawn = worlds(population_of(public, task, Stated(predictor_sd=stated)), 150)
    lengths = np.sqrt([world.coef @ moment @ world.coef for world in drawn])
    # The same by drawing from what is likely before, and keeping what has such a fit.
    rng, kept = np.random.default_rng(0), []
    X = standard_rows(3) @ np.sqrt(moment)
    while len(kept) < 150:
        coef = rng.normal(size=3) / np.sqrt(np.diag(moment))
        length = 0.95 * stated * 30.0 ** rng.uniform()
        coef *= length / np.sqrt(coef @ moment @ coef)
        size = fitted_size(SimpleNamespace(coef=coef), X, task)
        if abs(size - stated) < 0.075 and rng.uniform() < likely(length):
            kept.append(length)
    assert stats.ks_2samp(lengths, kept).pvalue > 0.01
    assert np.mean(lengths > 2.0 * stated) > 0.3
    sizes = [fitted_size(world, X, task) for world in drawn]
    assert np.mean(np.abs(np.array(sizes) / stated - 1.0) < 0.1) > 0.95


def test_sizes_of_predictors_have_a_half_cauchy_law():
    logs = np.linspace(-20.0, 20.0, 40_001)
    share = np.cumsum(likely(np.exp(logs))) / np.sum(likely(np.exp(logs)))
    for size in (0.1, 1.0, 10.0):
        assert np.interp(np.log(size), logs, share) == pytest.approx(
            stats.halfcauchy.cdf(size), abs=1e-3
        )


@pytest.mark.parametrize("signal", [1e-9, 1.0, 1e3])
def test_lengths_of_any_size_are_drawn_in_few_steps(signal):
    rng = np.random.default_rng(0)
    draws = SimpleNamespace(made=0)

    def uniform():
        draws.made += 1
        return rng.uniform()

    law = predictors.PredictorLaw(signal, None, None, Task("logistic", 0.01, False))
    lengths = [law._length(SimpleNamespace(uniform=uniform)) for _ in range(100)]
    assert signal * 0.95 <= min(lengths) < max(lengths) <= 30.0 * signal
    assert draws.made < 100 * 2 * 10


def test_sizes_beyond_any_fit_are_met_as_far_as_may_be(monkeypatch):
    # No fit is half as long as stated; the longer the truth, the nearer.
    public, task = PublicMoments.from_matrix(np.eye(2), n=10**8), Task("logistic", 0.1, False)
    population, X = population_of(public, task, Stated(predictor_sd=3.0)), standard_rows(2)
    best = fitted_size(SimpleNamespace(coef=np.array([1e3, 0.0])), X, task)
    assert best < 1.5
    sizes = {}
    for tries in (1, 40):
        monkeypatch.setattr(predictors, "MOST_TRIES", tries)
        sizes[tries] = np.mean([fitted_size(world, X, task) for world in worlds(population, 20)])
    assert sizes[40] > 0.95 * best > 1.05 * sizes[1]


def pseudo_r2(predictor, y):
    """Share of the deviance of labels that a linear predictor explains."""
    left = np.mean(np.logaddexp(0.0, predictor) - y * predictor)
    return 1.0 - left / (special.entr(y.mean()) + special.entr(1.0 - y.mean()))


@pytest.mark.parametrize("alpha", [0.0, 0.01])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("share", [0.5, 0.3])
def test_a_stated_r2_of_labels_is_met_by_classes_that_are_apart(alpha, intercept, share):
    moment = np.array([[1.0, 0.5], [0.5, 4.0]])
    public, task = PublicMoments.from_matrix(moment, n=10**8), Task("logistic", alpha, intercept)
    if intercept:
        public = PublicMoments.from_mean_cov([1.0, 0.5], moment, n=10**8)
    wanted = Stated(predictor_sd=4.0, response_mean=share, r2=0.8)
    for world in worlds(population_of(public, task, wanted), 3):
        X, y = world.sample(np.random.default_rng(1), 100_000)
        fitted = task.design(X) @ task.plain_fit(X, y)
        size = np.std(fitted) if intercept else np.sqrt(np.mean(fitted**2))
        assert size == pytest.approx(4.0, rel=0.08)
        assert y.mean() == pytest.approx(share, abs=0.02)
        assert pseudo_r2(fitted, y) == pytest.approx(0.8, abs=0.03)
        # Normal linear predictors of that size would not explain as much.
        normal = np.random.default_rng(2).normal(0.0, 4.0, size=100_000)
        assert pseudo_r2(normal, special.expit(normal)) < 0.7
        centred = X - X.mean(axis=0) if intercept else X
        assert centred.T @ centred / len(X) == pytest.approx(moment, rel=0.05, abs=0.05)


def test_an_r2_below_that_of_normal_predictors_parts_nothing():
    public, task = PublicMoments.from_matrix(np.eye(2), n=10**8), Task("logistic", 0.0, False)
    population = population_of(public, task, Stated(predictor_sd=2.0, r2=0.05))
    assert [world.features.parting for world in worlds(population, 5)] == 5 * [None]


def labels_law(count, coef, seed=0):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(count, len(coef)))
    y = (rng.logistic(size=count) < B @ coef).astype(float)
    public = PublicMoments.from_rows(B, response=y)
    return population_of(public, Task("logistic", 0.0, False), Stated())


def test_separable_labels_give_a_finite_population():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(40, 3))
    public = PublicMoments.from_rows(B, response=(B[:, 0] > 0).astype(float))
    population = population_of(public, Task("logistic", 0.0, True), Stated())
    drawn = np.array([world.coef for world in worlds(population, 100)])
    assert np.isfinite(drawn).all()
    assert 1.0 < np.median(drawn[:, 0]) < 50.0


def test_coefficients_of_many_labels_vary_as_their_fit_does():
    coef = np.array([1.0, -0.5])
    population = labels_law(1_000, coef)
    drawn = np.array([world.coef for world in worlds(population, 1_500)])
    z = population.law.z
    fit = Task("logistic", 0.0, False).plain_fit(z, population.law.y)
    curvature = population.task.family.curvature(z @ fit)
    whitener = population.law.whitener
    covariance = whitener @ np.linalg.inv((z * curvature[:, None]).T @ z) @ whitener.T
    assert np.cov(drawn, rowvar=False) == pytest.approx(covariance, rel=0.2, abs=1e-3)
    assert drawn.mean(axis=0) == pytest.approx(whitener @ fit, abs=0.02)


def test_draws_have_the_skewed_posterior_of_few_labels():
    # One coefficient: the posterior, prior sizes and all, by adding it up on a grid.
    population = labels_law(25, np.array([3.0]), seed=4)
    law = population.law
    grid = np.linspace(-5.0, 150.0, 20_001)
    loss = np.array([law.family.loss(law.z[:, 0] * at, law.y).sum() for at in grid])
    density = np.zeros_like(grid)
    for variance in evidence.PRIOR_VARIANCES:
        prior = np.exp(-(grid**2) / (2 * variance)) / np.sqrt(variance)
        # A half-Cauchy law of the size, on a grid of its logarithms.
        density += np.sqrt(variance) / (1.0 + variance) * prior * np.exp(loss.min() - loss)
    density /= density.sum()
    share = np.cumsum(density)
    drawn = np.array([world.coef[0] for world in worlds(population, 1_500)]) / law.whitener[0, 0]
    for level in (0.1, 0.5, 0.9):
        assert np.mean(drawn <= grid[np.searchsorted(share, level)]) == pytest.approx(
            level, abs=0.06
        )


def test_residuals_leave_the_population_what_it_is():
    # Residuals of a fit without an intercept have a mean; on features with one it would bend it.
    B, y = public_rows(40)
    public = PublicMoments.from_rows(B, response=y + 3.0)
    population = population_of(public, Task("ridge", 0.0, False), Stated())
    world = population.drawn(np.random.default_rng(0))
    X, y = world.sample(np.random.default_rng(1), 200_000)
    away = np.linalg.lstsq(X, y, rcond=None)[0] - world.coef
    expected = 3 * world.residual_sd**2 / len(X)
    assert away @ world.metric @ away < 5.0 * expected
