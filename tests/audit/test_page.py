"""The page of the audit has what was measured, with its day and command, and nothing else."""

from __future__ import annotations

import json

import pytest

from audit import __main__ as program
from audit.sections import SECTIONS, Section, Sizes

TINY = Sizes(runs=50, fits=4, releases=2, property_rounds=1, fuzz_seconds=0.2, soak_fits=3)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(program, "KEPT", tmp_path / "results")
    monkeypatch.setattr(program, "PAGE", tmp_path / "audit.md")
    return tmp_path


def test_a_section_is_kept_and_shown(kept, capsys):
    program.run("bits", TINY, "python -m audit bits --releases 2")
    outcome = json.loads((kept / "results" / "bits.json").read_text())
    page, told = program.page(), capsys.readouterr().err
    assert "## Low-order bits: passed" in page
    assert f"{outcome['date']}, `python -m audit bits --releases 2`" in page
    for line in outcome["lines"]:
        assert f"| {' | '.join(line['cells'])} |" in page
        assert " | ".join(line["cells"]) in told
    # Sections that were not run are told among what is not covered, and only there.
    shown, _, rest = page.partition("## Not covered")
    others = [section.title for name, section in SECTIONS.items() if name != "bits"]
    assert all(f"## {title}" not in shown and f"- {title}: not run" in rest for title in others)
    assert "Low-order bits" not in rest


@pytest.mark.parametrize("lines", [[], [(True, ["y"]), (False, ["x"])]])
def test_a_failure_is_shown_and_fails_the_program(kept, lines, monkeypatch, capsys):
    broken = Section("Broken", "Words.", ("a",), lambda sizes: iter(lines))
    monkeypatch.setitem(SECTIONS, "bits", broken)
    monkeypatch.setattr("sys.argv", ["audit", "bits"])
    assert program.main() == 1
    told = capsys.readouterr()
    assert ("FAILED: x" in told.err) == bool(lines)
    # One page, printed and written.
    assert "## Broken: FAILED" in told.out
    assert told.out.strip() == (kept / "audit.md").read_text().strip()


def test_lines_have_as_many_cells_as_columns():
    for name in ("bits", "fuzz"):
        section = SECTIONS[name]
        for sound, cells in section.lines(TINY):
            assert len(cells) == len(section.columns)
            assert sound


def test_unknown_sections_are_refused(kept, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["audit", "nonsense"])
    with pytest.raises(SystemExit):
        program.main()
    assert "sections must be among" in capsys.readouterr().err
