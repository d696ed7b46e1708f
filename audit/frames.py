"""Fits to tables whose columns are called by name, wherever they lie, with one hostile cell."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from audit.forms import CANARY
from audit.interference import Outcome
from audit.replay import Run, differences, recorded
from audit.taint import shown
from publicmoments import (
    GDP,
    LogisticRegression,
    PoissonRegressor,
    PublicMoments,
    Ridge,
    release_moments,
)

__all__ = ["FRAMES", "MODELS", "columns_of", "fits_by_name", "write_csv"]

N_ROWS, PLACE = 40, 7
_RNG = np.random.default_rng(12)
PUBLIC_ROWS = _RNG.normal(size=(60, 2))
PUBLIC = PublicMoments.from_rows(PUBLIC_ROWS, columns=["a", "b"], response_scale=1.0)
BOTH = PublicMoments.from_rows(PUBLIC_ROWS, columns=["a", "b"])

Columns = dict[str, list[Any]]
NUMBERS = (math.nan, None, math.inf, -1.7e308, 1e300, 5e-324, 31337.125)


def columns_of(seed: int = 2) -> Columns:
    """Ordinary rows: two features, a word, a count and an exposure."""
    rng = np.random.default_rng(seed)
    a, b, years = rng.normal(size=N_ROWS), rng.normal(size=N_ROWS), rng.uniform(0.5, 2.0, N_ROWS)
    return {
        "a": a.tolist(),
        "b": b.tolist(),
        "word": ["yes" if one > 0.0 else "no" for one in a + rng.logistic(size=N_ROWS)],
        "count": rng.poisson(years * np.exp(0.3 * a)).astype(float).tolist(),
        "years": years.tolist(),
    }


@dataclass(frozen=True)
class Model:
    """
    How a model is fitted to a table, and the columns of which hostile cells are tried.

    A model without ``words`` takes all columns, and gets a table of numbers.
    """

    fit: Callable[..., Any]
    cells: dict[str, tuple[Any, ...]]
    words: bool = True


MODELS = {
    "Ridge": Model(
        lambda rows, **k: Ridge(public=PUBLIC, **k).fit(rows, "count"),
        {"a": NUMBERS, "count": NUMBERS},
    ),
    "LogisticRegression": Model(
        lambda rows, **k: LogisticRegression(
            classes=("no", "yes"), public=PUBLIC, passes=2, **k
        ).fit(rows, "word"),
        {"b": NUMBERS, "word": (None, "", CANARY)},
    ),
    "PoissonRegressor": Model(
        lambda rows, **k: PoissonRegressor(public=PUBLIC, passes=2, **k).fit(
            rows, "count", exposure="years"
        ),
        {"count": (*NUMBERS, -1.0, 2.5), "years": (*NUMBERS, 0.0, -1.0, 1.7e308)},
    ),
    "release_moments": Model(
        lambda rows, **k: release_moments(rows, public=BOTH, **k),
        {"a": NUMBERS},
        words=False,
    ),
}


def _table(columns: Columns) -> Any:
    kinds = {name: pa.string() if name == "word" else pa.float64() for name in columns}
    return pa.table({name: pa.array(cells, kinds[name]) for name, cells in columns.items()})


def write_csv(columns: Columns, path: Path) -> Path:
    """Write a CSV file, all cells in quotation marks."""
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(f'"{_text(cell)}"' for cell in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).replace('"', '""')


def _parquet(columns: Columns, folder: Path) -> Path:
    pq.write_table(_table(columns), folder / "rows.parquet", row_group_size=15)
    return folder / "rows.parquet"


FRAMES: dict[str, Callable[[Columns, Path], Any]] = {
    "pandas": lambda columns, _: _table(columns).to_pandas(),
    "polars": lambda columns, _: pl.from_arrow(_table(columns)),
    "Arrow": lambda columns, _: _table(columns),
    "Parquet": _parquet,
    "CSV": lambda columns, folder: write_csv(columns, folder / "rows.csv"),
    "Arrow stream": lambda columns, _: _table(columns).to_reader(max_chunksize=11),
    "DuckDB": lambda columns, _: duckdb.connect().from_arrow(_table(columns)),
    "polars lazy": lambda columns, _: pl.from_arrow(_table(columns)).lazy(),
    "Dask": lambda columns, _: dd.from_pandas(_table(columns).to_pandas(), npartitions=3),
}


def fits_by_name(frame: str, model: str, few: bool = False) -> Outcome:
    """Replay fits of a model to a table in some form, with one hostile cell after the other."""
    name, tried, failures = f"{model}, {frame}", 0, []
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="synchronous"):
        ordinary = columns_of()
        first = _fit(frame, model, ordinary, Path(folder), None)
        if "error" in first.told:
            return Outcome(name, 1, (f"the ordinary table: {first.told['error']}",))
        for column, cell in _hostile(frame, model, few):
            columns = ordinary | {column: [*ordinary[column]]}
            columns[column][PLACE] = cell
            tried += 1
            second = _fit(frame, model, columns, Path(folder), first)
            found = differences(first, second)
            if CANARY in repr(second.told):
                found.append("the canary was seen")
            failures += [f"{column} {cell!r}: {', '.join(found)}"] if found else []
    return Outcome(name, tried, tuple(failures))


def _hostile(frame: str, model: str, few: bool) -> list[tuple[str, Any]]:
    """Columns and cells; any number may be text where there are no types."""
    pairs = []
    for column, cells in MODELS[model].cells.items():
        extra = (CANARY, "1e999", "-") if frame == "CSV" and column != "word" else ()
        pairs += [(column, cell) for cell in (*extra, *cells)]
    return pairs[::4] if few else pairs


def _fit(frame: str, model: str, columns: Columns, folder: Path, replayed: Run | None) -> Run:
    """Fit under the ears of the audit."""
    chosen = MODELS[model]
    rows = FRAMES[frame](columns if chosen.words else {n: columns[n] for n in "ab"}, folder)
    given = {"privacy": GDP(1.0), "on_invalid": "ignore"}
    return recorded(lambda: shown(chosen.fit(rows, **given)), replayed)
