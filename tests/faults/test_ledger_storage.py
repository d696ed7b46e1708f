"""A ledger that cannot be written refuses before any noise is drawn."""

import multiprocessing
import os
import resource
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from publicmoments.privacy import GDP, Ledger, LedgerError

pytest.importorskip("sqlalchemy")

NOBODY = 65534


def release(ledger: Ledger, events: list[str]) -> None:
    """Stand for a fit: pay, then draw. The long note fills a disk sooner."""
    with ledger.account("wine", GDP(1.0), note="n" * 1000) as account:
        account.charge(GDP(1.0))
        events.append("noise")


def in_child(work: Callable[[], str]) -> str:
    """Run work in a forked process, which may give up rights, and return what it says."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=lambda: theirs.send(work()))
    child.start()
    theirs.close()
    child.join()
    assert child.exitcode == 0
    return str(ours.recv())


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
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if os.geteuid() != 0 or mount is None or umount is None:
        pytest.skip("only root can make a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=160k", "tmpfs", disk], check=False
    ).returncode:
        pytest.skip("this machine does not allow to mount a small disk")
    try:
        said = charges_until_full(disk / "ledger.db")
        for file in disk.iterdir():
            shutil.copy(file, tmp_path / file.name)
    finally:
        subprocess.run([umount, disk], check=True)
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
