"""Where fits start: public fits, what is believed of them, and what is believed without."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as PlainLogistic
from sklearn.linear_model import PoissonRegressor as PlainPoisson

from publicmoments import PublicMoments
from publicmoments.families import Bernoulli, Gaussian, Multinomial, Poisson
from publicmoments.models.glm.start import make_start

D = 3
COEF = np.array([0.6, -0.4, 0.2])


def sample(family, n, seed=0):
    rng = np.random.default_rng(seed)
    B = rng.normal(1.0, 1.0, size=(n, D))
    predictor = B @ COEF - 0.3
    if isinstance(family, Bernoulli):
        return B, (rng.random(n) < family.mean(predictor)).astype(float)
    return B, rng.poisson(np.exp(predictor)).astype(float)


def started(family, B, y=None, alpha=0.0, anchor=True, **public):
    moments = PublicMoments.from_rows(B, response=y, **public)
    design = moments.design(fit_intercept=True)
    responses = None if y is None else np.asarray(design.responses)
    start = make_start(design, family, alpha, anchor=anchor, responses=responses, scale=1.0)
    return start, design


@pytest.mark.parametrize(
    ("family", "plain"),
    [
        (Bernoulli(), lambda n: PlainLogistic(C=1 / (0.1 * n), solver="newton-cholesky")),
        (Poisson(), lambda n: PlainPoisson(alpha=0.1, solver="newton-cholesky", tol=1e-10)),
    ],
    ids=["Bernoulli", "Poisson"],
)
def test_the_public_fit_is_the_start(family, plain):
    B, y = sample(family, 400)
    start, design = started(family, B, y, alpha=0.1)
    expected = plain(400).fit(B, y)
    # The component that doubts it is centred on the fit itself.
    raw = design.whitener @ start.belief.means[-1]
    np.testing.assert_allclose(raw[:-1], np.ravel(expected.coef_), atol=1e-4)
    np.testing.assert_allclose(raw[-1], np.ravel(expected.intercept_)[0], atol=1e-3)
    # What is believed is near it, drawn a little to zero.
    away = start.belief.mean - start.belief.means[-1]
    assert np.linalg.norm(away) < 0.1
    assert start.freedom == 400 - D - 1
    np.testing.assert_array_equal(start.public_responses[:, 0], y)


@pytest.mark.parametrize("family", [Bernoulli(), Poisson()], ids=repr)
def test_the_fit_is_believed_as_far_as_its_sampling_error(family):
    truth = np.append(COEF, -0.3)
    scores = []
    for seed in range(60):
        B, y = sample(family, 200, seed)
        start, design = started(family, B, y)
        away = start.belief.mean - design.unwhitener @ truth
        scores.append(away @ np.linalg.solve(start.belief.covariance, away))
    # Four coordinates, each off by about as much as is believed; a little less is fine.
    assert 2.0 < np.mean(scores) < 6.0


def test_thinned_rows_are_believed_as_few_ones():
    rng = np.random.default_rng(3)
    B = rng.normal(size=(8000, D))
    y = (B @ COEF + rng.logistic(size=8000) > 0).astype(float)
    covariances = [
        np.trace(started(Bernoulli(), B[:n], y[:n])[0].belief.covariance) for n in (8000, 2000)
    ]
    assert covariances[0] == pytest.approx(covariances[1], rel=0.1)
    assert started(Bernoulli(), B, y)[0].freedom == 2000 - D - 1


@pytest.mark.parametrize(
    ("family", "responses"),
    [
        (Bernoulli(), lambda B: (B[:, 0] > 1.0).astype(float)),
        (Multinomial(3), lambda B: np.digitize(B[:, 0], [0.0, 1.0]).astype(float)),
        (Multinomial(3), lambda B: (B[:, 1] > 1.0).astype(float)),
        (Poisson(), lambda B: (np.arange(len(B)) == 0).astype(float)),
    ],
    ids=["separable", "separable classes", "no such class", "one event"],
)
def test_labels_that_alone_would_have_no_fit(family, responses):
    B, _ = sample(Bernoulli(), 60)
    start, _ = started(family, B, responses(B))
    belief = start.belief
    assert np.isfinite(belief.mean).all()
    assert np.linalg.eigvalsh(belief.covariance)[0] > 0.0
    # Predictors of a hundred say no more than of twenty.
    assert np.abs(start.stage.rows[:60] @ belief.mean.reshape(D + 1, -1)).max() < 400.0


def test_without_an_anchor_the_fit_is_a_place_to_start_and_no_more():
    B, y = sample(Bernoulli(), 400)
    anchored, _ = started(Bernoulli(), B, y)
    free, _ = started(Bernoulli(), B, y, anchor=False)
    np.testing.assert_allclose(free.belief.mean, anchored.belief.means[-1], atol=1e-9)
    assert np.linalg.eigvalsh(free.belief.covariance)[0] > 1e6
    assert free.freedom == 0.0


@pytest.mark.parametrize("anchor", [True, False])
@pytest.mark.parametrize("family", [Bernoulli(), Gaussian(), Multinomial(3)], ids=repr)
def test_without_public_responses_belief_is_centred_on_zero(family, anchor):
    B, _ = sample(Bernoulli(), 100)
    start, _ = started(family, B, anchor=anchor)
    np.testing.assert_array_equal(start.belief.mean, 0.0)
    assert start.public_responses is None
    assert start.freedom == 0.0
    size = (D + 1) * family.n_predictors
    assert start.belief.covariance.shape == (size, size)
    typical = np.sqrt(np.trace(start.belief.covariance))
    assert typical > 1e3 if not anchor else 0.5 < typical < 20.0
