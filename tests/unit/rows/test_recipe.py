"""A recipe accepts nothing that its guarantee cannot rest on."""

import math

import numpy as np
import pytest

from publicmoments.privacy.laws import ENTRY_LIMIT

NOT_POSITIVE = [0.0, -1.0, math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("name", ["x_radius", "response_bound", "weight"])
@pytest.mark.parametrize("value", NOT_POSITIVE)
def test_radii_and_weight_are_positive_and_finite(make_recipe, name, value):
    with pytest.raises(ValueError, match=rf"{name} must be in \(0, inf\)"):
        make_recipe(**{name: value})


@pytest.mark.parametrize("value", NOT_POSITIVE)
def test_scales_are_positive_and_finite(make_recipe, value):
    with pytest.raises(ValueError, match="scale must be positive and finite"):
        make_recipe(q=2, scale=np.array([1.0, value]))


@pytest.mark.parametrize("name", ["whitener", "coef"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_whitener_and_coef_are_finite(make_recipe, name, value):
    matrix = np.full((2, 2), value)
    with pytest.raises(ValueError, match="must be finite"):
        make_recipe(q=2, **{name: matrix})


@pytest.mark.parametrize(
    "shapes",
    [
        {"whitener": np.eye(3)},
        {"whitener": np.ones((2, 1))},
        {"scale": np.ones(2)},
        {"scale": np.ones((1, 1))},
        {"coef": np.zeros(2)},
        {"coef": np.zeros((3, 1))},
        {"coef": np.zeros((2, 0)), "scale": np.ones(0)},
    ],
)
def test_shapes_agree(make_recipe, shapes):
    with pytest.raises(ValueError, match=r"shape|must be \("):
        make_recipe(**shapes)


@pytest.mark.parametrize("n_rows", [0, -3])
def test_number_of_rows_is_positive(make_recipe, n_rows):
    with pytest.raises(ValueError, match="n_rows must be an integer"):
        make_recipe(n_rows=n_rows)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_squares_of_the_radius_are_floats(make_recipe, size):
    with pytest.raises(ValueError, match="squares within floats"):
        make_recipe(x_radius=size, response_bound=size)


def test_sizes_and_units(make_recipe):
    recipe = make_recipe(p=3, q=2, response_bound=2.0, weight=0.5, x_radius=1.0)
    assert (recipe.n_design, recipe.dimension) == (3, 5)
    assert recipe.radius == pytest.approx(math.sqrt(1.0 + 2 * 1.0))
    assert recipe.grid_unit == recipe.radius / 2**16
    # (2^16 + sqrt(5) / 2)^2 = 2^32 + 2^16 sqrt(5) + 5/4
    assert recipe.l2_bound_squared == math.ceil(2**32 + 2**16 * math.sqrt(5) + 1.25 + 0.14)


@pytest.mark.parametrize("dimension", [2, 11, 1001])
@pytest.mark.parametrize("n_rows", [1, 1000, 2**29, 2**30, 2**31 + 1, 2**40, 2**50])
def test_sums_fit_whatever_the_rows_are(make_recipe, dimension, n_rows):
    # Many responses and one feature: no large whitener is needed.
    recipe = make_recipe(p=1, q=dimension - 1, n_rows=n_rows)
    assert n_rows * recipe.l2_bound_squared < ENTRY_LIMIT
    assert recipe.max_block_rows * recipe.l2_bound_squared <= 2**53


def test_grid_is_coarsened_only_for_huge_tables(make_recipe):
    assert [make_recipe(n_rows=2**k).grid_bits for k in (0, 20, 29)] == [16, 16, 16]
    assert [make_recipe(n_rows=2**k).grid_bits for k in (30, 32, 40)] == [15, 14, 10]
    assert make_recipe(n_rows=2**40).grid_unit == 5.0 / 2**10


def test_tables_too_large_for_any_grid_are_refused(make_recipe):
    with pytest.raises(ValueError, match="n_rows must leave room for a grid"):
        make_recipe(n_rows=2**60)


def test_representation_is_short(make_recipe):
    assert "whitener" not in repr(make_recipe())
