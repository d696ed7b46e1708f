"""The commands beside fitting."""

import csv
import io
import json
import sys

import numpy as np
import pytest

from publicmoments import MomentRelease, PublicMoments
from publicmoments.cli.main import COMMANDS, make_parser


def test_public_moments_of_rows(pmt, files, tmp_path):
    path = tmp_path / "public.json"
    made = pmt("public", "make", files.public, "--target", "y", "--features", "b,a", "-o", path)
    assert made.code == 0
    public = PublicMoments.load(path)
    table = np.genfromtxt(files.public, delimiter=",", names=True, usecols=(0, 1, 4))
    assert public.columns == ("b", "a")
    assert public.response.names == ("y",)
    np.testing.assert_allclose(public.mean, [table["b"].mean(), table["a"].mean()])
    shown = json.loads(pmt("public", "show", path, "--json").out)
    assert shown["n"] == 200
    assert shown["features"][0]["column"] == "b"
    assert shown["features"][0]["sd"] == pytest.approx(table["b"].std())
    assert "standard deviation" in pmt("public", "show", path).out


@pytest.mark.parametrize("names", [False, True])
def test_public_moments_of_a_published_mean_and_covariance(pmt, tmp_path, names):
    mean, cov, path = (tmp_path / name for name in ("mean.csv", "cov.csv", "public.json"))
    mean.write_text("a,b,y\n1,2,3\n")
    lines = ["y,a,b", "9,1,2", "1,4,0.5", "2,0.5,5"]
    if names:
        lines = [f"{first},{line}" for first, line in zip(["", "y", "a", "b"], lines, strict=True)]
    cov.write_text("\n".join(lines) + "\n")
    made = pmt(
        "public", "make", "--mean", mean, "--covariance", cov, "--n", "50", "--target", "y",
        "-o", path,
    )  # fmt: skip
    assert made.code == 0
    public = PublicMoments.load(path)
    assert public.n == 50
    assert public.covariance.tolist() == [[4.0, 0.5], [0.5, 5.0]]
    assert public.response.cross_covariance.ravel().tolist() == [1.0, 2.0]
    assert public.mean.tolist() == [1.0, 2.0]


def test_public_check_compares_columns_and_remarks(pmt, files, tmp_path):
    path, other = tmp_path / "public.json", tmp_path / "other.json"
    PublicMoments.identity(["a", "b"]).save(path)
    checked = pmt("public", "check", path, "--table", files.csv, "--json")
    assert json.loads(checked.out)["valid"] is True
    PublicMoments.identity(["a", "bb"]).save(other)
    refused = pmt("public", "check", other, "--table", files.parquet)
    assert refused.code == 2
    assert "'bb'" in refused.err
    PublicMoments.from_matrix([[1.0, 1.0], [1.0, 1.0]], 5, columns=["a", "b"]).save(other)
    assert json.loads(pmt("public", "check", other, "--json").out)["remarks"]


def test_plans(pmt, files):
    public = ["--public", files.public, "--target", "y", "--features", "a,b,c"]
    planned = pmt("plan", "--rows", "2000", *public, "--mu", "0.1", "2", "--rehearsals", "2")
    assert planned.code == 0
    assert "non-private" in planned.out
    few = ["--rehearsals", "4", "--n-features", "2", "--r2", "0.5", "--json"]
    answer = json.loads(pmt("plan", "--rows", "2000", "--mu", "0.1", "2", *few).out)
    assert answer["forecasts"]["mu"] == [0.1, 2.0]
    assert answer["forecasts"]["error"][1] < answer["forecasts"]["error"][0]
    smallest = json.loads(pmt("plan", "--rows", "2000", "--error", "0.1", *few).out)
    fewest = json.loads(pmt("plan", "--mu", "1", "--error", "0.1", *few).out)
    assert 0.01 < smallest["mu"] < 10.0
    assert 100 < fewest["n_rows"] < 10_000
    counts = ["--n-features", "2", "--model", "poisson", "--predictor-sd", "0.5", "--json"]
    counts += ["--rehearsals", "2", "--rows", "2000", "--mu", "2"]
    short, long = (
        json.loads(pmt("plan", *counts, "--mean-exposure", mean).out) for mean in ("0.8", "1.6")
    )
    assert long["non_private"] == pytest.approx(short["non_private"] / 2**0.5, rel=0.05)


def test_releases_are_made_combined_and_read(pmt, files, tmp_path):
    public, both = tmp_path / "public.json", tmp_path / "both.pmr"
    columns = ["--features", "a,b,c,y"]
    assert pmt("public", "make", files.public, *columns, "-o", public).code == 0
    for name in ("0", "1"):
        released = pmt(
            "release", files.parts / f"{name}.parquet", "--public", public, "--mu", "2",
            "--radius", "3", "-o", tmp_path / f"{name}.pmr",
        )  # fmt: skip
        assert released.code == 0
        assert "Satisfies" in released.out
    done = pmt("combine", tmp_path / "0.pmr", tmp_path / "1.pmr", "-o", both, "--json")
    assert json.loads(done.out)["n_rows"] == 3_000
    output = tmp_path / "path.csv"
    read = pmt("path", both, "--target", "y", "--alphas", "0,0.5", "-o", output, "--json")
    answer = json.loads(read.out)
    expected = MomentRelease.load(both).path("y", [0.0, 0.5])
    assert answer["coefs"] == expected.coefs.tolist()
    assert answer["best_alpha"] in (0.0, 0.5)
    lines = list(csv.reader(output.read_text().splitlines()))
    assert lines[0] == ["alpha", "a", "b", "c", "(intercept)"]
    assert float(lines[2][1]) == expected.coefs[1, 0]
    assert float(lines[2][4]) == expected.intercepts[1]
    assert "least expected error" in pmt("path", both, "--target", "y").out
    assert pmt("report", both, "-o", tmp_path / "report.html").code == 0


