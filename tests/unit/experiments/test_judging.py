"""Claims are judged both ways: borne out by some numbers, refuted by others."""

from dataclasses import replace
from typing import Any

import pytest

from experiments.plumbing import judges
from experiments.plumbing.figures import Cell, Figure, Panel
from experiments.plumbing.findings import findings
from experiments.plumbing.judging import Judge, Verdict, View
from experiments.plumbing.tables import Key, Summary


def summary(centre: float, spread: float = 0.1) -> Summary:
    """Numbers whose median differs from the mean, so that the two measures can disagree."""
    return Summary(10, centre, spread, centre / 2, 0.0, spread)


def view(figure: Figure, values: dict[str, Any], **design: Any) -> View:
    """A view of made-up numbers: by method, a list over the cells of the design."""
    panel = Panel("p", replace(figure.panels[0].design, methods=tuple(values), **design))
    cells = list(panel.design.cells())
    summaries = {
        Key("p", cell, method, None): value if isinstance(value, Summary) else summary(value)
        for method, numbers in values.items()
        for cell, value in zip(cells, numbers, strict=True)
    }
    return View(panel, summaries)


ROWS = {"sizes": (10, 100, 1000), "mus": (1.0,), "alphas": (0.0,)}
BUDGETS = {"sizes": (10,), "mus": (1.0, 3.0), "alphas": (0.0,)}
PENALTIES = {"sizes": (10,), "mus": (1.0,), "alphas": (0.0, 0.1, 1.0)}

CASES = [
    (judges.below("pmt", "gd"), ROWS, {"pmt": [1, 1, 1], "gd": [2, 2, 2]}, True),
    (judges.below("pmt", "gd"), ROWS, {"pmt": [1, 3, 1], "gd": [2, 2, 2]}, False),
    (judges.below_at_most_rows("pmt", "gd"), ROWS, {"pmt": [9, 9, 1], "gd": [2, 2, 2]}, True),
    (judges.below_at_most_rows("pmt", "gd"), ROWS, {"pmt": [1, 1, 9], "gd": [2, 2, 2]}, False),
    (judges.below_with_less("pmt", "gd"), BUDGETS, {"pmt": [3, 9], "gd": [1, 4]}, True),
    (judges.below_with_less("pmt", "gd"), BUDGETS, {"pmt": [5, 1], "gd": [9, 4]}, False),
    (judges.falls("pmt", "n"), ROWS, {"pmt": [3, 2, 2.05]}, True),
    (judges.falls("pmt", "n"), ROWS, {"pmt": [3, 2, 2.5]}, False),
    (judges.flat("gd"), ROWS, {"gd": [3.0, 2.8, 2.6]}, True),
    (judges.flat("gd"), ROWS, {"gd": [3.0, 1.0, 0.3]}, False),
    (judges.dearer_at_end("pmt"), PENALTIES, {"pmt": [2, 1, 3]}, True),
    (judges.dearer_at_end("pmt"), PENALTIES, {"pmt": [3, 2, 1]}, False),
    (judges.optimum_inside("pmt"), PENALTIES, {"pmt": [2, 1, 3]}, True),
    (judges.optimum_inside("pmt"), PENALTIES, {"pmt": [1, 2, 3]}, False),
    (judges.best_at("pmt", 0.1), PENALTIES, {"pmt": [2, 1, 3]}, True),
    (judges.best_at("pmt", 0.1), PENALTIES, {"pmt": [1, 2, 3]}, False),
    (judges.less_sensitive("pmt", "gd"), PENALTIES, {"pmt": [2, 1, 3], "gd": [1, 2, 9]}, True),
    (judges.less_sensitive("pmt", "gd"), PENALTIES, {"pmt": [1, 2, 9], "gd": [2, 1, 3]}, False),
    (
        judges.optimum_unsteady("pmt"),
        PENALTIES,
        {"pmt": [summary(2, 9), summary(1, 8), summary(3, 1)]},
        True,
    ),
    (
        judges.optimum_unsteady("pmt"),
        PENALTIES,
        {"pmt": [summary(2, 9), summary(1, 1.5), summary(3, 1)]},
        False,
    ),
]


@pytest.mark.parametrize(("judge", "design", "values", "expected"), CASES)
def test_judges(
    figure: Figure, judge: Judge, design: dict[str, Any], values: dict[str, Any], expected: bool
):
    verdict = judge(view(figure, values, **design))
    assert verdict.holds is expected
    assert verdict.evidence


def path_view(figure: Figure, centres: list[float], spreads: list[float]) -> View:
    """Paths of two methods, of which the second is steady and lands at one."""
    design = replace(
        figure.panels[0].design,
        methods=("pmt logistic", "oracle logistic"),
        iterations=len(centres) - 1,
        **{**PENALTIES, "alphas": (0.0,)},
    )
    summaries = {}
    for step, (centre, spread) in enumerate(zip(centres, spreads, strict=True)):
        cell = Cell(10, 1.0, 0.0)
        summaries[Key("p", cell, "pmt logistic", step)] = summary(centre, spread)
        summaries[Key("p", cell, "oracle logistic", step)] = summary(1.0, 0.5)
    return View(Panel("p", design), summaries)


def test_paths(figure):
    steady = path_view(figure, [4.0, 2.0, 1.0], [0.1, 0.2, 0.3])
    wild = path_view(figure, [4.0, 9.0, 90.0], [0.1, 0.2, 30.0])
    converges = judges.converges("pmt logistic", 0.0)
    fails = judges.converges("pmt logistic", 0.0, expected=False)
    assert converges(steady).holds
    assert not converges(wild).holds
    assert fails(wild).holds
    assert not fails(steady).holds
    steadier = judges.steadier_iterations("pmt logistic", "oracle logistic")
    assert steadier(steady).holds
    assert (steadier(wild).good, steadier(wild).of) == (1, 2)


def test_measures_can_disagree(figure):
    numbers = {
        "pmt": [Summary(10, mean=9.0, sd=20.0, median=1.0, q10=0.5, q90=2.0)],
        "gd": [Summary(10, mean=3.0, sd=1.0, median=3.0, q10=2.0, q90=4.0)],
    }
    seen = view(figure, numbers, sizes=(10,), mus=(1.0,))
    judge = judges.below("pmt", "gd")
    assert not judge(seen).holds
    assert judge(replace(seen, measure="median")).holds


def test_infinite_errors_are_worse_than_any(figure):
    seen = view(figure, {"pmt": [float("inf")], "gd": [1.0]}, sizes=(10,), mus=(1.0,))
    assert not judges.below("pmt", "gd")(seen).holds
    assert judges.below("gd", "pmt")(seen).holds


def test_verdict_says_how_far_a_claim_holds():
    assert str(Verdict(3, 3, "e")) == "holds: e"
    assert str(Verdict(0, 3, "e")) == "fails: e"
    assert str(Verdict(1, 3, "e")) == "partly (1 of 3): e"


def test_evidence_quotes_the_worst_comparison(figure):
    seen = view(figure, {"pmt": [1, 3, 8], "gd": [2, 2, 2]}, **ROWS)
    assert judges.below("pmt", "gd")(seen).evidence == "worst 8 against 2 at n 1000"


def test_findings_are_counted(figure):
    values = {"public": [1, 1, 1], "pmt": [4, 2, 0.5], "oracle": [3, 3, 3]}
    first, second = findings(view(figure, values, **ROWS))
    assert first[:3] == ("Public only is more accurate than DP-PMTRR (paper)", 2, 3)
    assert second[1:] == (1, 3, "most at n 10: 4 against 3")
