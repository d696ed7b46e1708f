"""Parts of the test suite as the audit shows them: what was tried, and how it ended."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

__all__ = ["FAULTS", "PROPERTIES", "Fault", "Property", "faults", "properties"]

ROOT = Path(__file__).resolve().parent.parent

PROPERTIES = (
    "tests/property",
    "tests/unit/privacy/ledger/test_lines.py",
    "tests/audit/test_fuzz.py::test_any_bytes_are_refused",
)
"""Tests that Hypothesis makes cases for."""

FAULTS = (
    "tests/faults",
    "tests/contract/test_source_resilience.py::TestFailures",
    "tests/unit/models/test_model_file.py::test_damaged_files_are_refused",
    "tests/unit/release/test_release_file.py::test_a_flipped_byte_is_refused_wherever_it_is",
    "tests/unit/release/test_release_file.py::test_a_file_cut_short_or_drawn_out_is_refused",
    "tests/unit/public/test_moments_file.py::test_wrong_fields_are_named",
)
"""Tests of what may go wrong around a fit, and of files that were damaged."""

COUNTED = re.compile(r"(\d+) passing(?: examples)?, \d+ failing")
"""How Hypothesis tells its cases, in its older words and in its newer ones."""


@dataclass
class Property:
    """
    One file of properties: tests, cases that Hypothesis made, and how often a test failed.

    Tests that make their cases in a function of their own tell no number of them.
    """

    path: str
    tests: int = 0
    cases: int = 0
    failed: int = 0

    @property
    def words(self) -> str:
        """What the file says that it shows."""
        text = (ROOT / self.path).read_text(encoding="utf-8")
        return (ast.get_docstring(ast.parse(text)) or self.path).split("\n\n")[0].replace("\n", " ")

    @property
    def sound(self) -> bool:
        """Whether nothing failed."""
        return self.failed == 0


@dataclass
class Fault:
    """One test of a fault, all its parameters together: outcomes, and why some were not run."""

    path: str
    name: str
    outcomes: Counter[str] = field(default_factory=Counter)
    why: str = ""

    @property
    def words(self) -> str:
        """The fault, as the test is called."""
        return self.name.removeprefix("test_").replace("_", " ")

    @property
    def sound(self) -> bool:
        """Whether nothing failed; what cannot be run here is told, and is no failure."""
        return self.outcomes["failed"] == 0

    @property
    def told(self) -> str:
        """The outcome in words."""
        if not self.sound:
            return "FAILED"
        if not self.outcomes["passed"]:
            return f"not run: {self.why}"
        left_out = f", {self.outcomes['skipped']} not run: {self.why}"
        return "survived" + (left_out if self.why else "")


def properties(rounds: int, tests: Iterable[str] = PROPERTIES) -> list[Property]:
    """Run property tests several times, with other seeds, and add up what was tried."""
    found: dict[str, Property] = {}
    for seed in range(rounds):
        options = ["--hypothesis-show-statistics", f"--hypothesis-seed={seed}"]
        ended, output = _run(tests, options)
        for path, count in Counter(path for path, *_ in ended).items():
            found.setdefault(path, Property(path)).tests = count
        for path, _, outcome, _ in ended:
            found[path].failed += outcome == "failed"
        for path, cases in _counted(output):
            found[path].cases += cases
    if not any(one.cases for one in found.values()):
        raise RuntimeError("Hypothesis must tell how many cases it tried; has it other words now?")
    return list(found.values())


def faults(tests: Iterable[str] = FAULTS) -> list[Fault]:
    """Run the tests of faults, and gather the parameters of each."""
    found: dict[tuple[str, str], Fault] = {}
    for path, name, outcome, why in _run(tests, [])[0]:
        function = name.partition("[")[0]
        fault = found.setdefault((path, function), Fault(path, function))
        fault.outcomes[outcome] += 1
        fault.why = why or fault.why
    return list(found.values())


def _run(tests: Iterable[str], options: list[str]) -> tuple[list[tuple[str, str, str, str]], str]:
    """Run tests: path, name, outcome and reason of each, and what pytest printed."""
    with tempfile.TemporaryDirectory(prefix="audit-") as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider"]
        command += ["-o", "junit_family=xunit1", f"--junitxml={report}", *options, *tests]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        # 0 and 1 are tests that passed and failed; whatever else, they were not all run.
        if done.returncode not in (0, 1):
            raise RuntimeError(f"pytest ended with code {done.returncode}: {done.stdout[-500:]}")
        return [_ended(case) for case in ElementTree.parse(report).iter("testcase")], done.stdout


def _ended(case: ElementTree.Element) -> tuple[str, str, str, str]:
    """Path, name, outcome and reason of one test."""
    where = case.get("file") or case.get("classname", "").replace(".", "/") + ".py"
    skipped = case.find("skipped")
    if skipped is not None:
        return where, case.get("name", ""), "skipped", skipped.get("message", "")
    failed = case.find("failure") is not None or case.find("error") is not None
    return where, case.get("name", ""), "failed" if failed else "passed", ""


def _counted(output: str) -> Iterator[tuple[str, int]]:
    """File and cases of every phase of every test."""
    path = ""
    for line in output.splitlines():
        if line.startswith("tests/"):
            path = line.partition("::")[0]
        elif match := COUNTED.search(line):
            yield path, int(match.group(1))
