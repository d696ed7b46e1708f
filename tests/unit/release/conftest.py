"""Tables of correlated columns off the origin, and releases of them with noise on or off."""

from __future__ import annotations

import numpy as np
import pytest

from publicmoments import GDP, PublicMoments
from publicmoments.release import release_moments
from tests.helpers import noise_off

N, N_PUBLIC, D = 1500, 300, 5
NAMES = ["age", "height", "weight", "income", "score"]
FINE_GRID = 22
"""Bits of a grid so fine that rounding is below the tolerances; the sums are still exact."""


def draw_table(n, seed=3):
    rng = np.random.default_rng(11)
    mixing, mean = rng.normal(size=(D, D)), rng.normal(2.0, 2.0, size=D)
    return np.random.default_rng(seed).normal(size=(n, D)) @ mixing + mean


@pytest.fixture(scope="session")
def table():
    return draw_table(N)


@pytest.fixture(scope="session")
def public():
    return PublicMoments.from_rows(draw_table(N_PUBLIC, seed=4), columns=NAMES)


@pytest.fixture
def silent():
    """No noise, and a fine grid."""
    with noise_off(PRODUCT_BITS=FINE_GRID):
        yield


@pytest.fixture
def exact(silent, table, public):
    """A release without noise, weights or anchor: the plain moments of the table."""
    design = public.design(fit_intercept=True)
    z = np.column_stack([table, np.ones(len(table))]) @ design.whitener
    radius = 5.0 * np.linalg.norm(z, axis=1).max()
    return release_moments(table, privacy=GDP(1e6), public=public, anchor=False, radius=radius)


@pytest.fixture(scope="session")
def noisy(table, public):
    return release_moments(table, privacy=GDP(1.0), public=public, random_state=5)
