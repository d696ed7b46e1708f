"""What is measured: which methods run where, on which data, with which noise."""

import numpy as np
import pytest

from experiments.plumbing import Real, Simulated
from experiments.plumbing.figures import Cell, total_budget, units
from experiments.plumbing.plain import logistic_fit, ridge_fit
from experiments.plumbing.work import measure, noise_seed
from publicmoments.datasets import Dataset


def test_lines_of_a_unit(figure):
    lines, seconds = measure(units(figure.panels[0].design, 4)[0])
    counts = {name: sum(line.method == name for line in lines) for name in seconds}
    # Four repeats at two budgets; the thinned method runs in repeats 0 and 3 only.
    assert counts == {"data": 0, "non-private": 8, "public": 4, "pmt": 8}
    assert {line.n for line in lines} == {30}
    by_budget = [
        {line.error for line in lines if line.method == name and line.mu == mu}
        for name in ("non-private", "pmt")
        for mu in (1.0, 5.0)
    ]
    # What needs no budget is the same at each; what is private is not.
    assert by_budget[0] == by_budget[1]
    assert not by_budget[2] & by_budget[3]


def test_all_sizes_of_a_repeat_share_population_and_public_rows():
    data = Simulated("linear", d=3, n_public=5)
    few, many = data.sample(7, 4), data.sample(7, 9)
    np.testing.assert_array_equal(few.X_public, many.X_public)
    np.testing.assert_array_equal(few.target, many.target)
    assert not np.array_equal(few.target, data.sample(8, 4).target)


def test_scaled_table_has_public_units(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 1.0, size=(60, 2)) * [1.0, 1e3]
    toy = Dataset("wine", X, rng.normal(size=60), ("a", "b"), "y")
    monkeypatch.setattr("experiments.plumbing.samples.table", lambda name: toy)
    sample = Real("wine", n_public=20, scaled=True).sample(0, 40)
    np.testing.assert_allclose(np.mean(sample.X_public**2, axis=0), 1.0)
    assert not np.allclose(np.mean(sample.X**2, axis=0), 1.0, rtol=1e-6)
    np.testing.assert_allclose(sample.target, ridge_fit(sample.X, sample.y, 0.0))


def test_noise_differs_between_methods_settings_and_repeats():
    cell = Cell(100, 1.0, 0.0)
    seeds = {
        noise_seed("pmt", cell, 0),
        noise_seed("pmt", cell, 1),
        noise_seed("full", cell, 0),
        noise_seed("pmt", cell._replace(mu=2.0), 0),
    }
    assert len(seeds) == 4
    assert noise_seed("pmt", cell, 0) == noise_seed("pmt", Cell(100, 1.0, 0.0), 0)


def test_total_budget_is_that_of_two_statistics():
    assert total_budget(3.0) == pytest.approx(np.hypot(3.0, 3.0))


def test_logistic_fit_has_no_gradient_left():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1.0, 5.0, 0.2]
    y = (rng.logistic(size=200) < X @ [3.0, -1.0, 2.0]).astype(float)
    coef = logistic_fit(X, y, 0.01)
    gradient = X.T @ (1.0 / (1.0 + np.exp(-X @ coef)) - y) / 200 + 0.01 * coef
    assert np.linalg.norm(gradient) < 1e-5


def test_logistic_fit_stays_finite_on_separable_rows():
    X = np.array([[1.0], [2.0], [-1.0], [-3.0]])
    assert np.isfinite(logistic_fit(X, np.array([1.0, 1.0, 0.0, 0.0]), 0.0)).all()
