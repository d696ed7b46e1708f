"""The ridge estimator: what it accepts, what it returns, what its card says."""

from __future__ import annotations

import json
import math
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from publicmoments import GDP, ZCDP, ApproxDP, PublicMoments, PublicMomentsWarning, Ridge
from publicmoments.privacy.curves import gdp_delta

N, N_PUBLIC, D = 3000, 200, 3
COEF = np.array([1.0, -2.0, 0.5])
NAMES = ["age", "height", "weight"]


def sample():
    rng = np.random.default_rng(11)
    X = rng.normal(4.0, 2.0, size=(N_PUBLIC + N, D)).round()
    y = X @ COEF + 3.0 + rng.normal(size=N_PUBLIC + N)
    return X[:N_PUBLIC], y[:N_PUBLIC], X[N_PUBLIC:], y[N_PUBLIC:]


B, Y_PUBLIC, X, Y = sample()
PUBLIC = PublicMoments.from_rows(B, response=Y_PUBLIC)
TWO = np.column_stack([Y, -3.0 * Y])
PUBLIC_TWO = PublicMoments.from_rows(B, response=np.column_stack([Y_PUBLIC, -3.0 * Y_PUBLIC]))


def fitted(X=X, y=Y, **parameters):
    """A fit with little and reproducible noise."""
    chosen = {"privacy": GDP(100.0), "public": PUBLIC, "random_state": 0, **parameters}
    return Ridge(**chosen).fit(X, y)


# Containers and numbers


def memory_mapped(tmp_path):
    mapped = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    return np.memmap(tmp_path / "rows", dtype=np.float64, mode="r", shape=X.shape)


def read_only(tmp_path):
    frozen = X.copy()
    frozen.setflags(write=False)
    return frozen


@pytest.mark.parametrize(
    "make",
    [
        lambda path: np.asfortranarray(X),
        lambda path: np.repeat(X, 2, axis=1)[:, ::2],
        lambda path: X.astype(np.float32),
        lambda path: X.astype(np.int16),
        lambda path: X.astype(object),
        lambda path: X.astype(">f8"),
        lambda path: X.tolist(),
        lambda path: pd.DataFrame(X),
        lambda path: pd.DataFrame(X).convert_dtypes(),
        lambda path: pd.DataFrame({"a": X[:, 0].astype(int), "b": X[:, 1], "c": X[:, 2]}),
        lambda path: pl.DataFrame(X),
        lambda path: pl.DataFrame(X.astype(int)),
        read_only,
        memory_mapped,
    ],
)
def test_the_same_rows_give_the_same_fit_in_any_container(make, tmp_path):
    expected = fitted()
    model = fitted(make(tmp_path))
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert model.intercept_ == expected.intercept_
    assert model.card_ == expected.card_


@pytest.mark.parametrize(
    "y", [Y.tolist(), pd.Series(Y), pl.Series(Y), np.repeat(Y, 2)[::2], Y.astype(object)]
)
def test_the_same_responses_give_the_same_fit_in_any_container(y):
    model = fitted(y=y)
    assert model.coef_.shape == (D,)
    np.testing.assert_array_equal(model.coef_, fitted().coef_)


def test_booleans_are_zero_and_one():
    switch = X[:, :1] > 4
    public = PublicMoments.from_rows(B[:, :1] > 4, response=Y_PUBLIC)
    model = fitted(switch, public=public)
    np.testing.assert_array_equal(model.coef_, fitted(switch.astype(float), public=public).coef_)


def test_input_is_left_alone():
    table, response = X.copy(), Y.copy()
    fitted(table, response)
    np.testing.assert_array_equal(table, X)
    np.testing.assert_array_equal(response, Y)


@pytest.mark.parametrize("value", [1e308, -1.7e308, 5e-324, 1e-310, 1e154])
@pytest.mark.parametrize("place", ["X", "y"])
def test_extreme_cells_simply_work(value, place):
    table, response = X.copy(), Y.copy()
    if place == "X":
        table[7, 1] = value
    else:
        response[7] = value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fitted(table, response)
    assert np.isfinite(model.coef_).all()
    # One row in thousands: its influence is bounded.
    assert np.abs(model.coef_ - COEF).max() < 0.3


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("size", [1e308, 1e-308, 1e150])
def test_tables_of_extreme_cells_give_finite_fits(size):
    model = fitted(np.sign(X - 3.9) * size, np.sign(Y) * size)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_)
    assert json.loads(model.card_.to_json())


