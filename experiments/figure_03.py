"""Figure 3: DP-PMTRR and DP-RR on simulated rows, against the penalty."""

from __future__ import annotations

from experiments.claims import AGAINST_PENALTIES
from experiments.plumbing import OURS_EVERY, RIDGE, Design, Figure, Panel, Simulated, main

FIGURE = Figure(
    name="figure-03",
    title="Figure 3: penalties, simulated",
    x="alpha",
    repeats=300,
    stated="d = 10, n_A = 1e4, n_B = 100, mu = 3, eta = 0.05; 300 repeats",
    chosen="lambda, the population",
    panels=(
        Panel(
            "simulated",
            Design(
                data=Simulated("linear", d=10, n_public=100),
                methods=RIDGE,
                sizes=(10_000,),
                mus=(3.0,),
                alphas=(0.0, 1e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0),
                eta=0.05,
                every=OURS_EVERY,
            ),
            AGAINST_PENALTIES,
        ),
    ),
)


if __name__ == "__main__":
    main(FIGURE)
