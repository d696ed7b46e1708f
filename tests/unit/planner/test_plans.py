"""Plans predict what fits then do."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from publicmoments import (
    GDP,
    ZCDP,
    ApproxDP,
    LogisticRegression,
    PoissonRegressor,
    PublicMoments,
    Ridge,
    plan,
)
from publicmoments.paper.settings import GuidedSetting
from publicmoments.paper.theory import robustness_condition
from publicmoments.planner import rehearsal, smallest_budget, smallest_n
from publicmoments.planner.fits import Task

QUICK = {"n_features": 3, "r2": 0.5, "rehearsals": 2}


def linear(count, rng, sd=1.0):
    X = rng.normal(size=(count, 5)) @ np.diag([1.0, 1.0, 3.0, 3.0, 10.0]) + 1.0
    return X, X @ np.array([1.0, -1.0, 0.5, 0.0, 0.2]) + sd * rng.normal(size=count)


@pytest.fixture(scope="module")
def public():
    X, y = linear(150, np.random.default_rng(7))
    return PublicMoments.from_rows(X, response=y)


@pytest.fixture(scope="module")
def made(public):
    return plan(n_rows=3_000, privacy=[GDP(10), GDP(0.03), GDP(0.3)], public=public, rehearsals=8)


def test_planned_errors_are_realised(public, made):
    # A factor 1.5 in the noise would move the smallest budget's error by about that much.
    rng = np.random.default_rng(11)
    realised = {0.03: [], 10.0: []}
    truth = np.array([1.0, -1.0, 0.5, 0.0, 0.2, 0.0])
    S = np.diag([1.0, 1.0, 9.0, 9.0, 100.0, 0.0]) + np.ones((6, 6))
    for seed in range(10):
        X, y = linear(3_000, rng)
        B, u = linear(150, rng)
        known = PublicMoments.from_rows(B, response=u)
        for mu, errors in realised.items():
            model = Ridge(privacy=GDP(mu), public=known, random_state=seed).fit(X, y)
            away = np.append(model.coef_, model.intercept_) - truth
            errors.append(away @ S @ away)
    for forecast in made.forecasts[::2]:
        assert forecast.prediction_error == pytest.approx(
            np.sqrt(np.mean(realised[forecast.mu])), rel=0.3
        )


@pytest.mark.long
def test_planned_noise_is_realised():
    # Noise rules here, and shrinkage does little: a factor 1.5 in the noise would fail. The rows
    # are known to be Gaussian, as a matrix alone could not tell.
    moment, scale = np.diag([1.0, 4.0, 25.0]), 1.0
    known = PublicMoments.from_matrix(moment, n=10_000, response_scale=np.sqrt(2.0) * scale)
    asked = {"n_rows": 4_000, "fit_intercept": False, "r2": 0.5, "kurtosis": 1.0}
    forecast = plan(privacy=GDP(0.05), public=known, rehearsals=60, **asked).forecasts[0]
    rng, squares = np.random.default_rng(3), []
    for seed in range(400):
        X = rng.normal(size=(4_000, 3)) @ np.sqrt(moment)
        direction = rng.normal(size=3)
        y = X @ (direction / np.linalg.norm(direction) / np.sqrt(np.diag(moment)))
        y = y + scale * rng.normal(size=4_000)
        model = Ridge(privacy=GDP(0.05), public=known, fit_intercept=False, random_state=seed)
        away = model.fit(X, y).coef_ - np.linalg.lstsq(X, y, rcond=None)[0]
        squares.append(away @ moment @ away)
    assert forecast.prediction_distance == pytest.approx(np.sqrt(np.mean(squares)), rel=0.15)


LABELS = np.array([1.0, -1.0, 0.5, 0.0, 0.3])
COUNTS = LABELS / 3.0


def labels(count, rng):
    X = rng.normal(size=(count, 5))
    return X, (rng.logistic(size=count) < X @ LABELS).astype(float)


def counts(count, rng):
    # The variance of a count is its mean and once the square of that.
    X = rng.normal(size=(count, 5))
    return X, rng.poisson(np.exp(X @ COUNTS) * rng.gamma(1.0, 1.0, count)).astype(float)


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "kind", "drawn", "truth", "factor"),
    [
        ("logistic", LogisticRegression, labels, LABELS, 1.5),
        ("poisson", PoissonRegressor, counts, COUNTS, 2.0),
    ],
)
def test_planned_errors_of_labels_and_counts_are_realised(model, kind, drawn, truth, factor):
    # Typical ratios over public samples, for one plan is only as good as its public rows.
    budgets, logs = [GDP(0.3), GDP(3)], []
    for seed in range(5):
        rng = np.random.default_rng([seed, 13])
        B, u = drawn(200, rng)
        public = PublicMoments.from_rows(B, response=u)
        asked = {"n_rows": 3_000, "model": model, "public": public, "rehearsals": 3}
        planned = plan(privacy=budgets, random_state=seed, **asked)
        X, y = drawn(3_000, rng)
        for forecast in planned.forecasts:
            model_fit = kind(privacy=forecast.privacy, public=public, random_state=seed).fit(X, y)
            away = np.append(np.ravel(model_fit.coef_) - truth, model_fit.intercept_)
            logs.append(np.log(np.linalg.norm(away) / forecast.prediction_error))
    means = np.mean(np.reshape(logs, (5, 2)), axis=0)
    assert np.all(np.abs(means) < np.log(factor))


def test_levels_of_the_other_fits(public, made):
    variance = 1.0
    assert made.non_private.prediction_error == pytest.approx(
        np.sqrt(6 * variance / 3_000), rel=0.2
    )
    assert made.public_only.prediction_error == pytest.approx(np.sqrt(6 * variance / 143), rel=0.4)
    assert [f.mu for f in made.forecasts] == [0.03, 0.3, 10.0]
    errors = [f.prediction_error for f in made.forecasts]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] == pytest.approx(made.non_private.prediction_error, rel=0.1)


def test_half_widths_are_those_of_normal_intervals(made):
    last = made.forecasts[-1]
    assert last.half_widths.shape == (6,)
    sizes = last.half_widths[:5] / 1.959964
    # Lengths and single coefficients are averaged over populations each by themselves.
    assert np.linalg.norm(sizes) == pytest.approx(last.error, rel=0.1)
    assert last.half_widths == pytest.approx(made.non_private.half_widths, rel=0.25)


def test_the_non_private_error_is_the_textbook_one():
    made = plan(n_rows=1_000, privacy=GDP(5), **QUICK)
    # Four coefficients, residual variance 0.5.
    assert made.non_private.prediction_error == pytest.approx(np.sqrt(4 * 0.5 / 1_000), rel=0.05)


def test_penalties_bias_the_plan():
    free, bent = (
        plan(n_rows=2_000, privacy=GDP(5), alpha=alpha, **QUICK).non_private.prediction_error
        for alpha in (0.0, 1.0)
    )
    # A penalty of 1 on features of size 1 halves the coefficients, whose signal is sqrt(0.5).
    assert free < 0.1
    assert bent == pytest.approx(np.sqrt(0.5) / 2, rel=0.1)


def test_long_tables_are_scaled(monkeypatch):
    asked = {"privacy": [GDP(0.1), GDP(2)], "n_features": 3, "r2": 0.5, "rehearsals": 10}
    whole = plan(n_rows=8_000, **asked)
    monkeypatch.setattr(rehearsal, "MOST_ROWS", 2_000)
    scaled = plan(n_rows=8_000, **asked)
    for one, other in zip(whole.forecasts, scaled.forecasts, strict=True):
        assert other.prediction_error == pytest.approx(one.prediction_error, rel=0.3)
        assert other.prediction_distance == pytest.approx(one.prediction_distance, rel=0.4)


def test_beyond_the_cap_budgets_are_as_on_tables_of_its_size(monkeypatch):
    # Twenty times the rows at a twentieth of the budget have the same noise.
    monkeypatch.setattr(rehearsal, "MOST_ROWS", 1_000)
    asked = {"n_features": 3, "r2": 0.5}
    capped = plan(n_rows=20_000, privacy=GDP(0.05), **asked).forecasts[0]
    there = plan(n_rows=1_000, privacy=GDP(1.0), **asked).forecasts[0]
    assert capped.prediction_distance == pytest.approx(there.prediction_distance, rel=0.1)
    assert capped.bound == pytest.approx(there.bound)
    assert capped.prediction_error < there.prediction_error


def test_only_public_rows_and_made_up_ones_are_fitted(public, monkeypatch):
    fitted = []
    fit = Task.private_fit

    def seen(self, X, y, mu, known, seed):
        fitted.append((len(X), known is public))
        return fit(self, X, y, mu, known, seed)

    monkeypatch.setattr(Task, "private_fit", seen)
    plan(n_rows=700, privacy=[GDP(0.3), GDP(1)], public=public, rehearsals=2)
    assert fitted == 2 * 2 * 2 * [(700, True)]


def test_plans_are_reproducible():
    first, second, other = (
        plan(n_rows=500, privacy=GDP(1), random_state=seed, **QUICK).forecasts[0].error
        for seed in (0, 0, 1)
    )
    assert first == second != other


def test_budgets_of_every_kind():
    budgets = [ApproxDP(1.0, 1e-6), ZCDP(0.5)]
    made = plan(n_rows=500, privacy=budgets, **QUICK)
    assert made.forecasts[1].mu == pytest.approx(1.0)
    assert made.forecasts[0].privacy == budgets[0]


@pytest.mark.parametrize("model", ["logistic", "poisson"])
def test_generalised_models(model):
    rng = np.random.default_rng(0)
    B = rng.normal(size=(100, 2))
    y = rng.poisson(np.exp(0.3 * B[:, 0])) if model == "poisson" else rng.random(100) < 0.5
    public = PublicMoments.from_rows(B, response=y.astype(float))
    made = plan(n_rows=2_000, privacy=[GDP(0.1), GDP(5)], public=public, model=model, rehearsals=2)
    low, high = made.forecasts
    assert low.prediction_distance > 2.0 * high.prediction_distance
    # Information of a label is at most a quarter, of a count about one.
    expected = np.sqrt(3 * (4.0 if model == "logistic" else 1.0) / 2_000)
    assert made.non_private.prediction_error == pytest.approx(expected, rel=0.4)


def test_plain_fits_are_those_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) * [1.0, 20.0, 0.1]
    y = (X @ [1.0, 0.05, 5.0] + rng.logistic(size=400) > 0.5).astype(float)
    mine = Task("logistic", 0.02, True).plain_fit(X, y)
    theirs = linear_model.LogisticRegression(C=1 / (0.02 * 400), tol=1e-10, max_iter=5_000).fit(
        X, y
    )
    assert mine == pytest.approx(np.append(theirs.coef_, theirs.intercept_), rel=1e-3, abs=1e-4)


def test_words(made):
    text = made.recommendation
    assert "With mu 0.3" in text or "With mu 10" in text
    assert "Public data alone" in text
    assert "stability condition" in text
    nothing = plan(n_rows=100, privacy=GDP(0.01), **QUICK).recommendation
    assert "largest budget asked about" in nothing


def test_the_papers_condition(public, made):
    conditions = [f.condition for f in made.forecasts]
    assert conditions[0] == pytest.approx(10 * conditions[1])
    norm = np.linalg.eigvalsh(public.second_moment)[-1]
    setting = GuidedSetting(d=5, eta=0.05, n_public=150, public_norm=norm)
    # The matrix gets half of the squared budget.
    expected = robustness_condition(setting, 3_000, 0.3 / np.sqrt(2.0))
    assert conditions[1] == pytest.approx(expected)
    assert [f.robust for f in made.forecasts] == [c <= 0.5 for c in conditions]
    assert plan(n_rows=100, privacy=GDP(1), **QUICK).forecasts[0].condition is None


@pytest.mark.parametrize("model", ["ridge", "logistic"])
@pytest.mark.parametrize("intercept", [False, True])
def test_features_that_do_not_vary_are_refused(model, intercept):
    known = PublicMoments.from_rows(np.zeros((20, 2)), response=np.arange(20.0) % 2)
    with pytest.raises(ValueError, match="public must have a feature that varies, got none"):
        plan(n_rows=100, privacy=GDP(1.0), public=known, model=model, fit_intercept=intercept)


def test_table_and_dictionary(made):
    text = str(made)
    assert "non-private" in text
    assert "public only" in text
    assert f"{made.forecasts[0].prediction_error:.3g}" in text
    columns = made.to_dict()
    assert columns["mu"] == [0.03, 0.3, 10.0]
    assert columns["half_width intercept"][2] == made.forecasts[2].half_widths[5]
    assert columns["distance high"][1] == made.forecasts[1].ranges.distance[1]
    low, high = made.forecasts[0].ranges.prediction_error
    assert f"{low:.3g} to {high:.3g}" in text


def test_errors_are_in_their_ranges(made):
    for forecast in made.forecasts:
        for name in ("error", "prediction_error", "distance", "prediction_distance"):
            low, high = getattr(forecast.ranges, name)
            assert 0.0 < low < getattr(forecast, name) < high


@pytest.mark.long
def test_four_of_five_fits_are_in_the_range():
    # Normal rows and residuals, which the plan does not know.
    inside = []
    for seed in range(40):
        rng = np.random.default_rng([seed, 5])
        (X, y), (B, u) = linear(2_000, rng), linear(60, rng)
        known = PublicMoments.from_rows(B, response=u)
        asked = {"privacy": GDP(0.3), "public": known, "random_state": seed}
        (forecast,) = plan(n_rows=2_000, **asked).forecasts
        model = Ridge(**asked).fit(X, y)
        away = np.append(model.coef_, model.intercept_) - [1.0, -1.0, 0.5, 0.0, 0.2, 0.0]
        S = np.diag([1.0, 1.0, 9.0, 9.0, 100.0, 0.0]) + np.ones((6, 6))
        low, high = forecast.ranges.prediction_error
        inside.append(low**2 <= away @ S @ away <= high**2)
    assert 0.65 < np.mean(inside) < 0.98


def test_plot(made, tmp_path):
    pytest.importorskip("matplotlib")
    axes = made.plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 1_000
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    drawn = axes.get_lines()[0].get_ydata()
    assert list(drawn) == [f.prediction_error for f in made.forecasts]
    before = len(axes.get_lines())
    assert len(made.plot(axes).get_lines()) == 2 * before


def test_a_missing_matplotlib_is_named(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"\[plot\]"):
        made.plot()


@pytest.mark.long
def test_smallest_budget_and_rows_answer_the_plan(monkeypatch):
    monkeypatch.setattr(rehearsal, "MOST_ROWS", 2_000)
    asked = {"n_features": 2, "r2": 0.5, "rehearsals": 4}
    forecast = plan(n_rows=1_000, privacy=GDP(0.5), **asked).forecasts[0]
    wanted = 1.1 * forecast.prediction_error
    assert smallest_budget(wanted, 1_000, **asked).mu <= 0.6
    assert smallest_n(wanted, GDP(0.5), **asked) <= 1_300
    assert smallest_n(wanted / 3, GDP(0.5), **asked) > 1_300


def test_unreachable_errors_say_what_is_possible(monkeypatch):
    monkeypatch.setattr(rehearsal, "MOST_ROWS", 2_000)
    with pytest.raises(ValueError, match=r"best possible is about 0\.0"):
        smallest_budget(1e-6, 1_000, **QUICK)
    with pytest.raises(ValueError, match=r"best possible is about 0\.3"):
        smallest_n(1e-3, GDP(1), alpha=1.0, **QUICK)


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"n_rows": 1}, ValueError, "at least 2"),
        ({"n_rows": 10.0}, TypeError, "integer"),
        ({"privacy": 1.0}, TypeError, "GDP"),
        ({"privacy": [GDP(1), "2"]}, TypeError, "GDP"),
        ({"privacy": []}, ValueError, "at least one"),
        ({"r2": 1.0}, ValueError, r"\(0, 1\)"),
        ({"r2": float("nan")}, ValueError, r"\(0, 1\)"),
        ({"r2": None}, ValueError, "one of r2 and residual_sd, got neither"),
        ({"residual_sd": 0.5}, ValueError, "got r2 and residual_sd"),
        ({"r2": None, "residual_sd": 2.0}, ValueError, "below the size"),
        ({"n_features": None}, ValueError, "either public or n_features, got neither"),
        ({"public": PublicMoments.identity(3)}, ValueError, "got both"),
        ({"n_features": 0}, ValueError, "n_features"),
        ({"n_features": None, "public": np.eye(3)}, TypeError, "PublicMoments"),
        ({"model": "lasso"}, ValueError, "'poisson'"),
        ({"model": "logistic"}, ValueError, "predictor_sd"),
        ({"r2": None, "model": "logistic", "response_mean": 0.5}, ValueError, "predictor_sd"),
        (
            {"r2": None, "model": "logistic", "predictor_sd": 1.0, "response_mean": 1.0},
            ValueError,
            "response_mean must be between 0 and 1",
        ),
        (
            {"r2": None, "model": "poisson", "predictor_sd": 1.0, "response_mean": 0.0},
            ValueError,
            "response_mean",
        ),
        (
            {"model": "poisson", "predictor_sd": 1.0},
            ValueError,
            "may have response_mean, got r2 and",
        ),
        ({"response_mean": 0.5}, ValueError, "got r2 and response_mean"),
        ({"kurtosis": 0.0}, ValueError, "kurtosis must be"),
        ({"kurtosis": float("inf")}, ValueError, "kurtosis must be"),
        ({"exposure": 0.0}, ValueError, "exposure"),
        ({"exposure": 2.0}, ValueError, "exposure goes with model='poisson'"),
        ({"alpha": -1.0}, ValueError, "alpha"),
        ({"fit_intercept": "no"}, TypeError, "fit_intercept"),
        ({"rehearsals": 0}, ValueError, "rehearsals"),
        ({"rehearsals": 1}, ValueError, "rehearsals must be at least 2"),
        ({"random_state": None}, TypeError, "random_state"),
    ],
)
def test_bad_input(change, kind, words):
    asked = {"n_rows": 100, "privacy": GDP(1), **QUICK, **change}
    with pytest.raises(kind, match=words):
        plan(**asked)


def test_what_public_rows_tell_is_not_stated(public):
    with pytest.raises(ValueError, match="kurtosis follows from the public rows"):
        plan(n_rows=100, privacy=GDP(1), public=public, kurtosis=1.5)
    rows = PublicMoments.from_rows(np.asarray(public.rows))
    asked = {"n_rows": 100, "privacy": GDP(1), "public": rows, "model": "logistic"}
    with pytest.raises(ValueError, match="with public rows leave it out"):
        plan(**asked, predictor_sd=2.0, r2=0.5)


def test_classes_that_are_told_apart_leave_less_to_learn_from():
    asked = {"n_rows": 4_000, "privacy": GDP(0.3), "n_features": 3, "model": "logistic"}
    asked |= {"predictor_sd": 4.0}
    mixed, apart = (plan(**asked, r2=r2).non_private.prediction_error for r2 in (None, 0.85))
    assert apart > 1.2 * mixed


@pytest.mark.long
def test_longer_exposures_are_worth_as_much_as_more_counts():
    asked = {"n_rows": 4_000, "privacy": GDP(50), "n_features": 3, "model": "poisson"}
    asked |= {"predictor_sd": 0.5, "response_mean": 0.5, "rehearsals": 6}
    short, long = (plan(**asked, exposure=e) for e in (0.8, 1.6))
    ratio = short.non_private.prediction_error / long.non_private.prediction_error
    assert ratio == pytest.approx(np.sqrt(2.0), rel=0.01)
    ratio = short.forecasts[0].prediction_error / long.forecasts[0].prediction_error
    assert ratio == pytest.approx(np.sqrt(2.0), rel=0.1)


def test_what_public_responses_tell_is_not_stated(public):
    with pytest.raises(ValueError, match="r2 follows from the public responses"):
        plan(n_rows=100, privacy=GDP(1), public=public, r2=0.5)
    with pytest.raises(ValueError, match="must be 0 and 1"):
        plan(n_rows=100, privacy=GDP(1), public=public, model="logistic")
    two = PublicMoments.from_rows(np.eye(4)[:, :2] + 1.0, response=np.eye(4)[:, 2:])
    with pytest.raises(ValueError, match="one response, got 2"):
        plan(n_rows=100, privacy=GDP(1), public=two)
    with pytest.raises(ValueError, match="metric must be"):
        smallest_budget(0.1, 100, metric="l2", **QUICK)
