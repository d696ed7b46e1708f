"""What one row can change is what the noise is for, in every release of every model.

Released sums are replaced by fixed ones, so that fits to neighbouring tables go the same way and
their exact sums can be compared release by release.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from publicmoments import GDP, GLM, LogisticRegression, PoissonRegressor, PublicMoments
from publicmoments.families import Gamma, Gaussian
from publicmoments.models.glm import passes
from publicmoments.models.glm.plan import Curvature
from publicmoments.privacy.noise_law import NoiseLaw

N, D, MU = 40, 3, 1.0
ROWS = np.random.default_rng(5).normal(size=(60, D))
PUBLIC = PublicMoments.from_rows(ROWS, response_scale=2.0)
CHOSEN = {"privacy": GDP(MU), "public": PUBLIC, "on_invalid": "ignore", "passes": 2}

MODELS = {
    "LogisticRegression": LogisticRegression(**CHOSEN),
    "classes": LogisticRegression(classes=(0, 1, 2), **CHOSEN),
    "PoissonRegressor": PoissonRegressor(**CHOSEN),
    "Gamma": GLM(Gamma(), **CHOSEN),
    "Gaussian": GLM(Gaussian(), **CHOSEN),
}
FAR = 1e6 * np.linalg.inv(PUBLIC.design(fit_intercept=True).whitener)[:D, :D]
ROWS_TO_SWAP = [
    (FAR[0], 1.0, 0.0),
    (-FAR[0], 1.0, 0.0),
    (FAR[0], 0.0, 5.0),
    (FAR[1] + FAR[2], 0.0, -5.0),
    (np.array([1e300, -1e300, 1e308]), 1.0, 1.0),
    (np.array([0.1, 0.2, 0.3]), 0.0, -300.0),
    (np.array([0.1, 0.2, 0.3]), 1.0, 300.0),
    (np.array([np.nan, 1.0, 1.0]), 1.0, 0.0),
]
"""Features, a label or share of an enormous response, and an offset."""


@pytest.fixture(autouse=True)
def always_a_curvature(monkeypatch):
    """Release a curvature in every fit that can, so that its bound is tried too."""

    def chosen(stage, coef, *, n_rows, mu):
        if stage.family.n_predictors != 1:
            return None
        return Curvature(2.0, np.eye(len(coef)), 1.0, 0.1)

    monkeypatch.setattr(passes, "choose_curvature", chosen)


def sums(model, releases, row):
    """Exact sums and noise laws of a fit to a table that has this row."""
    rng = np.random.default_rng(6)
    X, labels = rng.normal(size=(N, D)), (rng.random(N) > 0.5).astype(float)
    offset = rng.normal(size=N)
    X[7], labels[7], offset[7] = row
    releases.clear()
    if isinstance(model, LogisticRegression):
        model.fit(X, labels)
    elif isinstance(model, PoissonRegressor):
        model.fit(X, labels * 1e6, exposure=np.exp(offset))
    elif isinstance(model.family, Gamma):
        model.fit(X, labels * 1e9 + 1e-9, offset=offset)
    else:
        model.fit(X, (labels - 0.5) * 1e9, offset=offset)
    return list(releases)


def loss(one, other, law):
    """mu of telling the two sums apart."""
    change = (one - other).astype(float)
    if not isinstance(law, NoiseLaw):
        return float(np.linalg.norm(change)) / law.noise_sd
    above = np.triu_indices(len(change), k=1)
    return math.hypot(
        np.linalg.norm(np.diag(change)) / law.diagonal_sd,
        np.linalg.norm(change[above]) / law.offdiagonal_sd,
    )


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("name", MODELS)
def test_no_row_can_change_more_than_is_paid_for(fixed_releases, name):
    model = MODELS[name]
    tables = [sums(model, fixed_releases, row) for row in ROWS_TO_SWAP]
    paid = [one.mu for one in model.card_.passes]
    assert len(tables[0]) == len(paid) == (2 if name == "classes" else 3)
    largest = np.zeros(len(paid))
    for index, one in enumerate(tables):
        for other in tables[:index]:
            losses = [loss(a, b, law) for (a, law), (b, _) in zip(one, other, strict=True)]
            assert (np.array(losses) <= np.array(paid) * (1 + 1e-9)).all()
            assert math.hypot(*losses) <= MU * (1 + 1e-9)
            largest = np.maximum(largest, np.array(losses) / paid)
    # Not by accident: in every gradient some rows come to a good part of what was paid for.
    assert largest[[one.statistic == "gradient" for one in model.card_.passes]].min() > 0.2
    assert largest.min() > 0.0


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize(
    ("name", "rows", "share"),
    [
        # At the start slopes of +-1/2 where the bound is 1.
        ("LogisticRegression", [(FAR[0], 0.0), (FAR[0], 1.0)], 0.5),
        # Slopes of (-2/3, 1/3, 1/3) on opposite rows, where the bound is sqrt(2).
        ("classes", [(FAR[0], 0.0), (-FAR[0], 0.0)], 1.0 / math.sqrt(3.0)),
        # Clipped on both sides: all of it.
        ("Gaussian", [(FAR[0], 0.0), (FAR[0], 1.0)], 1.0),
        ("Gaussian", [(np.array([0.1, 0.2, 0.3]), 0.0), (FAR[2], 1.0)], None),
    ],
)
def test_the_worst_rows_reach_what_the_first_gradient_allows_for(fixed_releases, name, rows, share):
    model = MODELS[name]
    first = 0 if name == "classes" else 1
    one, other = (sums(model, fixed_releases, (row, label, 0.0))[first] for row, label in rows)
    paid = model.card_.passes[first]
    assert paid.statistic == "gradient"
    reached = loss(one[0], other[0], one[1]) / paid.mu
    if share is None:
        assert 0.1 < reached < 0.99
    else:
        assert reached == pytest.approx(share, rel=1e-3)


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
def test_the_worst_rows_reach_what_the_curvature_allows_for(fixed_releases):
    # Of two passes the first release is the curvature, at coefficients of zero: a quarter.
    model = LogisticRegression(fit_intercept=False, **CHOSEN)
    axes = 1e6 * np.linalg.inv(PUBLIC.design(fit_intercept=False).whitener)
    one, other = (sums(model, fixed_releases, (axes[j], 1.0, 0.0))[0] for j in (0, 1))
    paid = model.card_.passes[0]
    assert paid.statistic == "curvature"
    assert loss(one[0], other[0], one[1]) / paid.mu == pytest.approx(1.0, rel=1e-3)
