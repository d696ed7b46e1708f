"""DP-PMTLR, DP-PMTGLM and DP-LR against scales, bounds and budgets worked out by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from publicmoments import GDP, PublicMoments
from publicmoments.families import Bernoulli, Gaussian, Poisson
from publicmoments.paper import PMTGLM, OracleLogisticRegression, PMTLogisticRegression

N, D, T = 100, 4, 9
# 1 + log(2n / eta) = 10, so that the radius is sqrt(40); see test_ridge for the others.
ETA, RADIUS = 200.0 * math.exp(-9.0), math.sqrt(40.0)
ORACLE_ETA = 100.0 * math.exp(-6.0)
MU = 0.5
TOTAL = GDP(math.sqrt(2.0) * MU)

PUBLIC = PublicMoments.from_matrix(np.eye(D), n=10**6)


def unit_rows():
    """Rows of length 1, as many along each axis; a label of 1 for three in four."""
    X = np.tile(np.eye(D), (N // D, 1))
    return X, (np.arange(N) % 20 < 15).astype(int)


def logistic(**parameters):
    chosen = {"alpha": 5.0, "eta": ETA, "iterations": T, "privacy": TOTAL, "public": PUBLIC}
    return PMTLogisticRegression(**{**chosen, **parameters})


def oracle(**parameters):
    chosen = {"alpha": 5.0, "eta": ORACLE_ETA, "iterations": T, "privacy": TOTAL}
    return OracleLogisticRegression(**{**chosen, **parameters})


def glm(family, **parameters):
    chosen = {
        "alpha": 5.0,
        "eta": ETA,
        "iterations": T,
        "privacy": TOTAL,
        "public": PUBLIC,
        "response_bound": 3.0,
    }
    return PMTGLM(family, **{**chosen, **parameters})


# Reach, M_b', M_b'', and the two scales 2 sqrt(T) R^2 M_b'' / (mu n) and
# 2 sqrt(T) R (R_y + M_b') / (mu n): 240 M_b'' / 50 and 6 sqrt(40) (3 + M_b') / 50.
GLM_SCALES = [
    (Gaussian(), 2.0, 4.8, 3.794733192202055),
    (Bernoulli(), math.log(3.0), 1.2, 2.846049894151541),
    (Poisson(), math.log(4.0), 19.2, 5.312626469082877),
]

CASES = [
    # Algorithm 3: sqrt(T) R^2 / (2 mu n) = 120 / 100 and 2 sqrt(T) R / (mu n) = 6 sqrt(40) / 50.
    pytest.param(logistic, 1.2, 0.7589466384404111, id="DP-PMTLR"),
    # Algorithm 5 with radius 5: 75 / 100 and 30 / 50.
    pytest.param(oracle, 0.75, 0.6, id="DP-LR"),
    *(
        pytest.param(
            lambda family=family, reach=reach, **k: glm(family, coef_bound=reach / RADIUS, **k),
            matrix_sd,
            vector_sd,
            id=f"DP-PMTGLM {type(family).__name__}",
        )
        for family, reach, matrix_sd, vector_sd in GLM_SCALES
    ),
]


@pytest.mark.parametrize(("make", "matrix_sd", "vector_sd"), CASES)
def test_every_update_has_the_published_noise(door, make, matrix_sd, vector_sd):
    make().fit(*unit_rows())
    # A Hessian and a gradient in each of exactly T updates; the published loop makes T + 1.
    assert door.kinds == ["gram", "total"] * T
    for hessian, gradient in zip(door.passages[::2], door.passages[1::2], strict=True):
        np.testing.assert_allclose(hessian.noise, np.full((D, D), matrix_sd), rtol=1e-9)
        np.testing.assert_allclose(gradient.noise, np.full(D, vector_sd), rtol=1e-9)
    assert door.source.counts == [6, 4, 4] * T


@pytest.mark.parametrize(("make", "matrix_sd", "vector_sd"), CASES)
def test_all_updates_together_cost_root_two_times_the_published_mu(
    door, make, matrix_sd, vector_sd
):
    model = make().fit(*unit_rows())
    # mu / sqrt(T) = 1/6 each.
    assert [one.mu for one in door.passages] == pytest.approx([1.0 / 6.0] * 2 * T, rel=1e-12)
    assert door.total_mu == pytest.approx(0.7071067811865476, rel=1e-12)
    assert door.total_mu <= model.card_.mu == TOTAL.mu
    assert model.n_iter_ == T
    assert model.coef_path_.shape == (T + 1, D)
    np.testing.assert_array_equal(model.coef_path_[0], np.zeros(D))
    np.testing.assert_array_equal(model.coef_path_[-1], model.coef_)


@pytest.mark.parametrize(("make", "matrix_sd", "vector_sd"), CASES)
def test_cards(make, matrix_sd, vector_sd):
    card = make().fit(*unit_rows()).card_
    assert [(one.statistic, one.times) for one in card.passes] == [("Hessian", T), ("gradient", T)]
    # mu^2 / 2 for the gradients; mu^2 / 4 for the Hessians, with twice the noise power they need.
    assert card.rho == pytest.approx(0.75 * MU**2, rel=1e-9)
    assert card.rho <= card.mu**2 / 2
    assert "Releases: 18; rows: 100." in str(card)
    assert card.notes[0] == (
        "The publication states this budget as mu = 0.5, for each of its 2 kinds of statistics."
    )
    if make is oracle:
        assert not card.private
        assert card.guarantee.startswith("Not private")
        # In units of the bounds: 2 sqrt(T) / (mu n).
        assert [one.noise_sd for one in card.passes] == pytest.approx([0.12, 0.12], rel=1e-9)
    else:
        assert card.private
        stated = [one.noise_sd for one in card.passes]
        assert stated == pytest.approx([matrix_sd, vector_sd], rel=1e-9)


@pytest.mark.parametrize(("make", "matrix_sd", "vector_sd"), CASES)
def test_the_path_is_newton_on_what_was_released(door, make, matrix_sd, vector_sd):
    rng = np.random.default_rng(0)
    S = np.cov(rng.normal(size=(D, 50)))
    public = {"public": PublicMoments.from_matrix(S, n=10**6)} if make is not oracle else {}
    model = make(random_state=1, **public).fit(*unit_rows())
    whitener, bound = door.passages[0].recipe.whitener, getattr(model, "coef_bound", math.inf)
    if public:
        np.testing.assert_allclose(whitener.T @ S @ whitener, np.eye(D), atol=1e-9)
    penalty, coef = 5.0 * whitener.T @ whitener, np.zeros(D)
    for t in range(T):
        hessian, gradient = door.passages[2 * t : 2 * t + 2]
        for passage in (hessian, gradient):
            np.testing.assert_allclose(passage.recipe.coef[:, 0], coef, rtol=1e-9, atol=1e-12)
        slope = gradient.noisy + penalty @ coef
        coef = coef - np.linalg.solve(hessian.noisy + penalty, slope)
        coef = coef * min(1.0, bound / np.linalg.norm(coef))
        np.testing.assert_allclose(model.coef_path_[t + 1], whitener @ coef, rtol=1e-8)


def test_auto_takes_the_iterated_logarithm_of_the_rows(door):
    model = logistic(iterations="auto").fit(*unit_rows())
    # log2(log2(100)) = 2.73.
    assert model.n_iter_ == 3
    assert len(door.passages) == 6


# What is summed


def test_logistic_slopes_and_curvatures_at_zero(door):
    door.source.factor = 0.0
    X, y = unit_rows()
    logistic(iterations=1).fit(X, y)
    hessian, gradient = door.passages
    np.testing.assert_allclose(hessian.silent, 0.25 * np.eye(D) / 4, atol=1e-5)
    np.testing.assert_allclose(gradient.silent, X.T @ (0.5 - y) / N, atol=1e-6)


def test_logistic_rows_are_truncated_at_the_radius(door):
    door.source.factor = 0.0
    X = np.zeros((N, D))
    X[:, 1] = -1e7
    model = logistic(iterations=1).fit(X, np.ones(N, dtype=int))
    hessian, gradient = door.passages
    assert model.radius_ == pytest.approx(RADIUS, rel=1e-12)
    assert hessian.silent[1, 1] == pytest.approx(10.0, rel=1e-4)
    # (1/2 - 1) * -sqrt(40): half of the bound on a gradient.
    assert gradient.silent[1] == pytest.approx(RADIUS / 2, rel=1e-6)
    # 10 b + 5 b = -sqrt(10).
    assert model.coef_[1] == pytest.approx(-RADIUS / 2 / 15.0, rel=1e-4)


def test_predictors_are_those_of_the_truncated_rows(door):
    door.source.factor = 0.0
    X = np.zeros((N, D))
    X[:, 1] = 1e7
    model = logistic(iterations=2).fit(X, np.ones(N, dtype=int))
    first = model.coef_path_[1, 1]
    assert first == pytest.approx(RADIUS / 2 / 15.0, rel=1e-4)
    hessian, gradient = door.passages[2:]
    # p = 1 / (1 + exp(-sqrt(40) sqrt(40) / 30)) = 0.7914.
    assert gradient.silent[1] == pytest.approx((0.791391 - 1.0) * RADIUS, rel=1e-4)
    assert hessian.silent[1, 1] == pytest.approx(0.791391 * 0.208609 * 40.0, rel=1e-4)


@pytest.mark.parametrize(("response", "slope"), [(1e9, -2.0), (-1e9, 4.0), (2.0, -1.0)])
def test_responses_of_a_poisson_model_are_clipped(door, response, slope):
    door.source.factor = 0.0
    X = np.zeros((N, D))
    X[:, 0] = 1e7
    bound = math.log(4.0) / RADIUS
    glm(Poisson(), iterations=1, coef_bound=bound).fit(X, np.full(N, response))
    hessian, gradient = door.passages
    # exp(0) - clip(y, -3, 3), times the radius.
    assert gradient.silent[0] == pytest.approx(slope * RADIUS, rel=1e-5)
    assert hessian.silent[0, 0] == pytest.approx(40.0, rel=1e-4)
    # R_y + M_b' = 7 and sqrt(M_b'') = 2.
    assert gradient.recipe.l2_bound == pytest.approx(7.0 * RADIUS, rel=1e-12)
    assert hessian.recipe.l2_bound == pytest.approx(2.0 * RADIUS, rel=1e-12)


@pytest.mark.parametrize("family", [Gaussian(), Bernoulli(), Poisson()], ids=repr)
def test_every_iterate_is_projected_onto_its_ball(door, family):
    rng = np.random.default_rng(2)
    public = PublicMoments.from_matrix(np.cov(rng.normal(size=(D, 50))), n=10**6)
    model = glm(family, alpha=0.0, coef_bound=0.1, public=public, random_state=0)
    model.fit(*unit_rows())
    whitened = np.linalg.solve(door.passages[0].recipe.whitener, model.coef_path_.T)
    lengths = np.linalg.norm(whitened, axis=0)
    assert lengths.max() <= 0.1 * (1 + 1e-12)
    # The noise carries most steps far outside, from where they come back to the sphere.
    assert np.sum(np.isclose(lengths, 0.1, rtol=1e-9)) >= T - 2


def test_logistic_regression_is_not_projected(door):
    model = logistic(alpha=0.0, random_state=0).fit(*unit_rows())
    assert np.linalg.norm(model.coef_path_, axis=1).max() > 1.0
    assert door.passages[0].recipe.radius == pytest.approx(RADIUS, rel=1e-12)


# Classes and predictions


def test_labels_are_positions_among_the_stated_classes():
    X, y = unit_rows()
    numbers = logistic(random_state=0).fit(X, y)
    words = logistic(random_state=0, classes=("no", "yes")).fit(X, np.array(["no", "yes"])[y])
    swapped = logistic(random_state=0, classes=(1, 0), privacy=GDP(1e4)).fit(X, y)
    straight = logistic(random_state=0, privacy=GDP(1e4)).fit(X, y)
    np.testing.assert_array_equal(words.coef_, numbers.coef_)
    assert words.classes_.tolist() == ["no", "yes"]
    assert set(words.predict(X)) <= {"no", "yes"}
    np.testing.assert_allclose(swapped.coef_, -straight.coef_, atol=1e-3)
    np.testing.assert_array_equal(swapped.classes_, [1, 0])


def test_mean_responses_are_predicted():
    X, y = unit_rows()
    model = glm(Poisson(), coef_bound=0.2).fit(X, y)
    np.testing.assert_allclose(model.predict(X), np.exp(X @ model.coef_), rtol=1e-12)


# Oracles


def test_oracle_reads_its_radius_and_tells_nobody(door):
    X, y = unit_rows()
    small, large = oracle().fit(X, y), oracle().fit(100.0 * X, y)
    # sqrt(1 + 24) and sqrt(10^4 + 24).
    radii = door.passages[0].recipe.radius, door.passages[2 * T].recipe.radius
    assert radii == pytest.approx((5.0, 100.11992808627059), rel=1e-12)
    assert set(vars(small)) - set(small.get_params()) == {
        "coef_",
        "coef_path_",
        "n_iter_",
        "classes_",
        "intercept_",
        "card_",
        "n_features_in_",
    }
    assert json.loads(small.card_.to_json()) == json.loads(large.card_.to_json())
    assert small.card_.public_fingerprint is None
