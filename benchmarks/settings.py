"""The data that accuracy is measured on: one simulation, two real tables."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from publicmoments.datasets import Dataset, LinearPopulation, load_power_plant, load_wine, split

Array = NDArray[np.float64]

RESIDUAL_SD = 0.05
DIMENSION = 10

REAL = {"wine": (load_wine, 245), "power plant": (load_power_plant, 192)}


@dataclass(frozen=True)
class Sample:
    """Private and public rows, and what estimates are compared with."""

    X: Array
    y: Array
    X_public: Array
    y_public: Array
    target: Array
    metric: Array
    true_coef: Array | None


def simulate(rng: np.random.Generator, condition: float, n: int, n_public: int) -> Sample:
    """
    Draw Gaussian rows as the paper does, with the settings it leaves open chosen here.

    The covariance has a random orientation and eigenvalues in geometric progression from
    1/sqrt(condition) to sqrt(condition); the mean and the coefficients are standard normal, the
    residual sd is 0.05. The target is the true coefficients.
    """
    population = LinearPopulation.draw(rng, DIMENSION, condition=condition, residual_sd=RESIDUAL_SD)
    # One draw for both parts: the published figures depend on the order of the draws.
    X, y = population.sample(rng, n + n_public)
    coef, metric = population.coef, population.second_moment
    return Sample(X[:n], y[:n], X[n:], y[n:], coef, metric, coef)


def split_real(rng: np.random.Generator, name: str) -> Sample:
    """Split a real table at random; the target is the non-private fit of the private part."""
    private, public = split(real(name), REAL[name][1], rng)
    X, y = private.X, private.y
    return Sample(X, y, public.X, public.y, least_squares(X, y), X.T @ X / len(X), None)


def least_squares(X: Array, y: Array) -> Array:
    """Ordinary least squares."""
    return np.linalg.lstsq(X, y, rcond=None)[0]


@cache
def real(name: str) -> Dataset:
    """Load a real table, from a folder beside the project where there is one."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "datasets"
    if beside.is_dir():
        os.environ.setdefault("PUBLICMOMENTS_DATA", str(beside))
    return REAL[name][0]()


def real_data_available() -> bool:
    """Whether the real tables can be read or downloaded."""
    try:
        return all(len(real(name)) for name in REAL)
    except (ImportError, OSError):
        return False
