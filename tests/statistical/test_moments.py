"""Moment releases: intervals cover, sites add up, and the prediction error is the true one."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments import GDP, PublicMoments
from publicmoments.release import combine, release_moments
from tests.helpers import noise_off

D = 5
RNG = np.random.default_rng(2)
MIXING, MEAN = RNG.normal(size=(D - 1, D - 1)), RNG.normal(3.0, 1.0, size=D - 1)
COEF, INTERCEPT, RESIDUAL_SD = RNG.normal(size=D - 1), 2.0, 0.5


def draw(n, rng):
    X = rng.standard_normal((n, D - 1)) @ MIXING + MEAN
    return np.column_stack([X, X @ COEF + INTERCEPT + RESIDUAL_SD * rng.standard_normal(n)])


@pytest.mark.parametrize("anchor", [True, False], ids=["anchor", "free"])
@pytest.mark.parametrize(("n", "mu"), [(5000, 1.0), (1000, 0.2)])
def test_intervals_cover(n, mu, anchor):
    truth, scores = np.append(COEF, INTERCEPT), []
    for seed in range(60):
        rng = np.random.default_rng([seed, 5])
        public = PublicMoments.from_rows(draw(200, rng))
        release = release_moments(
            draw(n, rng), privacy=GDP(mu), public=public, anchor=anchor, random_state=seed
        )
        fit = release.ridge(D - 1)
        scores.append((np.append(fit.coef, fit.intercept) - truth) / fit.std_err)
    covered = np.mean(np.abs(scores) < 1.959964)
    assert 0.88 < covered < 0.995
    # Errors neither much larger nor much smaller than stated.
    assert 0.75 < np.sqrt(np.mean(np.square(scores))) < 1.2


def test_ten_sites_are_as_good_as_their_noise_allows():
    entries, together, single = [], [], []
    for seed in range(8):
        rng = np.random.default_rng([seed, 6])
        public, sites = (
            PublicMoments.from_rows(draw(300, rng)),
            draw(100_000, rng).reshape(10, -1, D),
        )
        options = {"privacy": GDP(0.3), "public": public, "radius": 4.0, "anchor": False}
        noisy = [
            release_moments(site, random_state=100 * seed + k, **options)
            for k, site in enumerate(sites)
        ]
        with noise_off():
            exact = combine([release_moments(site, **options) for site in sites])
        whole, upper = combine(noisy), np.triu_indices(D + 1, 1)
        error = (whole.noisy_gram - exact.noisy_gram)[upper] / whole.offdiagonal_sd
        entries.extend(error)
        fit, target = whole.ridge(D - 1), exact.ridge(D - 1).coef
        sizes = np.sqrt(np.diag(fit.noise_covariance))[:-1]
        together.append((fit.coef - target) / sizes)
        single.append([(site.ridge(D - 1).coef - target) / sizes for site in noisy])
    # The noise of the sum is what the laws of the sites add up to, neither more nor less.
    assert 1 / 1.15 < np.sqrt(np.mean(np.square(entries))) < 1.15
    error = np.sqrt(np.mean(np.square(together)))
    assert 0.7 < error < 1.3
    # A site of one tenth of the rows has at least sqrt(10) times the error of all, up to chance.
    alone = np.sqrt(np.mean(np.square(single), axis=(0, 2)))
    assert alone.shape == (10,)
    assert (alone > 1.5 * error).all()


def test_prediction_error_is_that_of_new_rows():
    """Where noise is large, what the release itself says of its fit is far too good."""
    alphas = np.geomspace(1e-3, 30.0, 9)
    promised, true, naive, chosen = [], [], [], []
    for seed in range(40):
        rng = np.random.default_rng([seed, 7])
        public = PublicMoments.from_rows(draw(200, rng))
        release = release_moments(
            draw(600, rng), privacy=GDP(0.25), public=public, anchor=False, random_state=seed
        )
        fresh, errors = draw(4000, rng), {}
        for alpha in alphas:
            fit = release.ridge(D - 1, alpha)
            errors[alpha] = np.mean((fresh[:, -1] - fit.predict(fresh[:, :-1])) ** 2)
        fit = release.ridge(D - 1, alphas[0])
        a = np.append(-fit.coef, [1.0, -fit.intercept])
        naive.append(a @ release.second_moment @ a)
        promised.append(fit.prediction_error)
        true.append(errors[alphas[0]])
        picked = release.choose_alpha(D - 1, alphas)
        chosen.append(errors[picked] / min(errors.values()))
    assert np.median(naive) < 0.95 * np.median(true)
    assert np.median(promised) == pytest.approx(np.median(true), rel=0.1)
    assert np.median(chosen) < 1.1
