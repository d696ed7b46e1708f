"""The data that accuracy is measured on: one simulation, two real tables."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RESIDUAL_SD = 0.05
DIMENSION = 10

REAL = {
    "wine": ("winequality-white.csv", ";", 245),
    "power plant": ("ccpp.csv", ",", 192),
}


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
    d = DIMENSION
    eigenvalues = condition ** np.linspace(-0.5, 0.5, d)
    axes, _ = np.linalg.qr(rng.standard_normal((d, d)))
    mean, coef = rng.standard_normal(d), rng.standard_normal(d)
    X = mean + (rng.standard_normal((n + n_public, d)) * np.sqrt(eigenvalues)) @ axes.T
    y = X @ coef + RESIDUAL_SD * rng.standard_normal(n + n_public)
    metric = (axes * eigenvalues) @ axes.T + np.outer(mean, mean)
    return Sample(X[:n], y[:n], X[n:], y[n:], coef, metric, coef)


def split_real(rng: np.random.Generator, name: str) -> Sample:
    """Split a real table at random; the target is the non-private fit of the private part."""
    file, delimiter, n_public = REAL[name]
    table = np.loadtxt(data_folder() / file, delimiter=delimiter, skiprows=1)
    table = table[rng.permutation(len(table))]
    X_public, y_public = table[:n_public, :-1], table[:n_public, -1]
    X, y = table[n_public:, :-1], table[n_public:, -1]
    target = np.linalg.lstsq(X, y, rcond=None)[0]
    return Sample(X, y, X_public, y_public, target, X.T @ X / len(X), None)


def data_folder() -> Path:
    """Folder of the real tables: PUBLICMOMENTS_DATA, or one beside the project."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "datasets"
    return Path(os.environ.get("PUBLICMOMENTS_DATA", beside))


def real_data_available() -> bool:
    """Whether the real tables can be read."""
    return all((data_folder() / file).is_file() for file, _, _ in REAL.values())
