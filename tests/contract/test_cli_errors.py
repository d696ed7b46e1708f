"""Bad input of every kind: one clear line, exit code 2, nothing written, nothing private said."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from publicmoments import GDP, PublicMoments, Ridge, release_moments, save_model
from publicmoments.cli import main

SECRET = "Mr Secret"

GOOD = "private.csv --target y --features a,b --public public.json"
BUDGET = "--mu 1"
OUTPUT = "-o out.json"

CASES = {
    # what is wrong: (command, a part of the message)
    "no command": ("", "required: COMMAND"),
    "unknown command": ("fitt", "did you mean 'fit'?"),
    "unlike any command": ("xyzzy", "known are public, plan"),
    "unknown kind": (f"fit rigde {GOOD} {BUDGET} {OUTPUT}", "did you mean 'ridge'?"),
    "unknown option": (f"fit ridge {GOOD} {BUDGET} {OUTPUT} --radios 3", "--radios"),
    "no output": (f"fit ridge {GOOD} {BUDGET}", "--output"),
    "missing table": (f"fit ridge no.csv --target y {BUDGET} {OUTPUT}", "no.csv does not exist"),
    "missing public": (
        f"fit ridge private.csv --target y --public no.json {BUDGET} {OUTPUT}",
        "no.json does not exist",
    ),
    "wrong delimiter": (
        f"fit ridge semicolons.csv --target y {BUDGET} {OUTPUT}",
        "pass --delimiter ';'",
    ),
    "long delimiter": (
        f"fit ridge semicolons.csv --delimiter ;; --target y {BUDGET} {OUTPUT}",
        "one character",
    ),
    "delimiter of Parquet": (
        f"fit ridge private.parquet --delimiter ; --target y {BUDGET} {OUTPUT}",
        "is read as Parquet",
    ),
    "missing target": (f"fit ridge private.csv --target yy {BUDGET} {OUTPUT}", "'yy'"),
    "missing feature": (
        f"fit ridge private.csv --target y --features a,q {BUDGET} {OUTPUT}",
        "--features names 'q'",
    ),
    "missing dropped": (
        f"fit ridge private.csv --target y --drop q {BUDGET} {OUTPUT}",
        "--drop names 'q'",
    ),
    "features and dropped": (
        f"fit ridge private.csv --target y --features a --drop b {BUDGET} {OUTPUT}",
        "not allowed with",
    ),
    "target as feature": (
        f"fit ridge private.csv --target y --features a,y {BUDGET} {OUTPUT}",
        "different columns",
    ),
    "feature twice": (
        f"fit ridge private.csv --target y --features a,a {BUDGET} {OUTPUT}",
        "twice",
    ),
    "other columns than public": (
        f"fit ridge private.csv --target y --features a --public public.json {BUDGET} {OUTPUT}",
        "public moments",
    ),
    "text among numbers": (
        f"fit ridge text.csv --target y --public public.json {BUDGET} {OUTPUT}",
        "X (column b); drop or fill such rows, and those with text among numbers",
    ),
    "text in the target": (
        f"fit ridge private.csv --target who --features a {BUDGET} {OUTPUT}",
        "y (column who)",
    ),
    "text in Parquet": (
        f"fit ridge private.parquet --target y {BUDGET} {OUTPUT}",
        "columns who (string)",
    ),
    "ragged lines": (
        f"fit ridge ragged.csv --target y --public public.json {BUDGET} {OUTPUT}",
        "lines with another number of cells",
    ),
    "missing cells": (
        f"fit ridge holes.csv --target y --public public.json {BUDGET} {OUTPUT}",
        "--ignore-invalid",
    ),
    "columns of one name": (
        f"fit ridge twice.csv --target y {BUDGET} {OUTPUT}",
        "more than one column named 'a'",
    ),
    "empty file": (f"fit ridge empty.csv --target y {BUDGET} {OUTPUT}", "column names"),
    "header alone": (
        f"fit ridge header.csv --target y --features a,b --public public.json {BUDGET} {OUTPUT}",
        "at least one row",
    ),
    "not Parquet": (f"fit ridge not.parquet --target y {BUDGET} {OUTPUT}", "read as Parquet"),
    "a damaged part": (
        f"fit ridge parts --target y --public public.json {BUDGET} {OUTPUT}",
        "a, b, y could not be read",
    ),
    "folder without Parquet": (
        f"fit ridge folder --target y {BUDGET} {OUTPUT}",
        "folder without Parquet",
    ),
    "not UTF-8": (f"fit ridge latin.csv --target y {BUDGET} {OUTPUT}", "UTF-8"),
    "existing output": (f"fit ridge {GOOD} {BUDGET} -o kept.json", "pass --force"),
    "output in no folder": (f"fit ridge {GOOD} {BUDGET} -o no/out.json", "does not exist"),
    "output is a folder": (f"fit ridge {GOOD} {BUDGET} -o folder", "is a folder"),
    "output is the input": (
        f"fit ridge {GOOD} {BUDGET} -o private.csv --force",
        "what is read",
    ),
    "output is the public input": (
        f"fit ridge {GOOD} {BUDGET} -o public.json --force",
        "what is read",
    ),
    "two budgets": (f"fit ridge {GOOD} --mu 1 --rho 1 {OUTPUT}", "--mu and --rho"),
    "mu and epsilon": (f"fit ridge {GOOD} --mu 1 --epsilon 1 {OUTPUT}", "--mu and --epsilon"),
    "no budget": (f"fit ridge {GOOD} {OUTPUT}", "got nothing"),
    "epsilon without delta": (f"fit ridge {GOOD} --epsilon 1 {OUTPUT}", "go together"),
    "mu with delta": (f"fit ridge {GOOD} --mu 1 --delta 1e-6 {OUTPUT}", "go together"),
    "negative budget": (f"fit ridge {GOOD} --mu -1 {OUTPUT}", "mu=-1.0"),
    "budget of zero": (f"fit ridge {GOOD} --rho 0 {OUTPUT}", "rho=0.0"),
    "NaN as a budget": (f"fit ridge {GOOD} --mu nan {OUTPUT}", "mu=nan"),
    "infinite budget": (f"fit ridge {GOOD} --mu inf {OUTPUT}", "mu=inf"),
    "delta above one": (f"fit ridge {GOOD} --epsilon 1 --delta 2 {OUTPUT}", "delta=2.0"),
    "budget of words": (f"fit ridge {GOOD} --mu much {OUTPUT}", "invalid float value"),
    "negative penalty": (f"fit ridge {GOOD} {BUDGET} --alpha -1 {OUTPUT}", "alpha=-1.0"),
    "negative seed": (f"fit ridge {GOOD} {BUDGET} --seed -1 {OUTPUT}", "random_state"),
    "ledger without dataset": (
        f"fit ridge {GOOD} {BUDGET} --ledger l.db {OUTPUT}",
        "--ledger and --dataset",
    ),
    "ledger in no folder": (
        f"fit ridge {GOOD} {BUDGET} --ledger no/l.db --dataset d {OUTPUT}",
        "folder of the ledger",
    ),
    "ledger that is none": (
        f"fit ridge {GOOD} {BUDGET} --ledger private.csv --dataset d {OUTPUT}",
        "not a ledger",
    ),
    "public moments that are none": (
        f"fit ridge private.csv --target y --public kept.json {BUDGET} {OUTPUT}",
        "kept.json",
    ),
    "labels not among the classes": (
        f"fit logistic private.csv --target who --features a --classes no,yes {BUDGET} {OUTPUT}",
        "not among classes=('no', 'yes')",
    ),
    "one class": (
        f"fit logistic private.csv --target who --features a --classes no {BUDGET} {OUTPUT}",
        "at least two",
    ),
    "negative counts": (
        f"fit poisson private.csv --target y --features a {BUDGET} {OUTPUT}",
        "non-negative whole numbers",
    ),
    "exposure of ridge": (f"fit ridge {GOOD} {BUDGET} --exposure a {OUTPUT}", "--exposure"),
    "moments from nothing": (f"public make {OUTPUT}", "--mean, --covariance and --n"),
    "moments from half": (
        f"public make --mean private.csv --n 3 {OUTPUT}",
        "--mean, --covariance and --n",
    ),
    "moments of text": (
        f"public make private.csv --target y {OUTPUT}",
        "numbers were expected in column 'who'",
    ),
    "moments that are not shown": ("public show private.csv", "pmt public make"),
    "plan without budget": ("plan --rows 100 --public public.json", "a budget"),
    "plan of both": (
        "plan --rows 100 --mu 1 --error 1 --public public.json",
        "either --rows or one budget",
    ),
    "plan of nothing": ("plan --rows 100 --mu 1", "public or n_features"),
    "model cut short": ("predict cut.json private.csv", "cut.json must"),
    "no model": ("predict private.csv private.csv", "written by pmt fit"),
    "release as model": ("predict moments.pmr private.csv", "is a release"),
    "table without the features": ("predict model.json other.csv", "the model names 'a'"),
    "text to predict from": ("predict model.json text.csv", "numbers were expected in column 'b'"),
    "holes to predict from": ("predict model.json holes.csv", "NaN"),
    "level above one": ("predict model.json private.csv --level 2", "level=2.0"),
    "exposure of a ridge model": (
        "predict model.json private.csv --exposure a",
        "Poisson models",
    ),
    "model as release": ("path model.json --target y", "written by pmt release"),
    "no such response": ("path moments.pmr --target q", "'q'"),
    "penalties of words": ("path moments.pmr --target y --alphas a,b", "numbers separated"),
    "negative penalties": ("path moments.pmr --target y --alphas -1,1", "alphas"),
    "the same release twice": (
        f"combine moments.pmr moments.pmr {OUTPUT}",
        "same release twice",
    ),
    "report of no model": ("report private.csv -o report.html", "written by pmt fit"),
    "no ledger": ("ledger list no.db", "there is no ledger"),
    "cap without budget": ("ledger cap new.db d", "got nothing"),
    "unknown table": (f"data fetch whine {OUTPUT}", "did you mean 'wine'?"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Good and bad files, side by side."""
    here: Path = tmp_path_factory.mktemp("bad")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    lines = ["a,b,y,who", *(f"{r[0]},{r[1]},{v},{SECRET}" for r, v in zip(X, y, strict=True))]
    write: Callable[[str, list[str]], Any] = lambda name, text: (here / name).write_text(  # noqa: E731
        "\n".join(text) + "\n"
    )
    write("private.csv", lines)
    write("semicolons.csv", [line.replace(",", ";") for line in lines])
    odd = [f"1.0,{SECRET},2.0,{SECRET}"] * 2
    write("text.csv", [*lines[:9], *odd, *lines[9:]])
    write("ragged.csv", [*lines[:9], f"1.0,2.0,3.0,{SECRET},5.0", *lines[9:]])
    write("holes.csv", [*lines[:9], f",2.0,3.0,{SECRET}", *lines[9:]])
    write("twice.csv", ["a,a,y", "1,2,3"])
    write("other.csv", ["x,z", "1,2"])
    write("header.csv", lines[:1])
    (here / "empty.csv").touch()
    (here / "latin.csv").write_bytes("größe,y\n1,2\n".encode("latin-1"))
    (here / "folder").mkdir()
    (here / "not.parquet").write_text(f"{SECRET}\n")
    (here / "kept.json").write_text("{}")
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": y, "who": [SECRET] * 50})
    pyarrow.parquet.write_table(table, here / "private.parquet")
    (here / "parts").mkdir()
    pyarrow.parquet.write_table(table, here / "parts" / "0.parquet")
    (here / "parts" / "1.parquet").write_bytes((here / "private.parquet").read_bytes()[:400])
    _write_artefacts(here, X, y)
    return here


