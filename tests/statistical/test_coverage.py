"""Intervals cover the truth about as often as they say.

Bounds are far enough from what was measured that chance does not break them; errors that are a
fifth larger than stated would. They may be half as large: where nothing public tells in which
direction bounds cut, all that they may take is allowed for.
"""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments import GDP, LogisticRegression, PublicMoments, Ridge
from publicmoments.datasets import LinearPopulation, LogisticPopulation

D, N, N_PUBLIC = 5, 2000, 200
DRAWS = {"linear": 60, "logistic": 24}
REACH = 1.959964


def standardised(kind, known, mu):
    """Errors of the coefficients over the standard errors that intervals imply."""
    errors = []
    for seed in range(DRAWS[kind]):
        rng = np.random.default_rng([seed, 12])
        if kind == "linear":
            population = LinearPopulation.draw(rng, D, condition=100.0, residual_sd=0.5)
        else:
            population = LogisticPopulation.draw(rng, D, condition=100.0, signal=2.0)
        X, y = population.sample(rng, N)
        B, few = population.sample(rng, N_PUBLIC)
        size = {"response_scale": float(np.sqrt(np.mean(few**2)))}
        public = PublicMoments.from_rows(B, **({"response": few} if known else size))
        make = Ridge if kind == "linear" else LogisticRegression
        model = make(privacy=GDP(mu), public=public, fit_intercept=False, random_state=seed)
        low, high = model.fit(X, y).conf_int().T
        errors.append(REACH * (2.0 * population.coef - low - high) / (high - low))
    return np.array(errors)


@pytest.mark.filterwarnings("ignore:the public")
@pytest.mark.parametrize(
    ("kind", "known", "mu"),
    [
        ("linear", True, 0.5),
        ("linear", True, 5.0),
        ("linear", False, 0.5),
        ("linear", False, 5.0),
        ("logistic", True, 1.0),
        ("logistic", False, 1.0),
        ("logistic", False, 10.0),
    ],
)
def test_intervals_cover(kind, known, mu):
    errors = standardised(kind, known, mu)
    assert np.mean(np.abs(errors) < REACH) > 0.88
    assert 0.5 < np.sqrt(np.mean(errors**2)) < 1.2
