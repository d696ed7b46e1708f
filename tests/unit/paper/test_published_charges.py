"""Published estimators that are private charge a ledger first; oracles have none to charge."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest

from publicmoments import GDP, ZCDP, BudgetExceeded, PublicMoments
from publicmoments.families import Gaussian
from publicmoments.paper import (
    PMTGLM,
    AdaSSP,
    NoisyGradientDescent,
    OracleLogisticRegression,
    OracleRidge,
    OracleSecondMoment,
    PMTElasticNet,
    PMTLogisticRegression,
    PMTRidge,
    PMTSecondMoment,
)
from publicmoments.privacy import Ledger
from publicmoments.privacy.noise import SystemNoise

RNG = np.random.default_rng(5)
X = pd.DataFrame(RNG.normal(size=(60, 3)), columns=list("abc"))
Y = pd.Series(X.to_numpy() @ [1.0, 2.0, 3.0], name="yield")
LABELS = pd.Series(np.arange(60) % 2, name="ill")
B = RNG.normal(size=(40, 3))
PUBLIC = PublicMoments.from_rows(B, response=B @ [1.0, 2.0, 3.1], columns=list("abc"))

PRIVATE = {
    PMTRidge: {"public": PUBLIC},
    PMTLogisticRegression: {"public": PUBLIC},
    PMTGLM: {"family": Gaussian(), "public": PUBLIC},
    PMTElasticNet: {"public": PUBLIC, "iterations": 3},
    NoisyGradientDescent: {"iterations": 3},
    AdaSSP: {},
    PMTSecondMoment: {"public": PUBLIC},
}
ORACLES = [OracleRidge, OracleLogisticRegression, OracleSecondMoment]
EACH = pytest.mark.parametrize("kind", PRIVATE, ids=lambda kind: kind.__name__)


def response_of(kind):
    return {PMTSecondMoment: None, PMTLogisticRegression: LABELS}.get(kind, Y)


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.cap("rows", GDP(1.0))
    return ledger


def fitted(kind, ledger, privacy, **more):
    chosen = {**PRIVATE[kind], "privacy": privacy, "ledger": ledger, "dataset": "rows", **more}
    return kind(**chosen).fit(X, response_of(kind))


@EACH
def test_the_total_is_in_the_ledger_before_the_first_draw(kind, ledger, monkeypatch):
    spent, draw = [], SystemNoise.draw

    def watched(self, count, noise_sd):
        spent.append(ledger.spent("rows"))
        return draw(self, count, noise_sd)

    monkeypatch.setattr(SystemNoise, "draw", watched)
    card = fitted(kind, ledger, GDP(0.8)).card_
    assert set(spent) == {0.8}
    (entry,) = ledger.entries("rows")
    assert (entry.mu, entry.state, entry.purpose.model) == (0.8, "released", kind.__name__)
    assert entry.extra_tv == card.extra_tv
    response = response_of(kind)
    assert entry.purpose.target == ("" if response is None else response.name)


@EACH
def test_a_cap_refuses_before_anything_is_drawn(kind, ledger, monkeypatch):
    def draw(self, count, noise_sd):
        pytest.fail("noise was drawn")

    monkeypatch.setattr(SystemNoise, "draw", draw)
    chosen = {**PRIVATE[kind], "privacy": ZCDP(1.0), "ledger": ledger, "dataset": "rows"}
    model = kind(**chosen)
    with pytest.raises(BudgetExceeded):
        model.fit(X, response_of(kind))
    assert ledger.spent("rows") == 0.0
    assert set(vars(model)) == set(model.get_params())


@EACH
def test_a_refused_fit_costs_nothing(kind, ledger):
    hostile = X.copy()
    hostile.iloc[7, 1] = np.nan
    chosen = {**PRIVATE[kind], "privacy": GDP(0.8), "ledger": ledger, "dataset": "rows"}
    with pytest.raises(ValueError, match="NaN"):
        kind(**chosen).fit(hostile, response_of(kind))
    assert ledger.entries("rows") == ()


@EACH
def test_a_ledger_needs_the_name_of_a_dataset(kind, ledger):
    with pytest.raises((TypeError, ValueError), match="dataset"):
        fitted(kind, ledger, GDP(0.8), dataset=None)


def test_bounds_that_are_too_large_cost_nothing(ledger):
    with pytest.raises(ValueError, match="l2_bound must have a square within floats"):
        fitted(PMTGLM, ledger, GDP(0.8), coef_bound=1e200)
    assert ledger.spent("rows") == 0.0


@pytest.mark.parametrize("oracle", ORACLES)
def test_oracles_have_no_ledger(oracle):
    assert not {"ledger", "dataset", "public"} & set(inspect.signature(oracle).parameters)


@EACH
def test_names_of_another_fit_are_forgotten(kind):
    model = fitted(kind, None, GDP(5.0), random_state=0, dataset=None)
    assert model.feature_names_in_.tolist() == list("abc")
    model.fit(X.to_numpy(), response_of(kind))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3
