"""The declared figures fit together: methods exist, claims can be judged."""

import pytest

from experiments.__main__ import MODULES
from experiments.plumbing.figures import Figure, units
from experiments.plumbing.findings import findings
from experiments.plumbing.judging import MEASURES, View
from experiments.plumbing.methods import METHODS
from experiments.plumbing.tables import Key, Summary

FIGURES = [module.FIGURE for module in MODULES]


def test_names_are_unique():
    assert len({figure.name for figure in FIGURES}) == len(FIGURES)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_every_claim_can_be_judged(figure: Figure):
    for panel in figure.panels:
        design = panel.design
        assert set(design.methods) <= set(METHODS)
        assert (design.descent is not None) == ("gd" in design.methods)
        steps = range(design.iterations + 1)
        equal = Summary(2, 1.0, 0.5, 1.0, 0.5, 1.5)
        summaries = {
            Key(panel.name, cell, method, step): equal
            for cell in design.cells()
            for method in design.methods
            for step in (steps if figure.x == "iteration" and "pmt" in method else [None])
        }
        for measure in MEASURES:
            view = View(panel, summaries, measure)
            verdicts = [claim.judge(view) for claim in panel.claims]
            assert all(0 <= verdict.good <= verdict.of for verdict in verdicts)
            assert all(findings(view))


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_pieces_cover_every_repeat_once(figure: Figure):
    for panel in figure.panels:
        work = units(panel.design, figure.repeats)
        for n in panel.design.sizes:
            covered = [r for unit in work if unit.design.sizes == (n,) for r in unit.repeats]
            assert covered == list(range(figure.repeats))
