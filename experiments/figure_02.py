"""Figure 2: DP-PMTRR and DP-RR on simulated rows, against private rows and budgets."""

from __future__ import annotations

from experiments.claims import AGAINST_ROWS_AND_BUDGETS
from experiments.plumbing import OURS_EVERY, RIDGE, Design, Figure, Panel, Simulated, main

FIGURE = Figure(
    name="figure-02",
    title="Figure 2: private rows and budgets, simulated",
    x="n",
    facet="mu",
    repeats=300,
    stated="d = 10, n_B = 20, lambda = 0.01, eta = 0.05; 300 repeats",
    chosen="n_A, mu, the population",
    panels=(
        Panel(
            "simulated",
            Design(
                data=Simulated("linear", d=10, n_public=20),
                methods=RIDGE,
                sizes=(1_000, 2_000, 5_000, 10_000),
                mus=(0.5, 1.0, 3.0, 10.0),
                alphas=(0.01,),
                eta=0.05,
                every=OURS_EVERY,
            ),
            AGAINST_ROWS_AND_BUDGETS,
        ),
    ),
)


if __name__ == "__main__":
    main(FIGURE)
