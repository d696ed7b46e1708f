"""What the paper does not say: findings of our own, computed by the median for every panel."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from experiments.plumbing.figures import Cell
from experiments.plumbing.judging import View, number, where
from experiments.plumbing.methods import METHODS

AS_GOOD = 1.1
"""A ratio up to which two median errors count as equal."""


class Finding(NamedTuple):
    """A sentence, in how many settings it is true, of how many, and figures; some have no count."""

    text: str
    settings: int | str
    of: int | str
    figures: str = ""


def findings(view: View) -> list[Finding]:
    """Findings about a panel, from its medians."""
    suffix = " logistic" if view.design.data.family == "logistic" else ""
    pmt, oracle, public, plain, matrix, full, adassp = (
        f"{name}{suffix}"
        for name in ("pmt", "oracle", "public", "non-private", "matrix", "full", "adassp")
    )
    found = [_count(view, public, pmt, "is more accurate than")]
    if view.has(oracle):
        found.append(_count(view, pmt, oracle, "is worse than", worse=True))
    if view.has(adassp):
        found.append(_count(view, adassp, pmt, "is more accurate than"))
    if view.has(matrix):
        found += [
            _count(view, matrix, pmt, "is more accurate than"),
            _count(view, full, public, "is more accurate than"),
            _factor(view, pmt, matrix),
            _factor(view, pmt, full),
        ]
        if _positive(view, plain):
            found.append(_near(view, full, plain))
    return found


def _count(view: View, first: str, second: str, verb: str, *, worse: bool = False) -> Finding:
    """In how many settings one method is ahead of another, and where it is most."""
    cells = list(view.design.cells())
    ahead = _ahead(view, first, second, worse)
    found = [cell for cell in cells if ahead(cell) > 1.0]
    names = _sentence(f"{METHODS[first].label} {verb} {METHODS[second].label}")
    if not found:
        return Finding(names, 0, len(cells))
    cell = max(found, key=ahead)
    figures = f"{number(view.at(first, cell))} against {number(view.at(second, cell))}"
    place = where(cell, view.design)
    return Finding(names, len(found), len(cells), f"most at {place}: {figures}")


def _ahead(view: View, first: str, second: str, worse: bool) -> Callable[[Cell], float]:
    """How many times smaller (or larger) the first error is."""

    def ratio(cell: Cell) -> float:
        top, bottom = view.at(second, cell), view.at(first, cell)
        top, bottom = (bottom, top) if worse else (top, bottom)
        return top / bottom if bottom > 0 else float("inf")

    return ratio


def _factor(view: View, first: str, second: str) -> Finding:
    """Range of the ratios of two errors."""
    ratios = [view.at(first, cell) / view.at(second, cell) for cell in view.design.cells()]
    names = f"The error of {METHODS[first].label} over that of {METHODS[second].label}"
    return Finding(names, "", "", f"{number(min(ratios))} to {number(max(ratios))}")


def _near(view: View, first: str, plain: str) -> Finding:
    """In how many settings a private method costs nothing."""
    cells = list(view.design.cells())
    near = [c for c in cells if view.at(first, c) <= AS_GOOD * view.at(plain, c)]
    names = _sentence(f"{METHODS[first].label} is within 10 % of non-private")
    return Finding(names, len(near), len(cells))


def _sentence(text: str) -> str:
    """With a capital letter."""
    return text[0].upper() + text[1:]


def _positive(view: View, method: str) -> bool:
    """Whether a method has an error: on real data, the reference itself has none."""
    return all(view.at(method, cell) > 0 for cell in view.design.cells())
