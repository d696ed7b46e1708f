"""The data that accuracy is measured on: simulations, and four real tables."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from publicmoments.datasets import (
    Dataset,
    LinearPopulation,
    LogisticPopulation,
    PoissonPopulation,
    load_bank,
    load_banknote,
    load_power_plant,
    load_wine,
    split,
)

Array = NDArray[np.float64]

RESIDUAL_SD = 0.05
LINEAR_DIMENSION, GLM_DIMENSION = 10, 8
EXPOSURE = (0.5, 2.0)
HELD_OUT = 5_000


@dataclass(frozen=True)
class LinearSample:
    """Private and public rows, and what estimates are compared with."""

    X: Array
    y: Array
    X_public: Array
    y_public: Array
    target: Array
    metric: Array
    true_coef: Array | None


@dataclass(frozen=True)
class Rows:
    """Rows of a generalised linear model; the offset is the logarithm of the exposure."""

    X: Array
    y: Array
    offset: Array | float = 0.0

    @property
    def rates(self) -> Array:
        """Responses per unit of exposure."""
        return self.y / np.exp(self.offset)


@dataclass(frozen=True)
class GLMSample:
    """Rows to fit, rows that are public, and rows that no method sees."""

    private: Rows
    public: Rows
    held_out: Rows


def linear_population(rng: np.random.Generator, condition: float) -> LinearPopulation:
    """
    Draw a population of Gaussian rows as the paper does, what it leaves open being chosen here.

    The covariance has a random orientation and eigenvalues in geometric progression from
    1/sqrt(condition) to sqrt(condition); the mean and the coefficients are standard normal, the
    residual sd is 0.05.
    """
    return LinearPopulation.draw(
        rng, LINEAR_DIMENSION, condition=condition, residual_sd=RESIDUAL_SD
    )


def simulate_linear(
    rng: np.random.Generator, condition: float, n: int, n_public: int
) -> LinearSample:
    """Draw a population and rows of it; the target is the true coefficients."""
    population = linear_population(rng, condition)
    # One draw for both parts: the published figures depend on the order of the draws.
    X, y = population.sample(rng, n + n_public)
    coef, metric = population.coef, population.second_moment
    return LinearSample(X[:n], y[:n], X[n:], y[n:], coef, metric, coef)


def simulate_logistic(
    seed: int, condition: float, n: int, n_public: int, again: int = 0
) -> GLMSample:
    """
    Draw Gaussian rows with labels, mean and covariance as in `linear_population`.

    All sizes share the population and the held-out rows of their seed; ``again`` numbers other
    private rows of it.
    """
    population = LogisticPopulation.draw(_rng(seed, 1), GLM_DIMENSION, condition=condition)
    return GLMSample(
        Rows(*population.sample(_private_rng(seed, again), n)),
        Rows(*population.sample(_rng(seed, 3), n_public)),
        Rows(*population.sample(_rng(seed, 4), HELD_OUT)),
    )


def simulate_poisson(
    seed: int, condition: float, n: int, n_public: int, again: int = 0
) -> GLMSample:
    """
    Draw Gaussian rows with counts, the root mean square of the linear predictor being 0.5.

    Public rows have an exposure of one: public moments have no place for another. ``again`` is as
    in `simulate_logistic`.
    """
    population = PoissonPopulation.draw(
        _rng(seed, 1), GLM_DIMENSION, condition=condition, exposure=EXPOSURE
    )
    X, y, exposure = population.sample(_private_rng(seed, again), n)
    X_public, y_public, _ = replace(population, exposure=(1.0, 1.0)).sample(_rng(seed, 3), n_public)
    X_new, y_new, new_exposure = population.sample(_rng(seed, 4), HELD_OUT)
    return GLMSample(
        Rows(X, y, np.log(exposure)),
        Rows(X_public, y_public),
        Rows(X_new, y_new, np.log(new_exposure)),
    )


def split_linear(rng: np.random.Generator, name: str, n_public: int) -> LinearSample:
    """Split a real table at random; the target is the non-private fit of the private part."""
    private, public = split(real(name), n_public, rng)
    X, y = private.X, private.y
    return LinearSample(X, y, public.X, public.y, least_squares(X, y), X.T @ X / len(X), None)


def split_logistic(seed: int, name: str, n_public: int) -> GLMSample:
    """Split a real table at random, and hold out as many rows as are public."""
    rest, public = split(real(name), n_public, _rng(seed, 1))
    private, held_out = split(rest, n_public, _rng(seed, 2))
    return GLMSample(*(Rows(part.X, part.y) for part in (private, public, held_out)))


def least_squares(X: Array, y: Array) -> Array:
    """Ordinary least squares."""
    return np.linalg.lstsq(X, y, rcond=None)[0]


def banknote_with_ones() -> Dataset:
    """Banknotes with a column of ones, as in the paper."""
    note = load_banknote()
    X = np.column_stack([note.X, np.ones(len(note))])
    return replace(note, X=X, columns=(*note.columns, "one"))


REAL = {
    "wine": load_wine,
    "power plant": load_power_plant,
    "bank": load_bank,
    "banknote": banknote_with_ones,
}


@cache
def real(name: str) -> Dataset:
    """Load a real table, from a folder beside the project where there is one."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "datasets"
    if beside.is_dir():
        os.environ.setdefault("PUBLICMOMENTS_DATA", str(beside))
    return REAL[name]()


def available(name: str) -> bool:
    """Whether a real table can be read or downloaded; say so if not."""
    try:
        return len(real(name)) > 0
    except (ImportError, OSError) as error:
        Console(stderr=True).print(f"{name} left out: {error}")
        return False


def _private_rng(seed: int, again: int) -> np.random.Generator:
    """Randomness of the private rows, or of others in their place."""
    return _rng(seed, 2 if again == 0 else 100 + again)


def _rng(seed: int, part: int) -> np.random.Generator:
    """Randomness of one part of a draw for the generalised linear models."""
    return np.random.default_rng([seed, 2, part])
