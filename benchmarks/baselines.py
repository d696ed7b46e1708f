"""Plain transcriptions of the methods that the estimator is measured against.

Each takes the total budget ``mu`` and shares it among its statistics. Two of them read the private
rows to set their own bounds, which no private method may do: they are called oracles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def least_squares(X: Array, y: Array) -> Array:
    """Ordinary least squares."""
    return np.linalg.lstsq(X, y, rcond=None)[0]


def symmetric_noise(rng: np.random.Generator, d: int, noise_sd: float) -> Array:
    """Independent entries of one sd on and above the diagonal, mirrored."""
    upper = np.triu(rng.normal(0.0, noise_sd, size=(d, d)))
    return upper + np.triu(upper, 1).T


def pmt_ridge(
    rng: np.random.Generator,
    X: Array,
    y: Array,
    public: tuple[Array, Array],
    mu: float,
    eta: float,
) -> Array:
    """DP-PMTRR, Algorithm 2 of the paper without penalty; its mu is that of each statistic."""
    (n, d), each = X.shape, mu / np.sqrt(2)
    X_public, y_public = public
    values, vectors = np.linalg.eigh(X_public.T @ X_public / len(X_public))
    whitener = (vectors / np.sqrt(values)) @ vectors.T
    response_scale = np.sqrt(np.mean(y_public**2))
    spread = 1 + np.log(2 * n / eta)
    radius, response_radius = np.sqrt(d * spread), np.sqrt(spread)
    Z = shortened(X @ whitener, radius)
    u = np.clip(y / response_scale, -response_radius, response_radius)
    moment = Z.T @ Z / n + symmetric_noise(rng, d, 2 * radius**2 / (each * n))
    cross = Z.T @ u / n + rng.normal(0.0, 2 * radius * response_radius / (each * n), size=d)
    return response_scale * whitener @ np.linalg.solve(moment, cross)


def oracle_ridge(
    rng: np.random.Generator, X: Array, y: Array, mu: float, eta: float, coef: Array | None
) -> Array:
    """DP-RR of the paper, an oracle: its radii come from the private rows.

    With ``coef`` the response radius is that of Theorem 4.3, which knows the true coefficients;
    without, that of the remark after it, whose noise here has the factor 2 the remark lost.
    """
    (n, d), each = X.shape, mu / np.sqrt(2)
    spread = np.log(n / eta)
    squared = np.trace(X.T @ X / n) + d * spread
    response_squared = np.mean(y**2) + spread if coef is None else squared * (coef @ coef)
    radius, response_radius = np.sqrt(squared), np.sqrt(response_squared)
    Z, u = shortened(X, radius), np.clip(y, -response_radius, response_radius)
    moment = Z.T @ Z / n + symmetric_noise(rng, d, 2 * squared / (each * n))
    cross = Z.T @ u / n + rng.normal(0.0, 2 * radius * response_radius / (each * n), size=d)
    return np.linalg.solve(moment, cross)


def adassp(rng: np.random.Generator, X: Array, y: Array, mu: float) -> Array:
    """AdaSSP (Wang 2018) under replace-one neighbours, with bounds read from the rows: an oracle.

    The budget is shared evenly by the smallest eigenvalue, the moment and the cross moment.
    """
    d, multiplier = X.shape[1], np.sqrt(3) / mu
    delta, failure = 1e-6, 0.05
    bound = np.max(np.sum(X**2, axis=1))
    response_bound = np.max(np.abs(y))
    moment = X.T @ X
    smallest = np.linalg.eigvalsh(moment)[0] + rng.normal(0.0, multiplier * bound)
    smallest = max(0.0, smallest - np.sqrt(np.log(6 / delta)) * multiplier * bound)
    wanted = np.sqrt(d * np.log(2 * d**2 / failure)) * multiplier * bound
    penalty = max(0.0, wanted - smallest)
    moment = moment + symmetric_noise(rng, d, np.sqrt(2) * multiplier * bound)
    cross_sd = 2 * multiplier * np.sqrt(bound) * response_bound
    cross = X.T @ y + rng.normal(0.0, cross_sd, size=d)
    return np.linalg.solve(moment + penalty * np.eye(d), cross)


def shortened(Z: Array, radius: float) -> Array:
    """Rows longer than the radius are shortened to it."""
    norms = np.maximum(np.linalg.norm(Z, axis=1), 1e-300)
    return Z * np.minimum(1.0, radius / norms)[:, None]
