"""The ledger adds up exactly, refuses what exceeds a cap, and keeps what it has recorded."""

import copy
import csv
import io
import json
import math
import pickle
import sqlite3
import subprocess
import sys
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from publicmoments.privacy import GDP, ZCDP, ApproxDP, BudgetExceeded, Ledger, LedgerError
from publicmoments.privacy.ledger import database

pytest.importorskip("sqlalchemy")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.db")


def test_charges_compose(ledger):
    ledger.cap("wine", GDP(5.0))
    assert (ledger.spent("wine"), ledger.remaining("wine")) == (0.0, 5.0)
    ledger.charge("wine", GDP(3.0))
    assert (ledger.spent("wine"), ledger.remaining("wine")) == (3.0, 4.0)
    ledger.charge("wine", GDP(4.0))
    assert (ledger.spent("wine"), ledger.remaining("wine")) == (5.0, 0.0)


def test_without_a_cap_everything_is_accepted_and_recorded(ledger):
    ledger.charge("wine", GDP(1e6))
    assert (ledger.spent("wine"), ledger.remaining("wine")) == (1e6, math.inf)


def test_datasets_are_counted_apart(ledger):
    ledger.charge("wine", GDP(3.0))
    ledger.charge("power", GDP(4.0))
    assert (ledger.spent("wine"), ledger.spent("power")) == (3.0, 4.0)
    assert [entry.number for entry in ledger.entries("power")] == [1]
    assert ledger.datasets() == ("power", "wine")


def test_an_unknown_dataset_is_empty(ledger):
    assert (ledger.spent("x"), ledger.remaining("x"), ledger.entries("x")) == (0.0, math.inf, ())
    assert ledger.datasets() == ()


def test_a_refusal_changes_nothing_and_says_what_would_fit(ledger):
    ledger.cap("wine", GDP(5.0))
    ledger.charge("wine", GDP(3.0))
    with pytest.raises(BudgetExceeded, match=r"dataset 'wine', got mu=4\.5 with mu=4\.0 left") as e:
        ledger.charge("wine", GDP(4.5))
    assert "mu=3.0 is spent of a cap of mu=5.0; charge at most GDP(4.0)" in str(e.value)
    assert len(ledger.entries("wine")) == 1
    ledger.charge("wine", GDP(4.0))
    with pytest.raises(BudgetExceeded, match="nothing more fits, or raise the cap"):
        ledger.charge("wine", GDP(5e-324))


def test_what_remains_fits_to_the_last_bit(ledger):
    ledger.cap("wine", GDP(1.0))
    ledger.charge("wine", GDP(0.1))
    rest = ledger.remaining("wine")
    with pytest.raises(BudgetExceeded):
        ledger.charge("wine", GDP(math.nextafter(rest, 2.0)))
    ledger.charge("wine", GDP(rest))
    assert ledger.spent("wine") <= 1.0


def test_there_is_no_tolerance(ledger):
    ledger.cap("wine", GDP(1.0))
    with pytest.raises(BudgetExceeded):
        ledger.charge("wine", GDP(math.nextafter(1.0, 2.0)))
    ledger.charge("wine", GDP(1.0))


def test_floats_that_look_as_if_they_fit_need_not(ledger):
    ledger.cap("wine", GDP(1.0))
    ledger.charge("wine", GDP(0.6))
    assert Fraction(0.6) ** 2 + Fraction(0.8) ** 2 > 1
    assert ledger.remaining("wine") == math.nextafter(0.8, 0.0)


def test_many_small_charges_do_not_drift(ledger):
    ledger.cap("wine", GDP(1.0))
    for part in GDP(1.0).split(*[1.0] * 49):
        ledger.charge("wine", part)
    exact = sum(Fraction(entry.mu) ** 2 for entry in ledger.entries("wine"))
    assert exact <= 1
    assert ledger.remaining("wine") == pytest.approx(math.sqrt(1 - exact))


def test_a_tiny_charge_beside_a_huge_one_is_not_lost(ledger):
    ledger.charge("wine", GDP(1e8))
    ledger.charge("wine", GDP(1e-8))
    assert ledger.spent("wine") == math.nextafter(1e8, math.inf)


