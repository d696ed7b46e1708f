"""What the paper does not say: findings of our own, computed by the median for every panel."""

from __future__ import annotations

from collections.abc import Callable

from experiments.plumbing.figures import Cell
from experiments.plumbing.judging import View, number, where
from experiments.plumbing.methods import METHODS

AS_GOOD = 1.1
"""A ratio up to which two median errors count as equal."""


def findings(view: View) -> list[str]:
    """Sentences about a panel, from its medians."""
    suffix = " logistic" if view.design.data.family == "logistic" else ""
    pmt, oracle, public, plain, matrix, full, adassp = (
        f"{name}{suffix}"
        for name in ("pmt", "oracle", "public", "non-private", "matrix", "full", "adassp")
    )
    sentences = [_count(view, public, pmt, "is more accurate than")]
    if view.has(oracle):
        sentences.append(_count(view, pmt, oracle, "is worse than", worse=True))
    if view.has(adassp):
        sentences.append(_count(view, adassp, pmt, "is more accurate than"))
    if view.has(matrix):
        sentences += [
            _count(view, matrix, pmt, "is more accurate than"),
            _count(view, full, public, "is more accurate than"),
            _factor(view, pmt, matrix),
            _factor(view, pmt, full),
        ]
        if _positive(view, plain):
            sentences.append(_near(view, full, plain))
    return [sentence for sentence in sentences if sentence]


def _count(view: View, first: str, second: str, verb: str, *, worse: bool = False) -> str:
    """In how many settings one method is ahead of another, and where it is most."""
    cells = list(view.design.cells())
    ahead = _ahead(view, first, second, worse)
    found = [cell for cell in cells if ahead(cell) > 1.0]
    names = f"{METHODS[first].label} {verb} {METHODS[second].label}"
    if not found:
        return f"{names} in none of {len(cells)} settings."
    cell = max(found, key=ahead)
    figures = f"{number(view.at(first, cell))} against {number(view.at(second, cell))}"
    place = where(cell, view.design)
    return f"{names} in {len(found)} of {len(cells)} settings, most at {place}: {figures}."


def _ahead(view: View, first: str, second: str, worse: bool) -> Callable[[Cell], float]:
    """How many times smaller (or larger) the first error is."""

    def ratio(cell: Cell) -> float:
        top, bottom = view.at(second, cell), view.at(first, cell)
        top, bottom = (bottom, top) if worse else (top, bottom)
        return top / bottom if bottom > 0 else float("inf")

    return ratio


def _factor(view: View, first: str, second: str) -> str:
    """Range of the ratios of two errors."""
    ratios = [view.at(first, cell) / view.at(second, cell) for cell in view.design.cells()]
    return (
        f"The error of {METHODS[first].label} is {number(min(ratios))} to {number(max(ratios))} "
        f"times that of {METHODS[second].label}."
    )


def _near(view: View, first: str, plain: str) -> str:
    """In how many settings a private method costs nothing."""
    cells = list(view.design.cells())
    near = [c for c in cells if view.at(first, c) <= AS_GOOD * view.at(plain, c)]
    label = METHODS[first].label
    return f"{label} is within 10 % of non-private in {len(near)} of {len(cells)} settings."


def _positive(view: View, method: str) -> bool:
    """Whether a method has an error: on real data, the reference itself has none."""
    return all(view.at(method, cell) > 0 for cell in view.design.cells())
