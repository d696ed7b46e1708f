"""Writers at the same time, in SQLite and in PostgreSQL, neither lose nor double a charge."""

import glob
import math
import multiprocessing
import os
import pwd
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest

from publicmoments.privacy import GDP, ZCDP, BudgetExceeded, Ledger, LedgerError

sqlalchemy = pytest.importorskip("sqlalchemy")

PROCESSES, CHARGES = 8, 200
COST = 0.1


def server_programs() -> Path:
    """Folder of initdb and postgres; install them where this user may, or skip and say why."""
    found = _programs()
    apt = shutil.which("apt-get")
    if found is None and apt is not None and os.geteuid() == 0:
        install = ["install", "--yes", "--no-install-recommends", "postgresql"]
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        try:
            for step in (["update"], install):
                subprocess.run(
                    [apt, *step], env=quiet, capture_output=True, timeout=200, check=True
                )
        except (subprocess.SubprocessError, OSError) as error:
            pytest.skip(f"PostgreSQL is not here and cannot be installed: {type(error).__name__}")
        found = _programs()
    if found is None:
        pytest.skip("PostgreSQL is neither on PATH nor in /usr/lib/postgresql")
    return found


def _programs() -> Path | None:
    """Look on PATH first, then where Debian puts it."""
    on_path = shutil.which("initdb")
    folders = [] if on_path is None else [str(Path(on_path).resolve().parent)]
    folders += sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    whole = [f for f in folders if Path(f, "initdb").exists() and Path(f, "postgres").exists()]
    return Path(whole[0]) if whole else None


def _unprivileged() -> dict[str, object]:
    """Whom to run the server as: it refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    pytest.skip("there is no unprivileged user to run PostgreSQL as")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Address of a PostgreSQL server of our own, gone at the end."""
    pytest.importorskip("psycopg")
    programs, who = server_programs(), _unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="pm-ledger-"))
    if who:
        os.chown(folder, who["user"], who["group"])  # type: ignore[arg-type]
    data, port = folder / "data", _free_port()
    common = {"cwd": folder, **who, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    initdb = [programs / "initdb", "-D", data, "-A", "trust", "-U", "ledger", "--no-sync"]
    subprocess.run(initdb, check=True, timeout=120, **common)
    settings = ["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=50"]
    command = [programs / "postgres", "-D", data, "-p", str(port), "-k", folder, *settings]
    process = subprocess.Popen(command, **common)  # type: ignore[call-overload]
    address = f"postgresql://ledger@127.0.0.1:{port}/postgres"
    try:
        _await(address, process)
        yield address
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


def _await(address: str, process: "subprocess.Popen[bytes]") -> None:
    """Wait until the server answers."""
    deadline = time.monotonic() + 60
    while True:
        try:
            Ledger(address)
            return
        except LedgerError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where to keep a ledger, in each kind of database."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    return str(request.getfixturevalue("server"))


@pytest.fixture
def dataset(request: pytest.FixtureRequest) -> str:
    """A dataset of one test: the server is shared by all."""
    return request.node.name


def crowd(work: Callable[..., None], *arguments: object) -> None:
    """Run work in forked processes that inherit an open ledger."""
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=work, args=(*arguments, k)) for k in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * PROCESSES


def charge_often(ledger: Ledger, dataset: str, who: int) -> None:
    for k in range(CHARGES):
        ledger.charge(dataset, GDP(COST), note=f"{who}-{k}")


def check_that_nothing_is_lost_or_doubled(location: str, dataset: str) -> None:
    ledger = Ledger(location, new_datasets=True)
    crowd(charge_often, ledger, dataset)
    entries = ledger.entries(dataset)
    assert sorted(entry.note for entry in entries) == sorted(
        f"{who}-{k}" for who in range(PROCESSES) for k in range(CHARGES)
    )
    assert [entry.number for entry in entries] == list(range(1, PROCESSES * CHARGES + 1))
    exact = PROCESSES * CHARGES * Fraction(COST) ** 2
    assert Fraction(ledger.spent(dataset)) ** 2 >= exact
    assert Fraction(math.nextafter(ledger.spent(dataset), 0.0)) ** 2 < exact


def test_sqlite_writers_lose_and_double_nothing(tmp_path):
    check_that_nothing_is_lost_or_doubled(str(tmp_path / "ledger.db"), "wine")


@pytest.mark.slow
def test_postgresql_writers_lose_and_double_nothing(server, dataset):
    check_that_nothing_is_lost_or_doubled(server, dataset)


def charge_until_refused(ledger: Ledger, dataset: str, who: int) -> None:
    try:
        while True:
            ledger.charge(dataset, GDP(1.0), note=str(who))
    except BudgetExceeded:
        pass


def test_processes_fill_a_cap_and_never_exceed_it(location, dataset):
    ledger = Ledger(location, new_datasets=True)
    ledger.cap(dataset, ZCDP(50.0))
    crowd(charge_until_refused, ledger, dataset)
    assert len(ledger.entries(dataset)) == 100
    assert (ledger.spent(dataset), ledger.remaining(dataset)) == (10.0, 0.0)


def open_and_charge(location: str, dataset: str, who: int) -> None:
    Ledger(location, new_datasets=True).charge(dataset, GDP(1.0), note=str(who))


