"""Figure 1: DP-PMTRR, DP-RR and DP-GD on simulated rows, against the number of private rows."""

from __future__ import annotations

from experiments.claims import AGAINST_ROWS
from experiments.plumbing import OURS_EVERY, RIDGE, Descent, Design, Figure, Panel, Simulated, main

FIGURE = Figure(
    name="figure-01",
    title="Figure 1: methods on simulated rows, against private rows",
    x="n",
    repeats=300,
    stated="d = 10, n_B = 200, no penalty; DP-GD with T = 1000, c = 1, lr = 0.09; 300 repeats",
    chosen="n_A, mu = 3, eta = 0.05, the population",
    panels=(
        Panel(
            "simulated",
            Design(
                data=Simulated("linear", d=10, n_public=200),
                methods=("gd", *RIDGE),
                sizes=(1_000, 2_000, 4_000, 6_000, 10_000),
                mus=(3.0,),
                alphas=(0.0,),
                eta=0.05,
                descent=Descent(iterations=1_000, clip=1.0, step=0.09),
                every=OURS_EVERY,
            ),
            AGAINST_ROWS,
        ),
    ),
)


if __name__ == "__main__":
    main(FIGURE)
