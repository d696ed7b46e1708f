"""Rows of gradients, whatever they are: within their bound, each moved no farther than it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from publicmoments.engines.dispatch import exact_sum
from publicmoments.families import Bernoulli, Gamma, Gaussian, Multinomial, Poisson
from publicmoments.families.factors import Slope
from publicmoments.rows.recipe import CoarseTotalRecipe, TotalRecipe
from tests.helpers import integer_rows

N, P = 6, 2
KINDS = [TotalRecipe, CoarseTotalRecipe]
RADIUS = 1.7
FAMILIES = [Gaussian(), Bernoulli(), Poisson(), Gamma(), Multinomial(3)]
HOSTILE = st.one_of(
    st.sampled_from(
        [0.0, 5e-324, 1e-160, 1.0, 700.0, 1e16, 1e154, -1e300, 1e308, math.nan, math.inf, -math.inf]
    ),
    st.floats(-10.0, 10.0),
    st.floats(),
)


def responses(draw, family):
    """Responses within the range of the family; fits refuse others."""
    if isinstance(family, Bernoulli):
        return draw(arrays(float, (N, 1), elements=st.sampled_from([0.0, 1.0])))
    if isinstance(family, Multinomial):
        return draw(arrays(float, (N, 1), elements=st.sampled_from([0.0, 1.0, 2.0])))
    values = draw(arrays(float, (N, 1), elements=HOSTILE))
    if isinstance(family, Gaussian):
        return values
    return np.abs(np.rint(values)) if isinstance(family, Poisson) else np.abs(values)


@st.composite
def cases(draw, make_recipe, kind):
    """A recipe as fits write them, and rows, responses and offsets full of hostile numbers."""
    family = draw(st.sampled_from(FAMILIES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k, limit = family.n_predictors, family.slope_limit
    limited = limit < math.inf
    y = responses(draw, family)
    offset = k == 1 and draw(st.booleans())
    if offset:
        y = np.hstack([y, draw(arrays(float, (N, 1), elements=HOSTILE))])
    recipe = make_recipe(
        kind,
        P,
        k,
        whitener=rng.normal(size=(P, P)),
        coef=draw(st.sampled_from([0.0, 1.0, 1e3])) * rng.normal(size=(P, k)),
        factor=Slope(family, draw(st.sampled_from([1.0, 1.0 if limited else 7.0])), offset),
        radius=RADIUS if limited else math.inf,
        l2_bound=RADIUS * limit if limited else draw(st.sampled_from([1e-3, 1.0, 7.3, 1e9])),
        n_rows=N,
        whole_predictor=True,
    )
    return family, recipe, draw(arrays(float, (N, P), elements=HOSTILE)), y


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=150)
def test_rows_are_within_the_bound(make_recipe, kind, data):
    family, recipe, X, y = data.draw(cases(make_recipe, kind))
    rows = integer_rows(recipe, X, y)
    squared = [sum(int(entry) ** 2 for entry in row) for row in rows]
    assert max(squared) <= recipe.l2_bound_squared
    if family.slope_limit < math.inf:
        # Not because products are cut at the bound: with one far above, rows are as long.
        wide = replace(recipe, l2_bound=64.0 * recipe.l2_bound)
        longest = np.linalg.norm(integer_rows(wide, X, y), axis=1) * wide.grid_unit
        assert longest.max() <= recipe.l2_bound * (1 + 1e-3), family


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=100)
def test_replacing_a_row_moves_a_gradient_within_its_sensitivity(
    make_recipe, make_rows, kind, data
):
    _, recipe, X, y = data.draw(cases(make_recipe, kind))
    totals = []
    for other in (0, data.draw(st.integers(1, N - 1))):
        table, values = X.copy(), y.copy()
        table[0], values[0] = X[other], y[other]
        private = make_rows(table, values, ignore_invalid=True)
        totals.append(exact_sum(private, recipe, threads=1).astype(object))
    change = sum(int(entry) ** 2 for entry in totals[1] - totals[0])
    assert change <= 4 * recipe.l2_bound_squared


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_worst_neighbours_move_a_gradient_as_far_as_declared(make_recipe, make_rows, family, kind):
    k, limited = family.n_predictors, family.slope_limit < math.inf
    recipe = make_recipe(
        kind,
        P,
        k,
        whitener=np.random.default_rng(3).normal(size=(P, P)),
        coef=np.array([[1e-3] * k, [0.0] * k]),
        factor=Slope(family),
        radius=RADIUS if limited else math.inf,
        l2_bound=RADIUS * family.slope_limit if limited else 2.5,
        n_rows=3,
        whole_predictor=True,
    )
    # Opposite long rows, whose responses surprise as much as may be: of classes, both are taken for
    # one beyond doubt, and are of another.
    ends, response = 1e7 * np.array([[0.0, 1.0], [0.0, -1.0]]), 1e3
    if limited:
        ends[:, 0] = 1e6
        response = 0.0 if k == 1 else float(np.argmin(np.ones(k) @ family.basis))
    totals = []
    for x in ends @ np.linalg.inv(recipe.whitener):
        rows = np.vstack([np.full((2, P), 0.25), x])
        private = make_rows(rows, np.array([0.0, 0.0, response]), ignore_invalid=True)
        totals.append(exact_sum(private, recipe).astype(object))
    change = sum(int(entry) ** 2 for entry in totals[1] - totals[0])
    declared = 4 * recipe.l2_bound_squared
    assert Fraction(99, 100) ** 2 * declared <= change <= declared


@pytest.mark.parametrize("family", FAMILIES[:4], ids=repr)
@pytest.mark.parametrize("radius", [RADIUS, math.inf])
def test_the_slope_is_that_of_the_whole_row(make_recipe, family, radius):
    # The predictor of a row that is cut is that of the whole row: the same slope, on less of it.
    coef = np.array([[0.3], [-0.2]])
    recipe = make_recipe(
        TotalRecipe,
        P,
        1,
        coef=coef,
        factor=Slope(family),
        radius=radius,
        l2_bound=1.3,
        n_rows=1,
        whole_predictor=True,
    )
    row, y = np.array([[3.0, 4.0]]), np.ones((1, 1))
    slope = family.slope(row @ coef, y)
    expected = row * slope * min(radius / 5.0, 1.0)
    expected *= min(1.0, 1.3 / np.linalg.norm(expected))
    found = integer_rows(recipe, row, y) * recipe.grid_unit
    np.testing.assert_allclose(found, expected, atol=2 * recipe.grid_unit, rtol=1e-5)
