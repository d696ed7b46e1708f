"""Sums on a device: the same integers as in memory, with the array API's strict library."""

import math

import numpy as np
import pytest

from publicmoments import GDP, LogisticRegression, PublicMoments, Ridge
from publicmoments.engines import device, numpy_engine
from publicmoments.rows import GramRecipe, InvalidRows, PrivateRows, TotalRecipe
from publicmoments.tables import as_responses, as_table, device_array, device_table, on_device

strict = pytest.importorskip("array_api_strict")

N, D = 1000, 3


def residual(predictor, responses):
    return responses - predictor


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    return X, X @ np.array([1.0, -2.0, 0.5]) + rng.normal(size=N)


def there(X, y, ignore_invalid=False, y_there=True, fit_intercept=False):
    """The same rows on a device."""
    responses = device_table(strict.asarray(y), "y") if y_there else as_responses(y)
    features = device_table(strict.asarray(X), "X")
    return PrivateRows(features, responses, fit_intercept, ignore_invalid)


def here(X, y, ignore_invalid=False, fit_intercept=False):
    return PrivateRows(as_table(X), as_responses(y), fit_intercept, ignore_invalid)


def same(first, second, n_rows=N):
    """Whether sums differ by no more than a few last bits of whitening can explain."""
    assert first.shape == second.shape
    assert first.dtype == second.dtype == np.int64
    moved = np.abs((first - second).astype(float))
    return bool(moved.max() <= 4 * 2**16)


@pytest.mark.parametrize("y_there", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_gram_of_ridge_rows(make_recipe, sample, y_there, fit_intercept):
    p = D + fit_intercept
    rng = np.random.default_rng(1)
    recipe = make_recipe(
        p, whitener=rng.normal(size=(p, p)), coef=rng.normal(size=(p, 1)), n_rows=N
    )
    expected = numpy_engine.add_up(here(*sample, fit_intercept=fit_intercept), recipe, "gram")
    rows = there(*sample, y_there=y_there, fit_intercept=fit_intercept)
    assert same(device.add_up(rows, recipe, "gram"), expected)


def test_exactly_the_same_integers_where_whitening_is_exact(make_recipe, sample):
    X, y = (np.round(part * 8) / 8 for part in sample)
    recipe = make_recipe(D, n_rows=N, x_radius=64.0, response_bound=64.0)
    found = device.add_up(there(X, y), recipe, "gram")
    assert found.tolist() == numpy_engine.add_up(here(X, y), recipe, "gram").tolist()


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize(("kind", "recipe_kind"), [("total", TotalRecipe), ("gram", GramRecipe)])
def test_rows_times_a_factor(make_scaled, sample, kind, recipe_kind, k):
    X, y = sample
    Y = np.column_stack([y, -y])[:, :k]
    rng = np.random.default_rng(2)
    recipe = make_scaled(
        recipe_kind,
        D,
        k,
        whitener=rng.normal(size=(D, D)),
        coef=rng.normal(size=(D, k)),
        factor=residual,
        radius=2.0,
        l2_bound=3.0,
        n_rows=N,
        whole_predictor=True,
    )
    found = device.add_up(there(X, Y), recipe, kind)
    assert same(found, numpy_engine.add_up(here(X, Y), recipe, kind))


def test_many_blocks_and_the_flush_to_integers(make_recipe, sample, monkeypatch):
    recipe = make_recipe(D, n_rows=N)
    whole = device.add_up(there(*sample), recipe, "gram")
    monkeypatch.setattr(device, "BLOCK_CELLS", 256 * recipe.dimension)
    assert device.add_up(there(*sample), recipe, "gram").tolist() == whole.tolist()
    monkeypatch.setattr(type(recipe), "max_block_rows", 300)
    assert device.add_up(there(*sample), recipe, "gram").tolist() == whole.tolist()


@pytest.mark.parametrize("strips", [(), ((1, 2),), ((1, 2), (8, 4)), ((8, 3), (10**6, 4))])
def test_strips_of_a_product_make_the_whole(make_recipe, strips, monkeypatch):
    p = 70
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(N, p)), rng.normal(size=N)
    recipe = make_recipe(p, n_rows=N, x_radius=20.0, response_bound=20.0)
    expected = numpy_engine.add_up(here(X, y), recipe, "gram")
    monkeypatch.setattr(device, "STRIPS", strips)
    assert same(device.add_up(there(X, y), recipe, "gram"), expected)


@pytest.mark.parametrize("value", [1e100, -1e300, math.nan, math.inf])
def test_odd_rows_are_left_to_the_host(make_recipe, sample, value):
    X, y = sample
    X[5, 1], y[7] = value, value
    recipe = make_recipe(D, n_rows=N)
    if not math.isfinite(value):
        with pytest.raises(InvalidRows, match="NaN or infinity"):
            device.add_up(there(X, y), recipe, "gram")
    found = device.add_up(there(X, y, ignore_invalid=True), recipe, "gram")
    assert same(found, numpy_engine.add_up(here(X, y, ignore_invalid=True), recipe, "gram"))


def test_one_row_moves_the_sum_within_the_bound(make_recipe, make_rows, sample):
    recipe = make_recipe(D, n_rows=N)
    X, y = sample
    sums = []
    for sign in (1.0, -1.0):
        X[0], y[0] = (1e6, 0.0, 0.0), sign * 1e6
        sums.append(device.add_up(there(X, y), recipe, "gram").astype(object))
    change = ((sums[0] - sums[1]) ** 2).sum()
    declared = 2 * recipe.l2_bound_squared**2
    assert 0.5 * declared < change <= declared


def test_tables_on_a_device(sample):
    X, y = sample
    assert on_device(strict.asarray(X))
    assert not on_device(X)
    table = device_table(strict.asarray(X), "X")
    assert (table.n_rows, table.n_columns) == (N, D)
    np.testing.assert_array_equal(table.block(2, 5), X[2:5])
    assert device_array(table) is not None
    assert device_array(as_table(X)) is None
    vector = device_table(strict.asarray(y), "y")
    assert vector.one_dimensional
    np.testing.assert_array_equal(vector.values()[:, 0], y)
    with pytest.raises(ValueError, match="X must be a table"):
        device_table(strict.asarray(X[None]), "X")
    with pytest.raises(ValueError, match="must have rows"):
        device_table(strict.asarray(X[:0]), "X")


def test_a_model_is_fitted_where_the_rows_are(sample):
    X, y = sample
    public = PublicMoments.from_rows(X[:100], response=y[:100])
    plain = Ridge(privacy=GDP(5.0), public=public, random_state=0)
    on_host = plain.fit(X, y).coef_
    on_the_device = plain.fit(strict.asarray(X), strict.asarray(y)).coef_
    np.testing.assert_allclose(on_the_device, on_host, atol=1e-5)
    labels = (y > 0).astype(float)
    model = LogisticRegression(privacy=GDP(5.0), public=PublicMoments.from_rows(X), random_state=0)
    on_host = model.fit(X, labels).coef_
    np.testing.assert_allclose(model.fit(strict.asarray(X), labels).coef_, on_host, atol=1e-5)
