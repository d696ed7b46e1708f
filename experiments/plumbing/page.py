"""Tables of verdicts and findings, and the page of results that is made from them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure as Canvas

from benchmarks.pages.pictures import Panel as Marks
from benchmarks.pages.pictures import marks, save
from benchmarks.pages.tables import Table, markdown, read, table, write, write_text
from experiments.plumbing.figures import Figure, Panel
from experiments.plumbing.findings import findings
from experiments.plumbing.judging import MEASURES, TOLERANCE, Verdict, View
from experiments.plumbing.tables import Summaries

KEPT = ("overview", "claims", "findings", "figures")
"""Tables of a full run, beside the summaries of each figure."""

INTRODUCTION = f"""\
The ten figures of the paper's experiments, with its methods, settings and plots, and with rows that
it does not show. Verdicts are computed from the numbers; none is written by hand.

- **Budgets.** The paper's mu is that of each statistic. Here *every* method of a comparison has the
  same total, sqrt(2) mu.
- **Errors** are distances from the true coefficients in simulations, and from the non-private fit
  of the same rows on real data.
- **Oracles**, DP-RR and DP-LR, take their radii from the private rows, as in the paper, and are
  not private. "Public only" and "ours, public responses" need public responses, others do not.
- **Twice judged.** By mean and standard deviation over the repeats, as published, and by median and
  middle four fifths: where runs diverge, a mean says how the worst of them went. A trend is
  forgiven steps of {TOLERANCE:.0%} against it.
- **Chosen here** is what the paper leaves open, above all the covariance of simulated rows:
  [figures.csv](results/figures.csv). The library's own estimators run in every third repeat of some
  figures; findings compare all methods on those.
"""


@dataclass(frozen=True)
class Judged:
    """
    A figure with its numbers, ready to be judged.

    Parameters
    ----------
    figure : Figure
        What was declared.
    summaries, common : Summaries
        Of all repeats, and of those in which the library's own estimators run too.
    repeats : int
        How many there were.
    """

    figure: Figure
    summaries: Summaries
    common: Summaries
    repeats: int


def verdicts(panel: Panel, summaries: Summaries) -> list[tuple[str, list[Verdict]]]:
    """Each claim about a panel with its verdicts, by the mean and by the median."""
    views = [View(panel, summaries, measure) for measure in MEASURES]
    return [(claim.text, [claim.judge(view) for view in views]) for claim in panel.claims]


def write_verdicts(folder: Path, entries: list[Judged], made: str) -> None:
    """Write what was found: claims, how many of them hold, and findings of our own."""
    panels = [(entry, panel) for entry in entries for panel in entry.figure.panels]
    claims, counts, found = [], [], []
    for entry, panel in panels:
        name, judged = entry.figure.name, verdicts(panel, entry.summaries)
        for text, pair in judged:
            cells = [cell for one in pair for cell in (one.word, one.evidence)]
            claims.append([name, panel.name, text, *cells])
        if judged:
            held = [sum(pair[k].holds for _, pair in judged) for k in range(len(MEASURES))]
            counts.append([name, panel.name, len(judged), *held])
        sentences = findings(View(panel, entry.common, "median"))
        found += [[name, panel.name, *sentence] for sentence in sentences]
    settings = [
        [e.figure.name, e.figure.title, e.repeats, e.figure.stated, e.figure.chosen]
        for e in entries
    ]
    by = [column for measure in MEASURES for column in (f"by the {measure}", f"{measure} figures")]
    for name, columns, lines in (
        ("overview", ("figure", "panel", "claims", *(f"by the {m}" for m in MEASURES)), counts),
        ("claims", ("figure", "panel", "claim", *by), claims),
        ("findings", ("figure", "panel", "finding", "settings", "of", "figures"), found),
        ("figures", ("figure", "title", "repeats", "stated", "chosen"), settings),
    ):
        write(folder / f"{name}.csv", table(made, columns, lines))


def write_page(path: Path, folder: Path, figures: Iterable[Figure]) -> None:
    """Write the page from the tables in a folder."""
    kept = {name: read(folder / f"{name}.csv") for name in KEPT}
    overview, titles = kept["overview"], {figure.name: figure.title for figure in figures}
    save(_picture(overview), folder / "overview.png")
    link = Path(os.path.relpath(folder, path.parent)).as_posix()
    tables = ", ".join(f"[{name}.csv]({link}/{name}.csv)" for name in KEPT)
    parts = [
        "# The paper's experiments, run again",
        INTRODUCTION.replace("(results/", f"({link}/"),
        f"## How many claims hold\n\n{_counted(overview)}",
        f"![How many claims hold]({link}/overview.png)",
        _nowhere(kept["claims"]),
        "## What the paper does not show",
        _found(kept["findings"]),
        "## Figures\n\nBelow each: claims that hold by the mean and by the median, by panel.",
        *(_section(link, name, titles[name], overview) for name in titles),
        f"## All numbers\n\n{tables}, and a summary beside each figure. Made by {overview.made}. "
        "`python -m experiments --plot` draws the figures and writes this page from them.",
    ]
    write_text(path, "\n\n".join(part.strip() for part in parts) + "\n")


def _picture(overview: Table) -> Canvas:
    """Shares of claims that hold, by panel."""
    series = {
        column: {
            f"{row['figure']}, {row['panel']}": int(row[column]) / int(row["claims"])
            for row in overview.rows
        }
        for column in overview.columns[3:]
    }
    return marks([Marks("", series)], "share of the paper's claims that hold", log=False)


def _counted(overview: Table) -> str:
    """How many claims hold in all."""
    total = sum(int(row["claims"]) for row in overview.rows)
    held = [f"{sum(int(row[c]) for row in overview.rows)} {c}" for c in overview.columns[3:]]
    return f"Of {total} claims, judged panel by panel, {' and '.join(held)}."


def _nowhere(claims: Table) -> str:
    """Claims that hold in full on none of several panels, whichever way they are judged."""
    lost = []
    for text in claims.values("claim"):
        rows = claims.where(claim=text)
        words = {row[f"by the {measure}"] for row in rows for measure in MEASURES}
        if len(rows) > 1 and "holds" not in words:
            lost.append(f"- {text} ({len(rows)} panels)")
    return "**Hold in full on no panel**, by neither measure:\n\n" + ("\n".join(lost) or "none")


def _found(found: Table) -> str:
    """Findings that are counted, over all panels together."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in found.rows:
        if row["of"]:
            counts[row["finding"]][0] += int(row["settings"])
            counts[row["finding"]][1] += int(row["of"])
    lines = [[text, f"{good} of {of}"] for text, (good, of) in counts.items()]
    return markdown(("by the median", "settings"), lines)


def _section(link: str, name: str, title: str, overview: Table) -> str:
    """Picture and verdicts of one figure."""
    told = "; ".join(
        f"{row['panel']}: {row['by the mean']} and {row['by the median']} of {row['claims']}"
        for row in overview.where(figure=name)
    )
    summary = f"[{name}-summary.csv]({link}/{name}-summary.csv)"
    return f"### {title}\n\n![{name}]({link}/{name}.png)\n\n{told}. {summary}"