def test_processes_that_make_the_ledger_together_agree(tmp_path):
    crowd(open_and_charge, str(tmp_path / "new.db"), "wine")
    assert len(Ledger(tmp_path / "new.db").entries("wine")) == PROCESSES


def test_making_a_ledger_waits_for_whoever_else_is_making_it(tmp_path):
    other = sqlite3.connect(tmp_path / "new.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    done = threading.Timer(0.3, lambda: other.execute("ROLLBACK"))
    done.start()
    ledger = Ledger(tmp_path / "new.db")
    done.join()
    other.close()
    assert ledger.charge("wine", GDP(1.0)).number == 1


def test_threads_share_a_ledger(location, dataset):
    ledger = Ledger(location, new_datasets=True)
    with ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(lambda _: ledger.charge(dataset, GDP(1.0)).number, range(40)))
    assert sorted(numbers) == list(range(1, 41))


def test_a_held_lock_gives_a_clear_error_and_no_charge(location, dataset):
    patient = Ledger(location, new_datasets=True)
    hasty = Ledger(location, busy_timeout=0.2, new_datasets=True)
    with (
        patient._store.adding(dataset),
        pytest.raises(LedgerError, match=r"after 0\.2 s.*nothing was charged.*busy_timeout"),
    ):
        hasty.charge(dataset, GDP(1.0))
    assert patient.spent(dataset) == 0.0
    assert hasty.charge(dataset, GDP(1.0)).number == 1


def test_a_waiting_writer_gets_its_turn(location, dataset):
    ledger = Ledger(location, new_datasets=True)
    with ThreadPoolExecutor(1) as pool:
        started = threading.Event()

        def charge() -> int:
            started.set()
            return ledger.charge(dataset, GDP(1.0)).number

        with ledger._store.adding(dataset) as page:
            waiting = pool.submit(charge)
            started.wait()
            time.sleep(0.3)
            assert not waiting.done()
            page.add(
                "cap", "", mu=(2.0).hex(), mu_squared="4", stated="GDP(mu=2.0)", cap_squared="4"
            )
        assert waiting.result() == 2
    # The waiting charge saw the cap that was set while it waited.
    assert ledger.remaining(dataset) == pytest.approx(3**0.5)


def test_every_database_keeps_the_same_books(location, dataset):
    ledger = Ledger(location, new_datasets=True)
    ledger.cap(dataset, GDP(5.0), note="die Bürgin 'sagt' %s")
    first = ledger.charge(dataset, GDP(3.0), note="first; DROP TABLE x")
    assert ledger.released(first).state == "released"
    assert ledger.abandoned(ledger.charge(dataset, GDP(5e-324))).state == "abandoned"
    with pytest.raises(BudgetExceeded, match="charge at most GDP"):
        ledger.charge(dataset, GDP(4.0))
    assert [entry.state for entry in ledger.entries(dataset)] == ["released", "abandoned"]
    assert ledger.caps(dataset)[0].note == "die Bürgin 'sagt' %s"
    assert ledger.spent(dataset) == pytest.approx(3.0, rel=1e-15)
    assert dataset in ledger.datasets()


@pytest.mark.parametrize("change", ["UPDATE {} SET note = 'x'", "DELETE FROM {}"])
def test_the_database_refuses_to_change_lines(location, dataset, change):
    ledger = Ledger(location, new_datasets=True)
    ledger.charge(dataset, GDP(1.0), note="kept")
    statement = change.format("publicmoments_ledger_events")
    with (
        pytest.raises(sqlalchemy.exc.DBAPIError, match="added to, never changed"),
        ledger._store._engine.begin() as connection,
    ):
        connection.exec_driver_sql(statement)
    assert ledger.entries(dataset)[0].note == "kept"


def test_a_line_cannot_be_added_twice(location, dataset):
    ledger = Ledger(location, new_datasets=True)
    ledger.charge(dataset, GDP(1.0))

    def add_the_first_line_again() -> None:
        with ledger._store.adding(dataset) as page:
            page.last = None
            page.add("charged", "", mu="0x1p0", mu_squared="1", stated="", spent_squared="1")

    with pytest.raises(LedgerError, match=r"(?i)unique"):
        add_the_first_line_again()
    assert ledger.spent(dataset) == 1.0


def test_a_charge_cannot_be_closed_twice(location, dataset):
    ledger = Ledger(location, new_datasets=True)
    ledger.released(ledger.charge(dataset, GDP(1.0)))

    def close_again() -> None:
        with ledger._store.adding(dataset) as page:
            page.add("abandoned", "", closes=1)

    with pytest.raises(LedgerError, match=r"(?i)unique"):
        close_again()
    assert ledger.entries(dataset)[0].state == "released"


def test_the_server_keeps_what_it_confirms(server):
    hasty = "?options=-csynchronous_commit%3Doff"
    store = Ledger(server + hasty)._store
    with store._holding("wine") as connection:
        shown = [
            connection.exec_driver_sql(f"SHOW {name}").scalar()
            for name in ("synchronous_commit", "transaction_isolation", "lock_timeout")
        ]
    assert shown == ["on", "read committed", "1min"]


def test_a_missing_server_gives_a_clear_error():
    with pytest.raises(LedgerError, match="check the address, that the server runs"):
        Ledger(f"postgresql://ledger:secret@127.0.0.1:{_free_port()}/postgres")
