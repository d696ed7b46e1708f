"""Private rows with a secret in them, and models that must not tell it."""

from __future__ import annotations

import numpy as np

from publicmoments import GDP, GLM, LogisticRegression, PoissonRegressor, PublicMoments
from publicmoments.families import Bernoulli, Gamma, Gaussian, Poisson

SECRET = 123456.789
"""Stands in the private rows and must not be seen anywhere."""

N, D = 60, 3
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, D))
X[17, 1] = SECRET
LABELS = np.arange(N) % 2
COUNTS = np.where(np.arange(N) == 23, 123456, np.arange(N) % 3)
SIZES = COUNTS + 0.5
B = RNG.normal(size=(40, D))
PUBLIC = PublicMoments.from_rows(B, response_scale=1.0)

MODELS = {
    "LogisticRegression": LogisticRegression,
    "PoissonRegressor": PoissonRegressor,
    "Gaussian": lambda **k: GLM(Gaussian(), **k),
    "Bernoulli": lambda **k: GLM(Bernoulli(), **k),
    "Poisson": lambda **k: GLM(Poisson(), **k),
    "Gamma": lambda **k: GLM(Gamma(), **k),
}
RESPONSES = {
    "LogisticRegression": LABELS,
    "PoissonRegressor": COUNTS,
    "Gaussian": SIZES,
    "Bernoulli": LABELS,
    "Poisson": COUNTS,
    "Gamma": SIZES,
}


def made(name, **parameters):
    return MODELS[name](**{"privacy": GDP(1.0), "public": PUBLIC, **parameters})