def test_other_currencies_are_converted_and_kept_as_stated(ledger):
    for cost in (ZCDP(0.5), ApproxDP(1.0, 1e-6)):
        entry = ledger.charge("wine", cost)
        assert (entry.mu, entry.stated) == (cost.to_gdp().mu, repr(cost))
    assert ledger.entries("wine")[0].mu == 1.0
    entry = ledger.charge("wine", GDP(0.2), stated=ApproxDP(1.0, 1e-6))
    assert (entry.mu, entry.stated) == (0.2, "ApproxDP(epsilon=1.0, delta=1e-06)")
    assert ledger.entries("wine")[-1] == entry


def test_halves_of_a_zcdp_cap_fill_it(ledger):
    ledger.cap("wine", ZCDP(1.0))
    ledger.charge("wine", ZCDP(0.5))
    ledger.charge("wine", ZCDP(0.5))
    assert ledger.remaining("wine") == 0.0


def test_an_approximate_cap_is_its_exact_mu(ledger):
    cap = ApproxDP(1.0, 1e-6)
    ledger.cap("wine", cap)
    assert ledger.remaining("wine") == cap.mu


def test_caps_can_be_raised_and_all_are_kept(ledger):
    ledger.cap("wine", GDP(1.0), note="board")
    ledger.charge("wine", GDP(1.0))
    ledger.cap("wine", ZCDP(1.0), note="board again")
    assert ledger.remaining("wine") == 1.0
    ledger.cap("wine", GDP(0.5))
    assert ledger.remaining("wine") == 0.0
    assert [(cap.number, cap.stated, cap.note) for cap in ledger.caps("wine")] == [
        (1, "GDP(mu=1.0)", "board"),
        (3, "ZCDP(rho=1.0)", "board again"),
        (4, "GDP(mu=0.5)", ""),
    ]


def test_a_charge_is_open_until_it_is_closed_once(ledger):
    entry = ledger.charge("wine", GDP(1.0), note="fit")
    assert (entry.state, ledger.entries("wine")) == ("charged, not released", (entry,))
    closed = ledger.released(entry)
    assert closed.state == "released"
    assert ledger.entries("wine") == (closed,)
    for close in (ledger.released, ledger.abandoned):
        with pytest.raises(ValueError, match="entry must be open, got one that is released"):
            close(entry)
    assert ledger.spent("wine") == 1.0


def test_what_is_abandoned_stays_spent(ledger):
    assert ledger.abandoned(ledger.charge("wine", GDP(1.0))).state == "abandoned"
    assert ledger.spent("wine") == 1.0


def test_only_charges_of_this_ledger_can_be_closed(ledger, tmp_path):
    ledger.cap("wine", GDP(1.0))
    elsewhere = Ledger(tmp_path / "other.db").charge("wine", GDP(1.0))
    with pytest.raises(ValueError, match="entry must be a charge of this ledger, got number 1"):
        ledger.released(elsewhere)
    assert ledger.entries("wine") == ()


def test_reproducible_runs_are_charged_and_claim_no_privacy(ledger):
    ledger.cap("wine", GDP(5.0))
    entry = ledger.charge("wine", GDP(3.0), private=False)
    assert entry.kind == "reproducible, claims no privacy"
    assert ledger.released(entry).state == "finished"
    assert ledger.remaining("wine") == 4.0
    assert ledger.charge("wine", GDP(0.1)).kind == "private"


def test_a_ledger_outlives_its_process(tmp_path):
    code = (
        "import sys; from publicmoments.privacy import GDP, Ledger;"
        "Ledger(sys.argv[1]).charge('wine', GDP(3.0), note='there')"
    )
    path = tmp_path / "ledger.db"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    ledger = Ledger(path, create=False)
    assert [(entry.mu, entry.note) for entry in ledger.entries("wine")] == [(3.0, "there")]


