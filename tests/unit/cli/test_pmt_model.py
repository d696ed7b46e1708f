"""Fitting, predicting and reporting from the command line."""

import csv
import json
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet
import pytest

from publicmoments import GDP, PublicMoments, Ridge, load_model
from publicmoments.cli.columns import chosen_columns
from publicmoments.cli.inputs import open_table
from publicmoments.cli.parsing import SEEDED

FEATURES = ("--features", "a,b,c")


@pytest.fixture
def moments(pmt, files, tmp_path):
    path = tmp_path / "public.json"
    made = pmt("public", "make", files.public, "--target", "y", *FEATURES, "-o", path)
    assert made.code == 0
    return path


@pytest.mark.parametrize("form", ["csv", "parquet", "parts", "semicolons"])
def test_every_form_of_a_table_gives_the_fit_of_the_library(pmt, files, moments, tmp_path, form):
    table, model = getattr(files, form), tmp_path / "model.json"
    extra = ["--delimiter", ";"] if form == "semicolons" else []
    done = pmt(
        "fit", "ridge", table, "--target", "y", "--public", moments, "--mu", "1", *extra,
        "--alpha", "0.1", "--no-intercept", "--no-anchor", "--seed", "3", "-o", model,
    )  # fmt: skip
    assert done.code == 0
    rows = pyarrow.parquet.read_table(files.parquet)
    expected = Ridge(
        0.1,
        fit_intercept=False,
        anchor=False,
        privacy=GDP(1.0),
        public=PublicMoments.load(moments),
        random_state=3,
    ).fit(rows.select(["a", "b", "c"]), np.array(rows["y"]))
    np.testing.assert_allclose(load_model(model).coef_, expected.coef_, rtol=1e-9)


def test_summary_and_card_are_shown(pmt, files, moments, tmp_path):
    done = pmt(
        "fit", "ridge", files.csv, "--target", "y", "--public", moments, "--epsilon", "2",
        "--delta", "1e-6", "-o", tmp_path / "m.json",
    )  # fmt: skip
    assert done.code == 0
    assert "Response y: 3000 rows" in done.out
    assert "ApproxDP(epsilon=2.0, delta=1e-06)" in done.out
    assert "\x1b" not in done.out
    assert done.err == ""


def test_json_is_one_document(pmt, files, moments, tmp_path):
    done = pmt(
        "fit", "ridge", files.csv, "--target", "y", "--public", moments, "--rho", "0.5",
        "-o", tmp_path / "m.json", "--json",
    )  # fmt: skip
    answer = json.loads(done.out)
    assert answer["summary"]["names"] == ["a", "b", "c", "(intercept)"]
    assert answer["card"]["private"] is True
    assert answer["card"]["rho"] == pytest.approx(0.5)


def test_a_seed_is_warned_of_loudly(pmt, files, moments, tmp_path):
    arguments = ["fit", "ridge", files.csv, "--target", "y", "--public", moments, "--mu", "1"]
    seeded = pmt(*arguments, "--seed", "1", "-o", tmp_path / "m.json", "--json")
    assert seeded.code == 0
    assert SEEDED in seeded.err
    assert json.loads(seeded.out)["card"]["private"] is False
    assert load_model(tmp_path / "m.json").random_state is None


def test_existing_models_are_replaced_by_force_only(pmt, files, moments, tmp_path):
    arguments = ["fit", "ridge", files.csv, "--target", "y", "--public", moments, "--mu", "1"]
    arguments += ["-o", tmp_path / "m.json"]
    assert pmt(*arguments).code == 0
    first = (tmp_path / "m.json").read_bytes()
    assert pmt(*arguments).code == 2
    assert (tmp_path / "m.json").read_bytes() == first
    assert pmt(*arguments, "--force").code == 0
    assert (tmp_path / "m.json").read_bytes() != first


def test_public_rows_serve_in_place_of_moments(pmt, files, tmp_path):
    done = pmt(
        "fit", "logistic", files.csv, "--target", "ill", *FEATURES, "--classes", "no,yes",
        "--public", files.public, "--mu", "2", "-o", tmp_path / "m.json",
    )  # fmt: skip
    model = load_model(tmp_path / "m.json")
    assert done.code == 0
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(model.coef_[0], [1.0, -2.0, 0.5], atol=0.4)


def test_exposure_reaches_the_fit_and_the_prediction(pmt, files, tmp_path):
    arguments = ["fit", "poisson", files.parquet, "--target", "visits", "--features", "a,b"]
    public = ["--public", files.public, "--mu", "2"]
    model = tmp_path / "m.json"
    assert pmt(*arguments, "--exposure", "years", *public, "-o", model).code == 0
    assert load_model(model).coef_[0] == pytest.approx(0.3, abs=0.1)
    once = _predicted(pmt("predict", model, files.csv).out)
    given = _predicted(pmt("predict", model, files.csv, "--exposure", "years").out)
    years = np.array(pyarrow.parquet.read_table(files.parquet)["years"])
    np.testing.assert_allclose(given, once * years[:, None], rtol=1e-9)


def test_gamma(pmt, files, tmp_path):
    done = pmt(
        "fit", "gamma", files.csv, "--target", "size", "--features", "a", "--public", files.public,
        "--mu", "2", "-o", tmp_path / "m.json",
    )  # fmt: skip
    assert done.code == 0
    assert load_model(tmp_path / "m.json").coef_[0] == pytest.approx(0.3, abs=0.1)


