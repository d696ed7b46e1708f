"""Clusters that tests share, for starting one takes longer than any test, and tables for them."""

import logging
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from publicmoments.privacy import Account
from publicmoments.rows.recipe import GramRecipe, TotalRecipe
from tests.contract.sources import FEATURES, FRAME, N_ROWS, SourceKind, exact_sums, private_rows


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A Spark session on two local cores, which runs a failed task again."""
    if shutil.which("java") is None:
        pytest.skip("Spark needs java on the path")
    sql = pytest.importorskip("pyspark.sql")
    session = (
        sql.SparkSession.builder.master("local[2,4]")
        .appName("publicmoments-tests")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.executorEnv.OPENBLAS_NUM_THREADS", "1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A client of a Dask cluster of two worker processes, which are started again when killed."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def make_source(tmp_path, request):
    """Make a source of some name; Spark is started for its own only."""

    def make(name):
        session = request.getfixturevalue("spark") if name.startswith("spark") else None
        return SourceKind(name, tmp_path, session)

    return make


@pytest.fixture
def charges(monkeypatch):
    """Costs that were charged to any account."""
    seen = []
    charge = Account.charge
    monkeypatch.setattr(
        Account, "charge", lambda self, cost: (seen.append(cost), charge(self, cost))
    )
    return seen


@pytest.fixture
def recipes(make_recipe):
    """A recipe whose Gram matrix is summed, and one whose rows are, with an intercept each."""
    whitener = np.linalg.cholesky(np.cov(FRAME[FEATURES].to_numpy(float).T) + np.eye(3)).T
    p = 4
    whole = np.eye(p)
    whole[:3, :3] = np.linalg.inv(whitener)
    kinds = (GramRecipe, TotalRecipe)
    gram, total = (make_recipe(kind, p, whitener=whole, n_rows=N_ROWS) for kind in kinds)
    return gram, total


@pytest.fixture
def expected(recipes):
    """Sums over the table in NumPy arrays."""
    rows = private_rows(FRAME[FEATURES].to_numpy(float), FRAME["price"].to_numpy())
    sums = exact_sums(rows, recipes)
    assert np.count_nonzero(sums[0]) == 16
    return sums
