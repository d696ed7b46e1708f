"""Sessions: shares of a budget, paid from one account, and laws that are known beforehand."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from publicmoments import GDP, PublicMoments
from publicmoments.data import as_responses, as_table
from publicmoments.evidence.schedule import STEPS, STEPS_UNINFORMED
from publicmoments.families import Bernoulli, Gamma, Gaussian, Multinomial, Poisson
from publicmoments.models.estimator import Problem, fit
from publicmoments.privacy import Account, BudgetExceeded
from publicmoments.privacy.noise import SeededNoise
from publicmoments.families.factors import Ones, Slope
from publicmoments.session import (
    CoarseTotalRecipe,
    GramRecipe,
    Session,
    TotalRecipe,
    noise_source,
    private_rows,
    session_laws,
)

N, D = 300, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
Y = X @ [1.0, -0.5, 0.2] + 0.3 * RNG.normal(size=N)
B = RNG.normal(size=(50, D))
COUNTS, LABELS = RNG.poisson(np.exp(0.3 * X[:, 0])), RNG.integers(3, size=N)


def session_of(responses, mu, source=None, fit_intercept=True):
    rows = private_rows(
        as_table(X), as_responses(responses), fit_intercept=fit_intercept, ignore_invalid=False
    )
    return Session(rows, Account(GDP(mu)), source or noise_source(0))


def problem(family, design, responses=None, **changes):
    given = {
        "family": family,
        "design": design,
        "scale": 1.0,
        "offset": False,
        "public_responses": responses,
        "public_offsets": 0.0,
        "l1": 0.0,
        "ridge": 0.0,
        "anchor": True,
        "steps": None,
    }
    return Problem(**(given | changes))


ROWS = PublicMoments.from_rows(B).design(fit_intercept=True)
MATRIX = PublicMoments.from_matrix(np.eye(D), n=50).design(fit_intercept=False)
# Of two features and the response.
JOINT = PublicMoments.from_matrix(np.eye(D) + 0.2, n=50, response=D - 1)
LINEAR = (B @ [1.0, -0.5, 0.2])[:, None]
PAIR = np.column_stack([Y, -Y])

FITS = {
    "ridge": (problem(Gaussian(1), ROWS, LINEAR, scale=(1.0,)), Y),
    "ridge without responses": (problem(Gaussian(1), ROWS, scale=(1.0,)), Y),
    "two responses": (problem(Gaussian(2), ROWS, scale=(1.0, 2.0)), PAIR),
    "matrix": (problem(Gaussian(1), MATRIX, scale=(1.0,)), Y),
    "poisson": (problem(Poisson(), ROWS, np.round(np.exp(LINEAR))), COUNTS),
    "exposures": (
        problem(Poisson(), ROWS, offset=True),
        np.column_stack([COUNTS, np.full(N, 0.5)]),
    ),
    "gamma": (problem(Gamma(), ROWS), np.exp(Y)),
    "logistic": (problem(Bernoulli(), ROWS, (LINEAR > 0).astype(float)), (Y > 0).astype(float)),
    "multinomial": (problem(Multinomial(3), ROWS), LABELS),
    "three gradients": (problem(Poisson(), ROWS, steps=3), COUNTS),
}


@pytest.mark.parametrize("mu", [0.5, 80.0, 1e6])
@pytest.mark.parametrize(("asked", "responses"), FITS.values(), ids=FITS)
def test_laws_are_those_of_the_releases_that_are_made(asked, responses, mu):
    session = session_of(responses, mu, fit_intercept=asked.design.fit_intercept)
    found = fit(asked, session, mu)
    laws = asked.laws(GDP(mu), N, mu)
    made = [released.law for released in found.releases]
    assert sorted(made, key=repr) == sorted(laws, key=repr)
    assert len({repr(law) for law in laws}) > 2
    assert session.account.spent == pytest.approx(mu, rel=1e-12)


@pytest.mark.parametrize("mu", [0.3, 1e6])
def test_laws_follow_what_the_budget_buys_and_the_schedule_what_was_asked_for(mu):
    # An (epsilon, delta) budget buys a little less than it was stated to; steps stay the same.
    asked, responses = FITS["poisson"]
    bought = GDP(0.9 * mu)
    session = session_of(responses, bought.mu)
    found = fit(asked, session, mu)
    made = [released.law for released in found.releases]
    assert sorted(made, key=repr) == sorted(asked.laws(bought, N, mu), key=repr)
    assert len(found.steps) == len(asked.schedule(mu, N).steps)


def test_the_number_of_releases_depends_on_public_numbers_alone():
    asked, responses = FITS["poisson"]
    for other in (responses, np.zeros(N), 10**6 * (responses + 1)):
        found = fit(asked, session_of(other, 1.0), 1.0)
        assert len(found.releases) == len(asked.laws(GDP(1.0), N, 1.0))


def test_laws_by_hand():
    laws = session_laws(GDP(2.0), 1_000, (4, 2), 0.25, [(0.25, 7)], [0.5], CoarseTotalRecipe)
    gram, histogram, gradient = laws
    # sqrt(2) 4^16 over mu = 1; sqrt(2) 2^20 over 1; 2 x 2^20 over sqrt(2).
    assert gram.diagonal_sd == pytest.approx(math.sqrt(2.0) * 4**16)
    assert histogram.noise_sd == pytest.approx(math.sqrt(2.0) * 2**20)
    assert gradient.noise_sd == pytest.approx(math.sqrt(2.0) * 2**20)
    assert (gram.dimension, histogram.dimension, gradient.dimension) == (4, 7, 8)
    fine = session_laws(GDP(2.0), 1_000, (4, 2), 0.25, [], [0.5], TotalRecipe)
    assert fine[0] == gram
    assert fine[1].noise_sd == pytest.approx(64.0 * gradient.noise_sd)


# Shares


def gradient():
    return CoarseTotalRecipe(np.eye(D), np.zeros((D, 1)), Slope(Gaussian()), math.inf, 1.0, N)


def test_shares_are_of_the_squared_budget():
    session = session_of(Y, 2.0, fit_intercept=False)
    gram = session.gram(GramRecipe(np.eye(D), np.zeros((D, 1)), Ones(), 3.0, 3.0, N), 0.25)
    total = session.total(gradient(), 0.75)
    assert gram.cost.mu == pytest.approx(1.0, rel=1e-12)
    assert gram.cost.mu <= 1.0
    assert total.cost.mu == pytest.approx(math.sqrt(3.0))
    assert session.account.spent == pytest.approx(2.0)
    assert total.noise_sd == pytest.approx(2.0 / (math.sqrt(3.0) * N), rel=1e-6)


def test_more_than_all_is_refused_before_noise_is_drawn(watch):
    session = Session(
        session_of(Y, 1.0, fit_intercept=False).rows, watch.account(1.0), watch.noise()
    )
    session.total(gradient(), 0.7)
    watch.events.clear()
    with pytest.raises(BudgetExceeded):
        session.total(gradient(), 0.4)
    assert watch.events == []


def test_answers_of_a_session_with_system_noise_are_private():
    for source, private in ((noise_source(None), True), (SeededNoise(0), False)):
        session = session_of(Y, 1.0, source, fit_intercept=False)
        assert session.total(gradient(), 1.0).private is private


@pytest.mark.parametrize("mu", [0.1, 1.0, 7.3, 0.23670438052954665])
@pytest.mark.parametrize("steps", [1, 2, 3, 4, None])
def test_shares_of_a_fit_never_exceed_the_budget_by_rounding(mu, steps):
    asked = replace(FITS["ridge"][0], steps=steps)
    found = fit(asked, session_of(Y, mu), mu)
    costs = [Fraction(released.cost.mu) ** 2 for released in found.releases]
    assert sum(costs) <= Fraction(mu) ** 2
    rhos = [Fraction(released.rho) for released in found.releases]
    assert sum(rhos) <= Fraction(mu) ** 2 / 2


def test_a_joint_matrix_tells_of_the_response():
    asked = problem(Gaussian(1), JOINT.design(fit_intercept=False), scale=(1.0,))
    assert asked.by_moments
    assert not replace(asked, anchor=False).by_moments
    informed = asked.laws(GDP(1.0), N, 1.0)
    free = replace(asked, anchor=False).laws(GDP(1.0), N, 1.0)
    # No histogram of responses, and two steps less, each with its count.
    assert len(free) - len(informed) == 1 + 2 * (STEPS_UNINFORMED - STEPS)
