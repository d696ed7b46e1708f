"""Noise has the stated law: the true scale is accepted, and one that is 20 % off is rejected."""

import math

import numpy as np
import pytest
from scipy.stats import chi2, norm

from publicmoments.privacy.noise import NoiseLaw, SeededNoise, SystemNoise, add_gram_noise

SOURCES = [SystemNoise(), SeededNoise(1234)]
# Two-sided level of every test here; failing by chance is out of the question.
LEVEL = 1e-9
LAW = NoiseLaw(2.0**40, 2.0**40 / math.sqrt(2), 40)
MATRICES = 60


def scale_accepted(draws: np.ndarray, noise_sd: float) -> bool:
    """Whether the sum of squares fits independent Gaussians of mean zero and this sd."""
    statistic = float(np.sum((draws / noise_sd) ** 2))
    tails = chi2.cdf(statistic, draws.size), chi2.sf(statistic, draws.size)
    return min(tails) > LEVEL / 2


def law_accepted(draws: np.ndarray, cell_edges: np.ndarray, probabilities: np.ndarray) -> bool:
    """Whether counts per cell fit these probabilities by Pearson's chi-square test."""
    observed, _ = np.histogram(draws, bins=cell_edges)
    expected = probabilities * draws.size
    statistic = float(np.sum((observed - expected) ** 2 / expected))
    return bool(chi2.sf(statistic, len(expected) - 1) > LEVEL)


def discrete_cells(noise_sd: float, rounded: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Edges between integers and the mass of each cell; the outer cells take the tails."""
    points = np.arange(-200, 201)
    mass = np.exp(-0.5 * (points / noise_sd) ** 2)
    if rounded:
        mass = np.diff(norm.cdf((np.arange(-200, 202) - 0.5) / noise_sd))
    mass = mass / mass.sum()
    reach = math.ceil(2.5 * noise_sd)
    inner = mass[np.abs(points) < reach]
    tail = mass[points >= reach].sum()
    edges = np.concatenate([[-np.inf], np.arange(-reach + 1, reach + 1) - 0.5, [np.inf]])
    return edges, np.concatenate([[tail], inner, [tail]])


@pytest.fixture(scope="module", params=SOURCES, ids=repr)
def entries(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    """Diagonal and off-diagonal noise of many matrices."""
    exact = np.zeros((LAW.dimension, LAW.dimension), dtype=np.int64)
    noise = np.stack([add_gram_noise(exact, LAW, request.param) for _ in range(MATRICES)])
    rows, columns = np.triu_indices(LAW.dimension, k=1)
    return np.diagonal(noise, axis1=1, axis2=2).ravel(), noise[:, rows, columns].ravel()


def test_true_scale_is_accepted(entries):
    diagonal, off_diagonal = entries
    assert scale_accepted(diagonal, LAW.diagonal_sd)
    assert scale_accepted(off_diagonal, LAW.offdiagonal_sd)


@pytest.mark.parametrize("factor", [1.2, 1 / 1.2])
def test_wrong_scale_is_rejected(entries, factor):
    diagonal, off_diagonal = entries
    assert not scale_accepted(diagonal, factor * LAW.diagonal_sd)
    assert not scale_accepted(off_diagonal, factor * LAW.offdiagonal_sd)


def test_noise_is_not_the_same_on_and_off_the_diagonal(entries):
    diagonal, off_diagonal = entries
    assert not scale_accepted(diagonal, LAW.offdiagonal_sd)
    assert not scale_accepted(off_diagonal, LAW.diagonal_sd)


def test_entries_are_uncorrelated(entries):
    _, off_diagonal = entries
    standard = off_diagonal.reshape(MATRICES, -1) / LAW.offdiagonal_sd
    correlation = np.mean(standard[:, :-1] * standard[:, 1:])
    assert abs(correlation) < 7 / math.sqrt(standard[:, 1:].size)


@pytest.mark.parametrize("noise_sd", [0.7, 1.5, 4.0])
def test_system_noise_follows_the_discrete_gaussian(noise_sd):
    draws = SystemNoise().draw(40_000, noise_sd)
    assert law_accepted(draws, *discrete_cells(noise_sd))
    assert not law_accepted(draws, *discrete_cells(1.2 * noise_sd))
    assert not law_accepted(draws, *discrete_cells(noise_sd / 1.2))


def test_system_noise_is_not_a_rounded_gaussian():
    draws = SystemNoise().draw(40_000, 0.7)
    assert not law_accepted(draws, *discrete_cells(0.7, rounded=True))


@pytest.mark.parametrize("noise_sd", [0.7, 4.0])
def test_seeded_noise_follows_the_rounded_gaussian(noise_sd):
    draws = SeededNoise(99).draw(40_000, noise_sd)
    assert law_accepted(draws, *discrete_cells(noise_sd, rounded=True))
    assert not law_accepted(draws, *discrete_cells(1.2 * noise_sd, rounded=True))