def test_invalid_rows_count_as_rows_of_zeros():
    table, response = X.copy(), Y.copy()
    table[5] = [np.nan, 1.0, 2.0]
    table[6, 2] = np.inf
    response[7] = -np.inf
    # Without a public fit the released sum of squares matters too.
    settings = {"fit_intercept": False, "public": PublicMoments.from_rows(B, response_scale=10.0)}
    model = fitted(table, response, on_invalid="ignore", **settings)
    table[5:8], response[5:8] = 0.0, 0.0
    expected = fitted(table, response, **settings)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert model.card_ == expected.card_


def test_the_card_does_not_tell_whether_rows_were_invalid():
    table = X.copy()
    table[5] = np.nan
    with_invalid = fitted(table, on_invalid="ignore").card_
    without = fitted(on_invalid="ignore").card_
    assert with_invalid.n_rows == without.n_rows == N


# Shapes and names


def test_vector_response():
    model = fitted()
    assert model.coef_.shape == (D,)
    assert isinstance(model.intercept_, float)
    assert model.predict(X).shape == (N,)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_)
    np.testing.assert_allclose(model.coef_, COEF, atol=0.1)


def test_column_response_keeps_its_second_dimension():
    model = fitted(y=Y[:, None])
    assert model.coef_.shape == (1, D)
    assert model.intercept_.shape == (1,)
    assert model.predict(X).shape == (N, 1)
    np.testing.assert_array_equal(model.coef_[0], fitted().coef_)


def test_several_responses_at_once():
    model = fitted(y=TWO, public=PUBLIC_TWO)
    assert model.coef_.shape == (2, D)
    assert model.intercept_.shape == (2,)
    assert model.predict(X).shape == (N, 2)
    np.testing.assert_allclose(model.coef_, [COEF, -3.0 * COEF], atol=0.3)
    assert model.card_.n_responses == 2
    assert len(model.card_.predicted_error) == 2
    assert model.score(X, TWO) > 0.8


def test_no_intercept():
    assert fitted(fit_intercept=False).intercept_ == 0.0
    several = fitted(y=TWO, public=PUBLIC_TWO, fit_intercept=False)
    np.testing.assert_array_equal(several.intercept_, [0.0, 0.0])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_names_are_kept_and_checked(make):
    frame = make(dict(zip(NAMES, X.T, strict=True)))
    model = fitted(frame)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.n_features_in_ == D
    np.testing.assert_allclose(model.predict(frame), X @ model.coef_ + model.intercept_)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=["age", "size", "weight"]))


def test_names_of_an_earlier_fit_are_forgotten():
    model = fitted(pd.DataFrame(X, columns=NAMES))
    model.fit(X, Y)
    assert not hasattr(model, "feature_names_in_")


