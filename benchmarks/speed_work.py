"""What is timed by `benchmarks/speed.py`: ours beside a reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

MOMENTS = {(10**6, 10): 4.0, (10**6, 50): 3.0, (2 * 10**5, 200): 2.5, (5 * 10**4, 1000): 2.2}
FITS = {
    ("Ridge", 10**6, 10): 0.8,
    ("Ridge", 2 * 10**5, 50): 1.2,
    ("LogisticRegression", 10**6, 10): 0.8,
    ("LogisticRegression", 2 * 10**5, 50): 1.3,
}
PARQUET = Path("results/speed/rows.parquet")
PARQUET_ROWS, PARQUET_COLUMNS = 5 * 10**6, 20


@dataclass(frozen=True)
class Pair:
    """Two ways to spend time, and how many times as long the first may take."""

    work: str
    reference: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    limit: float | None
    note: str = ""


def linear(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.full(d, 1.0 / np.sqrt(d)) + 0.5 * rng.normal(size=n)


def moment_recipe(n: int, d: int) -> Any:
    """Bounds that some of the rows of standard normal features reach."""
    from publicmoments.families.factors import Ones
    from publicmoments.rows.recipe import GramRecipe

    rng = np.random.default_rng(1)
    return GramRecipe(
        whitener=np.eye(d) + 0.1 * rng.normal(size=(d, d)) / np.sqrt(d),
        coef=np.zeros((d, 1)),
        factor=Ones(),
        radius=1.3 * np.sqrt(d),
        l2_bound=1.3 * np.sqrt(d),
        n_rows=n,
    )


def moment_pairs(threads: int) -> list[Callable[[], Pair]]:
    from publicmoments.data import as_responses, as_table
    from publicmoments.engines.dispatch import exact_sum
    from publicmoments.rows.private_rows import PrivateRows

    def make(n: int, d: int, limit: float) -> Pair:
        X, y = linear(n, d)
        rows = PrivateRows(as_table(X), as_responses(y), False, False)
        recipe = moment_recipe(n, d)
        name = f"moment pass {n:,} x {d}"
        note = f"whitened in {np.dtype(recipe.dtype).name}"
        return Pair(
            name,
            "X.T @ X",
            lambda: exact_sum(rows, recipe, threads=threads),
            lambda: X.T @ X,
            limit,
            note,
        )

    return [lambda n=n, d=d, limit=limit: make(n, d, limit) for (n, d), limit in MOMENTS.items()]


def fit_pairs(threads: int) -> list[Callable[[], Pair]]:
    from sklearn import linear_model

    import publicmoments
    from publicmoments import GDP, PublicMoments

    def make(model: str, n: int, d: int, limit: float) -> Pair:
        X, y = linear(n, d)
        few, few_y = linear(1000, d, seed=1)
        if model == "Ridge":
            theirs: Any = linear_model.Ridge(alpha=1e-3 * n, solver="cholesky")
        else:
            y, few_y = (y > 0).astype(int), (few_y > 0).astype(int)
            theirs = linear_model.LogisticRegression(C=1.0 / (1e-3 * n))
        public = PublicMoments.from_rows(few, response=few_y)
        ours = getattr(publicmoments, model)(alpha=1e-3, privacy=GDP(1.0), public=public)
        return Pair(
            f"{model}.fit {n:,} x {d}",
            f"scikit-learn {type(theirs).__name__}, not private",
            lambda: ours.fit(X, y),
            lambda: theirs.fit(X, y),
            limit,
            "noise included; public rows with responses",
        )

    return [
        lambda m=m, n=n, d=d, limit=limit: make(m, n, d, limit) for (m, n, d), limit in FITS.items()
    ]


def write_parquet(path: Path, n_rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    rng, writer = np.random.default_rng(0), None
    for start in range(0, n_rows, 500_000):
        X = rng.normal(size=(min(500_000, n_rows - start), PARQUET_COLUMNS - 1))
        y = X.sum(axis=1) / 4 + rng.normal(size=len(X))
        table = pa.table({**{f"x{j}": column for j, column in enumerate(X.T)}, "y": y})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="none")
        writer.write_table(table)
    if writer is not None:
        writer.close()


def parquet_model() -> Any:
    from publicmoments import GDP, PublicMoments, Ridge

    rng, names = np.random.default_rng(1), [f"x{j}" for j in range(PARQUET_COLUMNS - 1)]
    B = rng.normal(size=(1000, len(names)))
    y = B.sum(axis=1) / 4 + rng.normal(size=1000)
    public = PublicMoments.from_rows(B, response=y, columns=names)
    return Ridge(privacy=GDP(1.0), public=public, passes=1)


def parquet_pairs(threads: int) -> list[Callable[[], Pair]]:
    import pyarrow.parquet as pq

    def make() -> Pair:
        path = PARQUET
        if not path.exists():
            write_parquet(path, PARQUET_ROWS)
        model = parquet_model()

        def read() -> None:
            for batch in pq.ParquetFile(path).iter_batches(batch_size=2**17):
                np.column_stack([column.to_numpy() for column in batch.columns])

        size = path.stat().st_size / 1e6
        return Pair(
            f"one pass over Parquet, {PARQUET_ROWS:,} x {PARQUET_COLUMNS}",
            "reading it into NumPy batches by pyarrow",
            lambda: model.fit(str(path), "y"),
            read,
            2.0,
            f"{size:.0f} MB",
        )

    return [make]


KINDS = {"moment": moment_pairs, "fit": fit_pairs, "parquet": parquet_pairs}
