"""A process that is killed at any moment leaves no release without its charge."""

import itertools
import multiprocessing
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from publicmoments.privacy import GDP, Ledger

pytest.importorskip("sqlalchemy")

KILLS = 200


def release_for_ever(ledger: Ledger, folder: Path, started: Any) -> None:
    """Charge, then publish a file that stands for noisy numbers, again and again."""
    started.set()
    for k in itertools.count():
        release(ledger, folder / f"{os.getpid()}-{k}")


def release(ledger: Ledger, file: Path) -> None:
    with ledger.account("wine", GDP(1.0), note=file.name) as account:
        account.charge(GDP(0.5))
        file.touch()
        # What is of interest is a death between the release and its mark: it must not be rare.
        time.sleep(0.005)
        account.charge(GDP(0.5))


def test_a_killed_process_never_leaves_a_release_without_its_charge(tmp_path):
    ledger, folder = Ledger(tmp_path / "ledger.db"), tmp_path / "releases"
    folder.mkdir()
    context, chance = multiprocessing.get_context("fork"), random.Random(0)
    begin = time.perf_counter()
    for k in range(5):
        release(ledger, folder / str(k))
    longest = 2 * (time.perf_counter() - begin) / 5
    for _ in range(KILLS):
        started = context.Event()
        child = context.Process(target=release_for_ever, args=(ledger, folder, started))
        child.start()
        started.wait()
        time.sleep(chance.uniform(0.0, longest))
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        assert child.exitcode == -signal.SIGKILL
    entries = ledger.entries("wine")
    charged = {entry.note for entry in entries}
    released = {entry.note for entry in entries if entry.state == "released"}
    published = {file.name for file in folder.iterdir()}
    assert released <= published <= charged
    assert len(charged) == len(entries)
    assert ledger.spent("wine") >= len(published) ** 0.5
    # Otherwise the kills would have hit nothing of interest.
    assert len(released) > 5
    assert published > released


def test_what_a_killed_process_had_charged_shows_as_not_released(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db")

    def die_within_a_release() -> None:
        with ledger.account("wine", GDP(1.0)) as account:
            account.charge(GDP(1.0))
            os.kill(os.getpid(), signal.SIGKILL)

    child = multiprocessing.get_context("fork").Process(target=die_within_a_release)
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    assert [entry.state for entry in ledger.entries("wine")] == ["charged, not released"]
    assert ledger.spent("wine") == 1.0


def test_a_killed_writer_leaves_no_lock_and_no_half_charge(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", busy_timeout=5.0)

    def die_within_a_charge() -> None:
        with ledger._store.adding("wine") as page:
            page.add("charged", "", mu="0x1p0", mu_squared="1", stated="", spent_squared="1")
            os.kill(os.getpid(), signal.SIGKILL)

    child = multiprocessing.get_context("fork").Process(target=die_within_a_charge)
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    assert ledger.spent("wine") == 0.0
    assert ledger.charge("wine", GDP(1.0)).number == 1


def test_a_forked_account_cannot_spend_the_same_total_again(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db")
    account = ledger.account("wine", GDP(1.0))
    account.charge(GDP(0.5))

    def spend_what_the_parent_has() -> None:
        account.charge(GDP(0.5))

    child = multiprocessing.get_context("fork").Process(target=spend_what_the_parent_has)
    child.start()
    child.join()
    assert child.exitcode == 1
    account.charge(GDP(0.5))
