"""The parts of an audit: each is run on its own, and its outcome kept as rows of a table."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import norm

from audit import fuzz, low_bits, mutations, soak, taint
from audit.cases import CASES, MU
from audit.game import play, play_whole_fits, upper_rate

__all__ = ["SECTIONS", "Section", "Sizes"]

Row = tuple[bool, list[str]]
"""Whether all is well, and the cells of a line."""


@dataclass(frozen=True)
class Sizes:
    """How much of everything."""

    runs: int = 20_000
    fits: int = 300
    releases: int = 400
    fuzz_seconds: float = 300.0
    soak_fits: int = 1_000


@dataclass(frozen=True)
class Section:
    """A table of the page: its title, what it shows, its columns, and how its lines are made."""

    title: str
    words: str
    columns: tuple[str, ...]
    lines: Callable[[Sizes], Iterator[Row]]


def _game(sizes: Sizes) -> Iterator[Row]:
    for case in CASES.values():
        outcome = play(case, sizes.runs)
        yield (
            outcome.sound and outcome.close,
            [
                outcome.name,
                str(outcome.releases),
                f"{outcome.claimed:.4f}",
                f"{outcome.reached:.4f}",
                f"{outcome.shown:.3f}",
                f"{outcome.runs:,}",
            ],
        )


def _fits(sizes: Sizes) -> Iterator[Row]:
    for case in CASES.values():
        shown = play_whole_fits(case, sizes.fits)
        most = 2.0 * float(norm.isf(upper_rate(0, sizes.fits - sizes.fits // 2)))
        cells = [case.name, f"{MU:.4f}", f"{shown:.3f}", f"{sizes.fits:,}", f"{most:.2f}"]
        yield shown <= MU, cells


def _bits(sizes: Sizes) -> Iterator[Row]:
    for name in low_bits.DOORS:
        outcome = low_bits.examine(name, sizes.releases)
        on_grid = "yes" if outcome.on_grid else "NO"
        yield outcome.sound, [name, f"{outcome.entries:,}", on_grid, f"{outcome.pvalue:.3g}"]


def _taint(sizes: Sizes) -> Iterator[Row]:
    for case in CASES.values():
        outcome = taint.examine(case)
        yield (
            outcome.sound,
            [outcome.name, str(outcome.compared), ", ".join(outcome.different) or "nothing"],
        )


def _mutations(sizes: Sizes) -> Iterator[Row]:
    for outcome in mutations.check():
        test = outcome.by.replace("|", "/")
        yield (
            outcome.caught,
            [outcome.mutation, "caught" if outcome.caught else "MISSED", f"`{test}`"],
        )


def _fuzz(sizes: Sizes) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        for name in fuzz.TARGETS:
            share = sizes.fuzz_seconds / len(fuzz.TARGETS)
            outcome = fuzz.fuzz(fuzz.target(name, Path(folder)), share)
            yield (
                outcome.sound,
                [
                    name,
                    f"{outcome.files:,}",
                    f"{outcome.accepted:,}",
                    "; ".join(outcome.failures) or "none",
                ],
            )


def _soak(sizes: Sizes) -> Iterator[Row]:
    outcome = soak.soak(sizes.soak_fits, warm_up=100)
    yield (
        outcome.sound,
        [
            f"{outcome.fits:,}",
            f"{outcome.warm_mib:.1f}",
            f"{outcome.end_mib:.1f}",
            f"{outcome.growth:+.1%}",
        ],
    )


SECTIONS = {
    "game": Section(
        "Distinguishing game on the releases of a fit",
        "The attacker knows every row but one, the code and all parameters, and picks for the "
        "last row the worst two of up to a thousand hostile ones, of lengths from 0 to 1e300. "
        "*Reached* is what the pair is worth with unlimited runs, computed from exact sums and "
        "noise laws; *shown* is a lower confidence bound after so many runs of each table with "
        "real noise, both error rates by Clopper-Pearson at 99.9 % each. It must not exceed the "
        "claim, and for `Ridge` with given bounds and `release_moments` it must reach 85 % of it. "
        "The published estimators keep the paper's noise, which is wider than need be.",
        ("release", "statistics", "claimed mu", "reached mu", "shown mu", "runs"),
        _game,
    ),
    "fits": Section(
        "Distinguishing game with whole fits",
        "The same pairs, told apart by the coefficients of complete fits. The direction of the "
        "test is learned from one half of them and judged on the other. So few fits give a weak "
        "bound, and a negative one shows nothing; the last column is what fits without any noise "
        "would show.",
        ("estimator", "claimed mu", "shown mu", "fits of each table", "without noise"),
        _fits,
    ),
    "bits": Section(
        "Low-order bits",
        "Exact sums of 0, of 1 and of what one row adds: all entries released lie on one public "
        "grid, and their remainders by 16 have the same law (smallest p-value of two tests).",
        ("release", "entries", "on the grid", "p-value"),
        _bits,
    ),
    "taint": Section(
        "Taint",
        "With releases held fixed, fits to an ordinary table, a neighbour, a table of NaN, "
        "infinities and 1e300, and zeros are compared in every attribute, text, interval, "
        "prediction, warning, log line, error, stream and in the bytes of the pickled object.",
        ("release", "things compared", "different"),
        _taint,
    ),
    "mutations": Section(
        "Planted bugs",
        "Each bug is planted alone in a temporary copy of the library, and a part of the suite is "
        "run on it.",
        ("bug", "outcome", "first test that fails"),
        _mutations,
    ),
    "fuzz": Section(
        "Damaged files",
        "Readers may return or raise `ValueError` or `OSError`, nothing else.",
        ("reader", "files", "still readable", "other errors"),
        _fuzz,
    ),
    "soak": Section(
        "Memory",
        "Fits of all kinds in one process, after a warm-up of 100; at most 5 % may be added.",
        ("fits", "MiB before", "MiB after", "growth"),
        _soak,
    ),
}