def test_prediction_reads_what_fitting_reads():
    model = fitted()
    expected = model.predict(X)
    nullable = pd.DataFrame(X).convert_dtypes()
    for table in (nullable, pl.DataFrame(X), X.astype(object), X.astype(np.int16)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            np.testing.assert_allclose(model.predict(table), expected)


# The parameters


def test_penalty_shrinks_and_leaves_the_intercept():
    free, bent, gone = (fitted(alpha=alpha) for alpha in (0.0, 5.0, 1e300))
    assert np.linalg.norm(bent.coef_) < 0.8 * np.linalg.norm(free.coef_)
    np.testing.assert_allclose(gone.coef_, 0.0, atol=1e-12)
    np.testing.assert_allclose(gone.intercept_, Y.mean(), atol=0.1)


def test_no_public_moments():
    # Features of size 1, as the identity moments assume.
    unit = (X - 4.0) / 2.0
    with pytest.warns(PublicMomentsWarning, match="condition number") as caught:
        model = fitted(unit, public=None)
    assert caught[0].filename == __file__
    np.testing.assert_allclose(model.coef_, 2.0 * COEF, atol=0.3)
    assert model.card_.public_fingerprint is None


def test_no_public_moments_with_several_responses():
    with pytest.warns(PublicMomentsWarning):
        model = fitted(X, TWO, public=None)
    assert model.coef_.shape == (2, D)


@pytest.mark.filterwarnings("ignore:the public moments do not fit")
def test_public_moments_without_response():
    public = PublicMoments.from_rows(B)
    with pytest.warns(PublicMomentsWarning, match="say nothing of the response") as caught:
        model = fitted(public=public)
    assert caught[0].filename == __file__
    assert np.isfinite(model.coef_).all()


def test_matching_public_moments_give_no_warning():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted()
    assert not caught


@pytest.mark.parametrize("passes", [1, 2, 3, 4])
def test_passes(passes):
    model = fitted(passes=passes)
    statistics = [one.statistic for one in model.card_.passes]
    assert statistics == ["second moment", *["histogram", "gradient"] * passes]
    assert model.n_iter_ == passes
    np.testing.assert_allclose(model.coef_, COEF, atol=0.2)


def test_without_anchor_the_public_fit_has_no_say():
    wrong = PublicMoments.from_rows(B, response=Y_PUBLIC + 0.3 * B[:, 0])
    model = fitted(public=wrong, anchor=False, privacy=GDP(3.0))
    np.testing.assert_allclose(model.coef_, COEF, atol=0.1)


def test_clone_parameters_and_pickle():
    model = fitted(alpha=0.2, passes=3)
    copy = clone(model)
    assert not hasattr(copy, "coef_")
    assert copy.get_params()["privacy"] == GDP(100.0)
    assert copy.get_params()["public"] == PUBLIC
    np.testing.assert_array_equal(copy.fit(X, Y).coef_, model.coef_)
    thawed = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(thawed.predict(X), model.predict(X))
    assert thawed.card_ == model.card_


def test_set_params_takes_effect():
    model = fitted().set_params(fit_intercept=False, alpha=1.0)
    assert model.fit(X, Y).intercept_ == 0.0


def test_representation_holds_no_rows():
    text = repr(fitted())
    assert "PublicMoments(d=3, n=200, responses=1, rows=200)" in text


# The card


def test_a_seeded_fit_claims_nothing():
    card = fitted().card_
    assert not card.private
    assert card.guarantee.startswith("No privacy guarantee")
    assert card.epsilon_delta == ()
    assert "No privacy guarantee" in str(card)
    assert "epsilon" not in str(card).partition("\n")[2]


def test_seeds_reproduce_and_system_noise_does_not():
    np.testing.assert_array_equal(fitted().coef_, fitted().coef_)
    private = [fitted(random_state=None).coef_ for _ in range(2)]
    assert not np.array_equal(*private)


@pytest.mark.parametrize(
    "seed", [7, np.int64(7), np.random.default_rng(7), np.random.RandomState(7)]
)
def test_every_kind_of_seed(seed):
    assert not fitted(random_state=seed).card_.private


def test_card_of_a_private_fit():
    card = fitted(random_state=None, privacy=GDP(1.0)).card_
    assert card.private
    assert card.guarantee.startswith("Satisfies 0.5-zCDP exactly, and 1-Gaussian DP")
    assert "GDP(mu=1.0)" in card.guarantee
    assert "replaced" in card.neighbours
    assert "number of rows is public" in card.neighbours
    assert (card.n_rows, card.n_features, card.n_responses) == (N, D, 1)
    assert card.public_fingerprint == PUBLIC.fingerprint
    assert {"python", "publicmoments", "numpy", "opendp"} <= set(card.versions)
    assert card.guarantee in str(card)


def test_card_as_dictionary_and_json():
    card = fitted(random_state=None, privacy=ApproxDP(1.0, 1e-6)).card_
    plain = card.to_dict()
    assert json.loads(card.to_json()) == plain
    assert json.loads(card.to_json(indent=None)) == plain
    assert plain["passes"][0]["mu"] == card.passes[0].mu
    assert plain["epsilon_delta"][0] == list(card.epsilon_delta[0])
    assert set(plain) == {
        "guarantee", "private", "neighbours", "mu", "rho", "extra_tv", "epsilon_delta", "n_rows",
        "n_features", "n_responses", "passes", "public_fingerprint", "public_fit_z",
        "response_fit_z", "predicted_error", "versions", "notes",
    }  # fmt: skip


@pytest.mark.parametrize(("y", "public"), [(Y, PUBLIC), (TWO, PUBLIC_TWO)])
def test_noise_on_the_card_is_that_of_the_mean_in_units_of_the_rows(y, public):
    for one in fitted(y=y, public=public, privacy=GDP(2.0), passes=2).card_.passes:
        # Changes of 2 R, of two marks, and of sqrt(2) R^2; the grid has 20 bits, or 16.
        change, unit = {
            "gradient": (2.0 * one.bound, one.bound / 2**20),
            "histogram": (math.sqrt(2.0) * one.bound, one.bound / 2**20),
            "second moment": (math.sqrt(2.0) * one.bound**2, one.bound**2 / 4**16),
        }[one.statistic]
        assert one.noise_sd == pytest.approx(change / (one.mu * N), rel=1e-6)
        assert one.noise_sd_grid_units * unit / N == pytest.approx(one.noise_sd, rel=1e-9)


BUDGETS = [
    GDP(0.1),
    GDP(1.0),
    GDP(7.3),
    ApproxDP(1.0, 1e-6),
    ApproxDP(0.1, 1e-9),
    ApproxDP(8.0, 1e-5),
    ZCDP(0.5),
    ZCDP(0.013),
    ZCDP(20.1),
]


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
@pytest.mark.parametrize("passes", [1, 2, 3, 4])
def test_spending_adds_up_and_stays_within_the_budget(budget, passes):
    card = fitted(random_state=None, privacy=budget, passes=passes).card_
    spent_rho = sum(Fraction(one.rho) for one in card.passes)
    spent_mu = sum(Fraction(one.mu) ** 2 for one in card.passes)
    assert spent_rho <= Fraction(card.rho) <= spent_rho * (1 + Fraction(1, 2**50))
    assert spent_mu <= Fraction(card.mu) ** 2
    assert float(spent_mu) == pytest.approx(card.mu**2, rel=1e-12)
    assert card.mu <= budget.to_gdp().mu
    assert card.rho <= card.mu**2 / 2 * (1 + 1e-15)
    if isinstance(budget, ZCDP):
        assert Fraction(card.rho) <= Fraction(budget.rho)
        assert card.rho == pytest.approx(budget.rho, rel=1e-12)
    if isinstance(budget, GDP):
        assert card.mu == budget.mu


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_curve_is_never_better_than_the_noise_allows(budget):
    card = fitted(random_state=None, privacy=budget).card_
    assert len(card.epsilon_delta) >= 4
    for epsilon, delta in card.epsilon_delta:
        gaussian = gdp_delta(card.mu, epsilon)
        extra = (1.0 + math.exp(epsilon)) * card.extra_tv
        by_zcdp = epsilon >= ZCDP(card.rho).to_approx_dp(delta).epsilon * (1 - 1e-12)
        assert delta >= (gaussian + extra) * (1 - 1e-9) or (by_zcdp and delta >= gaussian)


@pytest.mark.parametrize("budget", [ApproxDP(1.0, 1e-6), ApproxDP(0.1, 1e-9), ApproxDP(8.0, 1e-5)])
def test_the_stated_point_is_on_the_curve_first(budget):
    card = fitted(random_state=None, privacy=budget).card_
    assert card.epsilon_delta[0] == (budget.epsilon, budget.delta)


def test_words_never_claim_less_than_the_numbers():
    card = fitted(random_state=None, privacy=ZCDP(0.12345649999)).card_
    claimed = card.guarantee.removeprefix("Satisfies ").partition("-zCDP")[0]
    assert claimed == "0.123457"
    assert float(claimed) >= card.rho


def test_predicted_error_is_told_in_units_of_the_response():
    small, large = (
        fitted(y=f * Y, public=PublicMoments.from_rows(B, response=f * Y_PUBLIC)) for f in (1, 1000)
    )
    np.testing.assert_allclose(
        large.card_.predicted_error, 1000 * np.array(small.card_.predicted_error)
    )
