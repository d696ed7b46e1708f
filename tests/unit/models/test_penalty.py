"""Absolute penalties: the conditions that only the minimum meets, zeros that are zeros."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments.families import Bernoulli, Gaussian, Multinomial, Poisson
from publicmoments.models.glm.penalty import penalised, settled_classes, without_dust
from publicmoments.models.glm.stage import Stage

P, N = 4, 300
RNG = np.random.default_rng(2)
ROWS = RNG.normal(size=(N, P))
WHITENER = RNG.normal(size=(P, P)) + 2.0 * np.eye(P)
KEPT = RNG.uniform(0.5, 1.0, size=N)


def stage_of(family, ridge=0.0):
    penalty = ridge * WHITENER.T @ WHITENER
    return Stage(family, ROWS, np.full(N, 1.0 / N), penalty, 0.01)


def stage_gradient(stage, coef, truth):
    """Gradient of the weighted loss for responses that follow the truth; ridge about the truth."""
    k = stage.family.n_predictors
    slopes = stage.family.expected_slope(ROWS @ coef.reshape(-1, k), ROWS @ truth.reshape(-1, k))
    loss = (ROWS.T @ (KEPT[:, None] * slopes) / N).ravel()
    return loss + stage.full_penalty @ (coef - truth)


def raw_of(coef, k):
    return (np.kron(WHITENER, np.eye(k)) @ coef).reshape(P, k)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("family", [Gaussian(), Bernoulli(), Poisson()], ids=repr)
@pytest.mark.parametrize(("l1", "ridge"), [(0.02, 0.0), (0.1, 0.3), (10.0, 0.0)])
def test_only_the_minimum_meets_its_conditions(family, fit_intercept, l1, ridge):
    stage = stage_of(family, ridge)
    truth = np.array([0.5, -0.4, 0.0, 0.3])
    coef = penalised(stage, truth, WHITENER, l1, kept=KEPT, fit_intercept=fit_intercept)
    gradient = np.linalg.solve(WHITENER.T, stage_gradient(stage, coef, truth))
    raw = without_dust(WHITENER, coef[:, None])[:, 0]
    penal = np.full(P, l1)
    if fit_intercept:
        penal[-1] = 0.0
    nought = raw == 0.0
    assert (np.abs(gradient[nought]) <= penal[nought] * (1 + 1e-6)).all()
    np.testing.assert_allclose(
        gradient[~nought], -(penal * np.sign(raw))[~nought], atol=1e-6 + 1e-5 * l1
    )
    if l1 == 10.0:
        assert nought.tolist() == [True] * (P - fit_intercept) + [False] * fit_intercept


def test_no_penalty_changes_nothing():
    truth = np.array([0.5, -0.4, 0.0, 0.3])
    found = penalised(stage_of(Bernoulli()), truth, WHITENER, 0.0, kept=KEPT, fit_intercept=True)
    np.testing.assert_array_equal(found, truth)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("l1", "ridge"), [(0.02, 0.0), (0.05, 0.1)])
def test_coefficients_of_classes_are_penalised_each(fit_intercept, l1, ridge):
    family = Multinomial(3)
    stage = stage_of(family, ridge)
    truth = 0.5 * np.sin(np.arange(2.0 * P))
    coef = penalised(
        stage, truth, WHITENER, l1, kept=KEPT, fit_intercept=fit_intercept, ridge=ridge
    )
    d = P - fit_intercept
    spread = without_dust(WHITENER, coef.reshape(P, 2)) @ family.basis
    classes = settled_classes(spread[:d], l1, ridge)
    # By the three log odds, whose mean the loss does not see but the ridge penalty does.
    whitened = stage_gradient(stage, coef, truth).reshape(P, 2)
    gradient = (np.linalg.solve(WHITENER.T, whitened) @ family.basis)[:d]
    gradient = gradient + ridge * classes.mean(axis=1, keepdims=True)
    nought = classes == 0.0
    assert nought.any()
    assert (np.abs(gradient[nought]) <= l1 * (1 + 1e-5)).all()
    np.testing.assert_allclose(gradient[~nought], -l1 * np.sign(classes[~nought]), atol=1e-6)


def test_what_a_stage_gets_wrong_is_made_good_where_it_was_seen():
    stage, truth = stage_of(Bernoulli()), np.array([0.5, -0.4, 0.0, 0.3])
    arguments = {"kept": KEPT, "fit_intercept": False}
    # Gradients are in truth 1.3 times what the stage has.
    coef = truth
    for _ in range(30):
        unexplained = 0.3 * stage_gradient(stage, coef, truth)
        coef = penalised(
            stage, truth, WHITENER, 0.05, at=coef, unexplained=unexplained, **arguments
        )
    exact = penalised(stage, truth, WHITENER, 0.05 / 1.3, **arguments)
    np.testing.assert_allclose(coef, exact, atol=1e-7)


def test_corrections_stay_below_what_they_correct():
    stage, truth = stage_of(Bernoulli()), np.array([0.5, -0.4, 0.0, 0.3])
    arguments = {"kept": KEPT, "fit_intercept": False, "at": truth + 0.3}
    wild = penalised(stage, truth, WHITENER, 0.05, unexplained=np.full(P, 1e6), **arguments)
    assert np.linalg.norm(wild - truth) < 2.0
    nothing = penalised(stage, truth, WHITENER, 0.05, unexplained=np.zeros(P), **arguments)
    plain = penalised(stage, truth, WHITENER, 0.05, kept=KEPT, fit_intercept=False)
    np.testing.assert_array_equal(nothing, plain)


@pytest.mark.parametrize(
    ("coef", "l1", "ridge", "expected"),
    [
        # The median goes to zero.
        ([2.0, -1.0, -1.0], 0.1, 0.0, [3.0, 0.0, 0.0]),
        ([3.0, 0.0, -3.0], 0.1, 0.0, [3.0, 0.0, -3.0]),
        # Mostly ridge: the sum stays near zero, with a shift of l1 over ridge K.
        ([2.0, -1.0, -1.0], 0.3, 10.0, [2.01, -0.99, -0.99]),
        ([0.0, 0.0, 0.0], 0.1, 0.1, [0.0, 0.0, 0.0]),
    ],
)
def test_constants_that_probabilities_do_not_see(coef, l1, ridge, expected):
    settled = settled_classes(np.array([coef]), l1, ridge)
    np.testing.assert_allclose(settled, [expected], atol=1e-12)

    def penalty(values):
        return l1 * np.abs(values).sum() + ridge / 2 * np.sum(values**2)

    shifts = np.linspace(-4.0, 4.0, 2001)
    assert penalty(settled[0]) <= min(penalty(np.array(coef) + c) for c in shifts) + 1e-12


def test_dust_is_swept():
    matrix, coef = np.array([[1.0, 1.0], [1.0, 2.0]]), np.array([[0.3], [-0.3 - 1e-16]])
    swept = without_dust(matrix, coef)
    assert swept[0, 0] == 0.0
    assert swept[1, 0] == pytest.approx(-0.3)
    small = without_dust(np.eye(2), np.array([[1e-20], [1.0]]))
    # Small is not dust: nothing was taken from anything.
    assert small[0, 0] == 1e-20
