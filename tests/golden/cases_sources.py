"""The same private table in every form in which a fit takes it."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from publicmoments import (
    GDP,
    LogisticRegression,
    PoissonRegressor,
    PublicMoments,
    Ridge,
    release_moments,
)
from tests.golden.reading import card_figures, model_figures, named
from tests.golden.registry import add, case

FEATURES = ["age", "visits", "insured"]
MOMENTS = ["age", "price", "years"]
N_ROWS, N_PUBLIC = 1_000, 200
Columns = dict[str, Any]


def table(n: int = N_ROWS, seed: int = 41) -> Columns:
    """Columns of floats, whole numbers, booleans and words."""
    rng = np.random.default_rng(seed)
    age, visits = rng.normal(40.0, 12.0, n), rng.integers(0, 9, n)
    insured = rng.random(n) < 0.4
    t = 0.02 * (age - 40.0) + 0.1 * visits - 0.3 * insured
    years = rng.uniform(0.5, 2.0, n)
    return {
        "visits": visits,
        "price": 100.0 * t + rng.normal(0.0, 20.0, n),
        "age": age,
        "sick": np.where(t + rng.logistic(size=n) > 0.3, "yes", "no"),
        "insured": insured,
        "claims": rng.poisson(years * np.exp(t)),
        "years": years,
        "city": np.full(n, "Ulm"),
    }


def _public(*names: str) -> PublicMoments:
    """Public moments of some columns, the last of them a response where it is the price."""
    rows = table(N_PUBLIC, 42)
    values = np.column_stack([rows[name].astype(float) for name in names])
    known = "price" if names[-1] == "price" else None
    return PublicMoments.from_rows(values, response=known, columns=list(names))


def by_names(source: Any, numbers: Any = None) -> dict[str, Any]:
    """
    Fit everything to a source by the names of its columns.

    Moments are released of ``numbers``, the source without its words, where it is in memory.
    """
    common: dict[str, Any] = {"privacy": GDP(1.0), "random_state": 19}
    features = _public(*FEATURES)
    ridge = Ridge(public=_public(*FEATURES, "price"), **common).fit(source(), "price")
    logistic = LogisticRegression(public=features, classes=("no", "yes"), **common)
    logistic.fit(source(), "sick")
    poisson = PoissonRegressor(public=features, **common)
    poisson.fit(source(), "claims", exposure="years")
    columns = PublicMoments.from_rows(
        np.column_stack([table(N_PUBLIC, 42)[name] for name in MOMENTS]),
        columns=MOMENTS,
    )
    release = release_moments((numbers or source)(), public=columns, **common)
    found: dict[str, Any] = {}
    for name, model in (("ridge", ridge), ("logistic", logistic), ("poisson", poisson)):
        fit = {"coef": model.coef_, "intercept": model.intercept_}
        found |= named(name, fit | {"errors": model.noise_covariance_})
    several = Ridge(public=features, **common).fit(source(), ["price", "years"])
    return (
        found
        | {"release": release.noisy_gram, "several": several.coef_}
        | named("ridge", card_figures(ridge.card_))
    )


def by_arrays(X: Any, y: Any, claims: Any, years: Any) -> dict[str, Any]:
    """Fit arrays that have no names."""
    common: dict[str, Any] = {"privacy": GDP(1.0), "random_state": 19}
    rows = table(N_PUBLIC, 42)
    B = np.column_stack([rows[name].astype(float) for name in FEATURES])
    ridge = Ridge(public=PublicMoments.from_rows(B, response=rows["price"]), **common).fit(X, y)
    poisson = PoissonRegressor(public=PublicMoments.from_rows(B), **common)
    poisson.fit(X, claims, exposure=years)
    return {
        "ridge coef": ridge.coef_,
        "ridge intercept": ridge.intercept_,
        "ridge errors": ridge.noise_covariance_,
        "poisson coef": poisson.coef_,
        "poisson intercept": poisson.intercept_,
        "poisson errors": poisson.noise_covariance_,
        "release": release_moments(X, public=PublicMoments.from_rows(B), **common).noisy_gram,
    }


def _numbers() -> Columns:
    """The columns whose moments are released, in order."""
    return {name: table()[name] for name in MOMENTS}


def _pandas(_: Path, columns: Columns | None = None) -> Any:
    return import_module("pandas").DataFrame(columns or table())


def _polars(_: Path, columns: Columns | None = None) -> Any:
    return import_module("polars").DataFrame(columns or table())


def _lazy(folder: Path) -> Any:
    return _polars(folder).lazy()


def _arrow(_: Path, columns: Columns | None = None) -> Any:
    return import_module("pyarrow").table(columns or table())


def _parquet(folder: Path) -> Any:
    path = folder / "rows.parquet"
    import_module("pyarrow.parquet").write_table(_arrow(folder), path, row_group_size=300)
    return path


def _parts(folder: Path) -> Any:
    write = import_module("pyarrow.parquet").write_table
    (folder / "parts").mkdir(exist_ok=True)
    whole = _arrow(folder)
    write(whole.slice(0, 333), folder / "parts" / "0.parquet")
    write(whole.slice(333), folder / "parts" / "1.parquet")
    return str(folder / "parts")


def _dataset(folder: Path) -> Any:
    return import_module("pyarrow.dataset").dataset(_parts(folder))


def _reader(folder: Path) -> Any:
    return _arrow(folder).to_reader(max_chunksize=170)


def _csv(folder: Path) -> Any:
    columns = table()
    names = list(columns)
    lines = [",".join(names)]
    lines += [",".join(str(cell) for cell in row) for row in zip(*columns.values(), strict=True)]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "rows.csv"


def _duckdb(folder: Path) -> Any:
    return import_module("duckdb").connect().from_arrow(_arrow(folder))


def _dask(folder: Path) -> Any:
    return import_module("dask.dataframe").from_pandas(_pandas(folder), npartitions=3, sort=False)


def _with_source(make: Callable[[Path], Any]) -> dict[str, Any]:
    """Fit a source, made anew for each fit."""
    with tempfile.TemporaryDirectory() as folder:
        return by_names(lambda: make(Path(folder)))


def _in_memory(make: Callable[[Path, Columns | None], Any]) -> dict[str, Any]:
    """Fit a table in memory."""
    return by_names(lambda: make(Path(), None), lambda: make(Path(), _numbers()))


for _name, _table in (("pandas", _pandas), ("polars", _polars), ("pyarrow", _arrow)):
    add(f"source/{_name}", partial(_in_memory, _table), _name)

for _name, _make, _needs in (
    ("polars-lazy", _lazy, ("polars",)),
    ("arrow-reader", _reader, ("pyarrow",)),
    ("arrow-dataset", _dataset, ("pyarrow",)),
    ("parquet", _parquet, ("pyarrow",)),
    ("parquet-folder", _parts, ("pyarrow",)),
    ("csv", _csv, ("pyarrow",)),
    ("duckdb", _duckdb, ("duckdb", "pyarrow")),
    ("dask", _dask, ("dask", "pandas", "pyarrow")),
):
    add(f"source/{_name}", partial(_with_source, _make), *_needs)


def few_fits(source: Any) -> dict[str, Any]:
    """Fit two gradients and release moments, where each pass takes long."""
    common: dict[str, Any] = {"privacy": GDP(1.0), "random_state": 19}
    model = Ridge(passes=2, public=_public(*FEATURES, "price"), **common).fit(source, "price")
    release = release_moments(source, public=_public(*MOMENTS), **common)
    return model_figures(model, np.ones((1, 3))) | {"release": release.noisy_gram}


@case("source/parquet/few-fits", "pyarrow")
def parquet_few_fits() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return few_fits(_parquet(Path(folder)))


@case("source/spark", "pyspark", "pandas", "pyarrow", "!java")
def spark() -> dict[str, Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
    }
    builder = import_module("pyspark.sql").SparkSession.builder.master("local[2,4]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    running = import_module("pyspark.sql").SparkSession.getActiveSession()
    session = builder.appName("publicmoments-golden").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = _parquet(Path(folder)).as_uri()
            return few_fits(session.read.parquet(path).coalesce(1).repartition(2))
    finally:
        if running is None:
            session.stop()


def _arrays() -> list[Any]:
    """Features, price, claims and years as NumPy arrays."""
    rows = table()
    X = np.column_stack([rows[name].astype(float) for name in FEATURES])
    return [X, rows["price"], rows["claims"].astype(float), rows["years"]]


@case("source/numpy")
def numpy_arrays() -> dict[str, Any]:
    return by_arrays(*_arrays())


@case("source/numpy-layouts")
def numpy_layouts() -> dict[str, Any]:
    X, *rest = _arrays()
    wide = np.zeros((len(X), 7))
    wide[:, 1::2] = X
    swapped = by_arrays(X.astype(">f8"), *rest)
    return (
        named("by columns", by_arrays(np.asfortranarray(X), *rest))
        | named("strided", by_arrays(wide[:, 1::2], *rest))
        | named("swapped", swapped)
    )


@case("source/lists")
def lists() -> dict[str, Any]:
    return by_arrays(*(array.tolist() for array in _arrays()))


@case("source/dask-arrays", "dask")
def dask_arrays() -> dict[str, Any]:
    da = import_module("dask.array")
    X, *rest = _arrays()
    chunked = [da.from_array(one, chunks=270) for one in rest]
    return by_arrays(da.from_array(X, chunks=(400, 2)), *chunked)


@case("source/array-api", "array_api_strict", "array_api_compat")
def array_api() -> dict[str, Any]:
    strict = import_module("array_api_strict")
    return by_arrays(*(strict.asarray(np.ascontiguousarray(one)) for one in _arrays()))


@case("source/torch", "torch", "array_api_compat")
def torch() -> dict[str, Any]:
    return by_arrays(*(import_module("torch").asarray(one) for one in _arrays()))


@case("source/sparse-cells", "pandas")
def missing_cells() -> dict[str, Any]:
    frame = _pandas(Path())
    frame["visits"] = frame["visits"].astype("Int64")
    frame.loc[[3, 70, 400], "age"] = None
    frame.loc[[8, 90], "visits"] = None
    common: dict[str, Any] = {"privacy": GDP(1.0), "random_state": 20, "on_invalid": "ignore"}
    model = Ridge(public=_public(*FEATURES, "price"), **common).fit(frame, "price")
    return {"coef": model.coef_, "names": model.feature_names_in_} | card_figures(model.card_)
