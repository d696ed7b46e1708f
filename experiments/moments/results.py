"""The numbers of a study: medians, shares of repeats, and judges that use them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from experiments.moments.studies import Line, Setting, Study
from experiments.plumbing.figures import shown
from experiments.plumbing.judging import TOLERANCE, Verdict, all_below, number
from experiments.plumbing.tables import Summary, summary

Judge = Callable[["Results"], Verdict]
Key = tuple[Setting, str, str]

ROBUST = 0.5
"""What the left sides of the conditions may be at most."""


@dataclass
class Results:
    """All lines of a study, by setting, method and measure, in the order of the repeats."""

    study: Study
    values: dict[Key, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, lines: Iterable[Line]) -> None:
        """Take the lines of a repeat."""
        for line in lines:
            self.values[line.setting, line.method, line.measure].append(line.value)

    def summaries(self) -> dict[Key, Summary]:
        """Summaries of everything that was measured."""
        return {key: summary(np.array(values)) for key, values in self.values.items()}

    def median(self, setting: Setting, method: str, measure: str) -> float:
        """The typical value: the inverse of a noisy matrix has no finite mean."""
        return float(np.median(self.values[setting, method, measure]))

    def robust(self, method: str = "published") -> list[Setting]:
        """Settings in which a condition of stability is met."""
        measure = "condition of stability"
        return [s for s in self.study.settings if self.median(s, method, measure) <= ROBUST]

    def where(self, setting: Setting) -> str:
        """Name a setting by what varies."""
        return f"{self.study.x} {shown(getattr(setting, self.study.x))}"


def below(first: str, second: str, measure: str, *, slack: float = 0.0) -> Judge:
    """One method's median is below another's at every setting."""

    def judge(results: Results) -> Verdict:
        return all_below(
            (
                (
                    results.where(setting),
                    results.median(setting, first, measure),
                    results.median(setting, second, measure),
                )
                for setting in results.study.settings
            ),
            slack,
        )

    return judge


def bounded(method: str, bound: str, measure: str, *, of: str = "published") -> Judge:
    """Where the condition is met, as many repeats as the theorem says are below its bound."""

    def judge(results: Results) -> Verdict:
        shares = []
        for setting in results.robust(of):
            errors, bounds = (
                np.array(results.values[setting, name, measure]) for name in (method, bound)
            )
            shares.append((float(np.mean(errors <= bounds)), results.where(setting)))
        if not shares:
            return Verdict(0, 1, "the condition is met nowhere")
        wanted = 1.0 - results.study.settings[0].eta
        good = sum(share >= wanted for share, _ in shares)
        least, place = min(shares)
        return Verdict(good, len(shares), f"least {least:.0%} of repeats at {place}")

    return judge


def falls(method: str, measure: str, power: float, *, robust: bool = True) -> Judge:
    """A median goes like a power of what varies, within a quarter, where the condition is met."""

    def judge(results: Results) -> Verdict:
        settings = results.robust() if robust else list(results.study.settings)
        x = [getattr(setting, results.study.x) for setting in settings]
        y = [results.median(setting, method, measure) for setting in settings]
        slope = float(np.polyfit(np.log(x), np.log(y), 1)[0]) if len(x) > 1 else float("nan")
        evidence = f"{results.study.x}^{slope:.2f} over {len(x)} settings"
        return Verdict(int(abs(slope - power) <= 0.25), 1, evidence)

    return judge


def steady(method: str, measure: str, factor: float, among: Callable[[Setting], bool]) -> Judge:
    """A median changes by less than a factor over some settings."""

    def judge(results: Results) -> Verdict:
        values = [results.median(s, method, measure) for s in results.study.settings if among(s)]
        ratio = max(values) / min(values)
        return Verdict(int(ratio <= factor), 1, f"largest over smallest {number(ratio)}")

    return judge


def grows(method: str, measure: str) -> Judge:
    """A median grows from each setting to the next, chance allowed for."""

    def judge(results: Results) -> Verdict:
        return all_below(
            (
                (
                    results.where(right),
                    results.median(left, method, measure),
                    results.median(right, method, measure),
                )
                for left, right in pairwise(results.study.settings)
            ),
            TOLERANCE,
        )

    return judge


def never_above_first(method: str, measure: str) -> Judge:
    """A median is nowhere above that of the first setting, chance allowed for."""

    def judge(results: Results) -> Verdict:
        first, *others = results.study.settings
        least = results.median(first, method, measure)
        return all_below(
            ((results.where(one), results.median(one, method, measure), least) for one in others),
            TOLERANCE,
        )

    return judge
