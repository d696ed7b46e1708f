"""The commands that README and pages tell people to type run, in order, on made-up tables."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pytest

from publicmoments.cli.main import main
from tests.docs.pages import ROOT

COMMAND = re.compile(r"^(?:\$ )?pmt ((?:.*\\\n)*.*)$", flags=re.MULTILINE)


def _commands(path):
    """Words of each command of a page."""
    found = COMMAND.findall((ROOT / path).read_text(encoding="utf-8"))
    return [shlex.split(line.replace("\\\n", " "), comments=True) for line in found]


@pytest.fixture
def tables(tmp_path):
    """Two files with the names that the pages use."""
    rng = np.random.default_rng(0)
    X = rng.normal(5.0, 2.0, size=(3_200, 3))
    table = np.column_stack([X, X @ [1.0, 2.0, -1.0] + rng.normal(size=3_200)])
    for name, rows in (("published.csv", table[:200]), ("private.csv", table[200:])):
        np.savetxt(tmp_path / name, rows, delimiter=",", header="age,bmi,crp,cost", comments="")
    return tmp_path


@pytest.mark.parametrize("page", ["README.md", "docs/howto/commands.md", "docs/start.md"])
def test_commands_run(page, tables, monkeypatch, capsys):
    monkeypatch.chdir(tables)
    commands = _commands(page)
    assert commands
    for words in commands:
        code = main(words)
        assert code == 0, f"pmt {shlex.join(words)}: {capsys.readouterr().err}"
    if page != "docs/start.md":
        assert "privacy report" in (tables / "report.html").read_text(encoding="utf-8")


def test_commands_over_several_lines_are_one():
    lines = COMMAND.findall("x\n$ pmt a b \\\n    --c d\npmt e\n")
    assert [line.split() for line in lines] == [["a", "b", "\\", "--c", "d"], ["e"]]
