"""A ledger that cannot be written refuses before any noise is drawn."""

import os
import resource
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from publicmoments.privacy import GDP, Ledger, LedgerError
from tests.faults.limits import in_child, small_disk

pytest.importorskip("sqlalchemy")

NOBODY = 65534


def release(ledger: Ledger, events: list[str]) -> None:
    """Stand for a fit: pay, then draw. The long note fills a disk sooner."""
    with ledger.account("wine", GDP(1.0), note="n" * 1000) as account:
        account.charge(GDP(1.0))
        events.append("noise")


def outcome(location: Path) -> str:
    """What a fit comes to: the error's message, and whether noise was drawn."""
    events: list[str] = []
    try:
        release(Ledger(location), events)
    except LedgerError as error:
        events.append(str(error))
    return "|".join(events)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that users without rights can enter, unlike those of pytest."""
    path = Path(tempfile.mkdtemp(prefix="pm-ledger-"))
    path.chmod(0o755)
    yield path
    path.chmod(0o755)
    shutil.rmtree(path)


def as_nobody(work: Callable[[], str]) -> str:
    """Run work without the rights of root, which nothing is read-only to."""

    def powerless() -> str:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        return work()

    return in_child(powerless)


def test_a_read_only_file_refuses_before_noise(folder):
    location = folder / "ledger.db"
    Ledger(location).charge("wine", GDP(1.0))
    folder.chmod(0o777)
    location.chmod(0o444)
    said = as_nobody(lambda: outcome(location))
    assert said.startswith("the ledger")
    assert "nothing was charged and nothing may be released" in said
    assert "must be writable by this user" in said
    assert Ledger(location).spent("wine") == 1.0


def test_a_read_only_folder_refuses_before_noise(folder):
    location = folder / "ledger.db"
    Ledger(location).charge("wine", GDP(1.0))
    location.chmod(0o666)
    folder.chmod(0o555)
    said = as_nobody(lambda: outcome(location))
    assert said.startswith("the ledger")
    assert "must be writable by this user" in said


def test_a_new_ledger_in_a_read_only_folder_refuses_before_noise(folder):
    folder.chmod(0o555)
    said = as_nobody(lambda: outcome(folder / "ledger.db"))
    assert said.startswith("the ledger")
    assert "must be writable by this user" in said


def charges_until_full(location: Path) -> str:
    """Fill what space there is; return how many charges fitted, and the last refusal."""
    events: list[str] = []
    ledger = Ledger(location)
    try:
        for _ in range(10_000):
            release(ledger, events)
    except LedgerError as error:
        return f"{len(events)}|{error}"
    return "never full"


def check_full(said: str, location: Path) -> None:
    """Each noise had its charge, and the refusal says what to do."""
    drawn, message = said.split("|", 1)
    assert "nothing may be released; free space on the disk" in message
    assert int(drawn) > 0
    # A charge that could not be confirmed may count: never too few.
    assert int(drawn) <= len(Ledger(location).entries("wine")) <= int(drawn) + 1


@pytest.mark.filterwarnings("ignore:the release is complete and charged")
def test_a_full_disk_refuses_before_noise(tmp_path):
    with small_disk(tmp_path / "disk", "160k") as disk:
        said = charges_until_full(disk / "ledger.db")
        for file in disk.iterdir():
            shutil.copy(file, tmp_path / file.name)
    check_full(said, tmp_path / "ledger.db")


@pytest.mark.filterwarnings("ignore:the release is complete and charged")
def test_a_quota_refuses_before_noise(tmp_path):
    location = tmp_path / "ledger.db"

    def limited() -> str:
        resource.setrlimit(resource.RLIMIT_FSIZE, (80 * 1024, 80 * 1024))
        return charges_until_full(location)

    check_full(in_child(limited), location)


def test_a_locked_file_refuses_before_noise(tmp_path):
    location, events = tmp_path / "ledger.db", []
    ledger = Ledger(location, busy_timeout=0.2)
    other = sqlite3.connect(location, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerError, match=r"after 0\.2 s .*locked.*nothing was charged"):
        release(ledger, events)
    other.execute("ROLLBACK")
    other.close()
    assert events == []
    assert ledger.spent("wine") == 0.0


@pytest.mark.long
def test_a_ledger_that_is_locked_for_a_minute(tmp_path):
    location, events = tmp_path / "ledger.db", []
    hasty, patient = Ledger(location), Ledger(location, busy_timeout=120.0)
    other = sqlite3.connect(location, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    started = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(release, patient, events)
        # The minute that a ledger waits unless it is told otherwise.
        with pytest.raises(LedgerError, match=r"after 60 s .*locked.*nothing was charged"):
            release(hasty, events)
        assert 55.0 < time.monotonic() - started < 90.0
        assert events == []
        other.execute("ROLLBACK")
        waiting.result()
    other.close()
    assert events == ["noise"]
    assert [entry.state for entry in patient.entries("wine")] == ["released"]


def test_a_ledger_lost_after_the_noise_costs_no_second_payment(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", busy_timeout=0.2)
    other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)

    def released() -> str:
        with ledger.account("wine", GDP(1.0)) as account:
            account.charge(GDP(1.0))
            other.execute("BEGIN IMMEDIATE")
        return "noisy numbers"

    with pytest.warns(RuntimeWarning, match=r"complete and charged, but .*database is locked"):
        assert released() == "noisy numbers"
    other.close()
    assert [entry.state for entry in ledger.entries("wine")] == ["charged, not released"]


def test_a_deleted_ledger_refuses_before_noise(tmp_path):
    location, events = tmp_path / "ledger.db", []
    ledger = Ledger(location)
    location.unlink()
    with pytest.raises(LedgerError, match="this is not a ledger, or a damaged one"):
        release(ledger, events)
    assert events == []
