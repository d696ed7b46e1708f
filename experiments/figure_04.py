"""Figure 4: DP-PMTRR, DP-RR and DP-GD on wine and power plant, against private rows."""

from __future__ import annotations

from experiments.claims import AGAINST_ROWS, against_descent
from experiments.plumbing import OURS_EVERY, RIDGE, Descent, Design, Figure, Panel, Real, main

METHODS = ("gd", "gd-scaled", *RIDGE)
CLAIMS = (*AGAINST_ROWS, *against_descent("gd-scaled", "DP-GD (publicly scaled)"))

# DP-GD costs more than all others together: the variant that fails is thinned. On the power plant
# both fail, alike in every repeat.
WINE_EVERY = (("gd", 10), *OURS_EVERY)
PLANT_EVERY = (("gd", 3), ("gd-scaled", 10), *OURS_EVERY)

FIGURE = Figure(
    name="figure-04",
    title="Figure 4: methods on real data, against private rows",
    x="n",
    repeats=300,
    stated=(
        "n_B = 245 (wine), 192 (power plant), eta = 1e-3, no penalty; DP-GD with T = 1000, "
        "c = 3, lr = 0.5 (wine) and c = 2, lr = 0.04 (power plant); 300 repeats"
    ),
    chosen=(
        "n_A; mu = 20 (wine) and 3 (power plant), the only ones the paper states for these data; "
        "the units of features. They are taken as they come. In these units no step of DP-GD can "
        "be right for all features, and it ends hardly nearer than the zero vector, so that it is "
        "also run on features divided by the largest absolute value of their public column. With "
        "these the stated c and lr suit the wine; on the power plant no scaling of columns that "
        "we tried helps, as 1000 steps of at most lr c = 0.08 do not reach responses near 450. "
        "DP-GD runs in every tenth repeat on wine in raw units and on the scaled power plant, in "
        "every third on the power plant in raw units: where it fails it does so alike in all"
    ),
    panels=(
        Panel(
            "wine",
            Design(
                data=Real("wine", n_public=245),
                methods=METHODS,
                sizes=(1_000, 1_800, 2_700, 3_600, 4_653),
                mus=(20.0,),
                alphas=(0.0,),
                eta=1e-3,
                descent=Descent(iterations=1_000, clip=3.0, step=0.5),
                every=WINE_EVERY,
            ),
            CLAIMS,
        ),
        Panel(
            "power plant",
            Design(
                data=Real("power plant", n_public=192),
                methods=METHODS,
                sizes=(1_000, 2_000, 4_000, 6_500, 9_376),
                mus=(3.0,),
                alphas=(0.0,),
                eta=1e-3,
                descent=Descent(iterations=1_000, clip=2.0, step=0.04),
                every=PLANT_EVERY,
            ),
            CLAIMS,
        ),
    ),
)


if __name__ == "__main__":
    main(FIGURE)
