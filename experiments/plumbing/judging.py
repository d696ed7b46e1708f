"""Judging claims by the numbers: what is claimed, and functions that say whether it is borne out.

A claim is judged twice. By the mean and standard deviation over the repeats, as the paper does; and
by the median and the range of the middle four fifths, which a few diverging runs do not move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from experiments.plumbing.figures import Cell, Design, Panel, shown
from experiments.plumbing.tables import Key, Summaries

Measure = Literal["mean", "median"]
What = Literal["error", "spread"]
MEASURES: tuple[Measure, ...] = ("mean", "median")

TOLERANCE = 0.05
"""A step against the claimed trend is forgiven up to this relative size, as chance."""


@dataclass(frozen=True)
class View:
    """The numbers of one panel, seen by one measure."""

    panel: Panel
    summaries: Summaries
    measure: Measure = "mean"

    @property
    def design(self) -> Design:
        """Design of the panel."""
        return self.panel.design

    def at(self, method: str, cell: Cell, what: What = "error", step: int | None = None) -> float:
        """Centre or spread of a method's errors; of the last iteration unless another is asked."""
        key = Key(self.panel.name, cell, method, step)
        if key not in self.summaries:
            key = key._replace(iteration=self.design.iterations if step is None else None)
        values = self.summaries[key]
        if self.measure == "mean":
            return values.mean if what == "error" else values.sd
        return values.median if what == "error" else values.q90 - values.q10

    def has(self, method: str) -> bool:
        """Whether the panel has a method."""
        return method in self.design.methods


@dataclass(frozen=True)
class Verdict:
    """How many of the comparisons behind a claim go its way, and the figures."""

    good: int
    of: int
    evidence: str

    @property
    def holds(self) -> bool:
        """Whether all of them do."""
        return self.good == self.of

    @property
    def word(self) -> str:
        """Whether it holds, in a word."""
        if self.holds:
            return "holds"
        return "fails" if self.good == 0 else f"partly ({self.good} of {self.of})"

    def __str__(self) -> str:
        """Word first, then figures."""
        return f"{self.word}: {self.evidence}"


Judge = Callable[[View], Verdict]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper about a figure, and how it is judged."""

    text: str
    judge: Judge


def where(cell: Cell, design: Design) -> str:
    """Name a cell by what varies in its design."""
    parts = []
    for label, value, values in (
        ("n", cell.n, design.sizes),
        ("mu", cell.mu, design.mus),
        ("lambda", cell.alpha, design.alphas),
    ):
        if len(values) > 1:
            parts.append(f"{label} {shown(value)}")
    return ", ".join(parts) or "here"


def number(value: float) -> str:
    """Three digits."""
    return f"{value:.3g}"


Comparison = tuple[str, float, float]
"""Where, the value that should be smaller, and the value that it should be smaller than."""


def all_below(comparisons: Iterable[Comparison], slack: float = 0.0) -> Verdict:
    """Judge comparisons; quote the one that goes most against the claim, or is closest to it."""
    listed = list(comparisons)
    good = sum(_below(small, large, slack) for _, small, large in listed)
    place, small, large = max(listed, key=lambda item: _ratio(item[1], item[2]))
    word = "closest" if good == len(listed) else "worst"
    quoted = f"{number(small)} against {number(large)} at {place}"
    return Verdict(good, len(listed), quoted if len(listed) == 1 else f"{word} {quoted}")


def _below(small: float, large: float, slack: float) -> bool:
    """Whether a value is below another, or above it by chance only."""
    return small < large * (1.0 + slack)


def _ratio(small: float, large: float) -> float:
    """How much a value exceeds another; what is not a number exceeds everything."""
    if small == large:
        return 1.0
    ratio = small / large if large > 0 else float("inf")
    return ratio if ratio == ratio else float("inf")
