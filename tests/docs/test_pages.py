"""Every code block of every page runs, in order, in one namespace for each page."""

from __future__ import annotations

import shutil

import pytest

from tests.docs.pages import ROOT, Block, blocks, page_module, run

PAGES = sorted(
    path
    for path in (ROOT / "docs").rglob("*.md")
    if "```python" in path.read_text(encoding="utf-8")
)

# Blocks that show the shape of a call before anything is defined.
SHAPES_ONLY = {"howto-sources.md": 'model.fit(source, "price")'}

PROGRAMS = {"needs java": "java"}


def _is_left_out(block: Block, page: str) -> bool:
    """Whether a block is marked as not run, or needs a program that is not here."""
    if block.mark.startswith("not run: "):
        return True
    if block.mark in PROGRAMS:
        return shutil.which(PROGRAMS[block.mark]) is None
    return page in SHAPES_ONLY and block.code.startswith(SHAPES_ONLY[page])


def _parameters():
    """All pages; starting another program takes its time."""
    for path in PAGES:
        needs_program = any(b.mark in PROGRAMS for b in blocks(path.read_text(encoding="utf-8")))
        marks = [pytest.mark.slow] if needs_program else []
        yield pytest.param(path, id=str(path.relative_to(ROOT / "docs")), marks=marks)


@pytest.mark.parametrize("path", list(_parameters()))
def test_page_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chosen = [b for b in blocks(path.read_text(encoding="utf-8")) if not _is_left_out(b, path.name)]
    assert chosen, "a page with code must have code that runs"
    with page_module(f"page_{path.stem.replace('-', '_')}") as namespace:
        for block in chosen:
            run(block, path, namespace)
        if "spark" in namespace:
            namespace["spark"].stop()


def test_there_are_pages_and_few_blocks_are_left_out():
    every = [(b, path.name) for path in PAGES for b in blocks(path.read_text(encoding="utf-8"))]
    left_out = [b for b, page in every if b.mark or _is_left_out(b, page)]
    assert len(PAGES) >= 12
    assert len(left_out) <= 3


def test_blocks_are_found_with_their_lines_and_marks():
    text = "# T\n\n```python\na = 1\nb = 2\n```\n\n<!-- not run: why -->\n```python\nc\n```\n"
    assert blocks(text) == [Block("a = 1\nb = 2\n", 4, ""), Block("c\n", 10, "not run: why")]


def test_a_failing_block_is_noticed(tmp_path):
    (block,) = blocks("\n```python\nassert 1 == 2\n```\n")
    with page_module("page_failing") as namespace, pytest.raises(AssertionError):
        run(block, tmp_path / "page.md", namespace)
