"""The studies of second moments: declared whole, measured, judged so that claims can fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.moments import commands, results, rows
from experiments.moments.__main__ import MODULES
from experiments.moments.methods import SAMPLE, WHITENED
from experiments.moments.results import Results
from experiments.moments.studies import Line, Setting, measured

STUDIES = [module.STUDY for module in MODULES]
SMALL = replace(
    rows.STUDY, settings=tuple(Setting(n=n, d=3, n_public=40, mu=5.0) for n in (500, 2_000))
)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_studies_vary_one_thing(study):
    values = [getattr(setting, study.x) for setting in study.settings]
    assert values == sorted(set(values))
    assert len({replace(s, **{study.x: values[0]}) for s in study.settings}) == 1
    assert len({claim.text for claim in study.claims}) == len(study.claims) >= 4
    assert set(study.methods) <= set(study.styles)


def test_names_are_different():
    assert len({study.name for study in STUDIES}) == len(STUDIES) == 5


def test_a_run_writes_page_picture_and_table(tmp_path):
    arguments = ["--repeats", "2", "--jobs", "1", "--output", str(tmp_path)]
    commands.main(SMALL, page=True, arguments=arguments)
    page = (tmp_path / "MOMENTS.md").read_text()
    kept = (tmp_path / "claims.csv").read_text()
    assert all(claim.text in kept for claim in SMALL.claims)
    assert f"of {len(SMALL.claims)} claims hold" in page
    assert (tmp_path / "inverse-rows.png").stat().st_size > 10_000
    lines = (tmp_path / "inverse-rows.csv").read_text().splitlines()
    assert lines[1].startswith("n,condition,alpha,n_public,d,mu,eta,method,measure,count,mean")
    assert all(claim.judge(_measured(SMALL, 2)).of >= 1 for claim in SMALL.claims)
    commands.main(SMALL, page=True, arguments=["--plot", "--output", str(tmp_path)])
    assert (tmp_path / "MOMENTS.md").read_text() == page


def _measured(study, repeats):
    found = Results(study)
    for number in range(repeats):
        found.add(measured(study, number))
    return found


def test_measurements_are_reproducible_and_differ_by_repeat():
    first, again, other = measured(SMALL, 0), measured(SMALL, 0), measured(SMALL, 1)
    assert first == again
    assert [line.value for line in first] != [line.value for line in other]
    plain = [ln.value for ln in first if (ln.method, ln.measure) == ("plain", SAMPLE)]
    assert plain == [0.0, 0.0]


def made_up(values):
    """Results with given medians: (method, measure) to one value for each setting."""
    found = Results(SMALL)
    for (method, measure), series in values.items():
        for setting, value in zip(SMALL.settings, series, strict=True):
            found.add(Line(setting, k, method, measure, value) for k in range(3))
    return found


@pytest.mark.parametrize(
    ("judge", "holds", "fails"),
    [
        (results.below("a", "b", SAMPLE), {"a": (1, 1), "b": (2, 2)}, {"a": (1, 3), "b": (2, 2)}),
        (results.grows("a", SAMPLE), {"a": (1, 2)}, {"a": (2, 1)}),
        (results.never_above_first("a", SAMPLE), {"a": (2, 1)}, {"a": (1, 2)}),
        (results.falls("a", SAMPLE, -1.0, robust=False), {"a": (4, 1)}, {"a": (2, 1)}),
        (results.steady("a", SAMPLE, 2.0, lambda one: True), {"a": (1, 1.9)}, {"a": (1, 2.1)}),
    ],
)
def test_judges_can_say_no(judge, holds, fails):
    for values, expected in ((holds, True), (fails, False)):
        found = made_up({(name, SAMPLE): series for name, series in values.items()})
        assert judge(found).holds is expected


def test_bounds_are_judged_where_the_condition_is_met():
    judge = results.bounded("a", "bound", WHITENED)
    met = {("published", "condition of stability"): (0.9, 0.4), ("bound", WHITENED): (1, 1)}
    assert judge(made_up({**met, ("a", WHITENED): (5, 0.5)})).holds
    verdict = judge(made_up({**met, ("a", WHITENED): (0.5, 5)}))
    assert (verdict.good, verdict.of) == (0, 1)
    nowhere = {("published", "condition of stability"): (0.9, 0.9)}
    assert not judge(made_up({**met, **nowhere, ("a", WHITENED): (0, 0)})).holds
