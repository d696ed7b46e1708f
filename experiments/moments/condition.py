"""Error of the inverse against the condition number of the second moment."""

from __future__ import annotations

from experiments.moments.commands import main
from experiments.moments.methods import CONDITION, SAMPLE, STYLES, WHITENED, inverse_errors
from experiments.moments.results import below, grows, never_above_first, steady
from experiments.moments.rows import EVERY, OURS
from experiments.moments.studies import Claim, Setting, Study

STUDY = Study(
    name="inverse-condition",
    title="The inverse against the condition number",
    x="condition",
    settings=tuple(Setting(condition=c) for c in (1.0, 10.0, 100.0, 1e3, 1e4, 1e6)),
    methods=EVERY,
    styles=STYLES,
    measure=inverse_errors,
    measures=(SAMPLE, WHITENED, CONDITION),
    stated="bounds and condition do not depend on the average condition number with public moments",
    chosen="mu = 1, 30,000 private and 200 public rows, no penalty, eta = 0.05",
    claims=(
        Claim(
            "the condition of stability does not depend on the condition number with public "
            "moments",
            steady("published", CONDITION, 1.01, lambda one: True),
        ),
        Claim(
            "without public moments it grows with the condition number",
            grows("oracle", CONDITION),
        ),
        Claim(
            "in whitened coordinates, the error of PMT depends on the condition number by less "
            "than a factor of 2",
            steady("published", WHITENED, 2.0, lambda one: True),
        ),
        Claim(
            "relative to the inverse, the error of PMT does not grow with the condition number",
            never_above_first("published", SAMPLE),
        ),
        Claim("the error of the oracle grows with the condition number", grows("oracle", SAMPLE)),
        Claim(
            "PMT is more accurate than the same without public data at every condition number",
            below("published", "oracle", SAMPLE),
        ),
        *OURS,
    ),
)

if __name__ == "__main__":
    main(STUDY)