def test_release_takes_public_rows(pmt, files, tmp_path):
    path = tmp_path / "moments.pmr"
    done = pmt(
        "release", files.csv, "--features", "a,y", "--public", files.public, "--mu", "1", "-o", path
    )
    assert done.code == 0
    assert MomentRelease.load(path).columns == ("a", "y")


def test_ledger_is_listed_shown_and_exported(pmt, tmp_path):
    ledger, output = tmp_path / "ledger.db", tmp_path / "ledger.csv"
    assert pmt("ledger", "cap", ledger, "wine", "--rho", "0.5", "--note", "board").code == 0
    listed = json.loads(pmt("ledger", "list", ledger, "--json").out)["datasets"]
    assert listed == [{"dataset": "wine", "spent_mu": 0.0, "remaining_mu": 1.0, "charges": 0}]
    assert "wine" in pmt("ledger", "list", ledger).out
    assert "cap ZCDP(rho=0.5)" in pmt("ledger", "show", ledger, "wine").out
    assert pmt("ledger", "export", ledger, "--format", "csv", "-o", output).code == 0
    assert output.read_text().splitlines()[1].startswith("wine,1,cap")
    assert json.loads(pmt("ledger", "export", ledger).out)["datasets"][0]["dataset"] == "wine"
    text = json.loads(pmt("ledger", "export", ledger, "--json").out)["text"]
    assert json.loads(text)["datasets"][0]["caps"][0]["note"] == "board"


def test_data_is_listed_and_fetched(pmt, tmp_path, monkeypatch):
    from publicmoments import datasets
    from publicmoments.datasets import Dataset

    toy = Dataset("toy", [[1.0, 2.0], [3.0, 0.1]], [0, 1], ("a", "b"), "y", "10.1/x")
    monkeypatch.setattr(datasets, "load_power_plant", lambda: toy)
    names = [one["name"] for one in json.loads(pmt("data", "list", "--json").out)["tables"]]
    assert names == ["wine", "power-plant", "bank", "banknote"]
    path = tmp_path / "toy.csv"
    assert pmt("data", "fetch", "power-plant", "-o", path).code == 0
    assert path.read_text() == "a,b,y\n1.0,2.0,0.0\n3.0,0.1,1.0\n"


def test_experiments_need_the_repository(pmt, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = pmt("experiments", "--quick")
    assert refused.code == 2
    assert "clone the repository" in refused.err


def test_experiments_run_in_the_repository(pmt, tmp_path, monkeypatch):
    (tmp_path / "src" / "publicmoments").mkdir(parents=True)
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "__main__.py").write_text(
        "import sys, pathlib\npathlib.Path('seen').write_text(' '.join(sys.argv[1:]))\n"
        "sys.exit(130 if '--jobs' in sys.argv else 0)\n"
    )
    monkeypatch.chdir(tmp_path / "src")
    done = pmt("experiments", "--quick", "--figures", "figure_01", "figure_02", "--json")
    assert done.code == 0
    assert (tmp_path / "seen").read_text() == "--quick --figures figure_01 figure_02"
    assert json.loads(done.out)["arguments"] == ["--quick", "--figures", "figure_01", "figure_02"]
    assert pmt("experiments", "--jobs", "1").code == 130


def test_demo_compares_and_reports(pmt, tmp_path, monkeypatch):
    from publicmoments.cli import demo

    monkeypatch.setattr(demo, "PRIVATE_ROWS", 5_000)
    monkeypatch.chdir(tmp_path)
    shown = pmt("demo")
    assert shown.code == 0
    for words in ("non-private", "public rows only", "paper's method", "this library"):
        assert words in shown.out
    assert "publicmoments-demo/report.html" in shown.out
    names = sorted(path.name for path in (tmp_path / "publicmoments-demo").iterdir())
    assert names == ["model.json", "public.json", "report.html"]
    again = json.loads(pmt("demo", "--json").out)
    assert again["errors"]["non-private"] == 0.0
    assert again["errors"]["this library"] < again["errors"]["paper's method"]


def test_terminals_get_frames_and_colours_pipes_do_not(files, tmp_path, monkeypatch):
    from publicmoments.cli import main

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert main(["data", "list"]) == 0
    assert "┃" in sys.stdout.getvalue()
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert main(["data", "list"]) == 0
    assert "┃" not in sys.stdout.getvalue()
    assert "wine" in sys.stdout.getvalue()


def test_every_command_has_help_with_examples_and_json(capsys):
    seen = 0
    for parser in _leaves(make_parser()):
        text = parser.format_help()
        assert "examples:\n  pmt" in text, parser.prog
        assert "--json" in text, parser.prog
        assert f"  {parser.prog}" in text.partition("examples:")[2], parser.prog
        seen += 1
    assert seen >= 20
    assert len(COMMANDS) == 12


def _leaves(parser):
    groups = [action for action in parser._actions if hasattr(action, "_name_parser_map")]
    if not groups:
        yield parser
    for group in groups:
        for child in group.choices.values():
            yield from _leaves(child)
