"""Holes that an attack on the library found, one after the other, as it found them."""

from __future__ import annotations

import tomllib
import traceback
import warnings
from fractions import Fraction

import array_api_strict
import dask
import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from audit.commands import _left, _prepared
from audit.door import watched
from audit.frames import columns_of
from audit.mutations import ROOT
from publicmoments import (
    GDP,
    GLM,
    ApproxDP,
    LogisticRegression,
    PoissonRegressor,
    PublicMoments,
    Ridge,
)
from publicmoments.cli import main
from publicmoments.data import as_labels, as_table, device_table
from publicmoments.engines.dispatch import exact_sum
from publicmoments.families import Gamma, Multinomial
from publicmoments.families.factors import Slope
from publicmoments.privacy import BudgetExceeded, Ledger
from publicmoments.rows.private_rows import InvalidRows, PrivateRows
from publicmoments.rows.recipe import TotalRecipe

SECRET = "Mr Secret, 41"
N = 60
RNG = np.random.default_rng(21)
X, B = RNG.normal(size=(N, 2)), RNG.normal(size=(40, 2))
PUBLIC = PublicMoments.from_rows(B, response_scale=1.0)
BIG = 2**53


# 1. One missing label recodes every other row.

TYPED = {
    "polars": lambda c: pl.Series(c, dtype=pl.Int64),
    "pandas Int64": lambda c: pd.Series(pd.array(c, "Int64")),
    "pandas int64[pyarrow]": lambda c: pd.Series(pd.array(c, "int64[pyarrow]")),
    "pandas Categorical": lambda c: pd.Series(pd.Categorical(c, categories=[BIG, BIG + 1])),
    "Arrow": lambda c: pa.array(c, pa.int64()),
}


@pytest.mark.parametrize("kind", TYPED)
def test_a_missing_label_does_not_recode_others(kind):
    labels = [BIG + k % 2 for k in range(N)]
    whole = as_labels(TYPED[kind](labels), (BIG, BIG + 1)).values()
    gap = as_labels(TYPED[kind]([None, *labels[1:]]), (BIG, BIG + 1)).values()
    assert whole[:, 0].tolist() == [float(k % 2) for k in range(N)]
    assert np.isnan(gap[0, 0])
    np.testing.assert_array_equal(gap[1:], whole[1:])


def test_a_list_of_rows_is_read_cell_by_cell():
    labels = [[k % 2] for k in range(N)]
    whole = as_labels(labels, (0, 1)).values()
    for odd in (None, 1, [0, 1], [], "word"):
        gap = as_labels([odd, *labels[1:]], (0, 1)).read(0, N, strict=False)
        np.testing.assert_array_equal(gap[1:], whole[1:])


def test_short_floats_with_a_missing_label_are_still_labels():
    labels = pa.array([0.1, 0.2, None, 0.2], pa.float32())
    codes = as_labels(labels, (0.1, 0.2)).values()[:, 0]
    np.testing.assert_array_equal(codes, [0.0, 1.0, np.nan, 1.0])


def test_classes_that_coincide_in_the_type_of_the_column_are_refused():
    for labels in (np.zeros(3), pl.Series([0.0, 1.0]), pa.array([0.0])):
        with pytest.raises(ValueError, match="not different in a column of type float64"):
            as_labels(labels, (BIG, BIG + 1))


# 2. The printed card is rounded to nearest.


def test_the_printed_card_promises_no_more_than_holds():
    model = Ridge(privacy=ApproxDP(1.00049, 1.49e-6), public=PUBLIC).fit(X, X[:, 0])
    assert "(1, 1e-06)" not in str(model.card_)
    assert "(epsilon, delta): (1.001, 1.5e-06)" in str(model.card_)


# 3. Errors quote private rows.


def texts() -> pd.DataFrame:
    """A table whose numbers are text, and one of them is none."""
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": X[:, 0]}).astype(str)
    frame.loc[5, "b"] = SECRET
    return frame


def lazily(frame: pd.DataFrame) -> pl.LazyFrame:
    return pl.from_pandas(frame).lazy().with_columns(pl.all().cast(pl.Float64))


def by_query(frame: pd.DataFrame) -> duckdb.DuckDBPyRelation:
    casts = ", ".join(f"cast({name} as double) {name}" for name in "aby")
    return duckdb.connect().from_arrow(pa.Table.from_pandas(frame)).project(casts)


