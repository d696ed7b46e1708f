"""L and U of Theorem 3.1 beside the eigenvalues of whitened second moments."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from experiments.moments.commands import main
from experiments.moments.results import Judge, Results
from experiments.moments.studies import Claim, Line, Repeat, Setting, Study, Style
from experiments.plumbing.judging import Verdict, number
from publicmoments.paper import moment_bounds

Array = NDArray[np.float64]

LARGEST, SMALLEST = "largest eigenvalue", "smallest eigenvalue"
THEOREM = "theorem"
NEAR = 1.5
"""U over L from which on both count as near 1."""

LAWS: dict[str, Callable[[np.random.Generator, int, int], Array]] = {
    "Gaussian": lambda rng, n, d: rng.standard_normal((n, d)),
    "uniform": lambda rng, n, d: rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), (n, d)),
    "Student": lambda rng, n, d: rng.standard_t(5, (n, d)) / np.sqrt(5.0 / 3.0),
}
"""Rows whose second moment is the identity; those of Student's law are not sub-Gaussian."""


def eigenvalues(study: Study, repeat: Repeat) -> Iterator[Line]:
    """
    Extreme eigenvalues of S_B^(-1/2) S S_B^(-1/2).

    No linear map of the rows moves them, so that S is the identity here.
    """
    one = repeat.setting
    for name in study.methods:
        rows = LAWS[name](np.random.default_rng(repeat.seed(name)), one.n_public, one.d)
        values = 1.0 / np.linalg.eigvalsh(rows.T @ rows / one.n_public)
        yield Line(one, repeat.number, name, SMALLEST, float(values[-1]))
        yield Line(one, repeat.number, name, LARGEST, float(values[0]))
    lower, upper = moment_bounds(n_public=one.n_public, d=one.d, eta=one.eta)
    yield Line(one, repeat.number, THEOREM, SMALLEST, lower)
    yield Line(one, repeat.number, THEOREM, LARGEST, upper)


def contained(name: str) -> Judge:
    """In a share 1 - 2 eta of the repeats, at least, all eigenvalues are between L and U."""

    def judge(results: Results) -> Verdict:
        shares = []
        for setting in results.study.settings:
            lower = results.median(setting, THEOREM, SMALLEST)
            upper = results.median(setting, THEOREM, LARGEST)
            small, large = (
                np.array(results.values[setting, name, measure]) for measure in (SMALLEST, LARGEST)
            )
            inside = float(np.mean((small >= lower) & (large <= upper)))
            shares.append((inside, results.where(setting)))
        wanted = 1.0 - 2.0 * results.study.settings[0].eta
        good = sum(share >= wanted for share, _ in shares)
        least, place = min(shares)
        return Verdict(good, len(shares), f"least {least:.1%} of repeats at {place}")

    return judge


def tends_to_one(results: Results) -> Verdict:
    """The eigenvalues of Gaussian rows are near each other with a few times d public rows."""
    few = next(s for s in results.study.settings if s.n_public == 20 * s.d)
    ratio = results.median(few, "Gaussian", LARGEST) / results.median(few, "Gaussian", SMALLEST)
    bounds = results.median(few, THEOREM, LARGEST) / results.median(few, THEOREM, SMALLEST)
    evidence = f"largest over smallest {number(ratio)} with {few.n_public} public rows; U over L "
    return Verdict(int(ratio <= NEAR**2), 1, evidence + number(bounds))


STUDY = Study(
    name="eigenvalues",
    title="L and U of Theorem 3.1",
    x="n_public",
    settings=tuple(
        Setting(n_public=k) for k in (20, 30, 50, 100, 200, 500, 1_000, 3_000, 10_000, 100_000)
    ),
    methods=tuple(LAWS),
    styles={
        "Gaussian": Style("Gaussian rows", "#1f77b4", "o"),
        "uniform": Style("uniform rows", "#2ca02c", "s"),
        "Student": Style("Student's rows, 5 degrees of freedom", "#ff7f0e", "^"),
        THEOREM: Style("L and U", "#17becf", "", "-."),
    },
    measure=eigenvalues,
    measures=(SMALLEST, LARGEST),
    stated="Theorem 3.1; U is infinite up to 23 public rows",
    chosen="1 for the O(.), which is what Gaussian rows need; eta = 0.05; three laws of rows",
    claims=(
        Claim("all eigenvalues of Gaussian rows are within L and U", contained("Gaussian")),
        Claim("those of uniform rows, which are sub-Gaussian too", contained("uniform")),
        Claim("those of Student's rows, of which the theorem says nothing", contained("Student")),
        Claim("20 d public rows bring all eigenvalues near 1", tends_to_one),
    ),
    repeats=1_000,
)

if __name__ == "__main__":
    main(STUDY)
