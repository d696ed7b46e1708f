"""The radius: from public numbers, as wide as noise allows."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments import PublicMoments
from publicmoments.release.weights import FACTORS, RowLengths, choose_weights

RNG = np.random.default_rng(8)


def gaussian_lengths(d, count=100_000):
    return RowLengths(RNG.chisquare(d, size=count), np.full(count, 1.0 / count))


def chosen(mu, n_rows=5000, **options):
    design = PublicMoments.from_rows(RNG.normal(size=(200, 4))).design(fit_intercept=True)
    return choose_weights(RowLengths.expected(design), 5, n_rows, mu, **options)


def test_the_radius_grows_with_the_budget_until_nothing_is_cut():
    radii = [chosen(mu).radius for mu in (0.03, 0.3, 3.0, 30.0)]
    assert radii == sorted(radii)
    assert radii[0] < radii[-1] / 2
    many = chosen(10.0, n_rows=10**9)
    assert many.kept == pytest.approx(1.0, abs=1e-6)
    assert many.kept_ones == pytest.approx(1.0, abs=1e-6)
    assert many.kept_shape == pytest.approx(1.0, abs=1e-6)


def by_hand(radius, n_rows, mu, d=3):
    """Predicted error for rows of squared lengths 2 and 47 at odds of 9 to 1."""
    s, chances = np.array([2.0, 47.0]), np.array([0.9, 0.1])
    c2 = np.minimum(1.0, radius**2 / (s + 1.0))
    whole = np.sum(chances * s)
    kept, second = (np.sum(chances * c2**k * s) / whole for k in (1, 2))
    cut = np.sum((c2 < 1) * chances * c2 * s**2 / (s + 1.0)) / np.sum(chances * c2 * s)
    shape = 1.0 - 2.0 * cut / (d + 2)
    noise = (d + 1) * (radius**2 / (mu * n_rows * kept * shape)) ** 2
    misfit = np.sum(chances * (1.0 - c2) ** 2 * (s + 1.0)) / kept**2 / 300
    sampling = (d + 1) / n_rows
    lost = max(second / (kept * shape) ** 2 - 1.0, 0.0) * sampling
    return max(noise, 0.02 * sampling) + misfit + lost, np.sqrt(noise), np.sqrt(misfit), kept


@pytest.mark.parametrize(("n_rows", "mu"), [(50, 5.0), (300, 0.3), (3000, 0.1), (3000, 1.0)])
def test_the_radius_has_the_least_predicted_error(n_rows, mu):
    lengths = RowLengths(np.array([2.0, 47.0]), np.array([0.9, 0.1]))
    radii = np.sqrt(4 * FACTORS)
    weights = choose_weights(lengths, 4, n_rows, mu)
    best = radii[np.argmin([by_hand(radius, n_rows, mu)[0] for radius in radii])]
    assert weights.radius == pytest.approx(best)
    _, noise, bias, kept = by_hand(weights.radius, n_rows, mu)
    assert weights.predicted_noise == pytest.approx(noise)
    assert weights.predicted_bias == pytest.approx(bias)
    assert weights.kept == pytest.approx(kept)


def test_a_wanted_radius_is_taken():
    assert chosen(1.0, radius=2.5).radius == 2.5


def test_expected_lengths_are_those_of_private_rows():
    """Whitened by 100 rows, other rows are longer than these; by the mean of their squares."""
    d, ratios = 6, []
    for _ in range(40):
        public = PublicMoments.from_rows(RNG.normal(size=(100, d)))
        design = public.design(fit_intercept=True)
        fresh = np.column_stack([RNG.normal(size=(2000, d)), np.ones(2000)]) @ design.whitener
        lengths = RowLengths.expected(design)
        assert lengths.chances.sum() == pytest.approx(1.0)
        ratios.append(
            np.mean(np.sum(fresh[:, :d] ** 2, axis=1)) / (lengths.chances @ lengths.squared)
        )
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("d", [2, 5, 20])
@pytest.mark.parametrize("factor", [0.6, 1.2, 3.0])
def test_what_is_kept_of_a_departure(d, factor):
    """Stretch one axis of Gaussian rows a little: how much of the stretch do weights leave?"""
    radius, step = np.sqrt(factor * (d + 1)), 0.05
    weights = choose_weights(gaussian_lengths(d), d + 1, 1000, 1.0, radius)
    z = RNG.normal(size=(100_000, d))
    diagonals = []
    for sign in (1.0, -1.0):
        stretched = z.copy()
        stretched[:, 0] *= 1.0 + sign * step
        c2 = np.minimum(1.0, radius**2 / (1.0 + np.sum(stretched**2, axis=1)))
        diagonals.append(c2 @ stretched**2 / len(z))
    # The traceless part of the change of the diagonal, over that of the second moment.
    change = (diagonals[0] - diagonals[1]) / (4.0 * step)
    kept = (change[0] - change[1:].mean()) / weights.kept
    assert weights.kept == pytest.approx((diagonals[0] + diagonals[1]).mean() / 2, abs=0.01)
    assert kept == pytest.approx(weights.kept_shape, abs=0.02)
    # At the largest radius of long rows, hardly one in a million is shortened.
    assert weights.kept_shape < 1.0 or factor == 3.0


def test_one_column_has_no_shape():
    assert choose_weights(gaussian_lengths(1), 2, 1000, 1.0, 1.0).kept_shape == 1.0
