"""One fit for all families: what it releases is what it announced, whatever it is told."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from publicmoments import GDP, PublicMoments
from publicmoments.data import as_responses, as_table
from publicmoments.evidence.schedule import STEPS, STEPS_UNINFORMED
from publicmoments.families import Bernoulli, Gamma, Gaussian, Multinomial, Poisson
from publicmoments.models.estimator import Problem, fit
from publicmoments.privacy import Account
from publicmoments.privacy.claim import spendable
from publicmoments.privacy.noise import SeededNoise
from publicmoments.privacy.unit import ONE_ROW
from publicmoments.session.door import Session, private_rows
from publicmoments.session.queries import laws_of

N, D = 300, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
Y = X @ [1.0, -0.5, 0.2] + 0.3 * RNG.normal(size=N)
B = RNG.normal(size=(50, D))
COUNTS, LABELS = RNG.poisson(np.exp(0.3 * X[:, 0])), RNG.integers(3, size=N)


def fitted(asked, responses, bought, mu=None):
    """Fit with what a budget buys, on the schedule of another; return the fit and its session."""
    rows = private_rows(
        as_table(X),
        as_responses(responses),
        fit_intercept=asked.design.fit_intercept,
        ignore_invalid=False,
    )
    planned = bought if mu is None else mu
    bought = spendable(
        GDP(bought), lambda total: laws_of(asked.demands(planned, N), total, ONE_ROW)
    )
    session = Session(rows, Account(bought.total), SeededNoise(0), GDP(planned), bought)
    return fit(asked, session, planned), session


def laws(asked, total, mu):
    """Noise laws that were announced."""
    return laws_of(asked.demands(mu, N), GDP(total), ONE_ROW)


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


@pytest.mark.parametrize("mu", [0.5, 80.0, 1e5])
@pytest.mark.parametrize(("asked", "responses"), FITS.values(), ids=FITS)
def test_laws_are_those_of_the_releases_that_are_made(asked, responses, mu):
    _, session = fitted(asked, responses, mu)
    made = [released.law for released in session.releases]
    assert sorted(made, key=repr) == sorted(laws(asked, mu, mu), key=repr)
    assert len({repr(law) for law in made}) > 2
    assert session.account.spent == pytest.approx(mu, rel=1e-12)


@pytest.mark.parametrize("mu", [0.3, 1e5])
def test_laws_follow_what_the_budget_buys_and_the_schedule_what_was_asked_for(mu):
    # An (epsilon, delta) budget buys a little less than it was stated to; steps stay the same.
    asked, responses = FITS["poisson"]
    found, session = fitted(asked, responses, 0.9 * mu, mu)
    made = [released.law for released in session.releases]
    assert sorted(made, key=repr) == sorted(laws(asked, 0.9 * mu, mu), key=repr)
    assert len(found.steps) == len(asked.schedule(mu, N).steps)


def test_the_number_of_releases_depends_on_public_numbers_alone():
    asked, responses = FITS["poisson"]
    for other in (responses, np.zeros(N), 10**6 * (responses + 1)):
        _, session = fitted(asked, other, 1.0)
        assert len(session.releases) == len(laws(asked, 1.0, 1.0))


@pytest.mark.parametrize("mu", [0.1, 1.0, 7.3, 0.23670438052954665])
@pytest.mark.parametrize("steps", [1, 2, 3, 4, None])
def test_shares_of_a_fit_never_exceed_the_budget_by_rounding(mu, steps):
    asked = replace(FITS["ridge"][0], steps=steps)
    _, session = fitted(asked, Y, mu)
    costs = [Fraction(released.cost.mu) ** 2 for released in session.releases]
    assert sum(costs) <= Fraction(mu) ** 2
    rhos = [Fraction(released.rho) for released in session.releases]
    assert sum(rhos) <= Fraction(mu) ** 2 / 2


def test_a_joint_matrix_tells_of_the_response():
    asked = problem(Gaussian(1), JOINT.design(fit_intercept=False), scale=(1.0,))
    assert asked.by_moments
    free = replace(asked, anchor=False)
    assert not free.by_moments
    # No histogram of responses, and two steps less, each with its count.
    more = len(laws(free, 1.0, 1.0)) - len(laws(asked, 1.0, 1.0))
    assert more == 1 + 2 * (STEPS_UNINFORMED - STEPS)
