"""Rows that are counted, whatever they hold: one mark or none, each from its own row alone."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from publicmoments.data.blocks import ROW_MULTIPLE
from publicmoments.engines.dispatch import exact_sum
from publicmoments.engines.host import add_up
from publicmoments.evidence.responses import response_edges
from publicmoments.evidence.tails import signed_edges
from publicmoments.families import Bernoulli, Gamma, Gaussian, Multinomial, Poisson
from publicmoments.families.factors import ScaledResponse, Slope
from publicmoments.privacy.unit import ONE_ROW
from publicmoments.rows.recipe import CountRecipe
from tests.helpers import integer_rows, query_of

BLOCK = ROW_MULTIPLE
HOSTILE = st.one_of(
    st.sampled_from(
        [
            *[0.0, -0.0, 5e-324, 1e-310, -1e-160, 0.5, 1.0, 700.0, 1e16, 2.0**64, 1e154, -1e300],
            *[1e308, np.finfo(float).max, math.nan, math.inf, -math.inf],
        ]
    ),
    st.floats(-10.0, 10.0),
    st.floats(),
)
SEEDS = st.integers(0, 2**32 - 1)
FAMILIES = [Gaussian(), Gaussian(2), Bernoulli(), Poisson(), Gamma(), Multinomial(3)]


def made(family, p, rng, influence, n_rows, **changes):
    """A recipe as fits write them."""
    k = family.n_predictors if influence else 1
    if influence:
        edges = signed_edges(10.0 ** rng.uniform(-3, 3), 2 if k == 1 else 1)
    else:
        edges = response_edges(family.alone)
    factor = Slope(family) if influence else ScaledResponse(family.alone)
    arguments = {
        "whitener": 10.0 ** rng.choice([0, 0, 0, -9, 7, 150, -150]) * rng.normal(size=(p, p)),
        "coef": rng.choice([0.0, 1.0, 1e8]) * rng.normal(size=(p, k)),
        "factor": factor,
        "radius": math.inf,
        "l2_bound": 1.0,
        "n_rows": n_rows,
        "whole_predictor": influence,
        "edges": edges,
        "influence": influence,
    }
    return CountRecipe(**(arguments | changes))


@st.composite
def cases(draw, n_rows, **changes):
    """A family and a recipe."""
    rng = np.random.default_rng(draw(SEEDS))
    family, p = draw(st.sampled_from(FAMILIES)), draw(st.integers(1, 4))
    return family, made(family, p, rng, draw(st.booleans()), n_rows, **changes)


def table(draw, family, recipe, n_rows):
    """Rows (x, y) side by side, full of hostile numbers; labels are classes or none."""
    labels = [*range(family.n_predictors + 1), math.nan]
    numbers = st.sampled_from(labels) if family.slope_limit < math.inf else HOSTILE
    X = draw(arrays(float, (n_rows, len(recipe.coef)), elements=HOSTILE))
    return np.hstack([X, draw(arrays(float, (n_rows, family.n_responses), elements=numbers))])


def marks_of(rows, recipe):
    """Integer rows of one block."""
    p = len(recipe.coef)
    return integer_rows(recipe, rows[:, :p], rows[:, p:])


def summed(rows, recipe, make_rows, **options):
    """Exact sum over a table, as Python integers."""
    p = len(recipe.coef)
    private = make_rows(rows[:, :p], rows[:, p:], ignore_invalid=True)
    return exact_sum(private, recipe, **options).astype(object)


@given(st.data())
@settings(max_examples=200)
def test_a_row_has_one_mark_or_none(data):
    family, recipe = data.draw(cases(6))
    rows = table(data.draw, family, recipe, 6)
    marks = marks_of(rows, recipe)
    assert marks.shape == (6, len(recipe.edges))
    assert set(np.unique(marks)) <= {0.0, float(recipe.mark)}
    assert ((marks > 0.0).sum(axis=1) <= 1).all()
    # Rows without a number have none, nor has a row of zeros, such as one that pads a block.
    assert not marks[~np.isfinite(rows).all(axis=1)].any()
    assert not marks[(rows[:, : len(recipe.coef)] == 0.0).all(axis=1)].any()


@given(st.data())
@settings(max_examples=150)
def test_a_mark_does_not_depend_on_the_rest_of_its_block(data):
    family, recipe = data.draw(cases(6))
    row = table(data.draw, family, recipe, 1)[0]
    width = len(row)
    padded = np.zeros((BLOCK, width))
    padded[0] = row
    results = {marks_of(padded, recipe)[0].tobytes()}
    for seed in data.draw(st.lists(SEEDS, min_size=3, max_size=3)):
        rng = np.random.default_rng(seed)
        sizes = 10.0 ** rng.choice([0, 0, 1, 20, 200, 300, -300], size=(BLOCK, 1))
        block = sizes * rng.normal(size=(BLOCK, width))
        if family.slope_limit < math.inf:
            block[:, -1] = rng.integers(family.n_predictors + 1, size=BLOCK)
        block[rng.random(BLOCK) < 0.1, rng.integers(width)] = math.nan
        place = rng.integers(BLOCK)
        block[place] = row
        results.add(marks_of(block, recipe)[place].tobytes())
    assert len(results) == 1


@given(st.data())
@settings(max_examples=150)
def test_replacing_a_row_moves_the_counts_within_the_sensitivity(make_rows, data):
    n_rows = data.draw(st.integers(1, 8))
    family, recipe = data.draw(cases(n_rows))
    rows = table(data.draw, family, recipe, n_rows)
    other = rows.copy()
    other[data.draw(st.integers(0, n_rows - 1))] = table(data.draw, family, recipe, 1)[0]
    change = summed(rows, recipe, make_rows) - summed(other, recipe, make_rows)
    assert (change * change).sum() <= query_of(recipe).squared_change(ONE_ROW)
    mu = data.draw(st.floats(1e-3, 1e2))
    law = query_of(recipe).law(mu, ONE_ROW)
    cost = Fraction(int((change * change).sum())) / (2 * Fraction(law.noise_sd) ** 2)
    assert cost <= Fraction(mu) ** 2 / 2


@pytest.mark.parametrize("influence", [True, False], ids=["influences", "responses"])
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_worst_neighbours_reach_the_sensitivity(make_rows, family, influence):
    rng = np.random.default_rng(2)
    changes = {"whitener": np.eye(2), "coef": np.zeros((2, 1))}
    if influence:
        changes["edges"] = signed_edges(1.0, 2 if family.n_predictors == 1 else 1)
        changes["coef"] = np.zeros((2, family.n_predictors))
    recipe = made(family, 2, rng, influence, 3, **changes)
    others = np.full((2, 2 + family.n_responses), 1.0)
    # Two rows in two cells: another response, or as a rule another length.
    ends = np.ones((2, 2 + family.n_responses))
    ends[0, :2], ends[1, :2] = 1e-2, 1e3
    ends[0, 2:] = 0.0 if family.slope_limit < math.inf else 0.01
    tables = (np.vstack([others, end]) for end in ends)
    first, second = (summed(rows, recipe, make_rows) for rows in tables)
    moved, declared = int(((first - second) ** 2).sum()), 2 * recipe.mark**2
    assert Fraction(99, 100) ** 2 * declared <= moved <= declared


@given(st.data())
@settings(max_examples=50)
def test_the_counts_are_those_of_python(make_rows, data):
    n_rows = data.draw(st.integers(1, 12))
    rng = np.random.default_rng(data.draw(SEEDS))
    edges = np.concatenate([[-math.inf], np.sort(rng.normal(size=5)) * 30.0])
    recipe = made(
        Gaussian(),
        2,
        rng,
        data.draw(st.booleans()),
        n_rows,
        whitener=np.diag([2.0, 0.5]),
        coef=np.array([[1.0], [-4.0]]),
        edges=edges,
    )
    rows = data.draw(arrays(float, (n_rows, 3), elements=st.integers(-40, 40).map(float)))
    wanted = [0] * len(edges)
    for a, b, y in rows.tolist():
        z = (2.0 * a, 0.5 * b)
        value = (z[0] - 4.0 * z[1] - y) * math.hypot(*z) if recipe.influence else y
        if z != (0.0, 0.0):
            wanted[max(j for j, edge in enumerate(edges) if edge <= value)] += recipe.mark
    assert summed(rows, recipe, make_rows).tolist() == wanted


@pytest.mark.parametrize("n_rows", [1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 7])
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_padding_is_not_counted_nor_blocks_twice(make_rows, family, n_rows):
    rng = np.random.default_rng(n_rows)
    edges = np.array([-math.inf, 0.1, 1.0])
    shape = np.zeros((3, family.n_predictors))
    recipe = made(family, 3, rng, True, n_rows, whitener=np.eye(3), coef=shape, edges=edges)
    X, y = rng.normal(size=(n_rows, 2)), np.ones((n_rows, family.n_responses))
    X[0], y[-1] = math.nan, math.inf
    private = make_rows(X, y, fit_intercept=True, ignore_invalid=True)
    sums = {
        tuple(add_up(private, recipe, block_rows=rows, threads=threads).tolist())
        for rows in (None, BLOCK)
        for threads in (1, 3)
    }
    assert len(sums) == 1
    assert sum(sums.pop()) == recipe.mark * max(n_rows - 2, 0)


def test_a_value_that_is_no_number_has_no_mark():
    # Zero times the exponential of an infinite log mean.
    rng = np.random.default_rng(0)
    chosen = {"whitener": np.eye(2), "coef": np.full((2, 1), -1e3)}
    recipe = made(Gamma(), 2, rng, True, 2, **chosen)
    marks = marks_of(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]), recipe)
    assert marks.any(axis=1).tolist() == [False, True]
