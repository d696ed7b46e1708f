"""DP-PMTRR, DP-RR and AdaSSP against scales, bounds and budgets worked out by hand."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest

from publicmoments import GDP, ApproxDP, PublicMoments
from publicmoments.paper import AdaSSP, OracleRidge, PMTRidge

N, D = 100, 4
# 1 + log(2n / eta) = 10: radius sqrt(40) for four columns, sqrt(10) for the response.
ETA = 200.0 * math.exp(-9.0)
RADIUS, RESPONSE_RADIUS = math.sqrt(40.0), math.sqrt(10.0)
# log(n / eta) = 6: without public data, radius^2 = trace + 24 and second moment + 6.
ORACLE_ETA = 100.0 * math.exp(-6.0)
# The published mu is 1/2 for each statistic.
MU = 0.5
TOTAL = GDP(math.sqrt(2.0) * MU)

PUBLIC = PublicMoments.from_matrix(np.eye(D), n=10**6, response_scale=2.0)


def unit_rows():
    """Rows of length 1, as many along each axis; responses of mean square 3."""
    X = np.tile(np.eye(D), (N // D, 1))
    return X, np.full(N, math.sqrt(3.0)) * np.tile([1.0, -1.0], N // 2)


def far_rows():
    """Rows and responses far outside any radius."""
    X = np.zeros((N, D))
    X[:, 0] = 1e6
    return X, np.full(N, -1e9)


def pmt_ridge(**parameters):
    return PMTRidge(**{"eta": ETA, "privacy": TOTAL, "public": PUBLIC, **parameters})


# DP-PMTRR


def test_pmt_ridge_has_the_noise_of_algorithm_2(door):
    pmt_ridge(alpha=5.0).fit(*unit_rows())
    assert door.kinds == ["gram", "total"]
    gram, cross = door.passages
    # 2 d (1 + log(2n/eta)) / (mu n) = 80 / 50, in every entry on and above the diagonal.
    np.testing.assert_allclose(gram.noise, np.full((D, D), 1.6), rtol=1e-9)
    # 2 sqrt(d) (1 + log(2n/eta)) / (mu n) = 40 / 50.
    np.testing.assert_allclose(cross.noise, np.full(D, 0.8), rtol=1e-9)
    # Six entries above the diagonal, four on it, four of the vector: each its own draw.
    assert door.source.counts == [6, 4, 4]


def test_the_two_statistics_of_pmt_ridge_cost_the_published_mu_each(door):
    model = pmt_ridge(alpha=5.0).fit(*unit_rows())
    assert [passage.mu for passage in door.passages] == pytest.approx([MU, MU], rel=1e-12)
    assert door.total_mu == pytest.approx(0.7071067811865476, rel=1e-12)
    assert door.total_mu <= model.card_.mu == TOTAL.mu


def test_pmt_ridge_truncates_at_the_published_radii(door):
    door.source.factor = 0.0
    model = pmt_ridge(alpha=1.0).fit(*far_rows())
    assert model.radius_ == pytest.approx(RADIUS, rel=1e-12)
    assert model.response_radius_ == pytest.approx(RESPONSE_RADIUS, rel=1e-12)
    gram, cross = door.passages
    longest = np.zeros((D, D))
    longest[0, 0] = 40.0
    np.testing.assert_allclose(gram.silent, longest, rtol=1e-4)
    # -sqrt(40) sqrt(10); a response of -1e9 counts as one of -sqrt(10) public scales.
    np.testing.assert_allclose(cross.silent, [-20.0, 0.0, 0.0, 0.0], rtol=1e-4)
    # 40 b~ + b~ = -20 and b = 2 b~.
    np.testing.assert_allclose(model.coef_, [-40.0 / 41.0, 0.0, 0.0, 0.0], rtol=1e-4)


@pytest.mark.parametrize(("sign", "bound"), [(1.0, RESPONSE_RADIUS), (-1.0, -RESPONSE_RADIUS)])
def test_responses_are_clipped_whatever_the_length_of_the_row(door, sign, bound):
    door.source.factor = 0.0
    pmt_ridge(alpha=1.0).fit(unit_rows()[0], np.full(N, sign * 1e9))
    np.testing.assert_allclose(door.passages[1].silent, np.full(D, bound / 4), rtol=1e-5)
    adassp().fit(unit_rows()[0], np.full(N, sign * 1e9))
    np.testing.assert_allclose(door.passages[-1].silent, np.full(D, sign * 0.75), rtol=1e-5)


def test_rows_inside_the_radii_are_left_alone(door):
    door.source.factor = 0.0
    X, y = unit_rows()
    pmt_ridge(alpha=1.0).fit(X, y)
    gram, cross = door.passages
    np.testing.assert_allclose(gram.silent, np.eye(D) / 4, atol=1e-5)
    np.testing.assert_allclose(cross.silent, X.T @ y / N / 2.0, atol=1e-5)


def test_pmt_ridge_solves_with_the_penalty_in_raw_units(door):
    rng = np.random.default_rng(0)
    S = np.cov(rng.normal(size=(D, 50)))
    public = PublicMoments.from_matrix(S, n=10**6, response_scale=2.0)
    X, y = unit_rows()
    model = pmt_ridge(alpha=3.0, public=public, random_state=5).fit(X, y)
    gram, cross = door.passages
    whitener = gram.recipe.whitener
    np.testing.assert_allclose(whitener.T @ S @ whitener, np.eye(D), atol=1e-9)
    whitened = np.linalg.solve(gram.noisy + 3.0 * whitener.T @ whitener, cross.noisy)
    np.testing.assert_allclose(model.coef_, 2.0 * whitener @ whitened, rtol=1e-9)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_, rtol=1e-12)
    assert model.intercept_ == 0.0


def test_card_of_pmt_ridge():
    card = pmt_ridge(alpha=5.0).fit(*unit_rows()).card_
    assert card.private
    assert "-zCDP exactly" in card.guarantee
    assert card.mu == TOTAL.mu
    # The vector costs mu^2 / 2; the matrix, with twice the noise power it needs, mu^2 / 4.
    assert card.rho == pytest.approx(0.75 * MU**2, rel=1e-9)
    assert card.rho <= card.mu**2 / 2
    assert (card.n_rows, card.n_features, card.n_responses) == (N, D, 1)
    assert card.public_fingerprint == PUBLIC.fingerprint
    assert [(one.statistic, one.times) for one in card.passes] == [
        ("second moment", 1),
        ("cross moment", 1),
    ]
    assert [one.noise_sd for one in card.passes] == pytest.approx([1.6, 0.8], rel=1e-9)
    assert [one.mu for one in card.passes] == pytest.approx([0.5, 0.5], rel=1e-12)
    assert card.notes == (
        "The publication states this budget as mu = 0.5, for each of its 2 kinds of statistics.",
    )
    assert "Releases: 2; rows: 100." in str(card)


def test_a_seeded_fit_claims_nothing():
    models = [pmt_ridge(alpha=5.0, random_state=3).fit(*unit_rows()) for _ in range(2)]
    card = models[0].card_
    assert not card.private
    assert card.guarantee.startswith("No privacy guarantee")
    assert card.epsilon_delta == ()
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


@pytest.mark.parametrize("make", [pmt_ridge, lambda **k: AdaSSP(2.0, 3.0, **k)])
def test_an_approximate_budget_is_kept_with_the_grid_included(make):
    privacy = ApproxDP(2.0, 1e-6)
    card = make(privacy=privacy).fit(*unit_rows()).card_
    assert card.epsilon_delta[0] == pytest.approx((2.0, 1e-6), rel=1e-12)
    assert card.mu <= privacy.mu
    assert card.mu == pytest.approx(privacy.mu, rel=1e-6)


# DP-RR


def oracle(**parameters):
    return OracleRidge(**{"alpha": 1.0, "eta": ORACLE_ETA, "privacy": TOTAL, **parameters})


def test_oracle_ridge_has_the_noise_of_theorem_4_3(door):
    oracle(coef_norm=3.0).fit(*unit_rows())
    assert door.kinds == ["gram", "total"]
    gram, cross = door.passages
    # radius^2 = 1 + 24 and the response radius 3 * 5: 2 * 25 / 50 and 2 * 5 * 15 / 50.
    np.testing.assert_allclose(gram.noise, np.ones((D, D)), rtol=1e-9)
    np.testing.assert_allclose(cross.noise, np.full(D, 3.0), rtol=1e-9)
    assert gram.recipe.radius == pytest.approx(5.0, rel=1e-12)


def test_oracle_ridge_without_coefficients_follows_the_remark(door):
    oracle().fit(*unit_rows())
    # Responses to sqrt(3 + 6): 2 * 5 * 3 / 50, where the remark prints 15 / 100.
    np.testing.assert_allclose(door.passages[1].noise, np.full(D, 0.6), rtol=1e-9)
    assert door.total_mu == pytest.approx(TOTAL.mu, rel=1e-12)


def test_oracle_ridge_clips_at_its_radii(door):
    door.source.factor = 0.0
    X, y = unit_rows()
    X[0], y[0] = [30.0, 0.0, 0.0, 0.0], 100.0
    oracle().fit(X, y)
    gram, cross = door.passages
    # Mean squares of (99 + 900) / 100 for the rows and (99 * 3 + 10^4) / 100 for the responses.
    squared, response_squared = 9.99 + 24.0, 102.97 + 6.0
    first, second = gram.silent[0, 0], cross.silent[0]
    assert first == pytest.approx((24.0 + squared) / N, rel=1e-4)
    rest = X[1:, 0] @ y[1:]
    assert second == pytest.approx((math.sqrt(squared * response_squared) + rest) / N, rel=1e-4)


@pytest.mark.parametrize("seed", [None, 0])
def test_an_oracle_is_called_one_whatever_its_noise(seed):
    card = oracle(random_state=seed).fit(*unit_rows()).card_
    assert not card.private
    assert card.guarantee.startswith("Not private: the radius was read from the private rows")
    assert card.epsilon_delta == ()
    assert card.mu == TOTAL.mu
    assert card.notes[0].startswith("The publication states this budget as mu = 0.5,")
    assert "Not private" in str(card)


def test_nothing_on_an_oracle_tells_its_radius():
    X, y = unit_rows()
    small, large = oracle().fit(X, y), oracle().fit(100.0 * X, 50.0 * y)
    assert set(vars(small)) - set(small.get_params()) == {
        "coef_",
        "intercept_",
        "card_",
        "n_features_in_",
    }
    # The noise of the one is hundreds of times that of the other; the cards are the same.
    assert json.loads(small.card_.to_json()) == json.loads(large.card_.to_json())
    # In units of the bounds: 2 / (mu n).
    assert [one.noise_sd for one in small.card_.passes] == pytest.approx([0.04, 0.04], rel=1e-9)
    assert small.card_.notes[-1] == "The noise is stated in units of the bound, which is not told."


# AdaSSP


def adassp(**parameters):
    budget = GDP(math.sqrt(3.0) * MU)
    return AdaSSP(**{"x_bound": 2.0, "y_bound": 3.0, "privacy": budget, **parameters})


def test_adassp_has_the_noise_of_its_three_statistics(door):
    model = adassp().fit(*unit_rows())
    assert door.kinds == ["eigenvalue", "gram", "total"]
    assert [passage.mu for passage in door.passages] == pytest.approx([MU] * 3, rel=1e-12)
    eigenvalue, gram, cross = door.passages
    # x_bound^2, sqrt(2) x_bound^2 and 2 x_bound y_bound, over mu n = 50.
    assert eigenvalue.noise == pytest.approx([0.08], rel=1e-6)
    np.testing.assert_allclose(gram.noise, np.full((D, D), 0.11313708498984761), rtol=1e-9)
    np.testing.assert_allclose(cross.noise, np.full(D, 0.24), rtol=1e-9)
    assert door.source.counts == [1, 6, 4, 4]
    assert eigenvalue.silent == pytest.approx([0.25], abs=1e-4)
    # The eigenvalue less sqrt(log(6e6)) of its sd, short of sqrt(4 log(32 / 0.05)) of them.
    assert math.sqrt(math.log(6e6)) == pytest.approx(3.9508, rel=1e-4)
    certain = 0.25 + 0.08 - 3.950757 * 0.08
    assert model.penalty_ == pytest.approx(5.083849 * 0.08 - certain, rel=1e-3)
    coef = np.linalg.solve(gram.noisy + model.penalty_ * np.eye(D), cross.noisy)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-9)


def test_adassp_needs_no_penalty_where_the_eigenvalue_is_certain():
    X, y = unit_rows()
    model = adassp(privacy=GDP(1e4), random_state=0).fit(X, y)
    assert model.penalty_ == 0.0
    np.testing.assert_allclose(model.coef_, 4.0 * X.T @ y / N, atol=1e-2)


def test_adassp_shortens_what_exceeds_its_bounds(door):
    door.source.factor = 0.0
    adassp().fit(*far_rows())
    eigenvalue, gram, cross = door.passages
    assert eigenvalue.silent == pytest.approx([0.0], abs=1e-6)
    assert gram.silent[0, 0] == pytest.approx(4.0, rel=1e-4)
    assert cross.silent[0] == pytest.approx(-6.0, rel=1e-4)


def test_card_of_adassp():
    card = adassp().fit(*unit_rows()).card_
    assert card.private
    assert card.rho == pytest.approx(1.5 * MU**2, rel=1e-6)
    assert card.rho <= card.mu**2 / 2
    assert [(one.statistic, one.times) for one in card.passes] == [
        ("smallest eigenvalue", 1),
        ("second moment", 1),
        ("cross moment", 1),
    ]
    assert card.public_fingerprint is None


@pytest.mark.parametrize("make", [pmt_ridge, oracle, adassp])
def test_fitted_models_travel(make):
    model = make(alpha=5.0) if make is not adassp else make()
    model.fit(*unit_rows())
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.coef_, model.coef_)
    assert copied.card_ == model.card_
