"""The parts of an audit: each is run on its own, and its outcome kept as rows of a table."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import norm

from audit import commands, frames, fuzz, interference, low_bits, mutations, soak, suite, taint
from audit.cases import CASES, MU
from audit.confined import MOST_MIB
from audit.forms import FORMS, LABEL_FORMS
from audit.game import play, play_whole_fits, upper_rate
from audit.interference import Outcome

__all__ = ["SECTIONS", "Section", "Sizes"]

Row = tuple[bool, list[str]]
"""Whether all is well, and the cells of a line."""


@dataclass(frozen=True)
class Sizes:
    """How much of everything."""

    runs: int = 20_000
    fits: int = 300
    releases: int = 400
    property_rounds: int = 4
    fuzz_seconds: float = 300.0
    soak_fits: int = 1_000


@dataclass(frozen=True)
class Section:
    """A table: its title, what it shows, short and in full, its columns, how its lines are made."""

    title: str
    short: str
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


def _interference(sizes: Sizes) -> Iterator[Row]:
    tries: list[tuple[str, Callable[[str], Outcome], Iterable[str]]] = [
        ("features", interference.rows, FORMS),
        ("labels", interference.labels, LABEL_FORMS),
        ("fit", interference.fits, CASES),
        ("command", commands.commands, commands.COMMANDS),
    ]
    for model in frames.MODELS:

        def by_name(frame: str, model: str = model) -> Outcome:
            return frames.fits_by_name(frame, model)

        tries.append(("fit by name", by_name, frames.FRAMES))
    for what, attempt, names in tries:
        for name in names:
            outcome = attempt(name)
            wrong = "; ".join(outcome.failures).replace("|", "/")[:500] or "nothing"
            yield outcome.sound, [what, outcome.name, f"{outcome.tried:,}", wrong]


def _mutations(sizes: Sizes) -> Iterator[Row]:
    for outcome in mutations.check():
        test = outcome.by.replace("|", "/")
        yield (
            outcome.caught,
            [outcome.mutation, "caught" if outcome.caught else "MISSED", f"`{test}`"],
        )


def _properties(sizes: Sizes) -> Iterator[Row]:
    for outcome in suite.properties(sizes.property_rounds):
        cells = [outcome.words, f"`{outcome.path.removeprefix('tests/')}`"]
        cases = f"{outcome.cases:,}" if outcome.cases else "not counted"
        yield outcome.sound, [*cells, f"{outcome.tests:,}", cases, f"{outcome.failed:,}"]


def _faults(sizes: Sizes) -> Iterator[Row]:
    for outcome in suite.faults():
        cells = [outcome.words, f"`{outcome.path.removeprefix('tests/')}`"]
        yield outcome.sound, [*cells, str(outcome.outcomes.total()), outcome.told]


def _fuzz(sizes: Sizes) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        for name in fuzz.TARGETS:
            outcome = fuzz.fuzz(fuzz.target(name, Path(folder)), sizes.fuzz_seconds)
            counts = [f"{count:,}" for count in (outcome.files, outcome.accepted)]
            told = "; ".join(outcome.failures) or "none"
            yield outcome.sound, [name, f"{outcome.seconds:.0f}", *counts, told]


def _soak(sizes: Sizes) -> Iterator[Row]:
    outcome = soak.soak(sizes.soak_fits, warm_up=100)
    yield (
        outcome.sound,
        [
            f"{outcome.fits:,}",
            f"{outcome.warm_mib:.1f}",
            f"{outcome.end_mib:.1f}",
            f"{outcome.growth:+.1%}",
            f"{outcome.seconds:.0f}",
        ],
    )


SECTIONS = {
    "game": Section(
        "Distinguishing game on the releases of a fit",
        "Who knows all rows but one picks the worst two of thousands of hostile last rows, and "
        "tells them apart by what is released.",
        "The attacker knows every row but one, the code and all parameters, and picks for the "
        "last row the worst two of up to four thousand hostile ones, of lengths from 0 to 1e300. "
        "*Reached* is what the pair is worth with unlimited runs, computed from exact sums and "
        "noise laws; *shown* is a lower confidence bound after so many runs of each table with "
        "real noise, both error rates by Clopper-Pearson at 99.9 % each. It must not exceed the "
        "claim, and for `release_moments` it must reach 85 % of it. "
        "The published estimators keep the paper's noise, which no pair can use up: opposite rows "
        "move a vector most and a second moment not at all, and the paper bounds the latter by "
        "twice one row, of which sqrt(2) can be reached, so that `PMTRidge` and a Poisson update "
        "stay within 3/4 of their charge. A logistic slope comes to its bound only where the "
        "curvature vanishes, and to half of it at zero, where the curvature comes to its own: an "
        "update stays within 9/16 of its charge at zero, and within 1/sqrt(2) anywhere "
        "(`tests/audit/test_game.py`).",
        ("release", "statistics", "claimed mu", "reached mu", "shown mu", "runs"),
        _game,
    ),
    "fits": Section(
        "Distinguishing game with whole fits",
        "The same by the coefficients of complete fits; so few that the bound is weak.",
        "The same pairs, told apart by the coefficients of complete fits. The direction of the "
        "test is learned from one half of them and judged on the other. So few fits give a weak "
        "bound, and a negative one shows nothing; the last column is what fits without any noise "
        "would show.",
        ("estimator", "claimed mu", "shown mu", "fits of each table", "without noise"),
        _fits,
    ),
    "bits": Section(
        "Low-order bits",
        "Whether all entries lie on one public grid, with the same law of remainders whatever "
        "the sum.",
        "Exact sums of 0, of 1 and of what one row adds: all entries released lie on one public "
        "grid, and their remainders by 16 have the same law (smallest p-value of two tests).",
        ("release", "entries", "on the grid", "p-value"),
        _bits,
    ),
    "taint": Section(
        "Taint",
        "With releases held fixed, whether anything a user sees depends on the rows, NaN and "
        "1e300 included.",
        "With releases held fixed, fits to an ordinary table, a neighbour, a table of NaN, "
        "infinities and 1e300, and zeros are compared in every attribute, text, interval, "
        "prediction, warning, log line, error, stream and in the bytes of the pickled object.",
        ("release", "things compared", "different"),
        _taint,
    ),
    "interference": Section(
        "One cell, and everything else",
        "A hostile cell in every kind of table and type, and whether anything but its bounded "
        "share of the sum changes.",
        "In every kind of table, type of cells, source and estimator one cell is replaced by what "
        "is hostile to its type: NaN, infinities, signalling NaN, numbers beyond floats, text, "
        "Python objects, labels that are no class, counts below zero. *Features* and *labels*: the "
        "exact sum must move by the same integers beside other rows, with no, one or many missing "
        "cells, by no more than its sensitivity, and without a word. *Fits* and *commands* are "
        "recorded on one table and replayed on its neighbour with the same noisy outputs: every "
        "query, bound, noise law, charge, text, attribute, file, warning, log line and exit code "
        "must be the same, and no word of a cell be seen.",
        ("what", "kind", "cells tried", "went wrong"),
        _interference,
    ),
    "mutations": Section(
        "Planted bugs",
        "Whether the suite notices bugs planted one at a time.",
        "Each bug is planted alone in a temporary copy of the library, and a part of the suite is "
        "run on it.",
        ("bug", "outcome", "first test that fails"),
        _mutations,
    ),
    "properties": Section(
        "Property tests",
        "Generated cases, over shapes, types, hostile floats and budgets.",
        "Cases that Hypothesis made, over shapes, kinds of numbers, layouts, hostile floats and "
        "budgets; all rounds together, each with another seed.",
        ("what always holds", "file", "tests", "cases tried", "failed"),
        _properties,
    ),
    "fuzz": Section(
        "Damaged files",
        "Whether readers of damaged files do anything but return or refuse.",
        "Readers may return or raise `ValueError` or `OSError`, nothing else. They are watched for "
        f"running code and may take {MOST_MIB} MiB. Digests are made good again, so that what is "
        "behind them is reached.",
        ("reader", "seconds", "files", "still readable", "other errors, code run"),
        _fuzz,
    ),
    "faults": Section(
        "Faults survived",
        "Kills, full disks, forks, threads, lost ledgers and workers.",
        "What was made to go wrong, as the tests are called that see to it, and with how many "
        "kinds of fits, files or databases.",
        ("fault", "file", "cases", "outcome"),
        _faults,
    ),
    "soak": Section(
        "Memory",
        "Whether memory grows over a thousand fits in one process.",
        f"Fits of all {len(CASES)} kinds above in turn, in one process, after a warm-up of 100: "
        "resident memory may grow by 5 % at most, which is about 10 KiB for each fit.",
        ("fits", "MiB before", "MiB after", "growth", "seconds"),
        _soak,
    ),
}
