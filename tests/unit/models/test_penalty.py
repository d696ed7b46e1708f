"""Absolute penalties: the conditions that only the minimum meets, zeros that are zeros."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments.evidence.standins import StandIns
from publicmoments.families import Bernoulli, Gaussian, Multinomial, Poisson
from publicmoments.models.penalty import penalised, settled_classes, without_dust

P, N = 4, 300
RNG = np.random.default_rng(2)
ROWS = RNG.normal(size=(N, P))
WHITENER = RNG.normal(size=(P, P)) + 2.0 * np.eye(P)
TRUTH = np.array([0.5, -0.4, 0.0, 0.3])
FAMILIES = [Gaussian(), Bernoulli(), Poisson()]


class Loss:
    """Mean loss of rows whose responses follow the truth, and a squared penalty about it."""

    def __init__(self, family, ridge=0.0, truth=TRUTH):
        self.family, self.truth = family, truth
        k = family.n_predictors
        self.penalty = ridge * np.kron(WHITENER.T @ WHITENER, np.eye(k))
        self.stand_ins = StandIns(family, ROWS)

    def gradient(self, coef):
        means = [self.family.mean(self.stand_ins.predictors(at)) for at in (coef, self.truth)]
        return (ROWS.T @ (means[0] - means[1]) / N).ravel() + self.penalty @ (coef - self.truth)

    def hessian(self, coef):
        return self.stand_ins.curvature(coef) + self.penalty

    def explained(self, pull, coef):
        """Coefficients where the gradient is minus a pull, by damped Newton steps."""
        for _ in range(200):
            step = np.linalg.solve(self.hessian(coef), self.gradient(coef) + pull)
            coef = coef - step / max(1.0, np.linalg.norm(step))
            if np.linalg.norm(step) < 1e-13:
                break
        return coef

    def settled(self, l1, rounds=60, wrong=1.0, **arguments):
        """Pull and explain in turn, as fits do; curvature may be wrong by a factor."""
        coef, pull = self.truth, np.zeros(len(self.truth))
        for _ in range(rounds):
            hessian = wrong * self.hessian(coef)
            found, pull = self.once(l1, hessian, coef, pull, **arguments)
            coef = self.explained(pull, coef)
        return found, pull

    def once(self, l1, hessian, coef, pull, fit_intercept=True, ridge=0.0):
        return penalised(
            self.family,
            hessian,
            coef,
            pull,
            WHITENER,
            l1,
            fit_intercept=fit_intercept,
            ridge=ridge,
        )


def in_raw_units(gradient, k=1):
    """Gradient by raw coefficients from one by whitened coefficients; of shape (p, k)."""
    return np.linalg.solve(WHITENER.T, gradient.reshape(P, k))


def assert_least(coef, gradient, l1, fit_intercept):
    """Conditions that only the minimum meets: of raw coefficients, and of the loss's gradient."""
    raw = without_dust(WHITENER, coef[:, None])[:, 0]
    slopes, penal = in_raw_units(gradient)[:, 0], np.full(P, l1)
    if fit_intercept:
        penal[-1] = 0.0
    nought = raw == 0.0
    assert (np.abs(slopes[nought]) <= penal[nought] * (1 + 1e-6)).all()
    np.testing.assert_allclose(
        slopes[~nought], -(penal * np.sign(raw))[~nought], atol=1e-6 + 1e-5 * l1
    )
    return nought


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("l1", "ridge"), [(0.02, 0.0), (0.1, 0.3), (10.0, 0.0)])
def test_one_round_ends_where_gradients_that_follow_the_curvature_say(l1, ridge, fit_intercept):
    loss = Loss(Bernoulli(), ridge)
    rng = np.random.default_rng(3)
    noughts = set()
    for _ in range(10):
        coef, before = rng.normal(size=P), 0.1 * rng.normal(size=P)
        hessian = loss.hessian(coef)
        found, pull = loss.once(l1, hessian, coef, before, fit_intercept)
        gradient = hessian @ (found - coef) - before
        noughts.add(tuple(assert_least(found, gradient, l1, fit_intercept).tolist()))
        np.testing.assert_allclose(pull, -gradient, atol=1e-9 * (1.0 + l1))
    if l1 == 10.0:
        assert noughts == {(*[True] * (P - fit_intercept), *[False] * fit_intercept)}
    else:
        assert len(noughts) > 1


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
@pytest.mark.parametrize(("l1", "ridge"), [(0.02, 0.0), (0.1, 0.0), (0.1, 0.3)])
def test_rounds_end_at_the_minimum_of_the_loss_itself(family, fit_intercept, l1, ridge):
    loss = Loss(family, ridge)
    found, pull = loss.settled(l1, fit_intercept=fit_intercept)
    nought = assert_least(found, loss.gradient(found), l1, fit_intercept)
    assert nought.any() or (l1, ridge) != (0.1, 0.0)
    np.testing.assert_allclose(pull, -loss.gradient(found), atol=1e-7)


