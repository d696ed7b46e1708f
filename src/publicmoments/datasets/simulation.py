"""What can be chosen of a simulated population; the rest is drawn.

The paper gives neither the mean nor the covariance of its simulations, so that the defaults here
are choices of our own: the mean is standard normal like the coefficients, the eigenvalues of the
covariance go in geometric progression and its axes have a random orientation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Self, TypedDict, Unpack

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from publicmoments.arrays import Array, ReadOnlyArrays, read_only
from publicmoments.checks import non_negative, positive, positive_integer

Law = Callable[[Generator, int], ArrayLike]

ORTHONORMAL = 1e-8


class Choices(TypedDict, total=False):
    """Keywords of every population; None is the same as leaving one out.

    Parameters
    ----------
    condition : float, optional
        Condition number of the covariance, whose eigenvalues go in geometric progression from
        1/sqrt(condition) to sqrt(condition). One unless given.
    spectrum : array-like of shape (d,), optional
        Eigenvalues of the covariance, instead of ``condition``.
    axes : array-like of shape (d, d), optional
        Orthonormal eigenvectors of the covariance, as columns. Of random orientation unless given.
    mean : float, array-like of shape (d,) or callable, optional
        Mean of the rows; a callable draws it, from a generator and d. Standard normal unless given.
    coef : float, array-like of shape (d,) or callable, optional
        Coefficients, in the same way.
    signal : float, optional
        Root mean square of the linear predictor X @ coef, to which the coefficients are scaled.
    """

    condition: float | None
    spectrum: ArrayLike | None
    axes: ArrayLike | None
    mean: ArrayLike | Law | None
    coef: ArrayLike | Law | None
    signal: float | None


def drawn(
    rng: Generator,
    d: int,
    *,
    condition: float | None = None,
    spectrum: ArrayLike | None = None,
    axes: ArrayLike | None = None,
    mean: ArrayLike | Law | None = None,
    coef: ArrayLike | Law | None = None,
    signal: float | None = None,
) -> tuple[Array, Array, Array, Array]:
    """Return mean, axes, eigenvalues and coefficients; see `Choices`.

    Draws follow a fixed order: axes, mean, coefficients. What is chosen is not drawn.
    """
    d = positive_integer("d", d)
    eigenvalues = _eigenvalues(d, condition, spectrum)
    vectors = _axes(rng, d, axes)
    centre = _vector(rng, d, "mean", mean)
    effects = _vector(rng, d, "coef", coef)
    if signal is not None:
        wanted = positive("signal", signal)
        spread = np.sqrt(eigenvalues) * (effects @ vectors)
        found = float(np.hypot(np.linalg.norm(spread), centre @ effects))
        if not found > 0:
            raise ValueError("coef must not be zero when a signal is wanted; leave out one of them")
        effects = effects * (wanted / found)
    return centre, vectors, eigenvalues, effects


def _eigenvalues(d: int, condition: float | None, spectrum: ArrayLike | None) -> Array:
    """The spectrum that was given, or a geometric one."""
    if spectrum is None:
        return _geometric(d, 1.0 if condition is None else condition)
    if condition is not None:
        raise ValueError("spectrum and condition must not both be given; pass one of them")
    values = _finite("spectrum", spectrum, (d,))
    if not np.all(values > 0):
        raise ValueError(
            f"spectrum must be positive, got a smallest eigenvalue of {values.min()!s}; pass the "
            "variances along the axes"
        )
    return values


def _geometric(d: int, condition: float) -> Array:
    """Eigenvalues in geometric progression around one."""
    condition = positive("condition", condition)
    if not (condition >= 1 if d > 1 else condition == 1):
        expected = "at least 1" if d > 1 else "1 for a single column"
        raise ValueError(
            f"condition must be {expected}, got condition={condition!r}; pass the ratio of the "
            "largest eigenvalue to the smallest"
        )
    return np.asarray(condition ** np.linspace(-0.5, 0.5, d))


def _axes(rng: Generator, d: int, chosen: ArrayLike | None) -> Array:
    """The axes that were given, or a random orientation."""
    if chosen is None:
        return np.asarray(np.linalg.qr(rng.standard_normal((d, d)))[0])
    axes = _finite("axes", chosen, (d, d))
    if not np.max(np.abs(axes.T @ axes - np.eye(d))) <= ORTHONORMAL:
        raise ValueError("axes must have orthonormal columns; pass the Q of a QR decomposition")
    return axes


def _vector(rng: Generator, d: int, name: str, chosen: ArrayLike | Law | None) -> Array:
    """A vector drawn from a law or given; one number stands for all entries."""
    if chosen is None:
        return rng.standard_normal(d)
    values = chosen(rng, d) if callable(chosen) else chosen
    return _finite(name, np.full(d, values) if np.ndim(values) == 0 else values, (d,))


def _finite(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Convert to floats; refuse other shapes, NaN and infinity."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(
            f"{name} must have shape {shape}, got shape {array.shape}; pass one value per column"
        )
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite, got NaN or infinity; pass finite numbers")
    return array


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

    mean: Array
    axes: Array
    eigenvalues: Array
    coef: Array

    def __post_init__(self) -> None:
        """Copy to read-only arrays."""
        for field in fields(Simulation):
            object.__setattr__(self, field.name, read_only(getattr(self, field.name)))

    @property
    def covariance(self) -> Array:
        """Covariance of the rows."""
        return np.asarray((self.axes * self.eigenvalues) @ self.axes.T)

    @property
    def second_moment(self) -> Array:
        """Mean of x x^T over the rows, not centred."""
        return np.asarray(self.covariance + np.outer(self.mean, self.mean))

    @property
    def signal(self) -> float:
        """Root mean square of the linear predictor."""
        return float(np.sqrt(self.coef @ self.second_moment @ self.coef))

    def rows(self, rng: Generator, n: int) -> Array:
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
        rng: Generator,
        d: int = LINEAR_DIMENSION,
        *,
        residual_sd: float = RESIDUAL_SD,
        **choices: Unpack[Choices],
    ) -> Self:
        """Draw what is not chosen, in the order axes, mean, coefficients; see `Choices`."""
        residual_sd = non_negative("residual_sd", residual_sd)
        return cls(*drawn(rng, d, **choices), residual_sd=residual_sd)

    def sample(self, rng: Generator, n: int) -> tuple[Array, Array]:
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
    def draw(cls, rng: Generator, d: int = LOGISTIC_DIMENSION, **choices: Unpack[Choices]) -> Self:
        """Draw what is not chosen, in the order axes, mean, coefficients; see `Choices`."""
        return cls(*drawn(rng, d, **choices))

    def sample(self, rng: Generator, n: int) -> tuple[Array, Array]:
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
        rng: Generator,
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

    def sample(self, rng: Generator, n: int) -> tuple[Array, Array, Array]:
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
    rng: Generator,
    n: int,
    *,
    d: int = LINEAR_DIMENSION,
    residual_sd: float = RESIDUAL_SD,
    **choices: Unpack[Choices],
) -> tuple[Array, Array, LinearPopulation]:
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
    rng: Generator, n: int, *, d: int = LOGISTIC_DIMENSION, **choices: Unpack[Choices]
) -> tuple[Array, Array, LogisticPopulation]:
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
    rng: Generator,
    n: int,
    *,
    d: int = POISSON_DIMENSION,
    exposure: float | tuple[float, float] = 1.0,
    **choices: Unpack[Choices],
) -> tuple[Array, Array, Array, PoissonPopulation]:
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
