"""The same private table in every form in which a fit takes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from publicmoments import PublicMoments
from publicmoments.data import as_responses, as_table, by_name
from publicmoments.engines.dispatch import exact_sum
from publicmoments.rows.private_rows import PrivateRows

N_ROWS = 2_000
FEATURES = ["age", "visits", "insured"]

Maker = Callable[[pd.DataFrame, Path, Any], Any]


def private_frame(n_rows: int = N_ROWS, seed: int = 7) -> pd.DataFrame:
    """Floats, integers and booleans; responses of several kinds; and a column that is text."""
    rng = np.random.default_rng(seed)
    age = rng.normal(40.0, 12.0, n_rows)
    visits = rng.integers(0, 9, n_rows)
    insured = rng.random(n_rows) < 0.4
    predictor = 0.02 * (age - 40.0) + 0.1 * visits - 0.3 * insured
    years = rng.uniform(0.5, 2.0, n_rows)
    return pd.DataFrame(
        {
            "visits": visits,
            "price": 100.0 * predictor + rng.normal(0.0, 20.0, n_rows),
            "age": age,
            "sick": np.where(predictor + rng.logistic(size=n_rows) > 0.3, "yes", "no"),
            "insured": insured,
            "claims": rng.poisson(years * np.exp(predictor)),
            "years": years,
            "city": "Ulm",
            "region": rng.integers(0, 3, n_rows),
        }
    )


def _parquet(frame: pd.DataFrame, folder: Path, _: Any) -> Path:
    path = folder / "rows.parquet"
    pq.write_table(_arrow(frame), path, row_group_size=max(len(frame) // 3, 1))
    return path


def _folder(frame: pd.DataFrame, folder: Path, _: Any) -> str:
    cut = len(frame) // 3
    for part, rows in enumerate((frame[:cut], frame[cut:])):
        (folder / "parts").mkdir(exist_ok=True)
        pq.write_table(_arrow(rows), folder / "parts" / f"{part}.parquet")
    return str(folder / "parts")


def _partitioned(frame: pd.DataFrame, folder: Path, _: Any) -> str:
    pq.write_to_dataset(_arrow(frame), folder / "by_region", partition_cols=["region"])
    return str(folder / "by_region")


def _csv(frame: pd.DataFrame, folder: Path, _: Any) -> Path:
    frame.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def _dataset(frame: pd.DataFrame, folder: Path, _: Any) -> Any:
    return ds.dataset(_folder(frame, folder, _))


def _filtered(frame: pd.DataFrame, folder: Path, _: Any) -> Any:
    return ds.dataset(_folder(frame, folder, _)).filter(ds.field("region") >= 0)


def _relation(frame: pd.DataFrame, folder: Path, _: Any) -> Any:
    return duckdb.connect().from_arrow(_arrow(frame))


def _dask(partitions: int) -> Maker:
    return lambda frame, folder, _: dd.from_pandas(frame, npartitions=partitions, sort=False)


def _spark(partitions: int) -> Maker:
    def make(frame: pd.DataFrame, folder: Path, session: Any) -> Any:
        return (
            session.read.parquet(_parquet(frame, folder, None).as_uri())
            .coalesce(1)
            .repartition(partitions)
        )

    return make


def _arrow(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


SOURCES: dict[str, Maker] = {
    "pandas": lambda frame, folder, _: frame,
    "polars": lambda frame, folder, _: pl.from_pandas(frame),
    "arrow": lambda frame, folder, _: _arrow(frame),
    "parquet": _parquet,
    "folder": _folder,
    "partitioned": _partitioned,
    "csv": _csv,
    "dataset": _dataset,
    "filtered": _filtered,
    "reader": lambda frame, folder, _: _arrow(frame).to_reader(max_chunksize=300),
    "duckdb": _relation,
    "lazy": lambda frame, folder, _: pl.from_pandas(frame).lazy(),
    "dask-1": _dask(1),
    "dask-3": _dask(3),
    "dask-7": _dask(7),
    "spark-1": _spark(1),
    "spark-4": _spark(4),
}

EVERY_KIND = [
    "polars",
    "arrow",
    "parquet",
    "folder",
    "csv",
    "reader",
    "duckdb",
    "lazy",
    "dask-3",
    "spark-4",
]
"""One of each kind, for what does not depend on how rows are cut."""


@dataclass(frozen=True)
class SourceKind:
    """A form of the table."""

    name: str
    folder: Path
    session: Any

    def __call__(self, frame: pd.DataFrame) -> Any:
        """Give the form to a frame."""
        return SOURCES[self.name](frame, self.folder, self.session)


def dask_arrays(frame: pd.DataFrame, y: str, partitions: int) -> tuple[Any, Any]:
    """Features and one response as Dask arrays, cut along both axes and not in the same places."""
    rows = -(-len(frame) // partitions)
    X = da.from_array(frame[FEATURES].to_numpy(float), chunks=(rows, 2))
    return X, da.from_array(frame[y].to_numpy(), chunks=max(rows // 2, 1))


FRAME = private_frame()
PUBLIC_FRAME = private_frame(300, seed=8)


def public_moments(response: str | None = None) -> PublicMoments:
    """Public moments of the features, and of a response."""
    known = None if response is None else PUBLIC_FRAME[response]
    return PublicMoments.from_rows(PUBLIC_FRAME[FEATURES].astype(float), response=known)


def with_gap(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with one age missing."""
    frame = frame.copy()
    frame.loc[1_234, "age"] = None
    return frame


def private_rows(X: Any, y: Any) -> PrivateRows:
    """Hand a source to the private side."""
    X, y = by_name(X, FEATURES, several=True, y=y)
    return PrivateRows(as_table(X), as_responses(y), True, False)


def exact_sums(rows: PrivateRows, recipes: tuple[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Sum products by one recipe, and rows by the other."""
    gram, total = recipes
    return exact_sum(rows, gram), exact_sum(rows, total)
