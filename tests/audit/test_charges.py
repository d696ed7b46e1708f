"""Every release of every fit is charged once, before its noise, and the charges make the claim."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from audit.cases import CASES, MU, card_of, released_by, table_for
from audit.door import watched
from publicmoments.privacy import Account
from publicmoments.privacy.noise import SystemNoise
from publicmoments.session import queries


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("name", CASES)
def test_one_charge_for_each_noise_and_nothing_more(name, monkeypatch):
    case, events, accounts = CASES[name], [], []
    charge, add_gram, add_vector = Account.charge, queries.add_gram_noise, queries.add_vector_noise

    def charged(self, cost):
        charge(self, cost)
        accounts.append(self)
        events.append(("charge", cost.mu))

    def noisy(add):
        def wrapped(exact, law, source):
            assert isinstance(source, SystemNoise)
            events.append(("noise", None))
            return add(exact, law, source)

        return wrapped

    monkeypatch.setattr(Account, "charge", charged)
    monkeypatch.setattr(queries, "add_gram_noise", noisy(add_gram))
    monkeypatch.setattr(queries, "add_vector_noise", noisy(add_vector))
    with watched() as passages:
        fitted = case.fit(*table_for(case))
    card = card_of(fitted)
    assert [event for event, _ in events] == ["charge", "noise"] * len(passages)
    assert [mu for event, mu in events if event == "charge"] == [one.mu for one in passages]
    assert len(set(map(id, accounts))) == 1
    assert math.hypot(*(one.mu for one in passages)) <= card.mu * (1 + 1e-12)
    assert card.mu <= MU * (1 + 1e-12)
    assert sum(line.times for line in card.passes) == len(passages)


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("name", CASES)
def test_a_seeded_fit_claims_nothing(name):
    case = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = [case.fit(*table_for(case), random_state=3) for _ in range(2)]
    cards = [card_of(fit) for fit in fits]
    assert not any(card.private for card in cards)
    values = [released_by(fit) for fit in fits]
    np.testing.assert_array_equal(*values)


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("name", CASES)
def test_a_card_covers_the_distance_of_all_noise_that_was_drawn(name):
    case = CASES[name]
    with watched() as passages:
        fitted = case.fit(*table_for(case))
    drawn = math.fsum(passage.law.gdp_extra_tv for passage in passages)
    assert 0.0 < drawn <= card_of(fitted).extra_tv * (1.0 + 1e-12)
