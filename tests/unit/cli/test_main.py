"""Starting up, being interrupted, and errors that nobody expected."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

from publicmoments.cli import main, outputs
from publicmoments.cli.failures import explained
from publicmoments.io import atomic
from publicmoments.models.ridge import Ridge

HEAVY = ("numpy", "scipy", "sklearn", "pandas", "pyarrow", "matplotlib", "rich", "sqlalchemy")


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["fit", "ridge", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    script = (
        "import sys\nfrom publicmoments.cli import main\n"
        f"code = main({arguments!r})\n"
        f"print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules])\nsys.exit(code)"
    )
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "usage: pmt" in done.stdout
    assert "HEAVY []" in done.stdout
    # Far above the fraction of a second that it takes, for machines that are busy.
    assert time.perf_counter() - start < 10.0


def test_module_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "publicmoments", "fitt"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "pmt: unknown command 'fitt'; did you mean 'fit'?; see pmt --help\n"


def test_version(pmt):
    assert pmt("--version").out.startswith("pmt ")


@pytest.fixture
def heeded():
    """Heed the keyboard, which shells make background processes ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_fit_leaves_nothing(pmt, files, tmp_path, monkeypatch, number):
    def interrupted(self, X, y):
        os.kill(os.getpid(), number)
        # A signal is handled between two steps of the interpreter.
        for _ in range(1_000):
            time.sleep(0.01)

    monkeypatch.setattr(Ridge, "fit", interrupted)
    before = signal.getsignal(signal.SIGTERM)
    done = pmt(
        "fit", "ridge", files.csv, "--target", "y", "--features", "a", "--public", files.public,
        "--mu", "1", "-o", tmp_path / "m.json",
    )  # fmt: skip
    assert done.code == 130
    assert done.err.startswith("pmt: interrupted")
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) is before


def test_interrupted_writing_leaves_nothing(pmt, files, tmp_path, monkeypatch):
    def interrupted(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic.os, "fsync", interrupted)
    done = pmt("public", "make", files.public, "--features", "a,b", "-o", tmp_path / "p.json")
    assert done.code == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("heeded")
def test_interrupted_process_leaves_nothing(files, tmp_path):
    # In the midst of the fit: the budget has been charged, and noise is about to be drawn.
    script = (
        "import time\nfrom publicmoments.__main__ import program\n"
        "from publicmoments.privacy.noise import SystemNoise\n"
        "def slow(*arguments, **options):\n"
        "    print('fitting', flush=True)\n    time.sleep(60)\n"
        "SystemNoise.draw = slow\nprogram()"
    )
    arguments = ["fit", "ridge", files.csv, "--target", "y", "--features", "a"]
    arguments += ["--public", files.public, "--mu", "1", "-o", tmp_path / "m.json"]
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "fitting\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said.startswith("pmt: interrupted")
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_messages_of_others_are_not_shown(pmt, monkeypatch):
    def failing(screen, *arguments):
        raise RuntimeError("Mr Secret, 41")

    monkeypatch.setattr(outputs.Screen, "table", failing)
    done = pmt("data", "list")
    assert done.code == 1
    assert "RuntimeError" in done.err
    assert "Secret" not in done.err
    assert done.err.count("\n") == 1


def test_values_quoted_by_other_libraries_are_not_shown():
    with pytest.raises(pa.ArrowInvalid, match="Secret") as caught:
        pa.array(["Mr Secret"]).cast(pa.float64())
    code, line = explained(caught.value)
    assert code == 2
    assert "Secret" not in line


def test_whoever_stops_reading_gets_no_error(files):
    done = subprocess.run(
        f"'{sys.executable}' -m publicmoments data list | true; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr == ""


def test_commands_run_in_other_threads_too(files, tmp_path):
    codes: list[int] = []
    path = str(tmp_path / "p.json")
    arguments = ["public", "make", str(files.public), "--features", "a", "-o", path]
    worker = threading.Thread(target=lambda: codes.append(main(arguments)))
    worker.start()
    worker.join()
    assert codes == [0]
    assert Path(path).is_file()
