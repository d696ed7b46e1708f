"""Small tables in files, and a way to run commands in this process."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from publicmoments.cli import main

COEF = np.array([1.0, -2.0, 0.5])


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def pmt(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run a command and return its exit code and what it said."""

    def run(*arguments: Any) -> Result:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Result(code, said.out, said.err)

    return run


def made_up(n: int, seed: int) -> pa.Table:
    """Rows with a response of every kind, and a column of names that nobody may quote."""
    rng = np.random.default_rng(seed)
    X = rng.normal(0.0, 1.0, size=(n, 3))
    score = X @ COEF
    years = rng.uniform(0.5, 2.0, size=n)
    return pa.table(
        {
            "a": X[:, 0],
            "b": X[:, 1],
            "c": X[:, 2],
            "who": ["Mr Secret"] * n,
            "y": score + 4.0 + rng.normal(size=n),
            "ill": np.where(score + rng.logistic(size=n) > 0.0, "yes", "no"),
            "kind": rng.choice(["red", "green", "blue"], size=n),
            "years": years,
            "visits": rng.poisson(years * np.exp(0.3 * X[:, 0])),
            "size": np.exp(0.3 * X[:, 0]) * rng.gamma(2.0, 0.5, size=n),
        }
    )


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """Private and public tables in every form; read, never written to."""
    folder: Path = tmp_path_factory.mktemp("tables")
    private, public = made_up(3_000, 0), made_up(200, 1)
    paths = SimpleNamespace(
        csv=folder / "private.csv",
        semicolons=folder / "semicolons.csv",
        parquet=folder / "private.parquet",
        parts=folder / "parts",
        public=folder / "public.csv",
    )
    pyarrow.csv.write_csv(private, paths.csv)
    pyarrow.csv.write_csv(private, paths.semicolons, pyarrow.csv.WriteOptions(delimiter=";"))
    pyarrow.csv.write_csv(public, paths.public)
    pyarrow.parquet.write_table(private, paths.parquet)
    paths.parts.mkdir()
    pyarrow.parquet.write_table(private.slice(0, 1_000), paths.parts / "0.parquet")
    pyarrow.parquet.write_table(private.slice(1_000), paths.parts / "1.parquet")
    return paths
