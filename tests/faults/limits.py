"""Small disks, and processes that may give up rights."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


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


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """Mount a disk of a given size, or skip where that is not allowed."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if os.geteuid() != 0 or mount is None or umount is None:
        pytest.skip("only root can make a small disk")
    folder.mkdir()
    command = [mount, "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]
    if subprocess.run(command, check=False).returncode:
        pytest.skip("this machine does not allow to mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run([umount, folder], check=True)
