"""Conditioning a mixture of Gaussian beliefs on a noisy linear observation."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments.models.belief import CoefBelief


def test_one_component_is_the_textbook_posterior():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((3, 3))
    prior, design, variance = root @ root.T + np.eye(3), np.diag([1.0, 2.0, 0.5]), 0.3
    observed = rng.standard_normal(3)
    belief = CoefBelief.centred([prior], [0.0]).updated(design, observed, variance)
    precision = np.linalg.inv(prior) + design @ design / variance
    covariance = np.linalg.inv(precision)
    assert belief.covariance == pytest.approx(covariance, abs=1e-10)
    assert belief.mean == pytest.approx(covariance @ design @ observed / variance, abs=1e-10)


def test_without_noise_the_observation_is_solved():
    design = np.array([[2.0, 0.3], [0.3, 1.0]])
    belief = CoefBelief.centred([np.eye(2)], [0.0]).updated(design, np.array([1.0, -2.0]), 0.0)
    assert belief.mean == pytest.approx(np.linalg.solve(design, [1.0, -2.0]))
    assert np.abs(belief.covariance).max() < 1e-12


def test_useless_observations_change_nothing():
    belief = CoefBelief.centred([np.eye(2)], [0.0]).updated(np.eye(2), np.array([5.0, 5.0]), 1e12)
    assert belief.mean == pytest.approx([0.0, 0.0], abs=1e-10)
    assert belief.covariance == pytest.approx(np.eye(2))


@pytest.mark.parametrize(("size", "likely"), [(0.1, 0), (30.0, 1)])
def test_data_weigh_the_components(size, likely):
    belief = CoefBelief.centred([np.eye(4) * 0.01, np.eye(4) * 1000.0], [0.0, 0.0])
    updated = belief.updated(np.eye(4), np.full(4, size), 0.01)
    assert updated.weights[likely] > 0.95


def test_moving_and_transforming_keep_the_law():
    rng = np.random.default_rng(1)
    belief = CoefBelief(
        np.array([0.0, -1.0]), rng.standard_normal((2, 3)), np.stack([np.eye(3), 2 * np.eye(3)])
    )
    moved = belief.moved(belief.mean)
    assert moved.mean == pytest.approx(np.zeros(3), abs=1e-12)
    assert moved.covariance == pytest.approx(belief.covariance)
    matrix = rng.standard_normal((3, 3))
    turned = belief.transformed(matrix)
    assert turned.mean == pytest.approx(matrix @ belief.mean)
    assert turned.covariance == pytest.approx(matrix @ belief.covariance @ matrix.T)
