"""What the site takes from elsewhere in the repository, so that nothing is copied by hand."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]

BORROWED = {
    "security.md": "SECURITY.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "paper.md": "experiments/RESULTS.md",
    "paper-moments.md": "experiments/MOMENTS.md",
}

# Written by benchmarks, or not in every checkout.
MEASURED = frozenset(
    {
        "accuracy.md",
        "accuracy-glm.md",
        "accuracy-shift.md",
        "accuracy-wild.md",
        "audit.md",
        "constants.md",
        "coverage.md",
        "coverage-wild.md",
        "howto-sources.md",
        "plans.md",
        "scaling.md",
        "speed.md",
    }
)

LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<target>[^)#:]+)(?P<anchor>#[^)]*)?\)")
LINKED = re.compile(r"\]\((results/[^)#]+)\)")
ROLE = re.compile(r":(?:meth|attr|class|func):(?=<code)")


def on_config(config: Any) -> Any:
    """List the examples in the menu, and leave pages out that have not been measured."""
    config.nav = _present(config.nav, Path(config.docs_dir))
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that live elsewhere, the figures they show, and the examples."""
    for page, source in BORROWED.items():
        text = relinked((ROOT / source).read_text(encoding="utf-8"), Path(config.docs_dir))
        files.append(File.generated(config, page, content=text))
        for link in sorted(set(LINKED.findall(text))):
            target = (ROOT / source).parent / link
            files.append(File.generated(config, link, abs_src_path=str(target)))
    for script in examples():
        files.append(File.generated(config, f"examples/{script.stem}.md", content=_page(script)))
    files.append(File.generated(config, "examples/index.md", content=_gallery()))
    return files


def on_page_content(html: str, **_: Any) -> str:
    """Docstrings say which kind of name they refer to; a reader need not know."""
    return ROLE.sub("", html)


def relinked(text: str, docs: Path) -> str:
    """Point links from the root of the repository at pages; leave the words where there is none."""
    pages = {source: page for page, source in BORROWED.items()}

    def one(match: re.Match[str]) -> str:
        target = match["target"]
        page = pages.get(target, target.removeprefix("docs/"))
        if target.startswith("results/"):
            return match[0]
        if page in BORROWED or (docs / page).exists():
            return f"[{match['text']}]({page}{match['anchor'] or ''})"
        return match["text"]

    return LINK.sub(one, text)


def examples() -> list[Path]:
    """The example scripts, in order of their names."""
    return sorted((ROOT / "examples").glob("*.py"))


def _present(nav: list[Any], docs: Path) -> list[Any]:
    """The menu with examples, without pages that are missing because nobody measured them."""
    kept: list[Any] = []
    for entry in nav:
        ((title, target),) = entry.items()
        if isinstance(target, list):
            kept.append({title: _present(target, docs)})
        elif target == "examples/":
            pages = [{_told(script)[0]: f"examples/{script.stem}.md"} for script in examples()]
            kept.append({title: [{"Gallery": "examples/index.md"}, *pages]})
        elif target not in MEASURED or (docs / target).exists():
            kept.append(entry)
    return kept


def _told(script: Path) -> tuple[str, str, str]:
    """Title, explanation and code of an example."""
    source = script.read_text(encoding="utf-8")
    tree = ast.parse(source)
    title, _, rest = (ast.get_docstring(tree) or script.stem).partition("\n")
    code = "\n".join(source.splitlines()[tree.body[0].end_lineno or 0 :]).strip("\n")
    return title.rstrip("."), rest.strip(), code


def _page(script: Path) -> str:
    """An example as a page."""
    title, rest, code = _told(script)
    return (
        f"# {title}\n\n{rest}\n\n"
        f"Run it with `python examples/{script.name}`.\n\n```python\n{code}\n```\n"
    )


def _gallery() -> str:
    """The list of examples."""
    lines = [
        f"- [{title}]({script.stem}.md): {rest.split(chr(10) + chr(10))[0]}"
        for script in examples()
        for title, rest, _ in [_told(script)]
    ]
    return (
        "# Examples\n\nShort scripts on made-up data. Each one is run by the tests.\n\n"
        + "\n".join(lines)
        + "\n"
    )
