"""The published estimators on Gaussian rows: what truncation touches, what noise and budgets do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, chi2

from audit.door import watched
from publicmoments import GDP, PublicMoments
from publicmoments.datasets import LinearPopulation, LogisticPopulation
from publicmoments.families import Poisson
from publicmoments.paper import (
    PMTGLM,
    AdaSSP,
    NoisyGradientDescent,
    OracleLogisticRegression,
    OracleRidge,
    PMTElasticNet,
    PMTLogisticRegression,
    PMTRidge,
    PMTSecondMoment,
    pmt,
)

# Two-sided level of every test here; failing by chance is out of the question.
LEVEL = 1e-9


# Corollary 3.1


def whole_tables(d, n, n_public, eta, condition, tables=80):
    """Tables of private rows in which `pmt` touches no row, out of some."""
    rng, count = np.random.default_rng([d, n, n_public]), 0
    spread = np.geomspace(1.0, condition**-0.5, d)
    for _ in range(tables):
        public = PublicMoments.from_rows(rng.normal(size=(n_public, d)) * spread)
        X = rng.normal(size=(n, d)) * spread
        whitened = X @ public.design(fit_intercept=False).whitener
        count += np.allclose(pmt(X, public, eta=eta), whitened, rtol=1e-9, atol=0.0)
    return count


@pytest.mark.parametrize("eta", [0.2, 0.05])
@pytest.mark.parametrize("condition", [1.0, 1e4])
@pytest.mark.parametrize(
    ("d", "n", "n_public"), [(2, 300, 30), (2, 3000, 200), (5, 1000, 50), (10, 1000, 200)]
)
def test_with_the_stated_probability_no_row_is_touched(d, n, n_public, eta, condition):
    count = whole_tables(d, n, n_public, eta, condition)
    # At least 1 - 3 eta of all tables.
    assert count / 80 >= 1.0 - 3.0 * eta


def test_a_single_column_is_touched_in_most_tables():
    # The corollary's constant is taken as 1, which is too small for one column: 15 % are whole.
    count = whole_tables(1, 10_000, 500, 0.05, 1.0)
    assert binom.cdf(count, 80, 1.0 - 3.0 * 0.05) < LEVEL
    assert count > 0


# Noise of DP-PMTRR


@pytest.fixture(scope="module")
def matrix_errors():
    """Errors of the second moments that PMTRidge releases, in units of the published sd."""
    rng, d, n = np.random.default_rng(12), 6, 8
    X = rng.normal(size=(n, d))
    public = PublicMoments.from_matrix(np.eye(d), n=10**6, response_scale=1.0)
    with watched() as passages:
        for _ in range(120):
            PMTRidge(1.0, eta=0.1, privacy=GDP(2.0), public=public).fit(X, X[:, 0])
    # 2 d (1 + log(2n/eta)) / (mu n), the published mu being 2 / sqrt(2).
    noise_sd = 2 * d * (1 + np.log(2 * n / 0.1)) / (np.sqrt(2.0) * n)
    upper = np.triu_indices(d)
    noisy = np.stack([one.noisy for one in passages if one.kind == "gram"])
    return (noisy - X.T @ X / n)[:, upper[0], upper[1]] / noise_sd


def scale_accepted(errors, noise_sd):
    """Whether errors fit independent Gaussians of mean zero and this sd."""
    statistic = float(np.sum((errors / noise_sd) ** 2))
    tails = chi2.cdf(statistic, errors.size), chi2.sf(statistic, errors.size)
    return min(tails) > LEVEL / 2


def test_the_released_matrix_has_the_published_noise(matrix_errors):
    assert scale_accepted(matrix_errors, 1.0)
    assert abs(matrix_errors.mean()) < 6.5 / np.sqrt(matrix_errors.size)


@pytest.mark.parametrize("factor", [1.2, 1 / 1.2])
def test_noise_20_percent_off_is_rejected(matrix_errors, factor):
    assert not scale_accepted(matrix_errors, factor)


def test_entries_on_and_off_the_diagonal_have_the_same_noise(matrix_errors):
    rows, columns = np.triu_indices(6)
    on, off = matrix_errors[:, rows == columns], matrix_errors[:, rows != columns]
    assert scale_accepted(on, 1.0)
    assert scale_accepted(off, 1.0)
    # sqrt(2) less off the diagonal would be the library's own noise.
    assert not scale_accepted(off, np.sqrt(0.5))


# Noise of the second moment alone


@pytest.fixture(scope="module", params=[None, 2.5], ids=["plain", "weighted"])
def moment_errors(request):
    """Errors of released matrices, in units of the published sd, upper triangles."""
    rng, d, n = np.random.default_rng(13), 5, 9
    X, bound = rng.normal(size=(n, d)), request.param
    public = PublicMoments.from_matrix(np.eye(d), n=10**6)
    weights = None if bound is None else rng.uniform(0.0, 1.0, size=n)
    model = PMTSecondMoment(eta=0.1, weight_bound=bound or 1.0, privacy=GDP(2.0), public=public)
    noisy = np.stack([model.fit(X, sample_weight=weights).transformed_ for _ in range(160)])
    exact = (X * (np.ones(n) if weights is None else weights)[:, None]).T @ X / n
    noise_sd = 2 * d * (1 + np.log(2 * n / 0.1)) * (bound or 1.0) / (2.0 * n)
    upper = np.triu_indices(d)
    return (noisy - exact)[:, upper[0], upper[1]] / noise_sd


def test_the_second_moment_has_the_published_noise(moment_errors):
    assert scale_accepted(moment_errors, 1.0)
    assert abs(moment_errors.mean()) < 6.5 / np.sqrt(moment_errors.size)
    rows, columns = np.triu_indices(5)
    assert scale_accepted(moment_errors[:, rows == columns], 1.0)
    assert scale_accepted(moment_errors[:, rows != columns], 1.0)


@pytest.mark.parametrize("factor", [1.2, 1 / 1.2])
def test_a_second_moment_20_percent_off_is_rejected(moment_errors, factor):
    assert not scale_accepted(moment_errors, factor)


# More budget, less error

N, N_PUBLIC, D = 3000, 300, 3
MODELS = {
    "PMTRidge": (PMTRidge, "linear"),
    "OracleRidge": (OracleRidge, "linear"),
    "AdaSSP": (lambda **k: AdaSSP(6.0, 15.0, **k), "linear"),
    "NoisyGradientDescent": (
        lambda **k: NoisyGradientDescent(iterations=40, clip=20.0, step=0.3, **k),
        "linear",
    ),
    "PMTElasticNet": (lambda **k: PMTElasticNet(1e-4, iterations=15, **k), "linear"),
    "PMTLogisticRegression": (lambda **k: PMTLogisticRegression(0.01, **k), "logistic"),
    "OracleLogisticRegression": (lambda **k: OracleLogisticRegression(0.01, **k), "logistic"),
    "PMTGLM": (
        lambda **k: PMTGLM(Poisson(), response_bound=10.0, coef_bound=0.2, **k),
        "counts",
    ),
}


def sample(kind, rng):
    """Rows, responses, and what a fit without noise would come to."""
    population = (LogisticPopulation if kind == "logistic" else LinearPopulation).draw(
        rng, D, condition=4.0, mean=np.zeros(D)
    )
    X, y = population.sample(rng, N + N_PUBLIC)
    if kind == "counts":
        coef = population.coef / (10.0 * population.signal)
        return X, rng.poisson(np.exp(X @ coef)).astype(float)
    return X, y


@pytest.mark.parametrize("name", MODELS)
def test_error_falls_with_the_budget(name):
    make, kind = MODELS[name]
    budgets, errors = (1.0, 8.0, 64.0), []
    for seed in range(7):
        X, y = sample(kind, np.random.default_rng(seed))
        parameters = {"random_state": seed}
        if "public" in make(**parameters).get_params():
            response = y[:N_PUBLIC] if kind == "linear" else None
            parameters["public"] = PublicMoments.from_rows(X[:N_PUBLIC], response=response)
        fits = [
            make(privacy=GDP(mu), **parameters).fit(X[N_PUBLIC:], y[N_PUBLIC:]).coef_
            for mu in (*budgets, 1e5)
        ]
        errors.append([np.linalg.norm(fit - fits[-1]) for fit in fits[:-1]])
    medians = np.median(errors, axis=0)
    # The noise falls by 8, and once it is small the error with it.
    assert medians[0] > 5.0 * medians[1]
    assert medians[1] > 7.0 * medians[2]
