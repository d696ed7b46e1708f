"""Sums on a device: the same integers as in memory, in every library that is there."""

import math
from importlib.util import find_spec

import numpy as np
import pytest

from publicmoments import GDP, LogisticRegression, PoissonRegressor, PublicMoments, Ridge
from publicmoments.data import as_responses, as_table, device_array, device_table, on_device
from publicmoments.engines import device, host
from publicmoments.rows.private_rows import InvalidRows, PrivateRows
from publicmoments.rows.recipe import CoarseTotalRecipe, GramRecipe, TotalRecipe

N, D = 1000, 3


def on_cuda(array):
    import torch

    return torch.asarray(array, device="cuda")


def in_cupy(array):
    import cupy

    return cupy.asarray(array)


def in_strict(array):
    import array_api_strict

    return array_api_strict.asarray(array)


def libraries():
    """How arrays are put where the libraries that are installed have a device for them."""
    found = [in_strict] if find_spec("array_api_strict") else []
    if find_spec("torch"):
        import torch

        found += [on_cuda] if torch.cuda.is_available() else []
    if find_spec("cupy"):
        import cupy

        found += [in_cupy] if cupy.cuda.is_available() else []
    return found


@pytest.fixture(params=libraries())
def put(request):
    """Put an array of NumPy where the tests are about."""
    return request.param


def residual(predictor, responses):
    return responses - predictor


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    return X, X @ np.array([1.0, -2.0, 0.5]) + rng.normal(size=N)


def there(put, X, y, ignore_invalid=False, y_there=True, fit_intercept=False):
    """The same rows on a device."""
    responses = device_table(put(y), "y") if y_there else as_responses(y)
    features = device_table(put(X), "X")
    return PrivateRows(features, responses, fit_intercept, ignore_invalid)


def here(X, y, ignore_invalid=False, fit_intercept=False):
    return PrivateRows(as_table(X), as_responses(y), fit_intercept, ignore_invalid)


