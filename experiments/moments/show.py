"""Pictures, tables and the page."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, astuple, fields
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from experiments.moments.results import Results
from experiments.moments.studies import Setting, Style
from experiments.plumbing.figures import shown
from experiments.plumbing.plots import STYLE, decorate, save
from experiments.plumbing.tables import Summary
from publicmoments.io.atomic import write_atomically

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
  of zeros has. *To the population's* takes the inverse of the population's regularised moment
  instead, from which the non-private inverse is away too. *Whitened* is the first of them in
  coordinates in which the private second moment is the identity: no direction hides another.
- **Budgets** are totals: there is one statistic, so that the paper's mu is the total, and all
  methods have the same.
- **Bounds** are what the paper's lemmas support; *as printed* they are smaller by factors that get
  lost on the way to the statements. They need the inverse of the public matrix and the norm of the
  private one, which no private user knows.
- **Oracle**: without public data the radius is read from the private rows, as in the paper. That is
  not private.
- **Medians** are judged and drawn, with the middle four fifths: a noisy matrix may be singular, and
  its inverse has no finite mean. A bound is judged by the share of repeats below it.
- **Rows** are Gaussian, their mean standard normal, the eigenvalues of the covariance in geometric
  progression, the axes random; every repeat draws its own population. d = 10 unless stated.
"""


def picture(results: Results, folder: Path, made: str, repeats: int) -> Path:
    """Draw all measures of a study side by side."""
    study = results.study
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(4.4 * len(study.measures), 4.6), layout="constrained")
        axes = canvas.subplots(1, len(study.measures), squeeze=False)[0]
        for axis, measure in zip(axes, study.measures, strict=True):
            for name in study.styles:
                _curve(axis, results, name, measure)
            axis.set_title(measure)
            axis.set_yscale("log")
            axis.set_xlabel(X_LABELS[study.x])
            if study.x == "alpha":
                axis.set_xticks(range(len(study.settings)))
                axis.set_xticklabels([shown(s.alpha) for s in study.settings])
            else:
                axis.set_xscale("log")
        caption = f"{study.chosen}; {repeats} repeats; medians, bands hold the middle four fifths"
        decorate(canvas, axes, study.title, caption)
    return save(canvas, folder, study.name, made)[0]


def _curve(axis: Axes, results: Results, name: str, measure: str) -> None:
    """Draw the medians of one method, and its band."""
    study, known = results.study, []
    drawn: Style = study.styles[name]
    for place, setting in enumerate(study.settings):
        values = np.array(results.values.get((setting, name, measure), []))
        if len(values) and np.isfinite(np.median(values)) and np.median(values) > 0.0:
            x = place if study.x == "alpha" else getattr(setting, study.x)
            low, middle, high = np.quantile(values, (0.1, 0.5, 0.9), method="nearest")
            known.append((x, low, middle, high))
    if not known:
        return
    x, low, middle, high = (list(column) for column in zip(*known, strict=True))
    style = {"color": drawn.colour, "linestyle": drawn.line, "label": drawn.label}
    axis.plot(x, middle, marker=drawn.marker or None, **style)
    if name in study.methods:
        axis.fill_between(x, low, high, color=drawn.colour, alpha=0.12, linewidth=0)


def table(results: Results, folder: Path, made: str) -> Path:
    """Write the summaries of a study."""
    text = io.StringIO(newline="")
    text.write(f"# {made}\n")
    writer = csv.writer(text, lineterminator="\n")
    settings = [one.name for one in fields(Setting)]
    writer.writerow([*settings, "method", "measure", *(one.name for one in fields(Summary))])
    for (setting, method, measure), found in results.summaries().items():
        count, *rest = astuple(found)
        numbers = [count, *(f"{value:.5g}" for value in rest)]
        writer.writerow([*asdict(setting).values(), method, measure, *numbers])
    path = folder / f"{results.study.name}.csv"
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.getvalue().encode())
    return path


def write_page(path: Path, entries: list[tuple[Results, Path, Path]], made: str) -> None:
    """Write the page of all studies."""
    judged = [(claim.judge(r).holds) for r, *_ in entries for claim in r.study.claims]
    parts = [
        "# Second moments and their inverses: the paper's claims, measured",
        f"Made by {made}.",
        INTRODUCTION,
        f"**{sum(judged)} of {len(judged)} claims hold.**",
        *(_section(path, *entry) for entry in entries),
    ]
    write_atomically(path, ("\n\n".join(part.rstrip() for part in parts) + "\n").encode())


def _section(page: Path, results: Results, image: Path, numbers: Path) -> str:
    """Picture, settings, claims and medians of one study."""
    study = results.study
    image, numbers = (place.relative_to(page.parent) for place in (image, numbers))
    lines = [
        f"## {study.title}",
        "",
        f"![{study.title}]({image.as_posix()})",
        "",
        f"- Stated by the paper: {study.stated}.",
        f"- Chosen here: {study.chosen}.",
        f"- Numbers: [{numbers.name}]({numbers.as_posix()}).",
        "",
        "| claim | verdict |",
        "| --- | --- |",
        *(f"| {claim.text} | {claim.judge(results)} |" for claim in study.claims),
    ]
    return "\n".join([*lines, "", *_medians(results, study.measures[0])])


def _medians(results: Results, measure: str) -> list[str]:
    """A table of medians in the first measure."""
    styles = results.study.styles
    names = [n for n in styles if any(key[1:] == (n, measure) for key in results.values)]
    heads = [X_LABELS[results.study.x], *(styles[name].label for name in names)]
    lines = [f"Medians, {measure}:", "", _line(heads), _line(["--:"] * len(heads))]
    for setting in results.study.settings:
        cells = [shown(getattr(setting, results.study.x))]
        cells += [f"{results.median(setting, name, measure):.3g}" for name in names]
        lines.append(_line(cells))
    return lines


def _line(cells: list[str]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"
