"""Positive matrices that rounding spoilt: inverted, solved and rooted all the same."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments.evidence.numerics import (
    floored_power,
    positive_inverse,
    positive_root,
    positive_solution,
)

SOUND = np.array([[4.0, 1.0], [1.0, 3.0]])
SPOILT = [
    np.array([[1.0, 1.0], [1.0, 1.0]]),
    np.array([[1e16, 1e16], [1e16, 1e16]]),
    np.array([[1.0, 0.0], [0.0, -1e-17]]),
    np.diag([1e15, 1.0, 1e-15, 0.0]),
    np.zeros((2, 2)),
]


def test_sound_matrices_are_treated_as_ever():
    np.testing.assert_array_equal(positive_inverse(SOUND), np.linalg.inv(SOUND))
    target = np.array([1.0, -2.0])
    np.testing.assert_array_equal(positive_solution(SOUND, target), np.linalg.solve(SOUND, target))
    root = positive_root(SOUND)
    np.testing.assert_allclose(root.T @ root, SOUND, rtol=1e-12)
    np.testing.assert_array_equal(np.tril(root, -1), 0.0)


@pytest.mark.parametrize("matrix", SPOILT, ids=str)
def test_spoilt_matrices_have_finite_positive_inverses(matrix):
    inverse = positive_inverse(matrix)
    assert np.isfinite(inverse).all()
    assert np.linalg.eigvalsh(inverse)[0] > 0.0
    assert np.isfinite(positive_solution(matrix, np.ones(len(matrix)))).all()
    root = positive_root(matrix)
    np.testing.assert_allclose(root.T @ root, matrix, atol=1e-12 * max(np.abs(matrix).max(), 1.0))


def test_directions_that_are_sound_are_inverted():
    inverse = positive_inverse(np.diag([4.0, 0.0]))
    assert inverse[0, 0] == pytest.approx(0.25)
    assert inverse[1, 1] == pytest.approx(1e14 / 4.0)


@pytest.mark.parametrize("exponent", [-1.0, -0.5, 0.5, 2.0])
def test_powers_are_those_of_the_eigenvalues(exponent):
    values, vectors = np.linalg.eigh(SOUND)
    expected = vectors @ np.diag(values**exponent) @ vectors.T
    np.testing.assert_allclose(floored_power(SOUND, exponent), expected, rtol=1e-12)


def test_powers_have_a_floor_relative_to_the_largest_value():
    np.testing.assert_allclose(
        floored_power(np.diag([4.0, 1e-9, -3.0]), 0.5, 0.25), np.diag([2.0, 1.0, 1.0]), atol=1e-12
    )
    assert np.isfinite(floored_power(np.zeros((2, 2)), 0.5)).all()
