"""A fit that is interrupted anywhere leaves no half-fitted model and no lock behind."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from audit.cases import CASES, released_by, table_for
from publicmoments import GDP, threads
from publicmoments.privacy import Ledger
from publicmoments.privacy.noise import SystemNoise
from publicmoments.rows.private_rows import PrivateRows
from publicmoments.session import door

ESTIMATORS = {name: case for name, case in CASES.items() if case.kind != "none"}
TOLD = ("card_", "n_features_in_")

pytestmark = pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")


class Interruption:
    """Raises KeyboardInterrupt at the n-th call of a function, and then no more."""

    def __init__(self, monkeypatch, owner, name, at):
        real, self.calls = getattr(owner, name), 0

        def interrupted(*args, **kwargs):
            self.calls += 1
            if self.calls == at:
                raise KeyboardInterrupt
            return real(*args, **kwargs)

        monkeypatch.setattr(owner, name, interrupted)


PLACES = {
    "in the first pass": (PrivateRows, "fill", 1),
    "before the first noise": (SystemNoise, "draw", 1),
    "in the second noise": (SystemNoise, "draw", 2),
    "after the first noise": (door, "Release", 1),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_nothing_is_half_set_and_the_next_fit_works(name, place, monkeypatch):
    case, (owner, attribute, at) = ESTIMATORS[name], PLACES[place]
    model = case.make(privacy=GDP(1.0))
    X, y = table_for(case)
    interruption = Interruption(monkeypatch, owner, attribute, at)
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        assert set(vars(model)) == set(model.get_params())
    assert interruption.calls >= at
    # The limit on threads of the linear algebra is lifted.
    assert threads._LIMIT.users == 0
    model.fit(X, y)
    assert all(hasattr(model, told) for told in TOLD)
    assert np.isfinite(released_by(model)).all()
    assert model.card_.private


@pytest.mark.parametrize("name", ["Ridge", "LogisticRegression", "PMTRidge", "AdaSSP"])
def test_a_fitted_model_stays_what_it_was(name, monkeypatch):
    case = ESTIMATORS[name]
    X, y = table_for(case)
    model = case.make(privacy=GDP(1.0)).fit(X, y)
    before = pickle.dumps(vars(model))
    Interruption(monkeypatch, SystemNoise, "draw", 2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert pickle.dumps(vars(model)) == before


def test_an_interrupted_block_among_many_ends_the_fit(monkeypatch):
    case = ESTIMATORS["Ridge"]
    X, y = table_for(case, n_rows=150_000)
    model = case.make(privacy=GDP(1.0))
    Interruption(monkeypatch, PrivateRows, "fill", 3)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert set(vars(model)) == set(model.get_params())
    assert threads._LIMIT.users == 0


def test_the_ledger_counts_what_was_interrupted(tmp_path, monkeypatch):
    case = ESTIMATORS["Ridge"]
    ledger = Ledger(tmp_path / "ledger.db")
    model = case.make(privacy=GDP(1.0), ledger=ledger, dataset="wine")
    Interruption(monkeypatch, SystemNoise, "draw", 2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*table_for(case))
    assert [entry.state for entry in ledger.entries("wine")] == ["abandoned"]
    assert ledger.spent("wine") == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*table_for(case))
    assert [entry.state for entry in ledger.entries("wine")] == ["abandoned", "released"]


def test_an_interrupted_release_of_moments_can_be_made_again(monkeypatch):
    case = CASES["release_moments"]
    Interruption(monkeypatch, SystemNoise, "draw", 1)
    with pytest.raises(KeyboardInterrupt):
        case.fit(*table_for(case))
    assert threads._LIMIT.users == 0
    assert case.fit(*table_for(case)).card.private
