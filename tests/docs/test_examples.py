"""Every example runs, and says something."""

from __future__ import annotations

import runpy

import pytest

from tests.docs.pages import ROOT

SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example_runs(script, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name=script.stem)
    assert "coef" in capsys.readouterr().out
    assert not list(tmp_path.iterdir()), "an example must clean up after itself"


def test_there_are_examples():
    assert len(SCRIPTS) >= 5
