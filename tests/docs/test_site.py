"""The documentation site builds without a warning, and asks nobody for anything."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from benchmarks.pages.tables import read
from tests.docs.pages import ROOT

pytest.importorskip("mkdocs", reason="the site needs the docs group: mkdocs")
pytest.importorskip("material", reason="the site needs the docs group: mkdocs-material")
pytest.importorskip("mkdocstrings", reason="the site needs the docs group: mkdocstrings")


class Fetched(HTMLParser):
    """What a browser fetches when it shows a page."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag in ("script", "img", "iframe", "source"):
            self.found.append(values.get("src"))
        if tag == "link" and values.get("rel") in ("stylesheet", "preconnect", "icon", "preload"):
            self.found.append(values.get("href"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.fixture(scope="module")
def hook():
    spec = importlib.util.spec_from_file_location("site_hook", ROOT / "docs" / "hooks" / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_fetch_nothing_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    fetched = [url for page in pages for url in Fetched(page.read_text(encoding="utf-8")).found]
    assert len(fetched) > len(pages)
    assert [url for url in fetched if url and url.startswith(("http:", "https:", "//"))] == []


def test_what_lives_elsewhere_is_there(site):
    paper = (site / "paper.html").read_text(encoding="utf-8")
    images = re.findall(r'src="(results/[^"]+)"', paper)
    assert len(images) >= 10
    assert all((site / image).stat().st_size > 1000 for image in images)
    assert "Threat model" in (site / "security.html").read_text(encoding="utf-8")
    for script in (ROOT / "examples").glob("*.py"):
        assert (site / "examples" / f"{script.stem}.html").exists()
    assert not (site / "hooks").exists()


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("estimators", ["Ridge", "LogisticRegression", "PoissonRegressor", "GLM", "conf_int"]),
        ("moments", ["release_moments", "MomentRelease", "combine", "choose_alpha"]),
        ("privacy", ["GDP", "ApproxDP", "ZCDP", "Ledger"]),
        ("planner", ["plan", "smallest_budget", "smallest_n"]),
        ("report", ["write_report", "Card"]),
    ],
)
def test_the_reference_has_the_public_names(site, page, names):
    text = (site / "api" / f"{page}.html").read_text(encoding="utf-8")
    headings = set(re.findall(r'<h[23] id="[\w.]*?(\w+)" class="doc', text))
    assert set(names) <= headings
    assert ":meth:" not in text


def test_every_public_name_is_in_the_reference(site):
    import publicmoments

    told = "".join(p.read_text(encoding="utf-8") for p in (site / "api").glob("*.html"))
    missing = [n for n in publicmoments.__all__ if f'id="publicmoments.{n}"' not in told]
    assert missing == []


def test_pages_not_measured_yet_are_left_out_and_others_are_not(hook, tmp_path):
    nav = [{"Measured": [{"Speed": "speed.md"}, {"Ridge": "accuracy.md"}]}, {"Typo": "typo.md"}]
    (tmp_path / "accuracy.md").write_text("# Ridge\n")
    kept = hook._present(nav, tmp_path)
    assert kept == [{"Measured": [{"Ridge": "accuracy.md"}]}, {"Typo": "typo.md"}]


def test_links_of_borrowed_pages_lead_to_pages_or_nowhere(hook, tmp_path):
    (tmp_path / "coverage.md").write_text("# Coverage\n")
    text = (
        "[a](docs/coverage.md#x) [b](docs/none.md) [c](SECURITY.md) [d](Makefile) "
        "[e](https://x.org) [f](#here) ![g](results/g.png) [h](results/h.csv)"
    )
    assert hook.relinked(text, tmp_path) == (
        "[a](coverage.md#x) b [c](security.md) d "
        "[e](https://x.org) [f](#here) ![g](results/g.png) [h](results/h.csv)"
    )


def test_an_example_becomes_a_page(hook, tmp_path):
    script = tmp_path / "one.py"
    script.write_text('"""A title.\n\nWhat it shows.\n"""\n\nprint(1)\n')
    page = hook._page(script)
    assert page.startswith("# A title\n\nWhat it shows.\n")
    assert page.endswith("```python\nprint(1)\n```\n")


def test_figures_of_the_comparison_are_those_measured():
    compare = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
    medians = read(ROOT / "docs" / "results" / "accuracy.csv")
    measured = {figure for row in medians.where(mu="1") for figure in row.values()}
    rows = re.findall(r"^\| (?:simulated|white wine|power plant)[^|]*\|(.+)\|$", compare, re.M)
    figures = [cell.strip() for row in rows for cell in row.split("|")]
    assert len(figures) == 12
    assert [figure for figure in figures if figure not in measured] == []
