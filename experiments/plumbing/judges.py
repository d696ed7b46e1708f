"""Judges: each makes a kind of claim into a function of the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from experiments.plumbing.figures import Cell, shown
from experiments.plumbing.judging import (
    TOLERANCE,
    Judge,
    Verdict,
    View,
    What,
    all_below,
    number,
    where,
)
from experiments.plumbing.methods import METHODS

FLAT_SLOPE = -0.25
"""A power of n down to which an error hardly depends on n; sampling error has the power -1/2."""

NOTABLE = 2.0
"""A ratio from which a difference in spread counts as significant."""

CONVERGED = 0.5
"""Share of the starting point's error below which a path is said to have converged."""


def below(first: str, *others: str, what: What = "error") -> Judge:
    """One method is below each of the others at every setting."""

    def judge(view: View) -> Verdict:
        return all_below(
            (
                f"{where(cell, view.design)}" + f" ({METHODS[other].label})" * (len(others) > 1),
                view.at(first, cell, what),
                view.at(other, cell, what),
            )
            for other in others
            for cell in view.design.cells()
        )

    return judge


def below_at_most_rows(first: str, second: str, what: What = "error") -> Judge:
    """One method is below another where private rows are most."""

    def judge(view: View) -> Verdict:
        largest = max(view.design.sizes)
        return all_below(
            (f"n {largest}", view.at(first, cell, what), view.at(second, cell, what))
            for cell in view.design.cells()
            if cell.n == largest
        )

    return judge


def below_with_less(first: str, second: str, what: What = "error", *, ends: bool = False) -> Judge:
    """One method is below another that has the next larger budget, or (ends) the largest."""

    def judge(view: View) -> Verdict:
        mus = sorted(view.design.mus)
        pairs = [(mus[0], mus[-1])] if ends else list(pairwise(mus))
        return all_below(
            (
                f"{where(cell, view.design)} (the other with mu {shown(more)})",
                view.at(first, cell, what),
                view.at(second, cell._replace(mu=more), what),
            )
            for less, more in pairs
            for cell in view.design.cells()
            if cell.mu == less
        )

    return judge


def falls(method: str, along: str, what: What = "error") -> Judge:
    """Errors or spreads fall from each value of a quantity to the next, chance allowed for."""

    def judge(view: View) -> Verdict:
        steps = [
            (where(right, view.design), view.at(method, right, what), view.at(method, left, what))
            for left, right in _steps(view, along)
        ]
        return all_below(steps, slack=TOLERANCE)

    return judge


def flat(method: str) -> Judge:
    """An error hardly depends on the number of private rows."""

    def judge(view: View) -> Verdict:
        cells = list(view.design.cells())
        errors = [view.at(method, cell) for cell in cells]
        slope = float(np.polyfit(np.log([cell.n for cell in cells]), np.log(errors), 1)[0])
        ends = f"{number(errors[0])} at n {cells[0].n}, {number(errors[-1])} at n {cells[-1].n}"
        return _single(slope > FLAT_SLOPE, f"error goes like n^{slope:.2f}, {ends}")

    return judge


def dearer_at_end(method: str) -> Judge:
    """The largest penalty has a larger error than the best one."""

    def judge(view: View) -> Verdict:
        best, last = _best(view, method), list(view.design.cells())[-1]
        figures = (view.at(method, best), view.at(method, last))
        return _single(figures[0] < figures[1], _two(view, best, last, *figures))

    return judge


def optimum_inside(method: str) -> Judge:
    """Some penalty between the smallest and the largest has the smallest error."""

    def judge(view: View) -> Verdict:
        best = _best(view, method)
        inside = min(view.design.alphas) < best.alpha < max(view.design.alphas)
        return _single(inside, f"smallest error {_quoted(view, method, best)}")

    return judge


def optimum_unsteady(method: str) -> Judge:
    """The penalty of the smallest error has a much larger spread than some other."""

    def judge(view: View) -> Verdict:
        best = _best(view, method)
        here = view.at(method, best, "spread")
        least = min(view.at(method, cell, "spread") for cell in view.design.cells())
        evidence = f"spread {number(here)} at lambda {shown(best.alpha)}, least {number(least)}"
        return _single(here > NOTABLE * least, evidence)

    return judge


def less_sensitive(first: str, second: str, what: What = "error") -> Judge:
    """One method changes by a smaller factor than another over the penalties."""

    def judge(view: View) -> Verdict:
        ratios = [_range_over_penalties(view, method, what) for method in (first, second)]
        evidence = f"largest over smallest {number(ratios[0])} against {number(ratios[1])}"
        return _single(ratios[0] < ratios[1], evidence)

    return judge


def steadier_iterations(first: str, second: str) -> Judge:
    """One method has the smaller spread at every iteration of every setting."""

    def judge(view: View) -> Verdict:
        return all_below(
            (
                f"{where(cell, view.design)}, iteration {step}",
                view.at(first, cell, "spread", step),
                view.at(second, cell, "spread", step),
            )
            for cell in view.design.cells()
            for step in range(1, view.design.iterations + 1)
        )

    return judge


def converges(method: str, alpha: float, *, expected: bool = True) -> Judge:
    """At some penalty, the last iterate's error is below half of the starting point's, or not."""

    def judge(view: View) -> Verdict:
        cell = next(cell for cell in view.design.cells() if cell.alpha == alpha)
        start, end = view.at(method, cell, step=0), view.at(method, cell)
        evidence = f"from {number(start)} at the start to {number(end)} at the end"
        return _single((end < CONVERGED * start) == expected, evidence)

    return judge


def best_at(method: str, alpha: float) -> Judge:
    """Some penalty has the smallest error."""

    def judge(view: View) -> Verdict:
        best = _best(view, method)
        at = next(cell for cell in view.design.cells() if cell.alpha == alpha)
        evidence = f"{_quoted(view, method, at)}; smallest {_quoted(view, method, best)}"
        return _single(best.alpha == alpha, evidence)

    return judge


def _steps(view: View, along: str) -> Iterator[tuple[Cell, Cell]]:
    """Neighbouring cells along one quantity."""
    values = sorted({getattr(cell, along) for cell in view.design.cells()})
    for cell in view.design.cells():
        for left, right in pairwise(values):
            if getattr(cell, along) == left:
                yield cell, cell._replace(**{along: right})


def _best(view: View, method: str) -> Cell:
    """Cell of the smallest error."""
    return min(view.design.cells(), key=lambda cell: view.at(method, cell))


def _range_over_penalties(view: View, method: str, what: What) -> float:
    """Largest value over smallest."""
    values = [view.at(method, cell, what) for cell in view.design.cells()]
    return max(values) / min(values) if min(values) > 0 else math.inf


def _single(holds: bool, evidence: str) -> Verdict:
    """A verdict on one thing."""
    return Verdict(int(holds), 1, evidence)


def _quoted(view: View, method: str, cell: Cell) -> str:
    """An error and its penalty."""
    return f"{number(view.at(method, cell))} at lambda {shown(cell.alpha)}"


def _two(view: View, first: Cell, second: Cell, left: float, right: float) -> str:
    """Two errors and where they were measured."""
    return (
        f"{number(left)} at {where(first, view.design)}, "
        f"{number(right)} at {where(second, view.design)}"
    )
