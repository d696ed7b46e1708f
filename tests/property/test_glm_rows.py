"""Rows of gradients and curvatures, whatever they are: bounded by their weights alone."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from publicmoments.engines import sum_total
from publicmoments.factors import RootCurvature, Slope, Spread
from publicmoments.families import Bernoulli, Gamma, Gaussian, Multinomial, Poisson
from publicmoments.rows import CoarseTotalRecipe, GramRecipe, TotalRecipe
from tests.helpers import integer_rows

N, P = 6, 2
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
def cases(draw, make_scaled, kind):
    """A recipe as fits write them, and rows, responses and offsets full of hostile numbers."""
    gradient = issubclass(kind, TotalRecipe)
    family = draw(st.sampled_from(FAMILIES if gradient else FAMILIES[:4]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k = family.n_predictors
    limit = family.slope_limit if gradient else math.sqrt(family.curvature_limit)
    recipe = make_scaled(
        kind,
        P,
        k,
        whitener=rng.normal(size=(P, P)),
        coef=draw(st.sampled_from([0.0, 1.0, 1e3])) * rng.normal(size=(P, k)),
        factor=Slope(family) if gradient else RootCurvature(family),
        radius=RADIUS,
        l2_bound=RADIUS * limit,
        n_rows=N,
        whole_predictor=True,
        spread=Spread(family),
    )
    y = responses(draw, family)
    if k == 1 and draw(st.booleans()):
        y = np.hstack([y, draw(arrays(float, (N, 1), elements=HOSTILE))])
    return family, recipe, draw(arrays(float, (N, P), elements=HOSTILE)), y


@pytest.mark.parametrize("kind", [TotalRecipe, CoarseTotalRecipe, GramRecipe])
@given(data=st.data())
@settings(max_examples=150)
def test_weights_alone_keep_rows_within_the_bound(make_scaled, kind, data):
    family, recipe, X, y = data.draw(cases(make_scaled, kind))
    rows = integer_rows(recipe, X, y)
    squared = [sum(int(entry) ** 2 for entry in row) for row in rows]
    assert max(squared) <= recipe.l2_bound_squared
    # Not because products are cut at the bound: with one far above, rows are as long.
    wide = make_scaled(
        kind,
        P,
        recipe.coef.shape[1],
        **{part.name: getattr(recipe, part.name) for part in fields(recipe)}
        | {"l2_bound": 64.0 * recipe.l2_bound},
    )
    longest = np.linalg.norm(integer_rows(wide, X, y), axis=1) * wide.grid_unit
    assert longest.max() <= recipe.l2_bound * (1 + 1e-3), family


@pytest.mark.parametrize("kind", [TotalRecipe, CoarseTotalRecipe])
@given(data=st.data())
@settings(max_examples=100)
def test_replacing_a_row_moves_a_gradient_within_its_sensitivity(
    make_scaled, make_rows, kind, data
):
    _, recipe, X, y = data.draw(cases(make_scaled, kind))
    totals = []
    for other in (0, data.draw(st.integers(1, N - 1))):
        table, values = X.copy(), y.copy()
        table[0], values[0] = X[other], y[other]
        private = make_rows(table, values, ignore_invalid=True)
        totals.append(sum_total(private, recipe, threads=1).exact_total.astype(object))
    change = sum(int(entry) ** 2 for entry in totals[1] - totals[0])
    assert change <= 4 * recipe.l2_bound_squared


@pytest.mark.parametrize("family", FAMILIES[:4], ids=repr)
def test_long_rows_are_weighed_not_cut(make_scaled, family):
    # The predictor of a weighed row is that of the whole row: the same slope, on a shorter row.
    coef = np.array([[0.3], [-0.2]])
    recipe = make_scaled(
        TotalRecipe,
        P,
        1,
        coef=coef,
        factor=Slope(family),
        radius=RADIUS,
        l2_bound=RADIUS * family.slope_limit,
        n_rows=1,
        whole_predictor=True,
        spread=Spread(family),
    )
    row, y = np.array([[3.0, 4.0]]), np.ones((1, 1))
    predictor = row @ coef
    kept = RADIUS / (5.0 * family.spread(predictor))
    expected = row * kept * family.slope(predictor, y)
    found = integer_rows(recipe, row, y) * recipe.grid_unit
    np.testing.assert_allclose(found, expected, atol=2 * recipe.grid_unit)
