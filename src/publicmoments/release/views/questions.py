"""Regressions read off a second moment: any column on any others, and how sure they are."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from publicmoments.arrays import Array
from publicmoments.data import listing
from publicmoments.models.penalty import elastic_net_coef
from publicmoments.release.second_moment import ErrorLaw, Evidence

Column: TypeAlias = str | int


@dataclass(frozen=True)
class Question:
    """Which column is regressed on which others, by position."""

    response: int
    features: tuple[int, ...]
    fit_intercept: bool


@dataclass(frozen=True, eq=False)
class View:
    """
    A question in terms of pseudo-rows, one for each whitened column.

    With an intercept all columns are centred: orthogonal to the ones. ``X``, ``y`` and ``ones`` are
    columns of the root of the second moment, ``noise_X``, ``noise_y`` and ``noise_ones`` those of
    the matrix that carries noise to it; ``mean_X`` and ``mean_y`` are the means taken off.
    """

    X: Array
    y: Array
    ones: Array | None
    noise_X: Array
    noise_y: Array
    noise_ones: Array | None
    mean_X: Array
    mean_y: float

    def intercept(self, coef: Array) -> Array:
        """Intercepts of one or several vectors of coefficients; zeros without one."""
        return np.asarray(self.mean_y - coef @ self.mean_X)


@dataclass(frozen=True, eq=False)
class CoefErrors:
    """Covariances of coefficients, intercept last where there is one; variances about the fit."""

    noise: Array
    sampling: Array
    residual_variance: float
    prediction_error: float


def positions(
    items: Iterable[Column], columns: tuple[str, ...] | None, d: int, what: str
) -> tuple[int, ...]:
    """Find columns by name or position; refuse strangers and duplicates."""
    found = tuple(_position(item, columns, d, what) for item in items)
    if len(set(found)) != len(found):
        raise ValueError(f"{what} must name each column once, got {len(found)} with duplicates")
    return found


def asked(
    response: Column,
    features: Sequence[Column] | None,
    fit_intercept: bool,
    columns: tuple[str, ...] | None,
    d: int,
) -> Question:
    """Check a question; without features it is about all columns but the response."""
    (target,) = positions([response], columns, d, "response")
    if features is None:
        chosen = tuple(k for k in range(d) if k != target)
    else:
        listed = [features] if isinstance(features, str | int) else features
        chosen = positions(listed, columns, d, "features")
    if target in chosen:
        raise ValueError(
            f"features must not contain the response {response!r}; leave it out of one of them"
        )
    if not chosen and not fit_intercept:
        raise ValueError("features must name at least one column where there is no intercept")
    return Question(target, chosen, fit_intercept)


def view_of(evidence: Evidence, question: Question) -> View:
    """Pick the columns of a question, centred at the estimated means where it has an intercept."""
    root, noise = evidence.root, evidence.noise_root
    features, response = list(question.features), question.response
    if not question.fit_intercept:
        return View(
            *(root[:, features], root[:, response], None),
            *(noise[:, features], noise[:, response], None),
            *(np.zeros(len(features)), 0.0),
        )
    ones, noise_ones = root[:, -1], noise[:, -1]
    means = ones @ root / (ones @ ones)
    root, noise = root - np.outer(ones, means), noise - np.outer(noise_ones, means)
    return View(
        *(root[:, features], root[:, response], ones),
        *(noise[:, features], noise[:, response], noise_ones),
        *(means[features], float(means[response])),
    )


def ridge_coef(view: View, alpha: float) -> Array:
    """Minimise ||y - X b||^2 / 2 + alpha ||b||^2 / 2, accurately in any units of the columns."""
    rows, sizes = _scaled(view.X, alpha)
    target = np.concatenate([view.y, np.zeros(len(rows) - len(view.y))])
    return np.asarray(np.linalg.lstsq(rows, target, rcond=None)[0] / sizes)


def ridge_path(view: View, alphas: Array) -> Array:
    """Coefficients for every penalty from one singular value decomposition; (alphas, features)."""
    left, sizes, axes = np.linalg.svd(view.X, full_matrices=False)
    along = left.T @ view.y
    with np.errstate(divide="ignore", invalid="ignore"):
        shrunk = sizes * along / (sizes**2 + alphas[:, None])
    coefs = shrunk @ axes
    if (alphas == 0.0).any():
        # Without a penalty, columns of very different units need the care of scaling.
        coefs[alphas == 0.0] = ridge_coef(view, 0.0)
    return np.asarray(coefs)


def net_coef(view: View, alpha: float, l1_ratio: float) -> Array:
    """Minimise the mean loss with an elastic-net penalty."""
    if not view.X.shape[1] or alpha * l1_ratio == 0.0:
        return ridge_coef(view, alpha * (1.0 - l1_ratio))
    return elastic_net_coef(view.X, view.y, alpha, l1_ratio)


def spread_of(
    view: View, coef: Array, used: NDArray[np.intp], ridge_alpha: float, law: ErrorLaw
) -> CoefErrors:
    """
    Tell how far coefficients are from those of the population, to first order.

    Parameters
    ----------
    view : View
        The question.
    coef : ndarray of shape (features,)
        Its answer.
    used : ndarray of int
        The coefficients that may move; those that a penalty set to zero stay there.
    ridge_alpha : float
        The quadratic part of the penalty.
    law : ErrorLaw
        Of the second moment.

    Returns
    -------
    CoefErrors

    Notes
    -----
    With S the second moment, M = S_FF + alpha D, b = M^{-1} S_Fj and a = e_j - sum_k b_k e_k, an
    error N of S moves b by M^{-1} [N a]_F. Its covariance is M^{-1} K M^{-1} with

    * for noise, N = V' E V, V the noise root: K = t^2 V_F' (||Va||^2 I + Va a'V') V_F, because
      Cov(E v) = t^2 (||v||^2 I + v v') for a symmetric E of independent entries, of variance t^2
      off the diagonal and twice that on it;
    * for sampling, N being that of a mean of products of Gaussian rows: K = (a'Sa S_FF + [Sa]_F
      [Sa]_F') / n, the familiar residual variance times S_FF / n where there is no penalty.

    As a' S a is the least there is for the S at hand, it is too small by what the fit has adapted
    to: E a' N a = -2 tr(M^{-1} K). Adding that back gives the error of predictions for new rows; of
    it tr(S_FF M^{-1} K M^{-1}) is due to the error of b, and the rest is the residual variance.
    """
    left, error = view.y - view.X @ coef, view.noise_y - view.noise_X @ coef
    columns, carried = view.X[:, used], view.noise_X[:, used]
    if view.ones is not None and view.noise_ones is not None:
        columns = np.column_stack([columns, view.ones])
        carried = np.column_stack([carried, view.noise_ones])
    penalties = np.full(columns.shape[1], ridge_alpha)
    penalties[len(used) :] = 0.0
    inverse = penalised_inverse(columns, penalties)
    along, adapted = carried.T @ error, columns.T @ left
    square = float(left @ left)
    noise = law.noise * (float(error @ error) * carried.T @ carried + np.outer(along, along))
    sampling = law.sampling * (square * columns.T @ columns + np.outer(adapted, adapted))
    total = inverse @ (noise + sampling)
    optimism = 2.0 * float(np.trace(total))
    own = float(np.sum((columns.T @ columns) * (total @ inverse)))
    back = _moved_back(view, used)
    return CoefErrors(
        noise=back @ (inverse @ noise @ inverse) @ back.T,
        sampling=back @ (inverse @ sampling @ inverse) @ back.T,
        residual_variance=square + optimism - own,
        prediction_error=square + optimism,
    )


def _moved_back(view: View, used: NDArray[np.intp]) -> Array:
    """Map from the coefficients in use, and the level at the means, to all of them."""
    k, intercept = view.X.shape[1], view.ones is not None
    back = np.zeros((k + intercept, len(used) + intercept))
    back[used, np.arange(len(used))] = 1.0
    if intercept:
        back[k, : len(used)] = -view.mean_X[used]
        back[k, len(used)] = 1.0
    return back


def _scaled(columns: Array, alpha: float) -> tuple[Array, Array]:
    """Append the rows of a ridge penalty and bring columns to length 1; return their lengths."""
    k = columns.shape[1]
    rows = np.vstack([columns, np.sqrt(alpha) * np.eye(k)]) if alpha > 0.0 else columns
    sizes = np.sqrt(np.einsum("ij,ij->j", rows, rows))
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    return rows / sizes, sizes


def penalised_inverse(columns: Array, penalties: Array) -> Array:
    """Inverse of columns.T @ columns + diag(penalties), by an orthogonal factorisation."""
    if not columns.shape[1]:
        return np.zeros((0, 0))
    rows, sizes = _scaled(np.vstack([columns, np.diag(np.sqrt(penalties))]), 0.0)
    triangle = np.linalg.qr(rows, mode="r")
    half = solve_triangular(triangle, np.eye(len(triangle))) / sizes[:, None]
    return np.asarray(half @ half.T)


def _position(item: Column, columns: tuple[str, ...] | None, d: int, what: str) -> int:
    """Find one column."""
    if isinstance(item, str):
        if columns is None or item not in columns:
            known = "no column names" if columns is None else listing(columns)
            raise ValueError(
                f"{what} must name a column, got {item!r} among {known}; check the spelling, or "
                "pass a position"
            )
        return columns.index(item)
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise TypeError(
            f"{what} must be a column name or position, got {type(item).__name__}; pass a string "
            "or an integer"
        )
    index = operator.index(item)
    if not -d <= index < d:
        raise ValueError(f"{what} must be a position below {d}, got {index}; count from zero")
    return index % d
