"""A clock that goes backwards changes times in the books, and nothing else."""

from __future__ import annotations

import itertools

import pytest

from audit.cases import CASES, table_for
from publicmoments.privacy import GDP, BudgetExceeded, Ledger
from publicmoments.privacy.ledger import database

pytest.importorskip("sqlalchemy")


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    """A ledger whose clock goes back a year whenever it is looked at."""
    years = itertools.count(2030, -1)
    monkeypatch.setattr(database, "utc_now", lambda: f"{next(years)}-01-01T00:00:00+00:00")
    return Ledger(tmp_path / "ledger.db")


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("name", ["Ridge", "LogisticRegression", "release_moments"])
def test_a_clock_that_goes_backwards_does_not_loosen_a_cap(name, ledger):
    case = CASES[name]
    ledger.cap("wine", GDP(1.5))
    given = {"privacy": GDP(1.0), "ledger": ledger, "dataset": "wine"}
    for _ in range(2):
        fitted = case.fit(*table_for(case), **given)
        assert (fitted.card if case.kind == "none" else fitted.card_).private
    with pytest.raises(BudgetExceeded):
        case.fit(*table_for(case), **given)
    entries = ledger.entries("wine")
    assert [entry.number for entry in entries] == sorted(entry.number for entry in entries)
    assert [entry.state for entry in entries] == ["released"] * 2
    years = [int(entry.at[:4]) for entry in entries]
    assert years == sorted(years, reverse=True)
    assert ledger.spent("wine") ** 2 == pytest.approx(2.0)