def test_order_is_by_number_when_the_clock_goes_backwards(ledger, monkeypatch):
    times = iter(["2030-01-01T00:00:00+00:00", "2020-01-01T00:00:00+00:00"])
    monkeypatch.setattr(database, "utc_now", lambda: next(times))
    ledger.charge("wine", GDP(1.0), note="first")
    ledger.cap("wine", GDP(1.0))
    assert ledger.remaining("wine") == 0.0
    monkeypatch.undo()
    monkeypatch.setattr(database, "utc_now", lambda: "1990-01-01T00:00:00+00:00")
    ledger.cap("wine", GDP(2.0))
    ledger.charge("wine", GDP(1.0), note="second")
    assert [entry.note for entry in ledger.entries("wine")] == ["first", "second"]
    assert [entry.at[:4] for entry in ledger.entries("wine")] == ["2030", "1990"]


def test_times_are_utc(ledger):
    at = datetime.fromisoformat(ledger.charge("wine", GDP(1.0)).at)
    assert at.utcoffset() == timedelta(0)
    assert abs(datetime.now(at.tzinfo) - at) < timedelta(minutes=1)


def test_json_export_holds_everything(ledger):
    ledger.charge("power", GDP(0.2), private=False)
    ledger.cap("wine", ZCDP(0.5), note="board")
    ledger.released(ledger.charge("wine", GDP(0.1), note="fit", model="Ridge", target="quality"))
    document = json.loads(ledger.export())
    assert (document["format"], document["version"]) == ("publicmoments ledger", 2)
    power, wine = document["datasets"]
    assert (power["dataset"], power["spent_mu"], power["remaining_mu"]) == ("power", 0.2, None)
    assert power["entries"][0]["kind"] == "reproducible, claims no privacy"
    assert power["entries"][0]["state"] == "charged, not released"
    assert wine["remaining_mu"] == ledger.remaining("wine")
    assert wine["caps"][0]["stated"] == "ZCDP(rho=0.5)"
    assert (wine["entries"][0]["mu"], wine["entries"][0]["closed_by"]) == (0.1, "released")
    purpose = wine["entries"][0]["purpose"]
    assert (purpose["model"], purpose["target"]) == ("Ridge", "quality")
    assert (wine["extra_tv"], wine["entries"][0]["extra_tv"]) == (0.0, 0.0)


def test_json_export_writes_null_for_what_no_float_holds(ledger):
    ledger.charge("wine", GDP(1.7e308))
    ledger.charge("wine", GDP(1.7e308))
    assert ledger.spent("wine") == math.inf
    assert json.loads(ledger.export())["datasets"][0]["spent_mu"] is None


def test_csv_export_holds_the_lines_exactly(ledger):
    ledger.charge("power", GDP(0.1))
    ledger.cap("wine", GDP(1.0), note="a, b")
    ledger.charge("wine", GDP(0.1))
    lines = list(csv.DictReader(io.StringIO(ledger.export("csv", dataset="wine"))))
    assert [(line["number"], line["event"]) for line in lines] == [("1", "cap"), ("2", "charged")]
    assert lines[0]["note"] == "a, b"
    assert float.fromhex(lines[1]["mu"]) == 0.1
    assert Fraction(lines[1]["spent_squared"]) == Fraction(0.1) ** 2
    assert len(ledger.export("csv").splitlines()) == 4
    with pytest.raises(ValueError, match='form must be "json" or "csv"'):
        ledger.export("xml")


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_the_same_ledger(ledger, copied):
    other = copied(ledger)
    other.charge("wine", GDP(1.0))
    assert ledger.spent("wine") == 1.0


def test_a_path_is_fixed_when_the_ledger_is_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = Ledger("ledger.db")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    ledger.charge("wine", GDP(1.0))
    assert Ledger(f"sqlite:///{tmp_path}/ledger.db", create=False).spent("wine") == 1.0
    assert not (tmp_path / "below" / "ledger.db").exists()


def test_a_path_is_taken_as_it_is(tmp_path):
    path = tmp_path / "100% of it?mode=memory#x.db"
    ledger = Ledger(path)
    copy.deepcopy(ledger).charge("wine", GDP(1.0))
    assert path.exists()
    assert ledger.spent("wine") == 1.0


