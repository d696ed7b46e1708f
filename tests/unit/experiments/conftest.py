"""A figure that is small enough to run in a moment."""

import pytest

from experiments.plumbing import Design, Figure, Panel, Simulated
from experiments.plumbing.judges import below, falls
from experiments.plumbing.judging import Claim


@pytest.fixture
def figure() -> Figure:
    """Two sizes and three methods, of which one is private and one is thinned."""
    design = Design(
        data=Simulated("linear", d=2, n_public=8, condition=4.0),
        methods=("non-private", "public", "pmt"),
        sizes=(30, 60),
        mus=(1.0, 5.0),
        alphas=(0.0,),
        eta=0.05,
        every=(("public", 3),),
    )
    claims = (
        Claim("less error than others", below("non-private", "public", "pmt")),
        Claim("more rows, more error", falls("non-private", "mu")),
    )
    return Figure(
        name="tiny",
        title="A tiny figure",
        panels=(Panel("simulated", design, claims),),
        x="n",
        facet="mu",
        repeats=12,
        stated="nothing",
        chosen="everything",
    )
