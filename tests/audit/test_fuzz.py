"""Readers of files raise errors of their own kind, and never run what a file holds."""

from __future__ import annotations

import ast
import hashlib
import json
import pickle
import struct
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import publicmoments
from audit.confined import code_run
from audit.fuzz import ALLOWED, MAGIC, TARGETS, Target, fuzz, target
from publicmoments.privacy.ledger.lines import Event, LedgerError, replay

SOURCE = Path(publicmoments.__file__).parent
SECONDS = 1.5


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("valid")
    return {name: target(name, folder) for name in TARGETS}


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_files(readers, name):
    outcome = fuzz(readers[name], SECONDS)
    assert outcome.failures == ()
    # Most of what is damaged is noticed.
    assert outcome.files > 20
    assert outcome.accepted < outcome.files / 2


FAULTY = {
    "an error of another kind": lambda path: {}[path.name],
    "evaluation of the content": lambda path: eval("len", {"__builtins__": {"len": len}}),
    "a pickle": lambda path: pickle.loads(pickle.dumps(Path(path))),
    "a program": lambda path: subprocess.run([sys.executable, "--version"], check=True),
    "a large array": lambda path: np.ones(2**27),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_faulty_reader_is_noticed(fault, readers, capfd):
    if fault == "a large array" and sys.platform != "linux":
        pytest.skip("only Linux limits memory")
    valid = readers["model"]
    faulty = Target(fault, valid.valid, FAULTY[fault], valid.parse, valid.write)
    outcome = fuzz(faulty, 0.2)
    assert not outcome.sound
    words = {"an error of another kind": "KeyError", "a large array": "MemoryError"}
    assert words.get(fault, "ran code by ") in outcome.failures[0]


def test_an_import_is_not_called_running_what_a_file_holds(monkeypatch):
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with code_run() as run:
        assert import_module("colorsys").ONE_THIRD
    assert run == []


@pytest.mark.parametrize("name", TARGETS)
def test_valid_files_are_read(readers, name, tmp_path):
    path = tmp_path / "valid"
    path.write_bytes(readers[name].valid)
    assert readers[name].read(path) is not None


@pytest.mark.parametrize("name", TARGETS)
@given(content=st.one_of(st.binary(max_size=300), st.text(max_size=100).map(str.encode)))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_refused(readers, name, tmp_path, content):
    path = tmp_path / "any"
    path.write_bytes(content)
    # SQLite takes a file of at most one byte for an empty database, which becomes a new ledger.
    if name == "ledger file" and len(content) <= 1:
        assert readers[name].read(path).state == "charged, not released"
        path.unlink()
        return
    if name == "ledger lines" and content.strip() == b"[]":
        assert readers[name].read(path).entries == ()
        return
    with pytest.raises(ALLOWED):
        readers[name].read(path)


DANGEROUS = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml"}


def calls(path: Path):
    """Names of what a module calls, with the module they are taken from."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.name))
def test_no_module_runs_what_it_reads(path):
    # Spark hands integers from workers to the driver as pickles; its workers are trusted.
    if path == SOURCE / "data" / "spark.py":
        pytest.skip("Spark's own workers")
    for name, node in calls(path):
        first, _, last = name.rpartition(".")
        assert name not in {"eval", "exec", "__import__", "os.system"}
        assert not (first in DANGEROUS and last in {"load", "loads", "Unpickler"})
        assert not any(word.arg == "allow_pickle" for word in node.keywords)
        assert not any(word.arg == "shell" for word in node.keywords)


def test_only_spark_is_left_out():
    users = [p.name for p in SOURCE.rglob("*.py") if any("pickle.load" in n for n, _ in calls(p))]
    assert users == ["spark.py"]


# Files with which the fuzzer once got errors of another kind.


def refusal(reader, tmp_path, content) -> str:
    """What a reader says of a file that it must refuse; fails if it reads it."""
    path = tmp_path / "crafted"
    path.write_bytes(content)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - callers look at the message
        reader.read(path)
    return str(caught.value)


def test_a_release_with_an_integer_beyond_floats(readers, tmp_path):
    reader = readers["release"]
    document = reader.parse(reader.valid)
    document["header"]["diagonal_sd"] = 10**400
    assert "must have valid fields" in refusal(reader, tmp_path, reader.write(document))


def test_a_model_with_an_integer_beyond_floats(readers, tmp_path):
    reader = readers["model"]
    document = json.loads(reader.valid)
    document["fitted"]["coef_"][0] = 10**400
    assert "must have valid fields" in refusal(reader, tmp_path, reader.write(document))


def test_a_model_whose_kind_is_a_list(readers, tmp_path):
    reader = readers["model"]
    content = reader.write(json.loads(reader.valid) | {"kind": []})
    assert "must be of kind GLM" in refusal(reader, tmp_path, content)


@pytest.mark.parametrize("change", [{"mu": "0x1p5000"}, {"spent_squared": None}])
def test_a_ledger_line_that_no_float_or_fraction_holds(readers, change):
    lines = [Event(**line) for line in json.loads(readers["ledger lines"].valid)]
    with pytest.raises(LedgerError, match="line 2"):
        replay([lines[0], replace(lines[1], **change)])


@pytest.mark.parametrize("name", ["public moments", "model", "release"])
def test_a_file_of_a_hundred_thousand_brackets(readers, name, tmp_path):
    content = b"[" * 100_000
    if name == "release":
        body = MAGIC + struct.pack("<Q", len(content)) + content
        content = body + hashlib.sha256(body).digest()
    assert "JSON" in refusal(readers[name], tmp_path, content)
