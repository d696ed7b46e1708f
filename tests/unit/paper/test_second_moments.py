"""The private second moment as published: what it gives, what it refuses, what it charges."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from audit.door import noise_from
from audit.replay import recorded
from publicmoments import GDP, ApproxDP, BudgetExceeded, PublicMoments
from publicmoments.paper import (
    GuidedSetting,
    OracleSecondMoment,
    PMTSecondMoment,
    inverse_error_bound,
    noise_norm_bound,
    robustness_condition,
    second_moment_noise_sd,
    truncation_radius,
)
from publicmoments.privacy import Ledger

N, D = 400, 3
SECRET = 123456.789
RNG = np.random.default_rng(4)
MIX = np.array([[1.0, 0.3, 0.0], [0.0, 2.0, -1.0], [0.0, 0.0, 50.0]])
X = RNG.normal(size=(N, D)) @ MIX
B = RNG.normal(size=(80, D)) @ MIX
PUBLIC = PublicMoments.from_rows(B)
WEIGHTS = RNG.uniform(0.0, 1.0, size=N)
BOTH = {
    "published": lambda **k: PMTSecondMoment(**{"public": PUBLIC, "privacy": GDP(1.0), **k}),
    "oracle": lambda **k: OracleSecondMoment(**{"privacy": GDP(1.0), **k}),
}
EACH = pytest.mark.parametrize("name", BOTH)


@pytest.fixture
def quiet(silence):
    with noise_from(silence):
        yield silence


class TestWhatIsGiven:
    @EACH
    @pytest.mark.parametrize("alpha", [0.0, 0.7])
    def test_both_coordinates_hold_the_same_matrices(self, name, alpha):
        fitted = BOTH[name](alpha=alpha, privacy=GDP(1e4), random_state=0).fit(X)
        whitener = PUBLIC.design(fit_intercept=False).whitener if name == "published" else np.eye(D)
        back = np.linalg.inv(whitener)
        np.testing.assert_allclose(
            fitted.second_moment_, back.T @ fitted.transformed_ @ back, rtol=1e-10
        )
        regularised = fitted.second_moment_ + alpha * np.eye(D)
        np.testing.assert_allclose(fitted.inverse_ @ regularised, np.eye(D), atol=1e-8)
        np.testing.assert_allclose(
            whitener @ fitted.transformed_inverse_ @ whitener.T, fitted.inverse_, rtol=1e-10
        )
        assert fitted.condition_.before == pytest.approx(np.linalg.cond(regularised))

    def test_whitening_mends_the_condition(self, quiet):
        condition = BOTH["published"]().fit(X).condition_
        assert condition.before > 500.0
        assert condition.after < 3.0

    def test_a_matrix_that_noise_made_indefinite_has_no_condition(self):
        fitted = BOTH["published"](privacy=GDP(1e-3), random_state=1).fit(X)
        assert fitted.condition_.after == math.inf
        assert np.linalg.eigvalsh(fitted.transformed_)[0] < 0.0

    def test_the_published_radius_and_noise(self):
        fitted = BOTH["published"](privacy=GDP(0.8), eta=0.1, random_state=0).fit(X)
        assert fitted.radius_ == truncation_radius(D, N, 0.1)
        expected = second_moment_noise_sd(fitted.radius_, N, 0.8)
        assert fitted.noise_sd_ == pytest.approx(expected, rel=1e-6)
        assert "mu = 0.8, for its one statistic" in str(fitted.card_)

    def test_the_theorem_stands_beside(self):
        fitted = BOTH["published"](alpha=0.2, random_state=0).fit(X)
        told = fitted.robustness_
        values = np.linalg.eigvalsh(PUBLIC.second_moment)
        setting = GuidedSetting(d=D, eta=0.05, penalty=0.2, n_public=80, public_norm=values[-1])
        assert told.setting == setting
        assert told.condition == robustness_condition(setting, N, 1.0)
        assert told.transformed_bound == inverse_error_bound(setting, N, 1.0)
        original = inverse_error_bound(setting, N, 1.0, inverse_norm=1.0 / values[0])
        assert told.original_bound == pytest.approx(original)
        assert told.noise_norm == pytest.approx(noise_norm_bound(fitted.noise_sd_, D, 0.05))
        assert told.met == (told.condition <= 0.5)

    def test_the_theorem_is_silent_where_it_does_not_apply(self):
        assert BOTH["published"](random_state=0).fit(X, sample_weight=WEIGHTS).robustness_ is None
        with pytest.warns(UserWarning, match="no public moments"):
            fitted = BOTH["published"](public=None, random_state=0).fit(X)
        assert fitted.robustness_ is None

    def test_an_oracle_says_so_and_keeps_no_radius(self):
        fitted = BOTH["oracle"]().fit(X)
        assert fitted.card_.guarantee.startswith("Not private")
        assert not fitted.card_.private
        assert not hasattr(fitted, "radius_")

    def test_names_are_kept(self):
        frame = pd.DataFrame(X, columns=list("abc"))
        public = PublicMoments.from_rows(B, columns=list("abc"))
        fitted = PMTSecondMoment(privacy=GDP(1.0), public=public).fit(frame)
        assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
        assert clone(fitted).get_params()["privacy"] == GDP(1.0)

    def test_files_and_weights_by_name(self, tmp_path, quiet):
        frame = pd.DataFrame(X, columns=list("abc")).assign(w=WEIGHTS)
        frame.to_parquet(tmp_path / "rows.parquet")
        public = PublicMoments.from_rows(B, columns=list("abc"))
        model = PMTSecondMoment(privacy=GDP(1.0), public=public)
        there = model.fit(str(tmp_path / "rows.parquet"), sample_weight="w").second_moment_
        here = model.fit(X, sample_weight=WEIGHTS).second_moment_
        np.testing.assert_allclose(there, here, rtol=1e-12)


class TestWeights:
    @EACH
    def test_the_weighted_second_moment(self, name, quiet):
        # An oracle shortens about half of rows whose trace is large.
        table = X if name == "published" else X / 100.0
        fitted = BOTH[name]().fit(table, sample_weight=WEIGHTS)
        expected = (table * WEIGHTS[:, None]).T @ table / N
        scale = np.sqrt(np.diag(expected))
        difference = (fitted.second_moment_ - expected) / np.outer(scale, scale)
        # Its grid is coarse beside columns so small.
        assert np.abs(difference).max() < (1e-4 if name == "published" else 2e-3)

    def test_larger_weights_than_the_bound_count_for_it(self, quiet):
        large = np.where(np.arange(N) % 2, 3.0, 0.5)
        model = BOTH["published"](weight_bound=2.0)
        clipped = model.fit(X, sample_weight=np.minimum(large, 2.0)).transformed_
        np.testing.assert_array_equal(model.fit(X, sample_weight=large).transformed_, clipped)

    def test_noise_goes_with_the_bound(self):
        first, second = (
            BOTH["published"](weight_bound=bound, random_state=0).fit(X, sample_weight=WEIGHTS)
            for bound in (1.0, 4.0)
        )
        assert second.noise_sd_ == pytest.approx(4.0 * first.noise_sd_, rel=1e-6)
        assert second.card_.mu == first.card_.mu == 1.0

    def test_one_row_moves_the_sum_within_its_sensitivity(self):
        hostile, weights = X.copy(), WEIGHTS.copy()
        hostile[7], weights[7] = 1e300, 1e300
        model = BOTH["published"](weight_bound=2.0, on_invalid="ignore")
        first = recorded(lambda: {"m": model.fit(X, sample_weight=WEIGHTS).transformed_.tolist()})
        second = recorded(
            lambda: {"m": model.fit(hostile, sample_weight=weights).transformed_.tolist()}, first
        )
        (one,), (other,) = first.asked, second.asked
        moved = sum(int(entry) ** 2 for entry in (one.exact - other.exact).ravel())
        assert 0 < moved <= one.bound
        assert one.public == other.public
        # The row reaches the bound of its product, which is half of what replacing it may do.
        assert moved > 0.4 * float(one.bound)

    @pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
    def test_a_weight_of_no_use(self, weight, quiet):
        weights = WEIGHTS.copy()
        weights[5] = weight
        with pytest.raises(ValueError, match=r"sample_weight|NaN or infinity"):
            BOTH["published"]().fit(X, sample_weight=weights)
        rows = X.copy()
        rows[5] = 0.0
        ignored = BOTH["published"](on_invalid="ignore").fit(X, sample_weight=weights)
        zeroed = BOTH["published"]().fit(rows, sample_weight=WEIGHTS)
        np.testing.assert_array_equal(ignored.transformed_, zeroed.transformed_)


class TestRefusals:
    @EACH
    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"alpha": -1.0}, "alpha must be in"),
            ({"alpha": math.nan}, "alpha must be in"),
            ({"eta": 0.0}, "eta must be in"),
            ({"eta": 1.0}, "eta must be in"),
            ({"weight_bound": 0.0}, "weight_bound must be in"),
            ({"privacy": None}, "privacy"),
            ({"privacy": 1.0}, "privacy"),
            ({"on_invalid": "drop"}, "on_invalid must be"),
            ({"random_state": "a"}, "random_state"),
        ],
    )
    def test_parameters(self, name, parameters, words):
        model = BOTH[name](**parameters)
        with pytest.raises((TypeError, ValueError), match=words):
            model.fit(X)
        assert set(vars(model)) == set(model.get_params())

    @pytest.mark.parametrize(
        ("table", "words"),
        [
            (np.where(X[5, 1] == X, np.nan, X), r"X \(column 1\)"),
            (X[:, :2], "X has 2 features"),
            (X[:1], "a minimum of 2 is required"),
            (X.astype(str), "X must hold numbers"),
            ([[1.0, 2.0, 3.0], [1.0, 2.0]], "rectangular"),
        ],
    )
    def test_tables(self, table, words):
        with pytest.raises((TypeError, ValueError), match=words) as info:
            BOTH["published"]().fit(table)
        assert str(SECRET) not in str(info.value)

    def test_weights_of_another_shape(self):
        for weights in (WEIGHTS[:-1], np.ones((N, 2))):
            with pytest.raises(ValueError, match=r"sample_weight|samples"):
                BOTH["published"]().fit(X, sample_weight=weights)

    def test_public_of_another_kind(self):
        with pytest.raises(TypeError, match="public must be PublicMoments"):
            BOTH["published"](public=np.eye(D)).fit(X)


class TestLedger:
    def test_the_total_is_charged_first(self, tmp_path):
        ledger = Ledger(tmp_path / "ledger.db")
        ledger.cap("rows", GDP(1.0))
        model = BOTH["published"](privacy=GDP(0.8), ledger=ledger, dataset="rows").fit(X)
        (entry,) = ledger.entries("rows")
        assert (entry.mu, entry.state, entry.purpose.model) == (0.8, "released", "PMTSecondMoment")
        assert entry.extra_tv == model.card_.extra_tv
        before = model.transformed_.copy()
        with pytest.raises(BudgetExceeded):
            model.fit(X)
        np.testing.assert_array_equal(model.transformed_, before)

    def test_epsilon_and_delta_are_kept(self):
        card = BOTH["published"](privacy=ApproxDP(1.0, 1e-6)).fit(X).card_
        assert card.epsilon_delta[0] == (1.0, 1e-6)
