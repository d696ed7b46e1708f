"""Figure 8: DP-PMTLR and DP-LR on simulated rows, per iteration, for several penalties."""

from __future__ import annotations

from experiments.claims import iterations_and_penalties
from experiments.plumbing import LOGISTIC, Design, Figure, Panel, Simulated, main


def panel(condition: float) -> Panel:
    """Rows of some condition number, at every penalty."""
    design = Design(
        data=Simulated("logistic", d=8, n_public=100, condition=condition),
        methods=LOGISTIC,
        sizes=(8_000,),
        mus=(10.0,),
        alphas=(0.0, 1e-3, 1e-2, 1e-1),
        eta=0.05,
        iterations=8,
    )
    return Panel(f"condition {condition:g}", design, iterations_and_penalties(failing=0.0))


FIGURE = Figure(
    name="figure-08",
    title="Figure 8: logistic regression, penalties, simulated",
    x="iteration",
    facet="alpha",
    repeats=100,
    stated="d = 8, n_A = 8000, n_B = 100, mu = 10, eta = 0.05, one lambda 0; 100 repeats",
    chosen="the other lambda, T = 8, the population, with condition number 1e4 as an extra",
    panels=(panel(100.0), panel(1e4)),
)

if __name__ == "__main__":
    main(FIGURE)