@pytest.mark.parametrize("pulled", [0.0, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_penalty_of_next_to_nothing_changes_nothing(pulled, fit_intercept):
    loss = Loss(Bernoulli())
    hessian, before = loss.hessian(TRUTH), pulled * np.array([0.1, 0.0, -0.1, 0.2])
    found, pull = loss.once(1e-12, hessian, TRUTH, before, fit_intercept)
    # What another penalty has pulled by is given back.
    np.testing.assert_allclose(found, TRUTH + np.linalg.solve(hessian, before), atol=1e-9)
    np.testing.assert_allclose(pull, np.zeros(P), atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("l1", "ridge"), [(0.02, 0.0), (0.05, 0.1)])
def test_coefficients_of_classes_are_penalised_each(fit_intercept, l1, ridge):
    family = Multinomial(3)
    loss = Loss(family, ridge, 0.5 * np.sin(np.arange(2.0 * P)))
    coef, pull = loss.settled(l1, fit_intercept=fit_intercept, ridge=ridge)
    d = P - fit_intercept
    spread = without_dust(WHITENER, coef.reshape(P, 2)) @ family.basis
    classes = settled_classes(spread[:d], l1, ridge)
    whole = in_raw_units(loss.gradient(coef), 2) @ family.basis
    # By the three log odds, whose mean the loss does not see but the ridge penalty does.
    gradient = whole[:d] + ridge * classes.mean(axis=1, keepdims=True)
    nought = classes == 0.0
    assert nought.any()
    assert (np.abs(gradient[nought]) <= l1 * (1 + 1e-5)).all()
    np.testing.assert_allclose(gradient[~nought], -l1 * np.sign(classes[~nought]), atol=1e-6)
    np.testing.assert_allclose(whole[d:], 0.0, atol=1e-6)
    np.testing.assert_allclose(pull, -loss.gradient(coef), atol=1e-7)


@pytest.mark.parametrize("wrong", [0.5, 1.3, 1.8])
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_what_curvature_gets_wrong_is_made_good_by_gradients(family, wrong):
    loss = Loss(family)
    exact, _ = loss.settled(0.1, fit_intercept=False)
    found, pull = loss.settled(0.1, 300, wrong, fit_intercept=False)
    np.testing.assert_allclose(found, exact, atol=1e-7)
    nought = assert_least(found, -pull, 0.1, False)
    assert nought.any()
    assert not nought.all()


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
def test_a_penalty_never_pulls_by_more_than_itself(size, fit_intercept):
    loss, rng = Loss(Bernoulli()), np.random.default_rng(4)
    for _ in range(20):
        hessian = size * loss.hessian(rng.normal(size=P))
        coef, before = 10.0 * rng.normal(size=P), 10.0 * rng.normal(size=P)
        found, pull = loss.once(0.05, hessian, coef, before, fit_intercept)
        assert np.isfinite(found).all()
        pulled = np.abs(in_raw_units(pull)[:, 0])
        most = np.full(P, 0.05)
        if fit_intercept:
            most[-1] = 0.0
        assert (pulled <= most + 1e-6).all()


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
