"""Whoever sums, wherever the rows are and however they are cut: the same integers."""

from __future__ import annotations

import itertools
import math

import array_api_strict as strict
import dask
import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from publicmoments.data import as_responses, as_table, by_name, device_table
from publicmoments.engines.dispatch import exact_sum
from publicmoments.evidence.responses import response_edges
from publicmoments.evidence.tails import signed_edges
from publicmoments.families import Gaussian
from publicmoments.families.factors import Slope
from publicmoments.privacy import GDP, ZCDP, Account, ApproxDP, compose, gdp_delta, gdp_epsilon
from publicmoments.privacy.account import BudgetExceeded
from publicmoments.rows.private_rows import PrivateRows
from publicmoments.rows.recipe import CoarseTotalRecipe, CountRecipe, GramRecipe, TotalRecipe

D = 3
NAMES = ["a", "b", "c"]
CELLS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 5e-324, 1e16, 1e154, -1e300, 1e308, math.nan, math.inf]),
    st.floats(-10.0, 10.0),
)
WHOLE = st.integers(-90, 90)


def residual(predictor, responses):
    """A slope that depends on both."""
    return responses - predictor


def recipes(n_rows: int) -> list:
    """One recipe of each kind, none of them trivial."""
    rng = np.random.default_rng(1)
    whitener, coef = rng.normal(size=(D, D)), rng.normal(size=(D, 1))
    scaled = (whitener, coef, residual, 2.0, 3.0, n_rows)
    whole = (whitener, coef, Slope(Gaussian()), math.inf, 3.0, n_rows)
    return [
        GramRecipe(*scaled),
        TotalRecipe(*scaled),
        CoarseTotalRecipe(*scaled),
        # As fits write them: gradients of whole rows, and counts of influences and of responses.
        CoarseTotalRecipe(*whole, whole_predictor=True),
        CountRecipe(*whole, edges=response_edges(Gaussian())),
        CountRecipe(*whole, True, edges=signed_edges(1.0, 2), influence=True),
    ]


def exact(rows: PrivateRows, recipe) -> list:
    """The sum as Python integers."""
    return exact_sum(rows, recipe).tolist()


def rows_of(X, y) -> PrivateRows:
    """Hand a table in any form to the private side."""
    X, y = by_name(X, None, y=y)
    return PrivateRows(as_table(X), as_responses(y), False, True)


def table(draw, cells, dtype=float) -> np.ndarray:
    """Rows (x, y) side by side."""
    return draw(arrays(dtype, st.tuples(st.integers(2, 40), st.just(D + 1)), elements=cells))


def sums(X, y) -> list:
    """The sums of a table under every recipe."""
    rows = rows_of(X, y)
    return [exact(rows, recipe) for recipe in recipes(rows.n_rows)]


def sums_of_forms(rows: np.ndarray, forms: dict) -> tuple[dict, dict]:
    """The sums of every form of a table, and what they must be: those of the plain table."""
    plain = np.ascontiguousarray(rows[:, :D], dtype=float), rows[:, D].astype(float)
    wanted = sums(*plain)
    found = {name: sums(X, y) for name, (X, y) in forms.items()}
    return found, dict.fromkeys(forms, wanted)


def strided(X: np.ndarray) -> np.ndarray:
    """The same table with gaps between rows and columns."""
    roomy = np.full((2 * X.shape[0], 3 * X.shape[1]), 1e300)
    roomy[::2, ::3] = X
    return roomy[::2, ::3]


def reversed_view(X: np.ndarray) -> np.ndarray:
    """The same table with negative strides."""
    return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]


@given(st.data())
@settings(max_examples=25)
def test_layouts(data):
    rows = table(data.draw, CELLS)
    X, y = rows[:, :D], rows[:, D]
    forms = {
        "Fortran": (np.asfortranarray(X), y),
        "strided": (strided(X), y),
        "reversed": (reversed_view(X), y),
        "big-endian": (X.astype(">f8"), y.astype(">f8")),
        "list": (X.tolist(), y.tolist()),
    }
    found, wanted = sums_of_forms(rows, forms)
    assert found == wanted


@given(st.data())
@settings(max_examples=20)
def test_dtypes(data):
    rows = table(data.draw, WHOLE, np.int64)
    dtypes = ["int8", "int16", "int32", "int64", "float16", "float32", "float64", "longdouble"]
    forms = {name: (rows[:, :D].astype(name), rows[:, D].astype(name)) for name in dtypes}
    found, wanted = sums_of_forms(rows, forms)
    assert found == wanted


@given(st.data())
@settings(max_examples=20)
def test_frames(data):
    rows = table(data.draw, CELLS)
    X, y = rows[:, :D], rows[:, D]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=5)))
    pieces = [pa.array(part) for part in np.split(np.arange(len(rows)), cuts)]
    chunked = {
        name: pa.chunked_array([pa.array(X[p.to_numpy(), j]) for p in pieces])
        for j, name in enumerate(NAMES)
    }
    forms = {
        "pandas": (pd.DataFrame(X, columns=NAMES), pd.Series(y)),
        "polars": (pl.DataFrame(X, schema=NAMES), pl.Series(y)),
        "arrow": (pa.table(chunked), y),
    }
    found, wanted = sums_of_forms(rows, forms)
    assert found == wanted


