"""The account of a fit is paid for by the ledger before its first noise."""

import pytest

from publicmoments.privacy import (
    GDP,
    Account,
    ApproxDP,
    BudgetExceeded,
    Ledger,
    LedgerError,
    open_account,
)
from publicmoments.rows.recipe import TotalRecipe
from tests.helpers import released

pytest.importorskip("sqlalchemy")


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db")


def states(ledger):
    return [entry.state for entry in ledger.entries("wine")]


def test_the_whole_total_is_charged_before_the_first_noise_and_once(ledger):
    with ledger.account("wine", GDP(5.0), note="fit", stated=ApproxDP(9.0, 1e-6)) as account:
        assert (account.entry, ledger.entries("wine")) == (None, ())
        account.charge(GDP(3.0))
        assert ledger.spent("wine") == 5.0
        assert states(ledger) == ["charged, not released"]
        account.charge(GDP(4.0))
        with pytest.raises(BudgetExceeded):
            account.charge(GDP(0.1))
    assert states(ledger) == ["released"]
    entry = ledger.entries("wine")[0]
    assert account.entry == entry
    assert (entry.mu, entry.note) == (5.0, "fit")
    assert entry.stated == "ApproxDP(epsilon=9.0, delta=1e-06)"


def test_a_total_that_does_not_fit_is_refused_when_opened(ledger):
    ledger.cap("wine", GDP(1.0))
    with pytest.raises(BudgetExceeded, match="left of dataset 'wine'"):
        ledger.account("wine", GDP(1.1))
    assert ledger.entries("wine") == ()


def test_a_total_that_no_longer_fits_is_refused_before_noise(ledger):
    ledger.cap("wine", GDP(1.0))
    account = ledger.account("wine", GDP(0.9))
    ledger.charge("wine", GDP(0.9))
    with pytest.raises(BudgetExceeded, match="left of dataset 'wine'"):
        account.charge(GDP(0.1))
    assert len(ledger.entries("wine")) == 1


def test_a_cost_above_the_total_is_refused_without_charging_the_ledger(ledger):
    account = ledger.account("wine", GDP(1.0))
    with pytest.raises(BudgetExceeded):
        account.charge(GDP(2.0))
    assert ledger.entries("wine") == ()


def test_an_error_after_the_charge_abandons_it(ledger):
    def fail() -> None:
        with ledger.account("wine", GDP(1.0)) as account:
            account.charge(GDP(0.5))
            raise OSError("no entropy")

    with pytest.raises(OSError, match="no entropy"):
        fail()
    assert states(ledger) == ["abandoned"]
    assert ledger.spent("wine") == 1.0


def test_an_error_before_the_charge_costs_nothing(ledger):
    def fail() -> None:
        with ledger.account("wine", GDP(1.0)):
            raise ValueError("rows hold NaN")

    with pytest.raises(ValueError, match="rows hold NaN"):
        fail()
    assert ledger.datasets() == ()


def test_a_block_without_a_release_records_nothing(ledger):
    with ledger.account("wine", GDP(1.0)) as account:
        account.released()
    assert ledger.datasets() == ()


def test_a_closed_account_cannot_be_charged(ledger):
    with ledger.account("wine", GDP(1.0)) as account:
        account.charge(GDP(0.1))
        account.released()
        with pytest.raises(RuntimeError, match="must be open, got one that is released"):
            account.charge(GDP(0.1))
    assert states(ledger) == ["released"]


def test_reproducible_accounts_finish_without_a_release(ledger):
    with ledger.account("wine", GDP(1.0), private=False) as account:
        account.charge(GDP(1.0))
    entry = ledger.entries("wine")[0]
    assert (entry.state, entry.kind) == ("finished", "reproducible, claims no privacy")


def test_the_door_takes_it_as_an_account(ledger, watch, make_rows, make_recipe):
    recipe = make_recipe(TotalRecipe, n_rows=2)
    rows = make_rows([[1.0, 2.0], [0.5, 0.1]], [1.0, 2.0])
    with ledger.account("wine", GDP(1.0)) as account:
        released(recipe, rows, GDP(1.0), account, watch.noise())
    assert watch.events.count("draw") >= 1
    assert states(ledger) == ["released"]


def test_no_noise_is_drawn_when_the_ledger_cannot_pay(
    ledger, watch, make_rows, make_recipe, monkeypatch
):
    def broken(*_: object, **__: object) -> None:
        raise LedgerError("disk full")

    monkeypatch.setattr(ledger, "_charge", broken)
    account = ledger.account("wine", GDP(1.0))
    rows = make_rows([[1.0, 2.0], [0.5, 0.1]], [1.0, 2.0])
    with pytest.raises(LedgerError, match="disk full"):
        released(make_recipe(TotalRecipe, n_rows=2), rows, GDP(1.0), account, watch.noise())
    assert watch.events == []


def test_opening_without_a_ledger_keeps_the_account_in_memory():
    with open_account(None, None, GDP(1.0), stated=GDP(1.0), private=True) as account:
        assert type(account) is Account
        assert account.total == GDP(1.0)


def test_opening_with_a_path_or_a_ledger_charges_it(ledger, tmp_path):
    for paid_by in (ledger, tmp_path / "ledger.db", str(tmp_path / "ledger.db")):
        with open_account(
            paid_by, "wine", GDP(1.0), stated=GDP(1.0), private=False, model="fit"
        ) as account:
            account.charge(GDP(1.0))
    entries = ledger.entries("wine")
    assert [(entry.purpose.model, entry.private, entry.state) for entry in entries] == [
        ("fit", False, "finished")
    ] * 3


def test_ledger_and_dataset_go_together(ledger):
    with pytest.raises(ValueError, match="got ledger alone; pass dataset as well"):
        open_account(ledger, None, GDP(1.0), stated=GDP(1.0), private=True)
    with pytest.raises(ValueError, match="got dataset alone; pass ledger as well"):
        open_account(None, "wine", GDP(1.0), stated=GDP(1.0), private=True)
