"""What a fit releases and what it pays: fixed by public numbers, charged before noise is drawn."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

from publicmoments import (
    GDP,
    GLM,
    ZCDP,
    ApproxDP,
    LogisticRegression,
    PoissonRegressor,
    PublicMoments,
)
from publicmoments.families import Gamma, Gaussian
from publicmoments.models.glm import base, passes
from publicmoments.models.glm.plan import CURVATURE_SHARE, GROWTH
from publicmoments.privacy.noise import SystemNoise

N, D = 400, 3
RNG = np.random.default_rng(11)
X = RNG.normal(size=(N, D))
LABELS = (X @ [1.0, -1.0, 0.5] + RNG.logistic(size=N) > 0).astype(int)
COUNTS = RNG.poisson(np.exp(0.3 * X[:, 0]))
B = RNG.normal(size=(60, D))
ROWS = PublicMoments.from_rows(B, response_scale=1.0)
LABELLED = PublicMoments.from_rows(B, response=(B[:, 0] > 0).astype(int))

MODELS = {
    "logistic": (lambda **k: LogisticRegression(**k), LABELS),
    "classes": (lambda **k: LogisticRegression(classes=(0, 1, 2), **k), LABELS + (X[:, 2] > 1)),
    "poisson": (lambda **k: PoissonRegressor(**k), COUNTS),
    "gamma": (lambda **k: GLM(Gamma(), **k), COUNTS + 0.5),
    "gaussian": (lambda **k: GLM(Gaussian(), **k), COUNTS),
}


def fitted(name, **parameters):
    make, y = MODELS[name]
    return make(**{"privacy": GDP(1.0), "public": ROWS, **parameters}).fit(X, y)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("wanted", [1, 3])
def test_as_many_gradients_as_were_asked_for(door, name, wanted):
    model = fitted(name, passes=wanted, privacy=GDP(0.3))
    assert door.kinds == ["gradient"] * wanted
    assert model.n_iter_ == wanted
    assert [one.statistic for one in model.card_.passes] == door.kinds


@pytest.mark.parametrize(("public", "gradients"), [(LABELLED, 5), (ROWS, 6), (None, 6)])
@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
def test_one_gradient_more_without_public_labels(door, public, gradients):
    assert fitted("logistic", public=public, privacy=GDP(0.1)).n_iter_ == gradients
    assert door.kinds == ["gradient"] * gradients


@pytest.mark.parametrize(
    ("n_public", "mu", "gradients"), [(3000, 1000.0, 3), (3000, 1.0, 5), (8, 1000.0, 5)]
)
@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
def test_three_gradients_of_a_large_table_that_public_labels_fit(
    door, monkeypatch, n_public, mu, gradients
):
    rows = np.random.default_rng(3).normal(size=(n_public, D))
    labels = rows @ [1.0, -1.0, 0.5] + np.random.default_rng(4).logistic(size=n_public) > 0
    given = {
        "public": PublicMoments.from_rows(rows, response=labels.astype(int)),
        "privacy": GDP(mu),
    }
    assert fitted("logistic", **given).n_iter_ == 5
    monkeypatch.setattr(base, "LARGE_TABLE", N)
    door.passages.clear()
    assert fitted("logistic", **given).n_iter_ == gradients
    assert door.kinds.count("gradient") == gradients
    if gradients == 3:
        assert door.kinds == ["gradient", "curvature", "gradient", "gradient"]
    assert fitted("logistic", passes=4, **given).n_iter_ == 4


@pytest.mark.parametrize("name", ["logistic", "poisson", "gamma", "gaussian"])
def test_one_curvature_where_the_budget_is_large(door, name):
    model = fitted(name, privacy=GDP(1000.0))
    kinds = ["gradient"] * 4 + ["curvature"] + ["gradient"] * 2
    assert door.kinds == kinds
    assert [one.statistic for one in model.card_.passes] == kinds
    assert door.passages[4].mu == pytest.approx(1000.0 * math.sqrt(CURVATURE_SHARE))


def test_no_curvature_of_several_classes(door):
    fitted("classes", privacy=GDP(1000.0))
    assert door.kinds == ["gradient"] * 6


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("mu", [0.3, 1000.0])
def test_what_is_released_is_charged_first_and_adds_up_to_the_budget(door, name, mu):
    model = fitted(name, privacy=GDP(mu))
    # A matrix is drawn in two parts, its diagonal and the rest.
    assert re.fullmatch("(charge (draw )+)+", " ".join([*door.events, ""]))
    assert door.events.count("charge") == len(door.passages)
    assert door.total_mu == pytest.approx(mu, rel=1e-12)
    assert door.total_mu <= mu * (1 + 1e-12)
    assert [one.mu for one in model.card_.passes] == [one.mu for one in door.passages]


def test_each_gradient_has_more_budget_than_the_one_before(door):
    fitted("logistic", privacy=GDP(0.3))
    squares = np.array([passage.mu**2 for passage in door.passages])
    np.testing.assert_allclose(squares[1:] / squares[:-1], GROWTH, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:the public data do not fit")
def test_the_number_of_releases_does_not_depend_on_private_rows(door):
    others = [
        (X, LABELS),
        (1e3 * X + 5.0, 1 - LABELS),
        (np.zeros((N, D)), np.zeros(N, dtype=int)),
        (np.full((N, D), 1e300), np.ones(N, dtype=int)),
    ]
    for mu in (0.3, 3.0):
        counts = set()
        for table, labels in others:
            door.passages.clear()
            model = LogisticRegression(privacy=GDP(mu), public=ROWS).fit(table, labels)
            counts.add((door.kinds.count("gradient"), model.n_iter_))
            assert door.kinds.count("curvature") <= 1
        assert counts == {(6, 6)}


def test_a_failing_source_has_been_charged(monkeypatch):
    spent = []
    charge = passes.Account.charge

    def watched(self, cost):
        charge(self, cost)
        spent.append(cost.mu)

    def fails(self, count, noise_sd):
        raise OSError("no entropy")

    monkeypatch.setattr(passes.Account, "charge", watched)
    monkeypatch.setattr(SystemNoise, "draw", fails)
    model = LogisticRegression(privacy=GDP(1.0), public=ROWS)
    with pytest.raises(OSError, match="no entropy"):
        model.fit(X, LABELS)
    assert len(spent) == 1
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "card_")


# The card


@pytest.mark.parametrize(
    ("name", "privacy"),
    [
        ("logistic", GDP(2.0)),
        ("logistic", ZCDP(0.5)),
        ("logistic", ApproxDP(1.0, 1e-6)),
        ("classes", GDP(2.0)),
        ("poisson", ApproxDP(1.0, 1e-6)),
        ("gamma", ZCDP(0.5)),
        ("gaussian", GDP(2.0)),
    ],
)
def test_the_card_adds_up(name, privacy):
    card = fitted(name, privacy=privacy).card_
    assert card.private
    assert card.mu <= privacy.to_gdp().mu
    assert card.rho <= card.mu**2 / 2 * (1 + 1e-12)
    assert card.rho == pytest.approx(card.mu**2 / 2, rel=1e-6)
    assert sum(one.rho for one in card.passes) == pytest.approx(card.rho, rel=1e-12)
    assert math.hypot(*(one.mu for one in card.passes)) <= card.mu * (1 + 1e-12)
    for one in card.passes:
        # What the grid's noise costs is what was charged: rho = (2 bound / sd)^2 / 2 for a sum.
        assert one.rho <= one.mu**2 / 2
        if one.statistic == "gradient":
            assert one.rho == pytest.approx((2.0**21 / one.noise_sd_grid_units) ** 2 / 2, rel=1e-6)
        else:
            assert one.rho == pytest.approx((2.0**32 / one.noise_sd_grid_units) ** 2, rel=1e-6)
    if isinstance(privacy, ApproxDP):
        assert card.epsilon_delta[0] == (1.0, 1e-6)
    assert json.loads(card.to_json())["n_rows"] == N
    assert (card.n_features, card.n_responses) == (D, 1)
    assert card.public_fingerprint == ROWS.fingerprint


def test_noise_is_what_the_card_says(door):
    door.source.factor = 1.0
    model = fitted("logistic", privacy=GDP(1000.0))
    for one, passage in zip(model.card_.passes, door.passages, strict=True):
        noise = np.abs(passage.noisy - passage.exact)
        noise = np.diag(noise) if passage.kind == "curvature" else noise
        np.testing.assert_allclose(noise, one.noise_sd, rtol=1e-5)
        # 2 R / (mu n) for a sum, sqrt(2) R^2 limit / (mu n) for a matrix.
        wide = 2.0 * one.radius if passage.kind == "gradient" else math.sqrt(2) * one.radius**2 / 4
        assert one.noise_sd == pytest.approx(wide / (one.mu * N), rel=1e-6)


@pytest.mark.parametrize("seed", [0, np.random.default_rng(0), np.random.RandomState(0)])
def test_seeded_fits_guarantee_nothing(seed):
    card = fitted("logistic", random_state=seed).card_
    assert not card.private
    assert card.epsilon_delta == ()
    assert "No privacy guarantee" in str(card)


def test_seeds_repeat_a_fit_and_the_default_does_not():
    first, second = (fitted("poisson", random_state=3).coef_ for _ in range(2))
    np.testing.assert_array_equal(first, second)
    first, second = (fitted("poisson").coef_ for _ in range(2))
    assert not np.array_equal(first, second)


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
def test_assumed_moments_have_no_fingerprint():
    assert fitted("logistic", public=None).card_.public_fingerprint is None
    assert fitted("logistic", public=None).card_.predicted_error[0] > 0.0
