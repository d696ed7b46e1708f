"""Files that cannot be written: the old one stays, nothing half-written does, the error helps."""

from __future__ import annotations

import contextlib
import errno
import multiprocessing
import os
import resource
import shutil
import signal

import numpy as np
import pytest

from publicmoments import GDP, PublicMoments, Ridge, load_model, release_moments, save_model
from publicmoments.io import atomic
from publicmoments.release import MomentRelease
from tests.faults.limits import in_child, small_disk

X, B = np.random.default_rng(7).normal(size=(2, 60, 3))
PUBLIC, SCALED = PublicMoments.from_rows(B), PublicMoments.from_rows(B, response_scale=1.0)

WRITERS = {
    "model": (
        lambda seed: Ridge(privacy=GDP(1.0), public=SCALED, random_state=seed).fit(X, X[:, 0]),
        save_model,
        load_model,
    ),
    "release": (
        lambda seed: release_moments(X, privacy=GDP(1.0), public=PUBLIC, random_state=seed),
        MomentRelease.save,
        MomentRelease.load,
    ),
    "public moments": (
        lambda seed: PublicMoments.from_rows(X + seed),
        PublicMoments.save,
        PublicMoments.load,
    ),
}
KINDS = pytest.mark.parametrize("kind", WRITERS)


def failed_save(kind: str, path) -> str:
    """Replace an old file by a new one, which is to fail; return what the error says."""
    make, save, _ = WRITERS[kind]
    with pytest.raises(OSError) as caught:  # noqa: PT011 - callers look at the message
        save(make(2), path)
    return str(caught.value)


def check_kept(kind: str, path, before: bytes, said: str) -> None:
    """The old file is whole and alone, and the error names it and says what to do."""
    assert path.read_bytes() == before
    assert WRITERS[kind][2](path) is not None
    assert os.listdir(path.parent) == [path.name]
    assert f"'{path}'" in said
    assert "nothing was written and what stood there is kept; make room" in said


@pytest.fixture
def old(kind, tmp_path):
    """A file that was written when all was well, in a folder of its own."""
    make, save, _ = WRITERS[kind]
    folder = tmp_path / "folder"
    folder.mkdir()
    save(make(1), folder / "file")
    return folder / "file"


@KINDS
def test_a_quota_keeps_the_old_file(kind, old):
    before = old.read_bytes()

    def limited() -> str:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
        return failed_save(kind, old)

    said = in_child(limited)
    assert os.strerror(errno.EFBIG) in said
    check_kept(kind, old, before, said)


def fill(path):
    """Write until the disk is full."""
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(1024)):
            pass
    assert shutil.disk_usage(path).free == 0
    return path


@KINDS
def test_a_full_disk_keeps_the_old_file(kind, old, tmp_path):
    before = old.read_bytes()
    with small_disk(tmp_path / "disk", "64k") as disk:
        path = disk / "file"
        path.write_bytes(before)
        filled = fill(disk / "filler")
        said = failed_save(kind, path)
        assert os.strerror(errno.ENOSPC) in said
        filled.unlink()
        check_kept(kind, path, before, said)
        # With room, the same save works.
        make, save, load = WRITERS[kind]
        save(make(2), path)
        assert load(path) is not None
        assert path.read_bytes() != before


@KINDS
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_space_that_ends_late_keeps_the_old_file(kind, step, old, monkeypatch):
    before = old.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic.os, step, full)
    said = failed_save(kind, old)
    monkeypatch.undo()
    assert os.strerror(errno.ENOSPC) in said
    check_kept(kind, old, before, said)


@KINDS
def test_a_process_killed_while_it_writes_keeps_the_old_file(kind, old, monkeypatch):
    before, (make, save, load) = old.read_bytes(), WRITERS[kind]

    def write() -> None:
        monkeypatch.setattr(atomic.os, "fsync", lambda _: os.kill(os.getpid(), signal.SIGKILL))
        save(make(2), old)

    child = multiprocessing.get_context("fork").Process(target=write)
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    assert old.read_bytes() == before
    # What the killed process leaves has another name, and is in nobody's way.
    assert [name for name in os.listdir(old.parent) if not name.startswith(".")] == [old.name]
    save(make(2), old)
    assert load(old) is not None
    assert old.read_bytes() != before


def test_a_missing_folder_keeps_the_kind_of_its_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        PUBLIC.save(tmp_path / "nowhere" / "file")