def in_partitions(frame: pd.DataFrame) -> dd.DataFrame:
    parts = dd.from_pandas(frame, npartitions=3)
    return parts.assign(**{name: parts[name].astype(float) for name in "aby"})


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("table", [X, pd.DataFrame(X), pd.DataFrame(X, columns=["a", "b"])])
def test_responses_as_words_are_not_taken_for_names(table):
    """A list of words was looked up among the columns, and quoted where it was not found."""
    words = [f"{k}.5" for k in range(N)]
    model = Ridge(privacy=GDP(1.0), random_state=0, on_invalid="ignore")
    wanted = model.fit(table, np.array(words, dtype=object)).coef_
    np.testing.assert_array_equal(model.fit(table, words).coef_, wanted)
    odd = [SECRET, *words[1:]]
    assert heard(lambda: model.fit(table, odd)) == []
    with pytest.raises(TypeError, match="do not convert to float") as info:
        Ridge(privacy=GDP(1.0)).fit(table, odd)
    assert "Secret" not in "".join(traceback.format_exception(info.value, chain=True))
    with pytest.raises(ValueError, match="y must be a column of X, got a list of others") as info:
        Ridge(privacy=GDP(1.0)).fit(pd.DataFrame(X, columns=["a", "b"]), odd[:3])
    assert "Secret" not in "".join(traceback.format_exception(info.value, chain=True))


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("on_invalid", ["raise", "ignore"])
@pytest.mark.parametrize("source", [lazily, by_query, in_partitions])
def test_errors_of_sources_quote_nothing_and_name_the_column(source, on_invalid):
    model = Ridge(privacy=GDP(1.0), public=None, on_invalid=on_invalid)
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(ValueError, match=r"the source of column\(s\) b could not be read") as info,
    ):
        model.fit(source(texts()), "y")
    said = "".join(traceback.format_exception(info.value, chain=True))
    assert "Secret" not in said
    assert "41" not in str(info.value)


# 4. The command line prints exact counts, and reads the file again after a refusal.


