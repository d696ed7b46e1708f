"""Figure 5: DP-PMTRR and DP-RR on wine and power plant, against private rows and budgets."""

from __future__ import annotations

from experiments.claims import AGAINST_ROWS_AND_BUDGETS
from experiments.plumbing import OURS_EVERY, RIDGE, Design, Figure, Panel, Real, main


def panel(name: str, n_public: int, sizes: tuple[int, ...]) -> Panel:
    """One of the two tables, at every size and budget."""
    design = Design(
        data=Real(name, n_public=n_public),
        methods=RIDGE,
        sizes=sizes,
        mus=(1.0, 3.0, 10.0, 20.0),
        alphas=(0.0,),
        eta=1e-3,
        every=OURS_EVERY,
    )
    return Panel(name, design, AGAINST_ROWS_AND_BUDGETS)


FIGURE = Figure(
    name="figure-05",
    title="Figure 5: private rows and budgets, real data",
    x="n",
    facet="mu",
    repeats=300,
    stated="n_B = 245 (wine), 192 (power plant), lambda = 0, eta = 1e-3; 300 repeats",
    chosen="n_A, mu; features in raw units",
    panels=(
        panel("wine", 245, (1_000, 2_000, 3_200, 4_653)),
        panel("power plant", 192, (1_000, 2_500, 5_000, 9_376)),
    ),
)


if __name__ == "__main__":
    main(FIGURE)
