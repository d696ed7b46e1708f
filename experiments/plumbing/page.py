"""The page of results: pictures, settings, verdicts on the paper's claims, and our own findings."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from experiments.plumbing.figures import Figure, Panel
from experiments.plumbing.findings import findings
from experiments.plumbing.judging import MEASURES, TOLERANCE, Verdict, View
from experiments.plumbing.tables import Summaries
from publicmoments.io.atomic import write_atomically

INTRODUCTION = f"""\
The ten figures of the paper's experiments, with its methods, settings and plots, and with rows that
it does not show. Verdicts are computed from the numbers; none is written by hand.

- **Budgets.** The paper's mu is that of each statistic, so that DP-PMTRR, DP-RR, DP-PMTLR and
  DP-LR cost sqrt(2) mu in all, DP-GD mu. Here *every* method of a comparison, DP-GD and ours
  included, has the same total, sqrt(2) mu.
- **Errors** are Euclidean distances from the true coefficients in simulations, and from the
  non-private fit of the same rows on real data, whose own error is then 0 by definition.
- **Oracles.** DP-RR and DP-LR take their radii from the private rows, as the paper's experiments
  do; DP-RR those of the remark after Theorem 4.3. They are not private, and no private method could
  match their choice.
- **Public only** is the non-private fit of the public rows. It and "ours, public responses" need
  public responses; DP-PMTRR, DP-PMTLR and "ours, matrix only" know the public second moments and,
  of linear responses, the scale. AdaSSP takes its bounds from the public rows and no penalty.
- **Twice judged.** By the mean and standard deviation over the repeats, as published, and by the
  median and the width of the middle four fifths. The inverse of a noisy matrix has no finite mean:
  where runs diverge, their mean says how the worst of them went, and another set of repeats gives
  another mean. A trend is forgiven steps of {TOLERANCE:.0%} against it.
- **Repeats** are as many as published. The library's own estimators run in every third repeat of
  the ridge figures and of the bank table; findings compare all methods on those repeats.
- **Loops.** The published loops make T + 1 noisy updates and pay for T; here exactly T are made.
- **Simulated rows.** The paper gives neither mean nor covariance. Here the mean and the
  coefficients are standard normal and the eigenvalues of the covariance go in geometric progression
  with condition number 100, in random directions; every repeat draws its own population.
"""


@dataclass(frozen=True)
class Judged:
    """
    A figure with its numbers and files, ready for the page.

    Parameters
    ----------
    figure : Figure
        What was declared.
    summaries, common : Summaries
        Of all repeats, and of those in which the library's own estimators run too.
    repeats : int
        How many there were.
    picture : Path
        The figure as PNG.
    tables : list of Path
        Summaries, then measurements.
    """

    figure: Figure
    summaries: Summaries
    common: Summaries
    repeats: int
    picture: Path
    tables: list[Path]


def verdicts(panel: Panel, summaries: Summaries) -> list[tuple[str, list[Verdict]]]:
    """Each claim about a panel with its verdicts, by the mean and by the median."""
    views = [View(panel, summaries, measure) for measure in MEASURES]
    return [(claim.text, [claim.judge(view) for view in views]) for claim in panel.claims]


def write_page(path: Path, entries: list[Judged], made: str) -> None:
    """Write the page."""
    parts = [
        "# The paper's experiments, run again",
        f"Made by {made}.",
        INTRODUCTION,
        "## Overview",
        _overview(entries),
        *(_section(path, entry) for entry in entries),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, ("\n\n".join(part.rstrip() for part in parts) + "\n").encode())


def _overview(entries: list[Judged]) -> str:
    """A table of how many claims hold."""
    lines = [
        "| figure | panel | claims | hold by the mean | hold by the median |",
        "| --- | --- | --: | --: | --: |",
    ]
    for entry in entries:
        for panel in entry.figure.panels:
            judged = [pair for _, pair in verdicts(panel, entry.summaries)]
            if judged:
                counts = [sum(pair[k].holds for pair in judged) for k in range(len(MEASURES))]
                link = f"[{entry.figure.title}](#{entry.figure.name})"
                cells = [link, panel.name, len(judged), *counts]
                lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def _section(path: Path, entry: Judged) -> str:
    """Picture, settings, claims and findings of one figure."""
    figure = entry.figure
    tables = ", ".join(_table_link(path, table) for table in entry.tables)
    lines = [
        f'<a id="{figure.name}"></a>',
        "",
        f"## {figure.title}",
        "",
        f"![{figure.title}]({_link(path, entry.picture)})",
        "",
        f"- Stated by the paper: {figure.stated}.",
        f"- Left open by it and chosen here: {figure.chosen}.",
        f"- {entry.repeats} repeats. Tables: {tables}.",
    ]
    for panel in figure.panels:
        lines += ["", f"### {panel.name[0].upper()}{panel.name[1:]}", ""]
        if panel.claims:
            lines += [*_claims(panel, entry.summaries), ""]
        lines += ["Found besides, by the median:", ""]
        sentences = findings(View(panel, entry.common, "median"))
        lines += [f"- {sentence[0].upper()}{sentence[1:]}" for sentence in sentences]
    return "\n".join(lines)


def _claims(panel: Panel, summaries: Summaries) -> list[str]:
    """A table of claims and verdicts."""
    lines = ["| claim | by the mean | by the median |", "| --- | --- | --- |"]
    for text, pair in verdicts(panel, summaries):
        lines.append(f"| {text} | " + " | ".join(map(str, pair)) + " |")
    return lines


def _table_link(page: Path, table: Path) -> str:
    """A link to a table, or its name where it is too large to be kept with the page."""
    if table.parent.name == "raw":
        return f"`raw/{table.name}` (made by the run, not kept)"
    return f"[{table.name}]({_link(page, table)})"


def _link(page: Path, target: Path) -> str:
    """Address of a file as seen from the page."""
    return Path(os.path.relpath(target, page.parent)).as_posix()
