"""Simulated populations of Gaussian rows, with linear, logistic or Poisson responses.

The rows are N(mean, axes diag(eigenvalues) axes^T). What was chosen or drawn is kept in the
population, a frozen record, from which any number of samples can be taken: a private and a public
one, for instance.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self, Unpack

import numpy as np

from publicmoments.checks import non_negative, positive, positive_integer
from publicmoments.datasets.choices import Choices, drawn
from publicmoments.public.arrays import Matrix, ReadOnlyArrays, read_only

__all__ = [
    "LinearPopulation",
    "LogisticPopulation",
    "PoissonPopulation",
    "Simulation",
    "simulate_linear",
    "simulate_logistic",
    "simulate_poisson",
]

RESIDUAL_SD = 0.05
LINEAR_DIMENSION, LOGISTIC_DIMENSION, POISSON_DIMENSION = 10, 8, 10
# Coefficients of size one would make some expected counts astronomical.
POISSON_SIGNAL = 0.5
LARGEST_RATE = 2.0**53


@dataclass(frozen=True, eq=False)
class Simulation(ReadOnlyArrays):
    """The law of simulated rows and the coefficients of their responses.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        Mean of the rows.
    axes : ndarray of shape (d, d)
        Eigenvectors of their covariance, as columns.
    eigenvalues : ndarray of shape (d,)
        Eigenvalues of their covariance.
    coef : ndarray of shape (d,)
        Coefficients.
    """

    mean: Matrix
    axes: Matrix
    eigenvalues: Matrix
    coef: Matrix

    def __post_init__(self) -> None:
        """Copy to read-only arrays."""
        for field in fields(Simulation):
            object.__setattr__(self, field.name, read_only(getattr(self, field.name)))

    @property
    def covariance(self) -> Matrix:
        """Covariance of the rows."""
        return np.asarray((self.axes * self.eigenvalues) @ self.axes.T)

    @property
    def second_moment(self) -> Matrix:
        """Mean of x x^T over the rows, not centred."""
        return np.asarray(self.covariance + np.outer(self.mean, self.mean))

    @property
    def signal(self) -> float:
        """Root mean square of the linear predictor."""
        return float(np.sqrt(self.coef @ self.second_moment @ self.coef))

    def rows(self, rng: np.random.Generator, n: int) -> Matrix:
        """Draw rows."""
        shape = positive_integer("n", n), len(self.mean)
        return self.mean + (rng.standard_normal(shape) * np.sqrt(self.eigenvalues)) @ self.axes.T


@dataclass(frozen=True, eq=False)
class LinearPopulation(Simulation):
    """A linear model: y = x.coef + N(0, residual_sd^2).

    Build it with :meth:`draw`; the parameters are those of `Simulation` and the residual sd.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> population = LinearPopulation.draw(rng, d=3, condition=100.0)
    >>> X, y = population.sample(rng, 5)
    >>> X_public, y_public = population.sample(rng, 2)
    >>> X.shape, y_public.shape
    ((5, 3), (2,))
    >>> bool(np.linalg.cond(population.covariance) > 99)
    True
    """

    residual_sd: float = RESIDUAL_SD

    @classmethod
    def draw(
        cls,
        rng: np.random.Generator,
        d: int = LINEAR_DIMENSION,
        *,
        residual_sd: float = RESIDUAL_SD,
        **choices: Unpack[Choices],
    ) -> Self:
        """Draw what is not chosen, in the order axes, mean, coefficients; see `Choices`."""
        residual_sd = non_negative("residual_sd", residual_sd)
        return cls(*drawn(rng, d, **choices), residual_sd=residual_sd)

    def sample(self, rng: np.random.Generator, n: int) -> tuple[Matrix, Matrix]:
        """Draw rows and responses."""
        X = self.rows(rng, n)
        return X, X @ self.coef + self.residual_sd * rng.standard_normal(n)


@dataclass(frozen=True, eq=False)
class LogisticPopulation(Simulation):
    """A logistic model: y is 1 with probability 1 / (1 + exp(-x.coef)), and 0 otherwise.

    Build it with :meth:`draw`; the parameters are those of `Simulation`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = LogisticPopulation.draw(rng, d=3, signal=2.0).sample(rng, 100)
    >>> sorted(set(y.tolist()))
    [0.0, 1.0]
    """

    @classmethod
    def draw(
        cls,
        rng: np.random.Generator,
        d: int = LOGISTIC_DIMENSION,
        **choices: Unpack[Choices],
    ) -> Self:
        """Draw what is not chosen, in the order axes, mean, coefficients; see `Choices`."""
        return cls(*drawn(rng, d, **choices))

    def sample(self, rng: np.random.Generator, n: int) -> tuple[Matrix, Matrix]:
        """Draw rows and responses."""
        X = self.rows(rng, n)
        # A logistic variable exceeds -t with probability 1 / (1 + exp(-t)); nothing overflows.
        return X, (rng.logistic(size=n) > -(X @ self.coef)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class PoissonPopulation(Simulation):
    """A Poisson model: y is a count with mean exposure * exp(x.coef).

    Build it with :meth:`draw`; the parameters are those of `Simulation` and the range from which
    exposures are drawn.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> population = PoissonPopulation.draw(rng, d=3, exposure=(0.5, 2.0))
    >>> X, y, exposure = population.sample(rng, 100)
    >>> bool(exposure.min() >= 0.5)
    True
    """

    exposure: tuple[float, float] = (1.0, 1.0)

    @classmethod
    def draw(
        cls,
        rng: np.random.Generator,
        d: int = POISSON_DIMENSION,
        *,
        exposure: float | tuple[float, float] = 1.0,
        **choices: Unpack[Choices],
    ) -> Self:
        """Draw what is not chosen, in the order axes, mean, coefficients; see `Choices`.

        Drawn coefficients are scaled to a signal of 0.5 unless another is given. ``exposure`` is
        that of every row, or the ends of a range from which exposures are drawn uniformly.
        """
        low, high = _range(exposure)
        if choices.get("coef") is None:
            choices.setdefault("signal", POISSON_SIGNAL)
        return cls(*drawn(rng, d, **choices), exposure=(low, high))

    def sample(self, rng: np.random.Generator, n: int) -> tuple[Matrix, Matrix, Matrix]:
        """Draw rows, counts and exposures."""
        X = self.rows(rng, n)
        exposure = rng.uniform(*self.exposure, size=n)
        with np.errstate(over="ignore"):
            rates = exposure * np.exp(X @ self.coef)
        if not np.max(rates) < LARGEST_RATE:
            raise ValueError(
                f"expected counts must be below {LARGEST_RATE:g}, got signal={self.signal:.3g}; "
                "draw a population with a smaller signal"
            )
        return X, rng.poisson(rates).astype(np.float64), exposure


def simulate_linear(
    rng: np.random.Generator,
    n: int,
    *,
    d: int = LINEAR_DIMENSION,
    residual_sd: float = RESIDUAL_SD,
    **choices: Unpack[Choices],
) -> tuple[Matrix, Matrix, LinearPopulation]:
    """Draw a population and a sample of it: rows, responses, and what was chosen.

    Examples
    --------
    >>> X, y, population = simulate_linear(np.random.default_rng(0), 20, d=3, condition=1e4)
    >>> X.shape, y.shape, population.eigenvalues.tolist()
    ((20, 3), (20,), [0.01, 1.0, 100.0])
    """
    population = LinearPopulation.draw(rng, d, residual_sd=residual_sd, **choices)
    return *population.sample(rng, n), population


def simulate_logistic(
    rng: np.random.Generator,
    n: int,
    *,
    d: int = LOGISTIC_DIMENSION,
    **choices: Unpack[Choices],
) -> tuple[Matrix, Matrix, LogisticPopulation]:
    """Draw a population and a sample of it: rows, responses 0 or 1, and what was chosen.

    Examples
    --------
    >>> X, y, population = simulate_logistic(np.random.default_rng(0), 20, coef=0.5, mean=0.0)
    >>> X.shape, population.coef[0].item()
    ((20, 8), 0.5)
    """
    population = LogisticPopulation.draw(rng, d, **choices)
    return *population.sample(rng, n), population


def simulate_poisson(
    rng: np.random.Generator,
    n: int,
    *,
    d: int = POISSON_DIMENSION,
    exposure: float | tuple[float, float] = 1.0,
    **choices: Unpack[Choices],
) -> tuple[Matrix, Matrix, Matrix, PoissonPopulation]:
    """Draw a population and a sample of it: rows, counts, exposures, and what was chosen.

    Examples
    --------
    >>> X, y, exposure, population = simulate_poisson(np.random.default_rng(0), 20, d=3)
    >>> X.shape, exposure[0].item(), round(population.signal, 6)
    ((20, 3), 1.0, 0.5)
    """
    population = PoissonPopulation.draw(rng, d, exposure=exposure, **choices)
    return *population.sample(rng, n), population


def _range(exposure: float | tuple[float, float]) -> tuple[float, float]:
    """Ends of the range of exposures; one number stands for both."""
    ends = exposure if isinstance(exposure, tuple) else (exposure, exposure)
    if len(ends) != 2 or not positive("exposure", ends[0]) <= positive("exposure", ends[1]):
        raise ValueError(
            f"exposure must be a number or a pair in ascending order, got exposure={exposure!r}; "
            "pass (low, high)"
        )
    return float(ends[0]), float(ends[1])