@given(st.data())
@settings(max_examples=12)
def test_pieces_of_arrow_streams(data):
    rows = table(data.draw, CELLS)
    whole = pa.table({name: rows[:, j] for j, name in enumerate([*NAMES, "y"])})
    cuts = [0, *sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=5))), len(rows)]
    spans = list(itertools.pairwise(cuts))

    def stream():
        batches = [b for lo, hi in spans for b in whole.slice(lo, hi - lo).to_batches()]
        return pa.RecordBatchReader.from_batches(whole.schema, batches)

    plain = rows_of(rows[:, :D], rows[:, D])
    for recipe in recipes(len(rows)):
        assert exact(rows_of(stream(), "y"), recipe) == exact(plain, recipe)


@given(st.data())
@settings(max_examples=12)
def test_dask_arrays_of_random_chunks(data):
    rows = table(data.draw, CELLS)
    sizes = st.integers(1, len(rows))
    X = da.from_array(np.ascontiguousarray(rows[:, :D]), chunks=(data.draw(sizes), 2))
    y = da.from_array(np.ascontiguousarray(rows[:, D]), chunks=data.draw(sizes))
    with dask.config.set(scheduler="synchronous"):
        found, wanted = sums_of_forms(rows, {"dask": (X, y)})
    assert found == wanted


@given(st.data())
@settings(max_examples=20)
def test_other_array_libraries_differ_in_last_bits_only(data):
    rows = table(data.draw, st.floats(-10.0, 10.0))
    features = device_table(strict.asarray(np.ascontiguousarray(rows[:, :D])), "X")
    responses = device_table(strict.asarray(np.ascontiguousarray(rows[:, D])), "y")
    there, here = PrivateRows(features, responses, False, True), rows_of(rows[:, :D], rows[:, D])
    for recipe in recipes(len(rows)):
        found, wanted = (np.array(exact(one, recipe), dtype=float) for one in (there, here))
        if isinstance(recipe, CountRecipe):
            # Whose last bit lies at an edge is in either cell.
            moved = np.abs(found - wanted).sum() / recipe.mark
            assert moved <= 2 * at_edges(rows, recipe)
            continue
        # An integer may move by one where a last bit decides: as much as an entry times that.
        unit = math.sqrt(recipe.l2_bound_squared) if recipe.products else 1.0
        assert np.abs(found - wanted).max() <= 3.0 * len(rows) * unit


def at_edges(rows: np.ndarray, recipe: CountRecipe) -> int:
    """Rows whose value is too near to an edge to tell its cell, or that are next to nothing."""
    z = rows[:, :D] @ recipe.whitener
    lengths, slopes = np.linalg.norm(z, axis=1), z @ recipe.coef[:, 0] - rows[:, D]
    values = lengths * slopes if recipe.influence else slopes
    doubt = 1e-5 * lengths * (1.0 + lengths + np.abs(rows[:, D]))
    edges = recipe.edges[np.isfinite(recipe.edges)]
    near = np.abs(values[:, None] - edges).min(axis=1) <= doubt
    return int(np.sum(near | (lengths < 1e-15)))


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=20), st.floats(1e-6, 1e3))
def test_composition_is_monotone_and_never_nan(mus, more):
    before, after = (compose(*map(GDP, one)).mu for one in (mus, [*mus, more]))
    assert 0.0 < before <= after < math.inf
    assert before >= max(mus) * (1 - 1e-15)


@given(st.floats(1e-6, 1e3), st.floats(1.0, 10.0), st.floats(1e-12, 0.5), st.floats(0.0, 1e3))
def test_more_budget_never_promises_more(mu, factor, delta, epsilon):
    larger = mu * factor
    assert 0.0 <= gdp_epsilon(mu, delta) <= gdp_epsilon(larger, delta) * (1 + 1e-12) < math.inf
    assert 0.0 <= gdp_delta(mu, epsilon) <= gdp_delta(larger, epsilon) * (1 + 1e-12) <= 1.0 + 1e-12


@given(st.lists(st.floats(1e-3, 10.0), min_size=1, max_size=10), st.randoms())
def test_charges_in_any_order_come_to_the_same_and_no_further(mus, random):
    total = compose(*map(GDP, mus))
    shuffled = random.sample(mus, len(mus))
    account = Account(total)
    for mu in shuffled:
        account.charge(GDP(mu))
    assert account.spent == pytest.approx(total.mu, rel=1e-12)
    with pytest.raises(BudgetExceeded):
        account.charge(GDP(0.01 * total.mu))


@given(st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -1.0, -0.0]))
def test_no_budget_is_made_of_what_is_no_amount(amount):
    for make in (
        GDP,
        ZCDP,
        lambda value: ApproxDP(value, 1e-6),
        lambda value: ApproxDP(1.0, value),
    ):
        with pytest.raises(ValueError, match="must be in"):
            make(amount)
