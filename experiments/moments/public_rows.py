"""Error of the inverse against public rows: whether about as many as columns suffice."""

from __future__ import annotations

from experiments.moments.commands import main
from experiments.moments.methods import CONDITION, POPULATION, SAMPLE, STYLES, inverse_errors
from experiments.moments.results import Results, below, steady
from experiments.moments.rows import EVERY, OURS
from experiments.moments.studies import Claim, Setting, Study
from experiments.plumbing.judging import Verdict, number

D = 10
ORDER_D = 5
"""So many times d counts as of order d."""


def suffices(results: Results) -> Verdict:
    """With a few times d public rows, the error is within a factor of 2 of that with the most."""
    settings = results.study.settings
    few = next(s for s in settings if s.n_public == ORDER_D * D)
    values = [results.median(s, "published", SAMPLE) for s in (few, settings[-1])]
    evidence = f"{number(values[0])} with {few.n_public}, {number(values[1])} with "
    evidence += f"{settings[-1].n_public:,} public rows"
    return Verdict(int(values[0] <= 2.0 * values[1]), 1, evidence)


STUDY = Study(
    name="inverse-public-rows",
    title="The inverse against public rows",
    x="n_public",
    settings=tuple(Setting(n_public=k, d=D) for k in (11, 15, 20, 30, 50, 100, 200, 1_000, 10_000)),
    methods=EVERY,
    styles=STYLES,
    measure=inverse_errors,
    measures=(SAMPLE, POPULATION, CONDITION),
    stated="O(d + log(1/eta)) public rows control the condition number",
    chosen="mu = 1, condition 100, 30,000 private rows, no penalty, eta = 0.05; as everywhere in "
    "the library, a public matrix of fewer than 2 d rows is shrunk before it whitens, which costs "
    "here",
    claims=(
        Claim(
            f"public rows of order d suffice: {ORDER_D} d of them cost less than a factor of 2",
            suffices,
        ),
        Claim(
            "from 2 d public rows on, the error of PMT changes by less than a factor of 2",
            steady("published", SAMPLE, 2.0, lambda one: one.n_public >= 2 * D),
        ),
        Claim(
            "PMT is more accurate than the same without public data from 11 public rows on",
            below("published", "oracle", SAMPLE),
        ),
        *OURS,
        Claim(
            "(ours) a release with the public rows is more accurate than these rows alone",
            below("rows", "public", POPULATION),
        ),
    ),
)

if __name__ == "__main__":
    main(STUDY)
