"""Tests are told as they ended: what was tried, what failed, and what could not be run."""

from __future__ import annotations

import re

import pytest

from audit import suite

PROPERTY = """
'''Sums are sums.

More words.
'''
from hypothesis import given, settings, strategies as st

@given(st.integers())
@settings(max_examples=30)
def test_all(number):
    assert number == number

@given(st.integers())
def test_small(number):
    assert number < {most}

def test_without_cases():
    assert True
"""

FAULT = """
import pytest

@pytest.mark.parametrize("way", ["a", "b"])
def test_a_broken_disk(way):
    if way == "b":
        pytest.skip("no disk")

def test_a_broken_clock():
    assert {works}

def test_no_machine():
    pytest.skip("no machine")
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A project of its own."""
    monkeypatch.setattr(suite, "ROOT", tmp_path)
    monkeypatch.delenv("CI", raising=False)
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def test_cases_are_counted_over_rounds(root):
    (root / "tests" / "test_sums.py").write_text(PROPERTY.format(most="10**9999"))
    (found,) = suite.properties(2, ["tests"])
    assert (found.path, found.words) == ("tests/test_sums.py", "Sums are sums.")
    assert (found.tests, found.failed) == (3, 0)
    assert found.cases >= 2 * (30 + 100)
    assert found.sound


def test_cases_that_nobody_tells_are_an_error(root, monkeypatch):
    (root / "tests" / "test_sums.py").write_text(PROPERTY.format(most="10**9999"))
    monkeypatch.setattr(suite, "COUNTED", re.compile("other words"))
    with pytest.raises(RuntimeError, match="how many cases"):
        suite.properties(1, ["tests"])


def test_a_property_that_fails(root):
    (root / "tests" / "test_sums.py").write_text(PROPERTY.format(most="100"))
    (found,) = suite.properties(1, ["tests"])
    assert found.failed == 1
    assert not found.sound


def test_faults_are_told(root):
    (root / "tests" / "test_disks.py").write_text(FAULT.format(works=True))
    told = {fault.words: fault.told for fault in suite.faults(["tests"])}
    assert told == {
        "a broken disk": "survived, 1 not run: no disk",
        "a broken clock": "survived",
        "no machine": "not run: no machine",
    }


def test_a_fault_that_is_not_survived(root):
    (root / "tests" / "test_disks.py").write_text(FAULT.format(works=False))
    clock = next(fault for fault in suite.faults(["tests"]) if "clock" in fault.name)
    assert (clock.told, clock.sound) == ("FAILED", False)


def test_tests_that_cannot_be_run_at_all_are_an_error(root):
    with pytest.raises(RuntimeError, match="pytest ended with code"):
        suite.faults(["--no-such-option"])


def test_what_is_run_exists():
    for test in (*suite.PROPERTIES, *suite.FAULTS):
        path, _, name = test.partition("::")
        assert (suite.ROOT / path).exists()
        assert not name or name in (suite.ROOT / path).read_text(encoding="utf-8")
