"""Standard errors and intervals of the generalised linear models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from publicmoments import GDP, GLM, LogisticRegression, PoissonRegressor, PublicMoments
from publicmoments.families import Family, Gaussian, Poisson

N, D, N_PUBLIC = 4000, 2, 200
RNG = np.random.default_rng(9)
X = RNG.normal(size=(N_PUBLIC + N, D)) * [1.0, 5.0]
ETA = X @ [1.0, -0.1] + 0.5
LABELS = (ETA + RNG.logistic(size=len(X)) > 0).astype(int)
COUNTS = RNG.poisson(np.exp(ETA / 2))
SIZES = ETA + 0.5 * RNG.normal(size=len(X))
CLASSES = np.argmax(
    np.column_stack([ETA, -ETA, np.zeros(len(X))]) + RNG.gumbel(size=(len(X), 3)), axis=1
)
DESIGN = np.column_stack([X[N_PUBLIC:], np.ones(N)])
MANY = GDP(1e5)


def public(y):
    return PublicMoments.from_rows(X[:N_PUBLIC], response=y[:N_PUBLIC])


def fitted(make, y, privacy=MANY, known=True, **parameters):
    given = public(y)
    if not known:
        size = float(np.sqrt(np.mean(y[:N_PUBLIC] ** 2)))
        given = PublicMoments.from_rows(X[:N_PUBLIC], response_scale=size)
    model = make(privacy=privacy, public=given, random_state=0, **parameters)
    return model.fit(X[N_PUBLIC:], y[N_PUBLIC:])


def total(model):
    return model.noise_covariance_ + model.sampling_covariance_ + model.bias_covariance_


def sizes(model):
    """Standard errors."""
    return np.sqrt(np.diag(total(model)))


MODELS = {
    "logistic": (LogisticRegression, LABELS, lambda eta: expit(eta) * expit(-eta)),
    "poisson": (PoissonRegressor, COUNTS, np.exp),
    "gaussian": (lambda **k: GLM(Gaussian(), **k), SIZES, lambda eta: np.full(len(eta), 4.0)),
}


@pytest.mark.parametrize("case", MODELS.values(), ids=MODELS.keys())
def test_without_noise_errors_are_those_of_the_information(case):
    make, y, curvature = case
    model = fitted(make, y)
    predictor = DESIGN[:, :D] @ np.ravel(model.coef_) + model.intercept_
    information = (DESIGN * curvature(predictor)[:, None]).T @ DESIGN
    expected = np.sqrt(np.diag(np.linalg.inv(information)))
    # Curvature and dispersion are those of 200 public rows.
    np.testing.assert_allclose(sizes(model), expected, rtol=0.2)
    sampling = np.diag(model.sampling_covariance_)
    assert (np.diag(model.noise_covariance_) < 0.01 * sampling).all()
    assert (np.diag(model.bias_covariance_) < 0.01 * sampling).all()


def test_noise_has_its_own_part():
    parts = [
        fitted(LogisticRegression, LABELS, GDP(mu)).noise_covariance_.diagonal()
        for mu in (0.5, 5.0)
    ]
    assert (parts[0] > 5 * parts[1]).all()


def test_sizes_of_residuals_are_counted_where_nothing_public_tells_of_them():
    """Small residuals make intervals short, whether public responses tell of them or counts."""
    make = MODELS["gaussian"][0]
    told, untold = (sizes(fitted(make, SIZES, known=known)) for known in (True, False))
    np.testing.assert_allclose(untold, told, rtol=0.3)
    far = SIZES + 4.0 * np.random.default_rng(1).normal(size=len(X))
    assert (sizes(fitted(make, far, known=False)) > 5.0 * untold).all()


@pytest.mark.parametrize("known", [True, False])
def test_counts_that_vary_more_than_poisson_widen_intervals(known):
    rng = np.random.default_rng(2)
    wild = rng.poisson(np.exp(ETA / 2) * rng.gamma(0.5, 2.0, size=len(X)))
    model = fitted(PoissonRegressor, wild, known=known)
    rows, y = X[N_PUBLIC:], wild[N_PUBLIC:]
    means = model.predict(rows)
    inverse = np.linalg.inv((DESIGN * means[:, None]).T @ DESIGN)
    scores = DESIGN * (y - means)[:, None]
    expected = np.sqrt(np.diag(inverse @ (scores.T @ scores) @ inverse))
    assert (expected > 1.4 * np.sqrt(np.diag(inverse))).all()
    ratios = sizes(model) / expected
    assert np.abs(np.log(ratios).mean()) < 0.2
    # Shapes of the sandwich are those of 200 public rows, or of the family, which is wrong here.
    assert np.abs(np.log(ratios)).max() < (0.3 if known else 0.45)


def test_a_penalty_is_part_of_the_problem():
    plain, shrunk = (
        np.diag(total(fitted(LogisticRegression, LABELS, alpha=alpha))) for alpha in (0.0, 1.0)
    )
    assert shrunk[0] < 0.1 * plain[0]


@pytest.mark.parametrize("name", ["conf_int", "summary"])
def test_selected_columns_have_no_standard_errors(name):
    model = fitted(LogisticRegression, LABELS, alpha=0.1, l1_ratio=0.5)
    for part in ("noise", "sampling", "bias"):
        assert getattr(model, f"{part}_covariance_") is None
    with pytest.raises(ValueError, match=r"got l1_ratio=0.5: choosing columns .* fit with"):
        getattr(model, name)()
    with pytest.raises(ValueError, match="without selection"):
        model.predict_interval(X[:2])


def test_intervals_of_probabilities_follow_the_log_odds():
    model = fitted(LogisticRegression, LABELS, GDP(1.0))
    rows = X[:5]
    interval = model.predict_interval(rows, 0.9)
    odds = np.log(interval / (1.0 - interval))
    np.testing.assert_allclose(odds.mean(axis=1), model.decision_function(rows))
    design = np.column_stack([rows, np.ones(5)])
    expected = 2 * 1.6448536 * np.sqrt(np.diag(design @ total(model) @ design.T))
    np.testing.assert_allclose(np.diff(odds)[:, 0], expected)
    assert model.conf_int().shape == (D + 1, 2)
    assert model.summary().residual_sd is None


def test_counts_and_offsets():
    model = fitted(PoissonRegressor, COUNTS, GDP(3.0))
    rows = X[:4]
    interval = model.predict_interval(rows)
    np.testing.assert_allclose(np.sqrt(interval.prod(axis=1)), model.predict(rows))
    twice = model.predict_interval(rows, exposure=np.full(4, 2.0))
    np.testing.assert_allclose(twice, 2.0 * interval)
    general = fitted(lambda **k: GLM(Poisson(), **k), COUNTS, GDP(3.0))
    np.testing.assert_allclose(general.predict_interval(rows), interval)
    shifted = general.predict_interval(rows, offset=np.full(4, np.log(2.0)))
    np.testing.assert_allclose(shifted, twice)


def test_ends_are_in_order_where_means_fall():
    class Falling(Gaussian):
        def mean(self, predictor):
            return -predictor

    assert issubclass(Falling, Family)
    model = fitted(lambda **k: GLM(Gaussian(), **k), SIZES, GDP(3.0))
    rising = model.predict_interval(X[:3])
    model.family = Falling()
    np.testing.assert_allclose(model.predict_interval(X[:3]), -rising[:, ::-1])


def test_units_of_the_response_are_those_of_its_errors():
    one, ten = (
        fitted(lambda **k: GLM(Gaussian(), **k), scale * SIZES, GDP(3.0)) for scale in (1.0, 10.0)
    )
    np.testing.assert_allclose(total(ten), 100.0 * total(one), rtol=1e-6)


# Several classes


@pytest.fixture(scope="module")
def three():
    return fitted(LogisticRegression, CLASSES, GDP(30.0), classes=(0, 1, 2))


def test_classes_have_blocks(three):
    assert three.noise_covariance_.shape == (9, 9)
    assert three.conf_int().shape == (3, 3, 2)
    np.testing.assert_allclose(three.conf_int().mean(axis=2)[:, :D], three.coef_)
    # Coefficients add up to zero over classes, and so do their errors.
    added = np.tile(np.eye(3), 3)
    np.testing.assert_allclose(added @ total(three) @ added.T, 0.0, atol=1e-12)
    assert three.summary().names[3:5] == ("1: x0", "1: x1")
    assert three.summary().names[-1] == "2: (intercept)"


def test_errors_of_classes_are_those_of_the_information(three):
    chances = three.predict_proba(X[N_PUBLIC:])
    matrices = np.einsum("nc,cj->ncj", chances, np.eye(3)) - chances[:, :, None] * chances[:, None]
    information = np.einsum("na,ncj,nb->cajb", DESIGN, matrices, DESIGN).reshape(9, 9)
    expected = np.sqrt(np.diag(np.linalg.pinv(information, rcond=1e-10, hermitian=True)))
    np.testing.assert_allclose(sizes(three), expected, rtol=0.2)


def test_intervals_of_the_chances_of_classes(three):
    """Against draws of the coefficients from their normal law."""
    rows = X[:4]
    interval = three.predict_interval(rows, 0.9)
    assert interval.shape == (4, 3, 2)
    chances = three.predict_proba(rows)
    assert ((interval[:, :, 0] < chances) & (chances < interval[:, :, 1])).all()
    rng = np.random.default_rng(0)
    mean = np.column_stack([three.coef_, three.intercept_]).ravel()
    draws = rng.multivariate_normal(mean, total(three), size=4000).reshape(-1, 3, 3)
    odds = np.einsum("rcm,nm->rnc", draws, np.column_stack([rows, np.ones(4)]))
    drawn = np.exp(odds) / np.exp(odds).sum(axis=2, keepdims=True)
    low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
    np.testing.assert_allclose(np.diff(interval)[:, :, 0], high - low, rtol=0.1)
    assert (np.abs(interval[:, :, 0] - low) < 0.1 * (high - low)).all()


def test_names_are_those_of_the_features():
    frame = pd.DataFrame(X, columns=["dose", "age"])
    given = PublicMoments.from_rows(frame[:N_PUBLIC], response=LABELS[:N_PUBLIC])
    model = LogisticRegression(privacy=GDP(1.0), public=given)
    model.fit(frame[N_PUBLIC:], LABELS[N_PUBLIC:])
    assert model.summary().names == ("dose", "age", "(intercept)")
    assert model.summary().private


# Where a start pulls


STRONG = np.array([4.0, -3.0, 2.0, 0.0])


def strongly(seed, mu):
    """A strong signal and no public labels: with little budget the estimate falls short of it."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(1200, 4))
    y = (rows @ STRONG + rng.logistic(size=1200) > 0).astype(int)
    given = PublicMoments.from_rows(rows[:200])
    model = LogisticRegression(
        privacy=GDP(mu), public=given, fit_intercept=False, random_state=seed
    )
    return model.fit(rows[200:], y[200:])


def test_intervals_reach_a_strong_signal_that_little_budget_falls_short_of():
    ends = np.array([strongly(seed, 0.4).conf_int() for seed in range(20)])
    # 0.78 of sixty seeds, where it should be 0.95: a known shortfall of so little budget.
    assert np.mean((ends[:, :, 0] <= STRONG) & (ends[:, :, 1] >= STRONG)) > 0.7
    assert np.median(np.diff(ends)) < 2 * np.linalg.norm(STRONG)
