"""Pictures, tables and the page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, astuple, fields
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from benchmarks.pages.tables import Table, read, table, write, write_text
from experiments.moments.results import Key, Results
from experiments.moments.studies import Setting, Study, Style
from experiments.plumbing.figures import shown
from experiments.plumbing.plots import STYLE, decorate, save
from experiments.plumbing.tables import Summary

Summaries = dict[Key, Summary]

SETTING = asdict(Setting())
NUMBERS = tuple(one.name for one in fields(Summary))
X_LABELS = {
    "n": "private rows",
    "condition": "condition number",
    "alpha": "penalty λ",
    "n_public": "public rows",
}

INTRODUCTION = """\
The paper's third section is about a private second-moment matrix of unbounded rows and the inverse
of it. Here its claims are judged from numbers, beside what it does not show.

- **Errors** are spectral norms of the difference between an estimated inverse and the inverse of
  the regularised second moment of the private rows, over the norm of the latter: 1 is what a matrix
  of zeros has. *To the population's* takes the inverse of the population's moment instead.
  *Whitened* is in coordinates in which the private second moment is the identity.
- **Budgets** are totals: there is one statistic, and all methods have the same.
- **Bounds** are what the paper's lemmas support; *as printed* they are smaller by factors that get
  lost on the way to the statements. They need norms which no private user knows.
- **Oracle**: without public data the radius is read from the private rows, as in the paper. That is
  not private.
- **Medians** are judged and drawn: a noisy matrix may be singular, and its inverse has no finite
  mean. A bound is judged by the share of repeats below it.
- **Rows** are Gaussian, their mean standard normal, the eigenvalues of the covariance in geometric
  progression, the axes random; every repeat draws its own population. d = 10 unless stated.
"""


def picture(study: Study, found: Summaries, folder: Path, made: str) -> Path:
    """Draw all measures of a study side by side."""
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(4.4 * len(study.measures), 4.6), layout="constrained")
        axes = canvas.subplots(1, len(study.measures), squeeze=False)[0]
        for axis, measure in zip(axes, study.measures, strict=True):
            for name in study.styles:
                _curve(axis, study, found, name, measure)
            axis.set_title(measure)
            axis.set_yscale("log")
            axis.set_xlabel(X_LABELS[study.x])
            if study.x == "alpha":
                axis.set_xticks(range(len(study.settings)))
                axis.set_xticklabels([shown(s.alpha) for s in study.settings])
            else:
                axis.set_xscale("log")
        repeats = max(one.count for one in found.values())
        caption = f"{study.chosen}; {repeats} repeats; medians, bands hold the middle four fifths"
        decorate(canvas, axes, study.title, caption)
    return save(canvas, folder, study.name, made)[0]


def _curve(axis: Axes, study: Study, found: Summaries, name: str, measure: str) -> None:
    """Draw the medians of one method, and its band."""
    known = []
    drawn: Style = study.styles[name]
    for place, setting in enumerate(study.settings):
        one = found.get((setting, name, measure))
        if one is not None and np.isfinite(one.median) and one.median > 0.0:
            x = place if study.x == "alpha" else getattr(setting, study.x)
            known.append((x, one.q10, one.median, one.q90))
    if not known:
        return
    x, low, middle, high = (list(column) for column in zip(*known, strict=True))
    style = {"color": drawn.colour, "linestyle": drawn.line, "label": drawn.label}
    axis.plot(x, middle, marker=drawn.marker or None, **style)
    if name in study.methods:
        axis.fill_between(x, low, high, color=drawn.colour, alpha=0.12, linewidth=0)


def write_summaries(study: Study, found: Summaries, folder: Path, made: str) -> Path:
    """Write the summaries of a study."""
    lines = []
    for (setting, method, measure), one in found.items():
        count, *rest = astuple(one)
        numbers = [count, *(f"{value:.5g}" for value in rest)]
        lines.append([*asdict(setting).values(), method, measure, *numbers])
    path = folder / f"{study.name}.csv"
    write(path, table(made, (*SETTING, "method", "measure", *NUMBERS), lines))
    return path


def read_summaries(study: Study, folder: Path) -> tuple[Summaries, str]:
    """Summaries of a study, and how they were made."""
    kept = read(folder / f"{study.name}.csv")
    found: Summaries = {}
    for row in kept.rows:
        setting = Setting(**{name: type(value)(row[name]) for name, value in SETTING.items()})
        numbers = (float(row[name]) for name in NUMBERS[1:])
        key = (setting, row["method"], row["measure"])
        found[key] = Summary(int(row["count"]), *numbers)
    return found, kept.made


def write_verdicts(results: list[Results], folder: Path, made: str) -> None:
    """Write which claims hold."""
    lines = []
    for one in results:
        judged = [(claim.text, claim.judge(one)) for claim in one.study.claims]
        lines += [
            [one.study.name, text, verdict.word, verdict.evidence] for text, verdict in judged
        ]
    columns = ("study", "claim", "verdict", "figures")
    write(folder / "claims.csv", table(made, columns, lines))


def write_page(path: Path, folder: Path, studies: Sequence[Study]) -> None:
    """Write the page of all studies from the tables in a folder."""
    claims = read(folder / "claims.csv")
    held = sum(row["verdict"] == "holds" for row in claims.rows)
    link = Path(os.path.relpath(folder, path.parent)).as_posix()
    parts = [
        "# Second moments and their inverses: the paper's claims, measured",
        INTRODUCTION,
        f"**{held} of {len(claims.rows)} claims hold.**",
        *(_section(study, claims, link) for study in studies),
        f"## All numbers\n\n[claims.csv]({link}/claims.csv), and a summary beside each picture. "
        f"Made by {claims.made}. `python -m experiments.moments --plot` draws the pictures and "
        "writes this page from them.",
    ]
    write_text(path, "\n\n".join(part.strip() for part in parts) + "\n")


def _section(study: Study, claims: Table, link: str) -> str:
    """Picture and settings of one study, how many claims hold, and those that do not."""
    rows = claims.where(study=study.name)
    lost = [row for row in rows if row["verdict"] != "holds"]
    lines = [f"- **{row['verdict']}**: {row['claim']}: {row['figures']}." for row in lost]
    count = f"{len(rows) - len(lost)} of {len(rows)} claims hold"
    parts = [
        f"## {study.title}",
        f"![{study.title}]({link}/{study.name}.png)",
        f"Stated by the paper: {study.stated}. Chosen here: {study.chosen}. {count}. "
        f"[{study.name}.csv]({link}/{study.name}.csv)",
    ]
    return "\n\n".join([*parts, *(["\n".join(lines)] if lines else [])])
