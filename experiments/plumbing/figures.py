"""What a figure declares: where errors are measured, how they are drawn, what is claimed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from experiments.plumbing.methods import Descent
from experiments.plumbing.samples import Source

if TYPE_CHECKING:
    from experiments.plumbing.judging import Claim

Axis = Literal["n", "alpha", "iteration"]
Facet = Literal["mu", "alpha"]

CHUNK = 10
"""Repeats of one piece of work: what an interruption can cost at most, per process."""

THINNING = 3
OURS_EVERY = tuple(
    (name, THINNING) for name in ("matrix", "full", "matrix logistic", "full logistic")
)
"""The library's own estimators run in every third repeat where they are the most costly. Where they
are compared with others, all are taken from those repeats."""


class Cell(NamedTuple):
    """One setting of a design: private rows, published mu and penalty."""

    n: int
    mu: float
    alpha: float


@dataclass(frozen=True)
class Design:
    """
    Everything that the numbers of a panel depend on.

    Parameters
    ----------
    data : Source
        Where samples come from.
    methods : tuple of str
        Keys of ``METHODS``.
    sizes, mus, alphas : tuple
        Private rows, published budgets (per statistic) and penalties; all combinations are run.
    eta : float
        Probability scale of truncation.
    iterations : int
        T of the noisy Newton methods.
    descent : Descent, optional
        Tuning of DP-GD.
    every : tuple of (str, int)
        Methods that cost much, and of how many repeats each runs in one.
    """

    data: Source
    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    mus: tuple[float, ...]
    alphas: tuple[float, ...]
    eta: float
    iterations: int = 1
    descent: Descent | None = None
    every: tuple[tuple[str, int], ...] = ()

    def runs(self, method: str, repeat: int) -> bool:
        """Whether a method runs in a repeat."""
        return repeat % dict(self.every).get(method, 1) == 0

    def count(self, method: str, repeats: int) -> int:
        """In how many of the first repeats a method runs."""
        return math.ceil(repeats / dict(self.every).get(method, 1))

    def cells(self) -> Iterator[Cell]:
        """Every combination of size, budget and penalty."""
        return (Cell(*values) for values in product(self.sizes, self.mus, self.alphas))


@dataclass(frozen=True)
class Panel:
    """A design, its name within the figure, and the published claims about it."""

    name: str
    design: Design
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Figure:
    """
    One figure of the paper.

    Parameters
    ----------
    name : str
        Stem of its files.
    title : str
        Heading.
    panels : tuple of Panel
        Designs side by side.
    x : {"n", "alpha", "iteration"}
        Horizontal axis.
    facet : {"mu", "alpha"}, optional
        What differs between the pictures of one panel.
    repeats : int
        As published.
    stated, chosen : str
        Settings that the paper states, and those that it leaves open and we chose.
    draw : callable, optional
        Draws the figure instead of the common code.
    """

    name: str
    title: str
    panels: tuple[Panel, ...]
    x: Axis
    repeats: int
    stated: str
    chosen: str
    facet: Facet | None = None
    draw: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Unit:
    """A piece of work: a design at one size, for some consecutive repeats."""

    design: Design
    first: int
    count: int

    @property
    def repeats(self) -> range:
        """The repeats it covers."""
        return range(self.first, self.first + self.count)


def units(design: Design, repeats: int) -> list[Unit]:
    """Cut a design into pieces of work."""
    return [
        Unit(replace(design, sizes=(n,)), first, min(CHUNK, repeats - first))
        for n in design.sizes
        for first in range(0, repeats, CHUNK)
    ]


def total_budget(mu: float) -> float:
    """Total of a published mu, which counts twice: once for a matrix and once for a vector."""
    return math.sqrt(2.0) * mu


def shown(value: float) -> str:
    """A number as short as it can be."""
    return f"{value:g}".replace("e-0", "e-").replace("e+0", "e")
