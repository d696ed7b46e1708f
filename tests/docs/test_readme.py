"""What the README tells people to type works."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.docs.pages import ROOT, blocks, page_module, run

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


@pytest.fixture
def stand_ins():
    """The names that the README takes as given."""
    rng = np.random.default_rng(0)
    X = rng.normal(5.0, 2.0, size=(3_200, 3))
    y = X @ [1.0, 2.0, -1.0] + rng.normal(size=3_200)
    return {"X_public": X[:200], "y_public": y[:200], "X": X[200:], "y": y[200:]}


def test_code_runs(stand_ins, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = blocks(TEXT)
    assert found
    with page_module("page_readme", stand_ins) as namespace:
        for block in found:
            run(block, README, namespace)
        assert namespace["model"].card_.private
    assert "zCDP" in capsys.readouterr().out


def test_targets_exist():
    targets = set(re.findall(r"(?:^|`)make ([a-z][a-z-]+)", TEXT, flags=re.MULTILINE))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    known = set(re.findall(r"^([a-z][a-z-]*):", makefile, flags=re.MULTILINE))
    assert {"demo", "test"} <= targets
    assert targets <= known, "a target of the README is not in the Makefile"


def test_linked_files_exist():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", TEXT) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