def test_predictions_are_those_of_the_model(pmt, files, moments, tmp_path):
    model, output = tmp_path / "m.json", tmp_path / "predicted.csv"
    arguments = ["fit", "ridge", files.csv, "--target", "y", "--public", moments, "--mu", "1"]
    assert pmt(*arguments, "-o", model).code == 0
    told = pmt("predict", model, files.parts, "--level", "0.8", "-o", output)
    X = pyarrow.parquet.read_table(files.parquet).select(["a", "b", "c"])
    fitted = load_model(model)
    expected = np.column_stack([fitted.predict(X), fitted.predict_interval(X, 0.8)])
    assert told.code == 0
    assert np.array_equal(_predicted(output.read_text()), expected)


@pytest.mark.parametrize("labels", ["no,yes", "red,green,blue"])
def test_predictions_of_classes(pmt, files, tmp_path, labels):
    model, target = tmp_path / "m.json", "ill" if labels == "no,yes" else "kind"
    arguments = ["fit", "logistic", files.csv, "--target", target, *FEATURES, "--mu", "3"]
    public = ["--classes", labels, "--public", files.public]
    assert pmt(*arguments, *public, "-o", model).code == 0
    lines = list(csv.reader(pmt("predict", model, files.csv).out.splitlines()))
    X = pyarrow.parquet.read_table(files.parquet).select(["a", "b", "c"])
    fitted = load_model(model)
    shown = labels.split(",")[1:] if labels == "no,yes" else labels.split(",")
    heads = [f"{what} {label}" for label in shown for what in ("probability", "low", "high")]
    assert lines[0] == ["prediction", *heads]
    assert [line[0] for line in lines[1:]] == fitted.predict(X).tolist()
    chances = fitted.predict_proba(X)[:, -len(shown) :]
    ends = fitted.predict_interval(X).reshape(len(X), len(shown), 2)
    expected = np.concatenate([chances[:, :, None], ends], axis=2).reshape(len(X), -1)
    assert np.array_equal(np.array([line[1:] for line in lines[1:]], dtype=float), expected)


def test_rows_with_missing_cells_can_be_ignored(pmt, files, moments, tmp_path):
    lines = files.csv.read_text().splitlines()
    lines[3] = "," + lines[3].partition(",")[2]
    table = tmp_path / "holes.csv"
    table.write_text("\n".join(lines) + "\n")
    arguments = ["fit", "ridge", table, "--target", "y", "--public", moments, "--mu", "1"]
    refused = pmt(*arguments, "-o", tmp_path / "m.json")
    assert refused.code == 2
    assert "--ignore-invalid" in refused.err
    assert pmt(*arguments, "--ignore-invalid", "-o", tmp_path / "m.json").code == 0


def test_text_with_line_breaks_in_other_columns_is_no_trouble(pmt, files, moments, tmp_path):
    table = tmp_path / "notes.csv"
    # Long enough for Arrow to cut the file into blocks, which must not be at a break in a note.
    note = "one\nand two, " * 80
    text = files.csv.read_text().replace("Mr Secret", note)
    table.write_text(text, encoding="utf-8-sig")
    done = pmt(
        "fit", "ridge", table, "--target", "y", "--public", moments, "--mu", "1",
        "-o", tmp_path / "m.json", "--json",
    )  # fmt: skip
    assert done.code == 0
    assert json.loads(done.out)["card"]["n_rows"] == 3_000


def test_ledger_pays_and_refuses(pmt, files, moments, tmp_path):
    ledger = tmp_path / "ledger.db"
    fit = ["fit", "ridge", files.csv, "--target", "y", "--public", moments, "--mu", "1"]
    fit += ["--ledger", ledger, "--dataset", "hospital"]
    assert pmt("ledger", "cap", ledger, "hospital", "--mu", "1.25").code == 0
    assert pmt(*fit, "-o", tmp_path / "first.json").code == 0
    second = pmt(*fit, "-o", tmp_path / "second.json")
    assert second.code == 3
    assert "mu=0.75 left" in second.err
    assert second.err.count("\n") == 1
    assert not (tmp_path / "second.json").exists()
    shown = json.loads(pmt("ledger", "show", ledger, "hospital", "--json").out)
    assert shown["spent_mu"] == 1.0
    assert [entry["state"] for entry in shown["entries"]] == ["released"]


def test_report_of_a_model(pmt, files, moments, tmp_path):
    model, page = tmp_path / "m.json", tmp_path / "report.html"
    arguments = ["fit", "ridge", files.csv, "--target", "y", "--public", moments, "--mu", "1"]
    assert pmt(*arguments, "-o", model).code == 0
    done = pmt("report", model, "-o", page)
    assert done.code == 0
    assert "<html" in page.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "m.json", "public.json", "report.html"
    ]  # fmt: skip


def _predicted(text: str) -> np.ndarray:
    lines = list(csv.reader(text.splitlines()))
    assert lines[0] == ["prediction", "low", "high"]
    return np.array(lines[1:], dtype=float)


def test_columns_that_take_part(files):
    table = open_table(str(files.csv))
    options = SimpleNamespace(target="y", features=None, drop=["who", "ill", "kind"])
    chosen = chosen_columns(options, table)
    assert chosen.features == ("a", "b", "c", "years", "visits", "size")
    public = PublicMoments.identity(["c", "a"])
    kept = chosen_columns(
        SimpleNamespace(target="y", features=["a", "c"], drop=None), table, public
    )
    assert kept.features == ("c", "a")