def test_the_file_is_written_ahead_and_to_the_disk(ledger):
    with ledger._store._engine.connect() as connection:
        modes = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "busy_timeout")
        ]
    assert modes == ["wal", 2, 60_000]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not a database at all " * 100, "this is not a ledger, or a damaged one"),
        (b"short", "this is not a ledger, or a damaged one"),
    ],
)
def test_files_of_something_else_are_refused(tmp_path, content, message):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(LedgerError, match=message):
        Ledger(path)
    assert path.read_bytes() == content


def test_databases_of_something_else_are_refused(tmp_path):
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE shopping (item TEXT)")
    with pytest.raises(LedgerError, match=r"other\.db is not a ledger"):
        Ledger(tmp_path / "other.db")


@pytest.mark.parametrize(
    "statement", ["UPDATE {} SET version = 3", "INSERT INTO {} VALUES (3, '')"]
)
def test_unknown_versions_are_refused(ledger, tmp_path, statement):
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        connection.execute(statement.format("publicmoments_ledger"))
    with pytest.raises(LedgerError, match=r"must be a ledger of version 2, got \[.*3\]"):
        Ledger(tmp_path / "ledger.db")


def test_missing_places_are_refused(tmp_path):
    with pytest.raises(LedgerError, match="the folder of the ledger must exist"):
        Ledger(tmp_path / "none" / "ledger.db")
    with pytest.raises(LedgerError, match="a ledger must be a file, got the folder"):
        Ledger(tmp_path)
    with pytest.raises(LedgerError, match="there is no ledger at"):
        Ledger(tmp_path / "ledger.db", create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "location",
    [
        ":memory:",
        "",
        "sqlite://",
        "sqlite:///ledger.db?mode=memory",
        "mysql://u:secret@host/db",
        "postgresql://u:secret@host:port/db",
        "://secret",
    ],
)
def test_what_is_not_durable_or_not_known_is_refused(location):
    with pytest.raises(ValueError, match="a ledger must") as error:
        Ledger(location)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("name", ["", " wine", "wine\n", "wi\0ne", "x" * 1001, "\ud800"])
def test_names_that_could_be_confused_are_refused(ledger, name):
    with pytest.raises(ValueError, match="dataset must be"):
        ledger.charge(name, GDP(1.0))
    assert ledger.datasets() == ()


def test_spellings_that_look_alike_are_one_dataset(ledger):
    ledger.cap("caf\u00e9", GDP(1.0))
    with pytest.raises(BudgetExceeded):
        ledger.charge("cafe\u0301", GDP(2.0))


def test_other_types_are_refused(ledger):
    with pytest.raises(TypeError, match="cost must be GDP"):
        ledger.charge("wine", 1.0)
    with pytest.raises(TypeError, match="budget must be GDP"):
        ledger.cap("wine", 1.0)
    with pytest.raises(TypeError, match="stated must be GDP"):
        ledger.charge("wine", GDP(1.0), stated="much")
    with pytest.raises(TypeError, match="dataset must be a string, got int"):
        ledger.spent(3)
    with pytest.raises(TypeError, match="note must be a string, got NoneType"):
        ledger.charge("wine", GDP(1.0), note=None)
    with pytest.raises(ValueError, match="busy_timeout must be in"):
        Ledger("x.db", busy_timeout=0)
    assert ledger.datasets() == ()


def test_passwords_are_not_shown(tmp_path):
    pytest.importorskip("psycopg")
    url = database.located("postgres://me:secret@host/db")
    assert database.Store(url, 1.0).name == "postgresql+psycopg://me:***@host/db"
    assert repr(Ledger(tmp_path / "l.db")) == f"Ledger('{tmp_path}/l.db')"


def test_sqlalchemy_is_imported_late_and_its_absence_explained(tmp_path):
    code = (
        "import sys, publicmoments.privacy as privacy;"
        "assert 'sqlalchemy' not in sys.modules;"
        "sys.modules['sqlalchemy'] = None\n"
        "try: privacy.Ledger('ledger.db')\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "pip install 'publicmoments[ledger]'" in run.stdout


def test_a_missing_driver_is_explained(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ImportError, match=r"pip install 'publicmoments\[ledger,postgres\]'"):
        Ledger("postgresql://me@host/db")
