"""Tables, pictures and the page say how they were made and hold what was measured."""

import csv
import shutil
from dataclasses import astuple

import numpy as np
import pytest
from PIL import Image

from experiments.plumbing import commands
from experiments.plumbing.figures import Figure
from experiments.plumbing.running import Outcome
from experiments.plumbing.tables import read_summaries, summarise, summary, write_tables
from experiments.plumbing.work import Line


@pytest.fixture
def outcome() -> Outcome:
    lines = [Line(30, 1.0, 0.0, repeat, "pmt", None, 1.0 + repeat) for repeat in range(4)]
    return Outcome({"simulated": lines})


def rows(path):
    with path.open(newline="") as file:
        made, budgets = file.readline(), file.readline()
        return made, budgets, list(csv.DictReader(file))


def test_tables_start_with_how_they_were_made(figure, outcome, tmp_path):
    short, full = write_tables(tmp_path, figure, outcome, "`command`; date; seeds; versions")
    for path in (short, full):
        made, budgets, _ = rows(path)
        assert made == "# `command`; date; seeds; versions\n"
        assert "sqrt(2) mu" in budgets
    assert [row["error"] for row in rows(full)[2]] == ["1", "2", "3", "4"]
    (line,) = rows(short)[2]
    assert (line["method"], line["count"], line["mean"]) == ("DP-PMTRR (paper)", "4", "2.5")


def test_measurements_go_where_git_does_not_look(figure, outcome, tmp_path):
    short, full = write_tables(tmp_path, figure, outcome, "made")
    assert (short.parent, full.parent) == (tmp_path, tmp_path / "raw")


def test_summaries_are_read_as_they_were_written(figure, outcome, tmp_path):
    write_tables(tmp_path, figure, outcome, "made; today")
    found, made, repeats = read_summaries(tmp_path, figure)
    assert (made, repeats) == ("made; today", 4)
    ((key, values),) = summarise(outcome).items()
    assert astuple(found[key]) == pytest.approx(astuple(values), rel=1e-4)


def test_summary_of_diverged_runs_is_not_a_number_in_disguise():
    values = summary(np.array([1.0, 2.0, np.inf]))
    assert (values.mean, values.sd, values.median) == (np.inf, np.inf, 2.0)


def test_thinned_summary_takes_common_repeats(outcome):
    (values,) = summarise(outcome, 3).values()
    assert (values.count, values.mean) == (2, 2.5)


def test_whole_run_writes_everything(figure: Figure, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["experiments/__main__.py", "--repeats", "4"])
    folder = tmp_path / "results"
    arguments = ["--repeats", "4", "--jobs", "1", "--output", str(folder)]
    commands.main(figure, page=True, arguments=arguments)
    names = {path.name for path in folder.iterdir()}
    kept = {"overview.csv", "overview.png", "claims.csv", "findings.csv", "figures.csv"}
    assert names == kept | {"tiny-summary.csv", "tiny.png", "tiny.svg", "raw", "units"}
    page = (tmp_path / "RESULTS.md").read_text()
    for text in ("![tiny](results/tiny.png)", "Of 2 claims", "data seed"):
        assert text in page
    assert "more rows, more error" in (folder / "claims.csv").read_text()
    assert "python -m experiments --repeats 4" in rows(folder / "raw" / "tiny.csv")[0]
    assert "publicmoments" in Image.open(folder / "tiny.png").text["Description"]
    assert "publicmoments" in (folder / "tiny.svg").read_text()


def test_pictures_and_page_come_from_the_tables_alone(figure: Figure, tmp_path):
    folder = tmp_path / "results"
    arguments = ["--repeats", "4", "--jobs", "1", "--output", str(folder)]
    commands.main(figure, page=True, arguments=arguments)
    page, pixels = (tmp_path / "RESULTS.md").read_text(), Image.open(folder / "tiny.png").size
    for name in ("raw", "units"):
        shutil.rmtree(folder / name)
    for path in (tmp_path / "RESULTS.md", folder / "tiny.png", folder / "overview.png"):
        path.unlink()
    commands.main(figure, page=True, arguments=["--plot", "--output", str(folder)])
    assert (tmp_path / "RESULTS.md").read_text() == page
    assert Image.open(folder / "tiny.png").size == pixels
    assert not (folder / "units").exists()


def test_median_pictures_have_their_own_name(figure: Figure, tmp_path):
    arguments = ["--repeats", "2", "--jobs", "1", "--centre", "median", "--output", str(tmp_path)]
    commands.main(figure, arguments=arguments)
    assert (tmp_path / "tiny-median.png").is_file()
    assert not (tmp_path.parent / "RESULTS.md").exists()
