"""Figure 9: DP-PMTLR and DP-LR on bank and banknote, per iteration, for several budgets."""

from __future__ import annotations

from experiments.claims import ITERATIONS_AND_BUDGETS
from experiments.plumbing import LOGISTIC, OURS_EVERY, Design, Figure, Panel, Real, main


def panel(name: str, data: Real, n: int, penalty: float) -> Panel:
    """One of the two tables, at every budget."""
    design = Design(
        data=data,
        methods=LOGISTIC,
        sizes=(n,),
        mus=(1.0, 3.0, 10.0, 30.0),
        alphas=(penalty,),
        eta=1e-3,
        iterations=8,
        every=OURS_EVERY if name == "bank" else (),
    )
    return Panel(name, design, ITERATIONS_AND_BUDGETS)


BANK = Real("bank", n_public=4_521, scaled=True)
NOTE = Real("banknote", n_public=137, reference=0.01)
SCALED_NOTE = Real("banknote", n_public=137, reference=0.01, scaled=True)

FIGURE = Figure(
    name="figure-09",
    title="Figure 9: logistic regression, budgets, real data",
    x="iteration",
    facet="mu",
    repeats=100,
    stated=(
        "10 % of the rows public; bank with d = 16, lambda = 0; banknote with a column of ones, "
        "d = 5, lambda = 0.01; eta = 1e-3; 100 repeats"
    ),
    chosen=(
        "mu; T = 8; how the 16 features of bank become 16 numbers (levels by their index in the "
        "documented order) and their units, divided by the root mean square of the public column, "
        "not centred, without an intercept; banknote in raw units and, as an extra, in the same "
        "public units as bank"
    ),
    panels=(
        panel("bank", BANK, 40_690, 0.0),
        panel("banknote", NOTE, 1_235, 0.01),
        panel("banknote, scaled", SCALED_NOTE, 1_235, 0.01),
    ),
)


if __name__ == "__main__":
    main(FIGURE)
