"""Condition numbers: how figure 1 depends on the covariance, which the paper leaves open."""

from __future__ import annotations

from experiments.claims import AGAINST_ROWS
from experiments.plumbing import OURS_EVERY, RIDGE, Descent, Design, Figure, Panel, Simulated, main


def panel(condition: float) -> Panel:
    """The setting of figure 1 with another condition number."""
    design = Design(
        data=Simulated("linear", d=10, n_public=200, condition=condition),
        methods=("gd", *RIDGE),
        sizes=(1_000, 3_000, 10_000),
        mus=(3.0,),
        alphas=(0.0,),
        eta=0.05,
        descent=Descent(iterations=1_000, clip=1.0, step=0.09),
        every=(("gd", 6), *OURS_EVERY),
    )
    return Panel(f"condition {condition:g}", design, AGAINST_ROWS)


FIGURE = Figure(
    name="conditions",
    title="Figure 1 with other condition numbers",
    x="n",
    repeats=100,
    stated="as for figure 1",
    chosen="as for figure 1, and the condition numbers; 100 repeats, DP-GD in every sixth of them",
    panels=(panel(1.0), panel(100.0), panel(1e4)),
)

if __name__ == "__main__":
    main(FIGURE)
