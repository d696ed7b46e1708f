"""Scores of agreement: calm when populations agree, loud when they do not."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments.release.diagnostics import moment_agreement


def released(rng, p, n_public, noise_sd, spread=None):
    """Second moment of rows whitened by a sample, exact but for noise."""
    B = rng.normal(size=(n_public, p))
    root = np.linalg.cholesky(np.linalg.inv(B.T @ B / n_public))
    noise = rng.normal(size=(p, p)) * noise_sd
    return root.T @ np.diag(np.ones(p) if spread is None else spread) @ root + (
        noise + noise.T
    ) / np.sqrt(2.0)


@pytest.mark.parametrize(("p", "n_public"), [(2, 20), (5, 200), (11, 20), (11, 200), (30, 100)])
@pytest.mark.parametrize("noise_sd", [1e-6, 0.05])
def test_agreement_is_calm(p, n_public, noise_sd):
    rng = np.random.default_rng(p)
    draws = [released(rng, p, n_public, noise_sd) for _ in range(100)]
    scores = [moment_agreement(draw, 1.0, noise_sd, n_public) for draw in draws]
    assert max(scores) < 4.5
    assert -4.0 < np.median(scores) < 1.0


@pytest.mark.parametrize(
    "spread", [np.full(6, 0.01), np.full(6, 100.0), np.geomspace(0.01, 100, 6)]
)
def test_another_population_is_loud(spread):
    rng = np.random.default_rng(0)
    draws = [released(rng, 6, 100, 0.01, spread) for _ in range(20)]
    assert min(moment_agreement(draw, 1.0, 0.01, 100) for draw in draws) > 10.0


def test_noise_that_hides_everything_raises_no_alarm():
    rng = np.random.default_rng(0)
    draws = [released(rng, 6, 100, 50.0, np.full(6, 3.0)) for _ in range(50)]
    assert max(moment_agreement(draw, 1.0, 50.0, 100) for draw in draws) < 5.0


def test_what_the_weights_keep_is_allowed_for():
    rng = np.random.default_rng(0)
    moment = released(rng, 6, 100, 0.0)
    assert moment_agreement(0.5 * moment, 0.5, 1e-6, 100) == pytest.approx(
        moment_agreement(moment, 1.0, 2e-6, 100)
    )
