"""What can be chosen of a simulated population; the rest is drawn.

The paper gives neither the mean nor the covariance of its simulations, so that the defaults here
are choices of our own: the mean is standard normal like the coefficients, the eigenvalues of the
covariance go in geometric progression and its axes have a random orientation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

from publicmoments.checks import positive, positive_integer
from publicmoments.public.arrays import Matrix

__all__ = ["Choices", "Law", "drawn"]

Law = Callable[[np.random.Generator, int], ArrayLike]

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
    rng: np.random.Generator,
    d: int,
    *,
    condition: float | None = None,
    spectrum: ArrayLike | None = None,
    axes: ArrayLike | None = None,
    mean: ArrayLike | Law | None = None,
    coef: ArrayLike | Law | None = None,
    signal: float | None = None,
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return mean, axes, eigenvalues and coefficients; see `Choices`.

    Draws follow a fixed order: axes, mean, coefficients. What is chosen is not drawn.
    """
    d = positive_integer("d", d)
    eigenvalues = _eigenvalues(d, condition, spectrum)
    vectors = _axes(rng, d, axes)
    centre = _vector(rng, d, "mean", mean)
    effects = _vector(rng, d, "coef", coef)
    if signal is not None:
        spread = np.sqrt(eigenvalues) * (effects @ vectors)
        effects = _scaled(
            effects, float(np.hypot(np.linalg.norm(spread), centre @ effects)), signal
        )
    return centre, vectors, eigenvalues, effects


def _eigenvalues(d: int, condition: float | None, spectrum: ArrayLike | None) -> Matrix:
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


def _geometric(d: int, condition: float) -> Matrix:
    """Eigenvalues in geometric progression around one."""
    condition = positive("condition", condition)
    if not (condition >= 1 if d > 1 else condition == 1):
        expected = "at least 1" if d > 1 else "1 for a single column"
        raise ValueError(
            f"condition must be {expected}, got condition={condition!r}; pass the ratio of the "
            "largest eigenvalue to the smallest"
        )
    return np.asarray(condition ** np.linspace(-0.5, 0.5, d))


def _axes(rng: np.random.Generator, d: int, chosen: ArrayLike | None) -> Matrix:
    """The axes that were given, or a random orientation."""
    if chosen is None:
        return np.asarray(np.linalg.qr(rng.standard_normal((d, d)))[0])
    axes = _finite("axes", chosen, (d, d))
    if not np.max(np.abs(axes.T @ axes - np.eye(d))) <= ORTHONORMAL:
        raise ValueError("axes must have orthonormal columns; pass the Q of a QR decomposition")
    return axes


def _vector(rng: np.random.Generator, d: int, name: str, chosen: ArrayLike | Law | None) -> Matrix:
    """A vector drawn from a law or given; one number stands for all entries."""
    if chosen is None:
        return rng.standard_normal(d)
    values = chosen(rng, d) if callable(chosen) else chosen
    return _finite(name, np.full(d, values) if np.ndim(values) == 0 else values, (d,))


def _scaled(coef: Matrix, signal: float, wanted: float) -> Matrix:
    """Scale coefficients to the signal that is wanted."""
    wanted = positive("signal", wanted)
    if not signal > 0:
        raise ValueError("coef must not be zero when a signal is wanted; leave out one of them")
    return coef * (wanted / signal)


def _finite(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Matrix:
    """Convert to floats; refuse other shapes, NaN and infinity."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(
            f"{name} must have shape {shape}, got shape {array.shape}; pass one value per column"
        )
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite, got NaN or infinity; pass finite numbers")
    return array
