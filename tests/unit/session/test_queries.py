"""What may be asked: laws that are known before any recipe is, and what shares cost."""

import math
from fractions import Fraction

import numpy as np
import pytest

from publicmoments.privacy import GDP
from publicmoments.privacy.unit import ONE_ROW
from publicmoments.rows.recipe import CoarseTotalRecipe, CountRecipe, GramRecipe, TotalRecipe
from publicmoments.session.queries import (
    count_demand,
    equal_part,
    everything,
    gram_demand,
    laws_of,
    share_of,
    sum_demand,
)
from tests.helpers import query_of


@pytest.mark.parametrize("n_rows", [1, 2**30, 2**36, 2**42, 2**45])
@pytest.mark.parametrize("mu", [0.1, 3.0])
def test_demands_know_the_laws_of_the_queries_to_come(make_recipe, n_rows, mu):
    edges = np.arange(5.0)
    recipes = {
        gram_demand(n_rows, 4, everything): make_recipe(GramRecipe, 4, n_rows=n_rows),
        sum_demand(n_rows, 8, everything): make_recipe(TotalRecipe, 4, 2, n_rows=n_rows),
        sum_demand(n_rows, 4, everything, kind=CoarseTotalRecipe): make_recipe(
            CoarseTotalRecipe, 4, n_rows=n_rows
        ),
        count_demand(n_rows, 5, everything): make_recipe(
            CountRecipe, 4, l2_bound=1.0, edges=edges, n_rows=n_rows
        ),
    }
    for demand, recipe in recipes.items():
        assert demand.laws(GDP(mu), ONE_ROW) == [query_of(recipe).law(mu, ONE_ROW)]


def test_laws_by_hand():
    demands = [
        gram_demand(1_000, 4, share_of(0.25)),
        count_demand(1_000, 7, share_of(0.25)),
        sum_demand(1_000, 8, share_of(0.5), 2, CoarseTotalRecipe),
        sum_demand(1_000, 8, share_of(0.5)),
    ]
    gram, histogram, gradient, again, fine = laws_of(demands, GDP(2.0), ONE_ROW)
    # sqrt(2) 4^16 over mu = 1; sqrt(2) 2^20 over 1; 2 x 2^20 over sqrt(2).
    assert gram.diagonal_sd == pytest.approx(math.sqrt(2.0) * 4**16)
    assert histogram.noise_sd == pytest.approx(math.sqrt(2.0) * 2**20)
    assert gradient.noise_sd == pytest.approx(math.sqrt(2.0) * 2**20)
    assert (gram.dimension, histogram.dimension, gradient.dimension) == (4, 7, 8)
    assert again == gradient
    assert fine.noise_sd == pytest.approx(64.0 * gradient.noise_sd)


def test_a_histogram_moves_less_than_a_sum(make_recipe):
    counts = make_recipe(CountRecipe, l2_bound=1.0, edges=np.arange(2.0))
    sums = make_recipe(CoarseTotalRecipe, l2_bound=1.0)
    changes = [query_of(one).squared_change(ONE_ROW) for one in (counts, sums)]
    assert changes == [2 * 4**20, 4 * 4**20]


@pytest.mark.parametrize("mu", [1e-3, 1.0, 0.23670438052954665, 1e6])
def test_shares_and_parts_are_of_the_squared_budget(mu):
    total = GDP(mu)
    assert everything(total) == total
    assert share_of(0.25)(total).mu == pytest.approx(mu / 2.0, rel=1e-12)
    assert share_of(1.0)(total).mu < mu
    for parts in (1, 2, 3, 50):
        part = equal_part(parts)(total).mu
        assert part == pytest.approx(mu / math.sqrt(parts), rel=1e-12)
        assert parts * Fraction(part) ** 2 <= Fraction(mu) ** 2 * (1 + Fraction(1, 10**12))
