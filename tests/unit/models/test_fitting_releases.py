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
from publicmoments.evidence.schedule import GROWTH
from publicmoments.families import Gamma, Gaussian

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


def kinds_of(name, informed, gradients):
    """Slopes of classes are bounded, so that nothing is counted before their gradients."""
    step = ["gradient"] if name in ("logistic", "classes") else ["histogram", "gradient"]
    return ["second moment"] + ["histogram"] * (not informed) + step * gradients


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("wanted", [1, 3])
def test_as_many_gradients_as_were_asked_for(door, name, wanted):
    model = fitted(name, passes=wanted, privacy=GDP(0.3))
    assert door.kinds == kinds_of(name, False, wanted)
    assert model.n_iter_ == wanted
    assert [one.statistic for one in model.card_.passes] == door.kinds


@pytest.mark.parametrize(("public", "gradients"), [(LABELLED, 6), (ROWS, 8), (None, 8)])
@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
def test_public_labels_save_a_histogram_and_gradients(door, public, gradients):
    assert fitted("logistic", public=public, privacy=GDP(0.1)).n_iter_ == gradients
    assert door.kinds == kinds_of("logistic", public is LABELLED, gradients)


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
def test_labels_that_do_not_count_are_looked_at_again(door):
    fitted("logistic", public=LABELLED, anchor=False, privacy=GDP(0.1))
    assert door.kinds == kinds_of("logistic", False, 8)


@pytest.mark.parametrize("name", ["logistic", "gaussian"])
def test_more_gradients_where_budgets_and_tables_are_large(name):
    counts = [fitted(name, privacy=GDP(mu)).n_iter_ for mu in (1.0, 100.0, 1000.0)]
    # By mu n over four columns: 100, 10,000 and 100,000, of which one and two powers of ten count.
    assert counts == [8, 8 + 2, 8 + 3]


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
    fitted("poisson", privacy=GDP(0.3))
    squares = np.array([one.mu**2 for one in door.passages if one.query.statistic == "gradient"])
    np.testing.assert_allclose(squares[1:] / squares[:-1], GROWTH, rtol=1e-9)
    counts = [one.mu for one in door.passages if one.query.statistic == "histogram"][1:]
    np.testing.assert_allclose(counts, counts[0], rtol=1e-9)


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
            counts.add((tuple(door.kinds), model.n_iter_))
        assert counts == {(tuple(kinds_of("logistic", False, 8)), 8)}


def test_a_failing_source_has_been_charged(door):
    door.source.fails = True
    model = LogisticRegression(privacy=GDP(1.0), public=ROWS)
    with pytest.raises(OSError, match="no entropy"):
        model.fit(X, LABELS)
    assert door.events == ["charge", "draw"]
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
        # What the grid's noise costs is what was charged: rho = (change / sd)^2 / 2.
        assert one.rho <= one.mu**2 / 2
        # Changes of 2 bounds, of two marks at right angles, and of sqrt(2) squared bounds.
        change = {
            "gradient": 2.0**21,
            "histogram": math.sqrt(2.0) * 2.0**20,
            "second moment": math.sqrt(2.0) * 2.0**32,
        }[one.statistic]
        assert one.rho == pytest.approx((change / one.noise_sd_grid_units) ** 2 / 2, rel=1e-6)
    if isinstance(privacy, ApproxDP):
        assert card.epsilon_delta[0] == (1.0, 1e-6)
    assert json.loads(card.to_json())["n_rows"] == N
    assert (card.n_features, card.n_responses) == (D, 1)
    assert card.public_fingerprint == ROWS.fingerprint


@pytest.mark.parametrize("name", ["logistic", "poisson"])
def test_noise_is_what_the_card_says(door, name):
    door.source.factor = 1.0
    model = fitted(name, privacy=GDP(10.0))
    for one, passage in zip(model.card_.passes, door.passages, strict=True):
        noise = np.abs(passage.noise)
        noise = np.diag(noise) if passage.kind == "gram" else noise
        np.testing.assert_allclose(noise, one.noise_sd, rtol=1e-5)
        # 2 R / (mu n) for a sum, sqrt(2) / (mu n) for counts, sqrt(2) R^2 / (mu n) for a matrix.
        wide = {
            "gradient": 2.0 * one.bound,
            "histogram": math.sqrt(2.0) * one.bound,
            "second moment": math.sqrt(2.0) * one.bound**2,
        }[one.statistic]
        assert one.bound == passage.recipe.l2_bound
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
