"""Rows that are counted: one mark each or none, whatever they hold and wherever they stand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from publicmoments.data import as_responses, as_table
from publicmoments.families import Gaussian, Multinomial, Poisson
from publicmoments.families.factors import ScaledResponse, Slope
from publicmoments.privacy import GDP, Account
from publicmoments.privacy.unit import ONE_ROW
from publicmoments.rows.private_rows import PrivateRows
from publicmoments.rows.recipe import CountRecipe, TotalRecipe
from tests.helpers import block_rows, integer_rows, query_of, released

P = 3
LARGEST = np.finfo(float).max
EDGES = np.array([-np.inf, -4.0, -2.0, -1.0, 1.0, 2.0, 4.0])
HALVES = np.array([-0.5, 0.5])
RNG = np.random.default_rng(0)
ORDINARY = RNG.normal(size=(40, P))
RESPONSES = 3.0 * RNG.normal(size=40)
HOSTILE = [
    ([0.0, 0.0, 0.0], 1.0),
    ([np.nan, 0.0, 0.0], 1.0),
    ([np.inf, 1.0, 0.0], 1.0),
    ([1.0, 0.0, 0.0], np.nan),
    ([1.0, 0.0, 0.0], np.inf),
    ([1.0, 0.0, 0.0], -np.inf),
    ([LARGEST, LARGEST, -LARGEST], LARGEST),
    ([LARGEST, LARGEST, LARGEST], -LARGEST),
    ([5e-324, 0.0, 0.0], 1.0),
    ([1e-200, 1e-200, 0.0], 1e200),
    ([1.0, 2.0, 3.0], 1e308),
    ([1e300, 0.0, 0.0], 5e-324),
]


def made(n_rows=100, k=1, **changes):
    arguments = {
        "whitener": np.array([[1.0, 0.5, 0.0], [0.0, 2.0, 0.0], [0.0, -1.0, 1.0]]),
        "coef": 0.3 * np.ones((P, k)),
        "factor": Slope(Gaussian()),
        "radius": math.inf,
        "l2_bound": 1.0,
        "n_rows": n_rows,
        "whole_predictor": True,
        "edges": EDGES,
        "influence": True,
    }
    return CountRecipe(**(arguments | changes))


KINDS = {
    "influences": made(),
    "counts": made(factor=Slope(Poisson()), coef=np.ones((P, 1))),
    "lengths": made(k=2, factor=Slope(Gaussian(2)), edges=np.geomspace(0.1, 10.0, 9)),
    "classes": made(k=2, factor=Slope(Multinomial(3)), edges=np.array([0.0, 1.0, 3.0])),
    "responses": made(
        factor=ScaledResponse(Gaussian(), 2.0), influence=False, edges=HALVES, whole_predictor=False
    ),
}


def rows_of(X, y, recipe):
    """Integer rows; responses are repeated where there are several."""
    y = np.asarray(y, dtype=float)
    several = isinstance(recipe.factor, Slope) and recipe.factor.family.n_responses > 1
    return integer_rows(recipe, X, np.column_stack([y, y]) if several else y)


@pytest.mark.parametrize("recipe", KINDS.values(), ids=KINDS)
def test_every_row_has_one_mark_or_none(recipe):
    X = [*ORDINARY.tolist(), *[row for row, _ in HOSTILE]]
    y = [*RESPONSES.tolist(), *[response for _, response in HOSTILE]]
    if recipe is KINDS["classes"]:
        y = np.abs(np.nan_to_num(y, posinf=0.0, neginf=0.0)) % 3 // 1
    rows = rows_of(X, y, recipe)
    assert rows.shape == (len(X), len(recipe.edges))
    assert set(np.unique(rows)) <= {0.0, float(recipe.mark)}
    assert set(np.count_nonzero(rows, axis=1)) <= {0, 1}
    assert np.count_nonzero(rows) > 20


@pytest.mark.parametrize("recipe", KINDS.values(), ids=KINDS)
def test_rows_of_zeros_and_rows_without_numbers_have_none(recipe):
    X = np.ones((4, P))
    X[0], X[1, 2] = 0.0, np.nan
    rows = rows_of(X, [1.0, 1.0, np.nan, 1.0], recipe)
    assert not rows[:3].any()
    assert rows[3].any() == (recipe is not KINDS["responses"] or recipe.edges[-1] <= 0.5)


def test_cells_by_hand():
    recipe = made(whitener=np.eye(P), coef=np.zeros((P, 1)), factor=ScaledResponse(Gaussian(), 2.0))
    # Influences of length 5 times half a response: its sign, and the last edge not above it.
    X = np.tile([3.0, 4.0, 0.0], (8, 1))
    y = np.array([0.0, 0.39, 0.4, 0.8, 1e9, -0.4, -0.41, -1.61])
    cells = np.argmax(rows_of(X, y, recipe), axis=1)
    assert cells.tolist() == [3, 3, 4, 5, 6, 3, 2, 0]
    # Without lengths it is the response that counts: -0.5 is at the edge, and so is 0.5.
    alone = made(factor=ScaledResponse(Gaussian(), 2.0), influence=False, edges=HALVES)
    found = rows_of(X[:5], [-1.0, -1.1, 0.0, 1.0, 0.99], alone)
    assert (found / alone.mark).tolist() == [[1, 0], [0, 0], [1, 0], [0, 1], [1, 0]]


def test_influences_are_those_before_any_bound():
    near, far = made(radius=1e-3, l2_bound=1e-3), made()
    np.testing.assert_array_equal(
        rows_of(ORDINARY, RESPONSES, near), rows_of(ORDINARY, RESPONSES, far)
    )
    z = ORDINARY @ far.whitener
    influence = np.linalg.norm(z, axis=1) * (0.3 * z.sum(axis=1) - RESPONSES)
    cells = np.searchsorted(EDGES, influence, side="right") - 1
    found = np.argmax(rows_of(ORDINARY, RESPONSES, far), axis=1)
    np.testing.assert_array_equal(found, cells)


@pytest.mark.parametrize(
    ("row", "response", "cell"),
    [
        ([1e200, 0.0, 0.0], -1e200, -1),
        ([1e200, 0.0, 0.0], 1e300, 0),
        ([1.0, 1.0, 1.0], -1e308, -1),
        ([LARGEST, 0.0, 0.0], LARGEST, 0),
    ],
)
def test_infinite_influences_lie_in_the_last_cells(row, response, cell):
    marks = rows_of([row], [response], made(coef=np.zeros((P, 1))))
    assert marks[0, cell] == made().mark
    assert np.count_nonzero(marks) == 1


def test_counts_whose_mean_overflows_lie_in_the_last_cell():
    marks = rows_of([[1e3, 1e3, 1e3]], [0.0], KINDS["counts"])
    assert marks[0, -1] == KINDS["counts"].mark


# What one row can change


def total(recipe, X, y):
    return rows_of(X, y, recipe).sum(axis=0)


@pytest.mark.parametrize("name", ["influences", "counts", "lengths", "responses"])
def test_replacing_a_row_moves_the_sum_by_at_most_two_marks(name):
    recipe = KINDS[name]
    X, y = ORDINARY.copy(), RESPONSES.copy()
    sums = []
    rows = [(ORDINARY[7], RESPONSES[7]), *HOSTILE, ([1.0, 0.0, 0.0], 100.0), (-np.ones(P), -100.0)]
    for row, response in rows:
        X[7], y[7] = row, response
        sums.append(total(recipe, X, y))
    changes = [one - other for one in sums for other in sums]
    squares = np.array([np.sum(change**2) for change in changes])
    assert max(np.count_nonzero(change) for change in changes) <= 2
    assert squares.max() <= query_of(recipe).squared_change(ONE_ROW)


def test_the_worst_change_is_what_the_bound_says():
    recipe = made(whitener=np.eye(P), coef=np.zeros((P, 1)))
    ends = [total(recipe, [[1.0, 0.0, 0.0]], [response]) for response in (100.0, -100.0)]
    assert np.sum((ends[0] - ends[1]) ** 2) == 2 * recipe.mark**2
    # Noise is fitted to two marks, not to two bounds: less by a factor of sqrt(2).
    law = query_of(recipe).law(1.0, ONE_ROW)
    assert law.noise_sd == pytest.approx(math.sqrt(2.0) * recipe.mark, rel=1e-9)


@pytest.mark.parametrize("n_rows", [2, 10**6, 2**43, 2**50])
def test_the_bound_holds_on_every_grid(n_rows):
    recipe = made(n_rows)
    assert recipe.mark == 2**recipe.grid_bits
    assert query_of(recipe).squared_change(ONE_ROW) == 2 * recipe.mark**2
    assert recipe.l2_bound_squared == recipe.mark**2
    # Counts of all rows are exact in floats.
    assert recipe.mark * recipe.max_block_rows <= 2**53
    assert recipe.mark * recipe.grid_unit == recipe.l2_bound


def test_bounds_are_about_two_marks_and_not_two_lengths():
    count, sums = made(), TotalRecipe(np.eye(P), np.zeros((P, 1)), Slope(Gaussian()), 1.0, 1.0, 100)
    assert count.dimension == len(EDGES)
    assert sums.dimension == P


# Where a row stands


@pytest.mark.parametrize("name", ["influences", "counts", "lengths", "responses"])
def test_a_row_is_counted_alike_wherever_it_stands(name):
    recipe = KINDS[name]
    X = np.array([*ORDINARY.tolist(), *[row for row, _ in HOSTILE]])
    y = np.array([*RESPONSES.tolist(), *[response for _, response in HOSTILE]])
    together = rows_of(X, y, recipe)
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(rows_of(X[order], y[order], recipe), together[order])
    for i in range(len(X)):
        np.testing.assert_array_equal(rows_of(X[i : i + 1], y[i : i + 1], recipe)[0], together[i])


@pytest.mark.parametrize("size", [1, 3, 16, 64])
def test_blocks_and_their_padding_do_not_matter(size):
    recipe = KINDS["influences"]
    rows = PrivateRows(as_table(ORDINARY), as_responses(RESPONSES), False, True)
    whole = integer_rows(recipe, ORDINARY, RESPONSES)
    found = [
        block_rows(recipe, rows, start, min(start + size, 40), size)[: min(size, 40 - start)]
        for start in range(0, 40, size)
    ]
    np.testing.assert_array_equal(np.concatenate(found), whole)
    # What pads the last block has no mark.
    assert not block_rows(recipe, rows, 39, 40, 64)[1:].any()


def test_without_noise_released_shares_are_exact(silence):
    recipe = made(40)
    rows = PrivateRows(as_table(ORDINARY), as_responses(RESPONSES), False, True)
    answer = released(recipe, rows, GDP(1.0), Account(GDP(1.0)), silence)
    counts = np.count_nonzero(integer_rows(recipe, ORDINARY, RESPONSES), axis=0)
    np.testing.assert_allclose(answer.values, counts / 40, rtol=1e-12)
    assert answer.noise_sd == pytest.approx(math.sqrt(2.0) / 40, rel=1e-6)