def test_a_refused_budget_is_told_and_nothing_else(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    columns = columns_of()
    columns["a"][3] = columns["a"][4] = SECRET
    table = _prepared(tmp_path, columns, ".csv")
    shared = ["--target", "count", "--features", "a,b", "--public", "public.json", "--mu", "1"]
    paid = ["--ledger", "ledger.db", "--dataset", "shut", "-o", "out.json"]
    assert main(["fit", "ridge", table, *shared, *paid]) == 3
    said = capsys.readouterr().err
    assert said.startswith("pmt: refused, nothing was spent")
    assert "line" not in said
    assert main(["fit", "ridge", table, *shared, "-o", "out.json"]) == 2
    said = capsys.readouterr().err
    assert "column a" in said
    assert not any(word in said.split() for word in ("1", "2", "one", "two", "line", "lines"))
    assert "out.json" not in _left(tmp_path)["files"]
    assert not issubclass(BudgetExceeded, ValueError)


# 5. Warnings that depend on cells under "ignore".


def signalling() -> np.ndarray:
    table = X.astype(np.float32)
    table[7, 1:].view(np.uint32)[...] = 0x7FA00001
    return table


def heard(act) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return [str(one.message) for one in caught if "public moments" not in str(one.message)]


@pytest.mark.parametrize(
    "table", [signalling(), X.astype(np.longdouble) * np.longdouble("1e4000")], ids=["signal", "ld"]
)
def test_no_cell_makes_numpy_warn(table):
    model = Ridge(privacy=GDP(1.0), public=PUBLIC, on_invalid="ignore")
    assert heard(lambda: model.fit(table, X[:, 0])) == []


@pytest.mark.parametrize(
    ("length", "typical"), [(5e-324, 10.0), (1.7e308, 0.1), (np.longdouble("1e-4900"), 1.0)]
)
def test_no_exposure_makes_numpy_warn(length, typical):
    exposure = np.ones(N, dtype=type(length))
    exposure[3] = length
    model = PoissonRegressor(privacy=GDP(1.0), public=PUBLIC, passes=2, on_invalid="ignore")
    model.set_params(typical_exposure=typical)
    assert heard(lambda: model.fit(X, np.arange(N) % 3, exposure=exposure)) == []


# 6. Uncharged refusals under "ignore".

COUNTS = (np.arange(N) % 3).astype(object)


def with_cell(column, cell):
    changed = np.array(column, dtype=object)
    changed[9] = cell
    return changed


@pytest.mark.parametrize("cell", [-1, 0.5, 10**400, "three", {}, None])
def test_a_response_of_no_use_is_not_refused(cell):
    for model in (PoissonRegressor(), GLM(Gamma())):
        model.set_params(privacy=GDP(1.0), public=PUBLIC, passes=2, on_invalid="ignore")
        assert heard(lambda model=model: model.fit(X, with_cell(COUNTS, cell))) == []
    labels = LogisticRegression(privacy=GDP(1.0), public=PUBLIC, passes=2, on_invalid="ignore")
    assert heard(lambda: labels.fit(X, with_cell(COUNTS % 2, cell))) == []


@pytest.mark.parametrize("cell", [0, -1.0, 10**400, "a year"])
def test_an_exposure_of_no_use_is_not_refused(cell):
    model = PoissonRegressor(privacy=GDP(1.0), public=PUBLIC, passes=2, on_invalid="ignore")
    exposure = with_cell(np.ones(N), cell)
    assert heard(lambda: model.fit(X, COUNTS.astype(float), exposure=exposure)) == []


def test_refusals_do_not_search_for_a_maximum():
    """Fifteen calls found a column's largest cell: the least number that may be subtracted from."""
    column, counts = X[:, 0], COUNTS.astype(float)
    model = PoissonRegressor(privacy=GDP(1.0), public=PUBLIC, passes=2, on_invalid="ignore")
    for most in np.linspace(-4.0, 4.0, 15):
        assert heard(lambda most=most: model.fit(X, counts, exposure=most - column)) == []


# 7. Caps in epsilon and delta ignore the extra distance of GDP charges.


def test_a_cap_in_epsilon_and_delta_counts_the_extra_of_other_budgets(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db")
    cap = ApproxDP(1.0, 1e-6)
    ledger.cap("stays", cap)
    with ledger.account("stays", GDP(0.1), extra_tv=1e-7) as account:
        account.charge(GDP(0.1))
    assert ledger.remaining("stays") < (cap.mu**2 - 0.01) ** 0.5
    Ridge(privacy=GDP(0.1), public=PUBLIC, ledger=ledger, dataset="stays").fit(X, X[:, 0])
    assert ledger.extra_tv("stays") > 1e-7


# 8. The extra delta of a card is that of the path taken: now of a path that public numbers settle.

EVERY = {
    "labels": lambda k: LogisticRegression(**k),
    "classes": lambda k: LogisticRegression(classes=(0, 1, 2), **k),
    "counts": lambda k: PoissonRegressor(**k),
    "sizes": lambda k: GLM(Gamma(), **k),
    "numbers": lambda k: Ridge(**k),
}


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("mu", [1e-2, 1.0, 1e4])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("kind", EVERY)
def test_a_card_states_the_extra_of_every_path(kind, known, mu):
    """Whatever the rows are, the same releases are made, and the card pays for all of them."""
    y = 1.0 + np.arange(N) % 2
    y -= kind == "labels"
    public = PublicMoments.from_rows(B, response=y[:40]) if known else PUBLIC
    paths = []
    for rows in (X, 1e3 * X + 7.0, np.zeros_like(X)):
        with watched() as passages:
            card = EVERY[kind]({"privacy": GDP(mu), "public": public}).fit(rows, y).card_
        paths.append([(one.kind, one.recipe.dimension, one.mu, one.law) for one in passages])
        drawn = sum(Fraction(one.law.gdp_extra_tv) for one in passages)
        assert 0 < drawn <= card.extra_tv
        assert len(card.passes) == len(passages)
    assert paths[0] == paths[1] == paths[2]


# 9. Missing labels of three classes on a device count as the first; labels on a device.


def test_missing_labels_of_three_classes_on_a_device():
    labels = (np.arange(N) % 3).astype(float)
    labels[4] = np.nan
    family = Multinomial(3)
    recipe = TotalRecipe(np.eye(2), np.zeros((2, 2)), Slope(family), 4.0, 4.0, N)
    features = device_table(array_api_strict.asarray(X), "X")
    there = PrivateRows(features, as_labels(labels, (0, 1, 2)), False, True)
    here = PrivateRows(as_table(X), as_labels(labels, (0, 1, 2)), False, True)
    np.testing.assert_array_equal(exact_sum(there, recipe), exact_sum(here, recipe))
    refusing = PrivateRows(features, as_labels(labels, (0, 1, 2)), False, False)
    with pytest.raises(InvalidRows):
        exact_sum(refusing, recipe)


# Labels, counts and exposures on a device, CUDA where there is one: tests/unit/engines.


# 10. Biased samplers: tests/statistical/test_installed_sampler.py.


def test_the_floor_of_the_sampler_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "opendp>=0.14.2" in project["dependencies"]
