"""What a study declares and how one repeat of it is measured."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from experiments.plumbing.judging import Verdict
from experiments.plumbing.samples import Simulated

if TYPE_CHECKING:
    from experiments.moments.results import Results

Array = NDArray[np.float64]
Axis = Literal["n", "condition", "alpha", "n_public"]


@dataclass(frozen=True)
class Setting:
    """Everything that a measurement depends on but its repeat: Gaussian rows and a budget."""

    n: int = 30_000
    condition: float = 100.0
    alpha: float = 0.0
    n_public: int = 200
    d: int = 10
    mu: float = 1.0
    eta: float = 0.05


@dataclass(frozen=True)
class Repeat:
    """Rows of one repeat, and the inverses that estimates are compared with."""

    setting: Setting
    number: int

    @cached_property
    def data(self) -> Simulated:
        """The population: eigenvalues in geometric progression, mean and axes drawn anew."""
        one = self.setting
        return Simulated("linear", d=one.d, n_public=one.n_public, condition=one.condition)

    @cached_property
    def sample(self) -> Any:
        """Private and public rows."""
        return self.data.sample(self.number, self.setting.n)

    @cached_property
    def truth(self) -> Array:
        """Second moment of the population."""
        return self.data.population(self.number).second_moment

    @cached_property
    def moment(self) -> Array:
        """Second moment of the private rows."""
        return self.sample.X.T @ self.sample.X / self.setting.n

    @cached_property
    def public_moment(self) -> Array:
        """Second moment of the public rows."""
        return self.sample.X_public.T @ self.sample.X_public / self.setting.n_public

    def seed(self, method: str) -> int:
        """Seed of the noise of a method: another one for every setting and repeat."""
        return zlib.crc32(repr((method, self.setting, self.number)).encode())

    def inverse(self, moment: Array) -> Array:
        """Inverse of a moment with the penalty of the setting."""
        return np.linalg.inv(moment + self.setting.alpha * np.eye(self.setting.d))


@dataclass(frozen=True)
class Style:
    """What a curve is called, and how it is drawn."""

    label: str
    colour: str
    marker: str = ""
    line: str = "-"


class Line(NamedTuple):
    """One measured number."""

    setting: Setting
    repeat: int
    method: str
    measure: str
    value: float


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and how it is judged from the results."""

    text: str
    judge: Callable[[Results], Verdict]


@dataclass(frozen=True)
class Study:
    """
    One picture and its claims.

    Parameters
    ----------
    name, title : str
        Stem of its files, and heading.
    x : str
        What varies over the settings.
    settings : tuple of Setting
        Where is measured.
    methods : tuple of str
        What is measured.
    styles : mapping of str to Style
        How methods are drawn, and bounds beside them.
    measure : callable
        Lines of one repeat.
    measures : tuple of str
        Which of them are drawn, side by side.
    stated, chosen : str
        What the paper states, and what was chosen here.
    claims : tuple of Claim
        Judged from the numbers.
    repeats : int
        At full size.
    """

    name: str
    title: str
    x: Axis
    settings: tuple[Setting, ...]
    methods: tuple[str, ...]
    styles: Mapping[str, Style]
    measure: Callable[[Study, Repeat], Iterator[Line]]
    measures: tuple[str, ...]
    stated: str
    chosen: str
    claims: tuple[Claim, ...]
    repeats: int = 100


def measured(study: Study, number: int) -> list[Line]:
    """All lines of one repeat."""
    lines: list[Line] = []
    with threadpool_limits(1), warnings.catch_warnings():
        # Few public rows, and noise that leaves matrices indefinite, are part of what is measured.
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            for setting in study.settings:
                lines += study.measure(study, Repeat(setting, number))
    return lines
