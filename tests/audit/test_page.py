"""The page of the audit has what was measured, with its day and command, and nothing else."""

from __future__ import annotations

import pytest

from audit import __main__ as program
from audit.sections import SECTIONS, Section, Sizes
from benchmarks.pages.others import AUDIT, AUDITED
from benchmarks.pages.page import render
from benchmarks.pages.tables import read

TINY = Sizes(runs=50, fits=4, releases=2, property_rounds=1, fuzz_seconds=0.2, soak_fits=3)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(program, "DOCS", tmp_path)
    return tmp_path


def test_a_section_is_kept_and_shown(kept, capsys):
    assert program.run("bits", TINY, "python -m audit bits --releases 2")
    outcome = read(kept / "results" / "audit-bits.csv")
    page, told = render(AUDIT, kept).read_text(), capsys.readouterr().err
    (title,) = [line for line in page.splitlines() if line.startswith("| Low-order bits |")]
    assert title.endswith(f"| {len(outcome.rows)} | passed |")
    assert "`python -m audit bits --releases 2; 20" in page
    for row in outcome.rows:
        assert row.pop("sound") == "yes"
        assert " | ".join(row.values()) in told
    # Sections that were not run are told, and only there.
    others = [name for name in SECTIONS if name != "bits"]
    assert f"Not run: {', '.join(others)}." in page
    assert all(section.title not in page for name, section in SECTIONS.items() if name != "bits")


def test_the_page_has_every_section():
    assert list(SECTIONS) == list(AUDITED)


@pytest.mark.parametrize("lines", [[], [(True, ["y"]), (False, ["x"])]])
def test_a_failure_is_shown_and_fails_the_program(kept, lines, monkeypatch, capsys):
    broken = Section("Broken", "Short.", "Words.", ("a",), lambda sizes: iter(lines))
    monkeypatch.setitem(SECTIONS, "bits", broken)
    monkeypatch.setattr("sys.argv", ["audit", "bits"])
    assert program.main() == 1
    told = capsys.readouterr()
    assert ("FAILED: x" in told.err) == bool(lines)
    # One page, printed and written.
    assert "| Broken | Short. |" in told.out
    assert "FAILED" in told.out
    assert ("- Broken: x" in told.out) == bool(lines)
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
