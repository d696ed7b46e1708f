"""Pages of results are what their tables say, short enough to be read, and their pictures small."""

from __future__ import annotations

import pytest

from benchmarks.pages.catalogue import PAGES
from benchmarks.pages.page import render, table_path
from benchmarks.pages.tables import Limit, Miss, limits_table, limits_text, read, table, write
from tests.docs.pages import ROOT

DOCS = ROOT / "docs"
MOST_WORDS, MOST_BYTES = 700, 150_000


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_page_says_what_its_tables_say(page, tmp_path):
    for name in page.tables:
        write(table_path(tmp_path, name), read(table_path(DOCS, name)))
        assert table_path(tmp_path, name).read_bytes() == table_path(DOCS, name).read_bytes()
    written = render(page, tmp_path).read_text(encoding="utf-8")
    assert written == (DOCS / f"{page.name}.md").read_text(encoding="utf-8")
    assert len(written.split()) <= MOST_WORDS
    assert (DOCS / "images" / f"{page.name}.png").stat().st_size <= MOST_BYTES


def test_every_table_has_a_page_and_says_how_it_was_made():
    tables = {path.stem: read(path) for path in (DOCS / "results").glob("*.csv")}
    assert set(tables) == {name for page in PAGES.values() for name in page.tables}
    assert all(one.made.startswith("python ") and one.rows for one in tables.values())


def test_no_table_no_page(tmp_path):
    assert render(PAGES["plans"], tmp_path) is None
    assert not list(tmp_path.iterdir())


def test_misses_are_counted_and_the_worst_are_named():
    misses = [Miss(f"cell {k}", f"{k}", "1") for k in (2, 9, 4, 3, 5)]
    limits = limits_table("made", [Limit("small", False, "", misses), Limit("kept", True, "all")])
    assert len(limits.rows) == 6
    assert limits_text(limits).splitlines() == [
        "- **Missed**: small: in 5 cells, the worst cell 9: 9 > 1; cell 5: 5 > 1; cell 4: 4 > 1.",
        "- Held: kept.",
    ]


def test_tables_keep_commas_quotes_and_comments(tmp_path):
    one = table(("made; today", "more"), ("a", "b"), [["x, y", '"q"'], [1, ""]])
    write(tmp_path / "one.csv", one)
    assert read(tmp_path / "one.csv") == one
