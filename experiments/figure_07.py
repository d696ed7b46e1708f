"""Figure 7: DP-PMTLR and DP-LR on simulated rows, per iteration, for several budgets."""

from __future__ import annotations

from experiments.claims import ITERATIONS_AND_BUDGETS
from experiments.plumbing import LOGISTIC, Design, Figure, Panel, Simulated, main


def panel(condition: float) -> Panel:
    """Rows of some condition number, at every budget."""
    design = Design(
        data=Simulated("logistic", d=8, n_public=100, condition=condition),
        methods=LOGISTIC,
        sizes=(10_000,),
        mus=(1.0, 3.0, 10.0, 30.0),
        alphas=(1e-3,),
        eta=0.05,
        iterations=8,
    )
    return Panel(f"condition {condition:g}", design, ITERATIONS_AND_BUDGETS)


FIGURE = Figure(
    name="figure-07",
    title="Figure 7: logistic regression, budgets, simulated",
    x="iteration",
    facet="mu",
    repeats=100,
    stated="d = 8, n_A = 1e4 (printed as n_B), n_B = 100, lambda = 1e-3, eta = 0.05; 100 repeats",
    chosen=(
        "mu, T = 8 (without noise, Newton's method settles in five steps at condition number 100), "
        "the population, with condition number 1e4 as an extra"
    ),
    panels=(panel(100.0), panel(1e4)),
)

if __name__ == "__main__":
    main(FIGURE)