def same(first, second):
    """Whether sums differ by no more than a few last bits of whitening can explain."""
    assert first.shape == second.shape
    assert first.dtype == second.dtype == np.int64
    moved = np.abs((first - second).astype(float))
    return bool(moved.max() <= 4 * 2**16)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("y_there", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_products_of_rows(put, make_recipe, sample, y_there, fit_intercept, d, monkeypatch):
    p, X, y = d + fit_intercept, sample[0][:, :d].copy(), sample[1]
    rng = np.random.default_rng(1)
    recipe = make_recipe(GramRecipe, p, whitener=rng.normal(size=(p, p)), n_rows=N)
    expected = host.add_up(here(X, y, fit_intercept=fit_intercept), recipe)
    rows = there(put, X, y, y_there=y_there, fit_intercept=fit_intercept)
    assert same(device.add_up(rows, recipe), expected)
    monkeypatch.setattr(device, "BLOCK_CELLS", 0)
    assert same(device.add_up(rows, recipe), expected)


@pytest.mark.parametrize(("p", "k"), [(3, 1), (130, 1), (300, 2)])
def test_exactly_the_same_integers_where_whitening_is_exact(put, make_recipe, p, k):
    # A bound of 2^6 and rows that are multiples of an eighth: none is near a tie.
    rng = np.random.default_rng(4)
    X, Y = (np.round(rng.normal(size=(N, columns)) * 8) / 8 for columns in (p, k))
    recipe = make_recipe(GramRecipe, p, k, n_rows=N, radius=64.0, l2_bound=64.0)
    found = device.add_up(there(put, X, Y), recipe)
    assert found.tolist() == host.add_up(here(X, Y), recipe).tolist()


def test_single_precision_is_widened_first(put, make_recipe, sample):
    X, y = sample[0][:, :2].astype(np.float32), sample[1]
    whitener = np.array([[0.3, 0.1], [-0.2, 0.7]])
    recipe = make_recipe(GramRecipe, 2, whitener=whitener, n_rows=N)
    expected = host.add_up(here(X.astype(float), y), recipe)
    assert same(device.add_up(there(put, X, y), recipe), expected)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("kind", [TotalRecipe, CoarseTotalRecipe, GramRecipe])
def test_rows_times_a_factor(put, make_recipe, sample, kind, k):
    X, y = sample
    Y = np.column_stack([y, -y])[:, :k]
    rng = np.random.default_rng(2)
    recipe = make_recipe(
        kind,
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
    found = device.add_up(there(put, X, Y), recipe)
    assert same(found, host.add_up(here(X, Y), recipe))


def test_blocks_of_any_size_give_one_sum(put, make_recipe, sample, monkeypatch):
    recipe = make_recipe(GramRecipe, D, n_rows=N)
    whole = device.add_up(there(put, *sample), recipe)
    monkeypatch.setattr(device, "BLOCK_CELLS", 512 * device.COLUMN_MULTIPLE)
    assert device.add_up(there(put, *sample), recipe).tolist() == whole.tolist()
    monkeypatch.setattr(GramRecipe, "max_block_rows", 300)
    assert device.add_up(there(put, *sample), recipe).tolist() == whole.tolist()


@pytest.mark.parametrize(
    ("n_rows", "most", "block_rows"),
    [(1, 10**6, 256), (1000, 1, 256), (1000, 767, 512), (1024, 1023, 512), (8_000, 1_100, 1_024)],
)
def test_blocks_are_about_equally_full(make_recipe, n_rows, most, block_rows, monkeypatch):
    recipe = make_recipe(GramRecipe, D, n_rows=n_rows)
    monkeypatch.setattr(device, "BLOCK_CELLS", most * device.COLUMN_MULTIPLE)
    assert device._block_rows(n_rows, recipe) == block_rows
    monkeypatch.undo()
    monkeypatch.setattr(GramRecipe, "max_block_rows", most)
    assert device._block_rows(n_rows, recipe) == block_rows


def test_blocks_of_a_long_table_are_nearly_full_and_within_their_cells(make_recipe):
    n_rows = 8_000_000
    block_rows = device._block_rows(n_rows, make_recipe(GramRecipe, 208, n_rows=n_rows))
    assert 0.98 * device.BLOCK_CELLS < block_rows * 208 <= device.BLOCK_CELLS
    assert -n_rows % block_rows < 0.03 * block_rows


@pytest.mark.parametrize("strips", [(), ((1, 2),), ((1, 2), (8, 4)), ((8, 3), (10**6, 4))])
def test_strips_of_a_product_make_the_whole(put, make_recipe, strips, monkeypatch):
    p = 70
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(N, p)), rng.normal(size=N)
    recipe = make_recipe(GramRecipe, p, n_rows=N, radius=20.0, l2_bound=20.0)
    expected = host.add_up(here(X, y), recipe)
    monkeypatch.setattr(device, "STRIPS", strips)
    assert same(device.add_up(there(put, X, y), recipe), expected)


@pytest.mark.parametrize("value", [1e100, -1e300, math.nan, math.inf])
def test_odd_rows_are_left_to_the_host(put, make_recipe, sample, value):
    X, y = sample
    X[5, 1], y[7] = value, value
    recipe = make_recipe(GramRecipe, D, n_rows=N)
    if not math.isfinite(value):
        with pytest.raises(InvalidRows, match="NaN or infinity"):
            device.add_up(there(put, X, y), recipe)
    found = device.add_up(there(put, X, y, ignore_invalid=True), recipe)
    assert same(found, host.add_up(here(X, y, ignore_invalid=True), recipe))


def test_one_row_moves_the_sum_within_the_bound(put, make_recipe, sample):
    recipe = make_recipe(GramRecipe, D, n_rows=N, radius=math.inf)
    X, y = sample
    sums = []
    for row in ((1e6, 0.0, 0.0), (0.0, 1e6, 0.0)):
        X[0] = row
        sums.append(device.add_up(there(put, X, y), recipe).astype(object))
    change = ((sums[0] - sums[1]) ** 2).sum()
    declared = 2 * recipe.l2_bound_squared**2
    assert 0.5 * declared < change <= declared


def test_tables_on_a_device(put, sample):
    X, y = sample
    assert on_device(put(X))
    assert not on_device(X)
    table = device_table(put(X), "X")
    assert (table.n_rows, table.n_columns) == (N, D)
    np.testing.assert_array_equal(table.block(2, 5), X[2:5])
    assert device_array(table) is not None
    assert device_array(as_table(X)) is None
    vector = device_table(put(y), "y")
    assert vector.one_dimensional
    np.testing.assert_array_equal(vector.values()[:, 0], y)
    with pytest.raises(ValueError, match="X must be a table"):
        device_table(put(X[None]), "X")
    with pytest.raises(ValueError, match="must have rows"):
        device_table(put(X[:0]), "X")


def test_a_model_is_fitted_where_the_rows_are(put, sample):
    X, y = sample
    public = PublicMoments.from_rows(X[:100], response=y[:100])
    plain = Ridge(privacy=GDP(5.0), public=public, random_state=0)
    on_host = plain.fit(X, y).coef_
    on_the_device = plain.fit(put(X), put(y)).coef_
    np.testing.assert_allclose(on_the_device, on_host, atol=1e-5)
    labels = (y > 0).astype(float)
    public = PublicMoments.from_rows(X[:100])
    model = LogisticRegression(privacy=GDP(5.0), public=public, random_state=0)
    on_host = model.fit(X, labels).coef_
    np.testing.assert_allclose(model.fit(put(X), labels).coef_, on_host, atol=1e-5)


@pytest.mark.parametrize("classes", [(0, 1), (0, 1, 2)])
@pytest.mark.parametrize("on_invalid", ["raise", "ignore"])
def test_labels_counts_and_exposures_are_read_where_they_are(put, sample, classes, on_invalid):
    X, y = sample
    labels = np.digitize(y, np.linspace(-0.5, 0.5, len(classes) - 1))
    years = np.linspace(0.5, 2.0, N)
    if on_invalid == "ignore":
        X, years = X.copy(), years.copy()
        X[3, 1], years[5] = np.nan, -1.0
    shared = {"privacy": GDP(5.0), "public": PublicMoments.from_rows(X[-100:]), "passes": 2}
    shared |= {"random_state": 0, "on_invalid": on_invalid}
    logistic, poisson = LogisticRegression(classes=classes, **shared), PoissonRegressor(**shared)
    on_host = logistic.fit(X, labels).coef_
    np.testing.assert_allclose(logistic.fit(put(X), put(labels)).coef_, on_host, atol=1e-4)
    on_host = poisson.fit(X, labels, exposure=years).coef_
    there_too = poisson.fit(put(X), put(labels.astype(float)), exposure=put(years)).coef_
    np.testing.assert_allclose(there_too, on_host, atol=1e-4)


@pytest.mark.parametrize("on_invalid", ["raise", "ignore"])
def test_missing_labels_are_missing_wherever_they_are(put, sample, on_invalid):
    X, y = sample
    labels = np.digitize(y, [-0.5, 0.5]).astype(float)
    labels[4] = np.nan
    shared = {"privacy": GDP(5.0), "public": PublicMoments.from_rows(X[-100:]), "passes": 2}
    model = LogisticRegression(classes=(0, 1, 2), on_invalid=on_invalid, random_state=0, **shared)
    if on_invalid == "raise":
        for given in (labels, put(labels)):
            with pytest.raises(InvalidRows):
                model.fit(put(X), given)
        return
    on_host = model.fit(X, labels).coef_
    for given in (labels, put(labels)):
        np.testing.assert_allclose(model.fit(put(X), given).coef_, on_host, atol=1e-4)


def test_arrays_of_cupy_are_known_by_their_library():
    # They have no __array_namespace__ of their own.
    array = type("ndarray", (), {"__module__": "cupy"})()
    assert on_device(array)
    assert not on_device(type("ndarray", (), {"__module__": "elsewhere"})())
