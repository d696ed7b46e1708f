"""Whatever is released, the fit ends: budget that was spent buys coefficients, and a card."""

from __future__ import annotations

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.door import answered
from publicmoments import GDP, GLM, LogisticRegression, PoissonRegressor, PublicMoments
from publicmoments.families import Gamma, Gaussian

N, D = 300, 3
X = np.random.default_rng(1).normal(size=(N, D))
FAMILIES = ["labels", "classes", "counts", "sizes", "numbers"]


@contextmanager
def wild_releases(rng):
    """Replace what is released by numbers of any size that gradients and curvatures can have."""

    def matrix(size):
        square = rng.normal(size=(size, size))
        square = square @ square.T if rng.random() < 0.7 else square + square.T
        return square * 2.0 ** rng.uniform(20.0, 41.0)

    def vector(size, _):
        # Up to the sum of as many rows of full length as there are.
        length = 2.0 ** rng.uniform(15.0, 34.2)
        return rng.normal(size=size) * length

    with answered(matrix, vector), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def made(kind, rng):
    """A model with parameters of any kind, and responses."""
    chosen = {
        "alpha": float(rng.choice([0.0, 0.1])),
        "l1_ratio": float(rng.choice([0.0, 0.5, 1.0])),
        "privacy": GDP(float(10.0 ** rng.uniform(-1.0, 2.5))),
        "fit_intercept": bool(rng.random() < 0.7),
        "anchor": bool(rng.random() < 0.7),
        "passes": int(rng.integers(1, 6)),
    }
    models = {
        "labels": lambda: (LogisticRegression(**chosen), np.arange(N) % 2),
        "classes": lambda: (LogisticRegression(classes=(0, 1, 2), **chosen), np.arange(N) % 3),
        "counts": lambda: (PoissonRegressor(**chosen), np.arange(N) % 3),
        "sizes": lambda: (GLM(Gamma(), **chosen), 1.0 + np.arange(N) % 3),
        "numbers": lambda: (GLM(Gaussian(), **chosen), 1.0 + np.arange(N) % 3),
    }
    return models[kind]()


@pytest.mark.parametrize("kind", FAMILIES)
@given(seed=st.integers(0, 2**32 - 1), known=st.sampled_from(["labels", "rows", "moments"]))
@settings(max_examples=8)
def test_no_release_can_break_a_fit(kind, seed, known):
    rng = np.random.default_rng(seed)
    model, y = made(kind, rng)
    public = {
        "labels": lambda: PublicMoments.from_rows(X[:40], response=y[:40]),
        "rows": lambda: PublicMoments.from_rows(X[:40]),
        "moments": lambda: PublicMoments.from_mean_cov(np.zeros(D), np.eye(D), n=40),
    }[known]()
    with wild_releases(rng):
        model.set_params(public=public).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert model.card_.to_json()
    assert np.isfinite(model.card_.predicted_error[0])