def _write_artefacts(here: Path, X: Any, y: Any) -> None:
    public = PublicMoments.identity(["a", "b"])
    public.save(here / "public.json")
    rows = pa.table({"a": X[:, 0], "b": X[:, 1]})
    save_model(Ridge(privacy=GDP(1.0), public=public).fit(rows, y), here / "model.json")
    text = (here / "model.json").read_text()
    (here / "cut.json").write_text(text[: len(text) // 2])
    every = PublicMoments.identity(["a", "b", "y"], response_scale=1.0)
    table = np.column_stack([X, y])
    release_moments(table, privacy=GDP(1.0), public=every).save(here / "moments.pmr")


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused_in_one_line(case, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    command, expected = CASES[case]
    before = {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))}
    code = main(command.split())
    said = capsys.readouterr()
    lines = [line for line in said.err.splitlines() if not line.startswith(("pmt: warning:", "!"))]
    assert code == 2, said.err
    assert len(lines) == 1, said.err
    assert expected in lines[0]
    assert SECRET not in said.out + said.err
    assert "Traceback" not in said.err
    assert said.out == ""
    assert {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))} == before


def test_outputs_are_looked_at_before_budget_is_spent(folder, capsys, monkeypatch):
    def spent(self, X, y):
        raise AssertionError("the fit was reached")

    monkeypatch.chdir(folder)
    monkeypatch.setattr(Ridge, "fit", spent)
    code = main(f"fit ridge {GOOD} {BUDGET} -o kept.json".split())
    assert code == 2
    assert "kept.json exists" in capsys.readouterr().err
    assert (folder / "kept.json").read_text() == "{}"


def test_folders_that_cannot_be_written_to_are_refused(folder, capsys, monkeypatch):
    from publicmoments.cli import outputs

    monkeypatch.chdir(folder)
    monkeypatch.setattr(outputs.os, "access", lambda path, mode: mode == outputs.os.R_OK)
    code = main(f"fit ridge {GOOD} {BUDGET} {OUTPUT}".split())
    assert code == 2
    assert "cannot be written to" in capsys.readouterr().err
