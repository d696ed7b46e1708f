"""What a report is made of, whatever it is written as: paragraphs, tables, curves, estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from publicmoments.models.inference import CoefSummary

Keys: TypeAlias = tuple[tuple[str, str], ...]
"""What the parts of a picture stand for: their role, and that in words."""


@dataclass(frozen=True)
class Marked:
    """Words beside the argument: a heading, a note, or the statement that all rests on."""

    text: str
    role: Literal["heading", "note", "statement"]


@dataclass(frozen=True)
class Items:
    """Paragraphs that are a list."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Text as a computer reads it; one with a title is for few readers."""

    text: str
    title: str = ""


@dataclass(frozen=True)
class Tabulated:
    """Headings, and rows that begin with what they are about."""

    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Axis:
    """A scale from ``low`` to ``high``, logarithmic or not, with its label."""

    label: str
    low: float
    high: float
    log: bool = False

    def place(self, value: float) -> float:
        """Where a value lies, 0 being the low end and 1 the high one."""
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(value)
        return (at - low) / (high - low)

    def ticks(self) -> list[float]:
        """Round numbers to label: decades, finer ones where there are few, or even steps."""
        return _log_ticks(self.low, self.high) if self.log else _even_ticks(self.low, self.high)


@dataclass(frozen=True)
class Line:
    """Points to be joined, and the role of the line."""

    points: Sequence[tuple[float, float]]
    role: str


@dataclass(frozen=True)
class Point:
    """A marked point."""

    x: float
    y: float
    role: str


@dataclass(frozen=True)
class Chart:
    """Lines and points over two axes."""

    title: str
    x: Axis
    y: Axis
    lines: Sequence[Line]
    points: Sequence[Point]
    keys: Keys


@dataclass(frozen=True)
class Intervals:
    """Estimates with their intervals, and what either error alone would make of these."""

    summary: CoefSummary
    keys: Keys


@dataclass(frozen=True)
class Correlations:
    """Correlations of some columns with each other."""

    labels: tuple[str, ...]
    values: Sequence[Sequence[float]]


Part: TypeAlias = str | Marked | Items | Code | Tabulated | Chart | Intervals | Correlations
"""A part of a section; a string is a paragraph of the argument."""


@dataclass(frozen=True)
class Section:
    """An answer to one question of the reader."""

    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Report:
    """
    All that is said.

    Parameters
    ----------
    title : str
        What it is about.
    alarm : str
        Why there is no guarantee, if there is none.
    facts : tuple of (str, str)
        The essentials.
    sections : tuple of Section
        The rest, in the order a reader asks for it.
    """

    title: str
    alarm: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]


def axis_over(label: str, values: Sequence[float], log: bool = False) -> Axis:
    """
    Return an axis that holds all values, with some air.

    Examples
    --------
    >>> axis_over("mu", [0.1, 10.0], log=True).ticks()
    [0.1, 1.0, 10.0]
    """
    low, high = min(values), max(values)
    if log:
        air = (high / low) ** 0.06 if high > low else 2.0
        return Axis(label, low / air, high * air, log=True)
    air = 0.05 * (high - low) or 1.0
    return Axis(label, low - air if low < 0 else low, high + air)


def _log_ticks(low: float, high: float) -> list[float]:
    """Decades, or 1, 2 and 5 of each where these are few, or even steps; about eight at most."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = max(1, math.ceil((last - first) / 8))
    decades = [float(f"1e{k}") for k in range(first, last + 1, step)]
    inside = [tick for tick in decades if low <= tick <= high]
    if len(inside) >= 3:
        return inside
    finer = [float(f"{m}e{k}") for k in range(first, last + 1) for m in (1, 2, 5)]
    inside = [tick for tick in finer if low <= tick <= high]
    return inside if len(inside) >= 2 else _even_ticks(low, high)


def _even_ticks(low: float, high: float) -> list[float]:
    """About five steps of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / 5.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
