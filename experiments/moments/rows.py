"""Error of the inverse against the number of private rows."""

from __future__ import annotations

from experiments.moments.commands import main
from experiments.moments.methods import POPULATION, SAMPLE, STYLES, inverse_errors
from experiments.moments.results import below, bounded, falls
from experiments.moments.studies import Claim, Setting, Study

EVERY = ("published", "oracle", "matrix", "rows", "plain", "public")

OURS = (
    Claim(
        "(ours) a release with the same public matrix is more accurate than PMT, everywhere",
        below("matrix", "published", SAMPLE),
    ),
    Claim(
        "(ours) a release with the public rows is more accurate than PMT, everywhere",
        below("rows", "published", SAMPLE),
    ),
)
"""What all studies of the inverse ask of the library's own release."""

STUDY = Study(
    name="inverse-rows",
    title="The inverse against private rows",
    x="n",
    settings=tuple(Setting(n=n) for n in (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)),
    methods=EVERY,
    styles=STYLES,
    measure=inverse_errors,
    measures=(SAMPLE, POPULATION),
    stated="Theorems 3.3 and 3.4; no experiment",
    chosen="mu = 1, condition 100, 200 public rows, no penalty, eta = 0.05",
    claims=(
        Claim(
            "where its condition is met, the error of PMT falls like 1/n, as its bound does",
            falls("published", SAMPLE, -1.0),
        ),
        Claim(
            "where its condition is met, PMT is below the bound of Theorem 3.3 with probability "
            "1 - eta",
            bounded("published", "bound", SAMPLE),
        ),
        Claim(
            "where its condition is met, PMT is below the bound as printed",
            bounded("published", "printed", SAMPLE),
        ),
        Claim(
            "where its condition is met, the oracle is below the bound of Theorem 3.4",
            bounded("oracle", "oracle bound", SAMPLE, of="oracle"),
        ),
        Claim(
            "PMT is more accurate than the same without public data, at every size",
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
