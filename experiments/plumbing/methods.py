"""What is compared: the paper's methods, what needs no budget, and the library's own estimators.

Budgets are totals here. The paper states its mu per statistic, so that DP-PMTRR, DP-RR, DP-PMTLR
and DP-LR cost sqrt(2) mu; every method of a comparison gets that same total.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import publicmoments
from experiments.plumbing.plain import logistic_fit, ridge_fit
from experiments.plumbing.samples import Sample
from publicmoments import GDP, PublicMoments, Ridge
from publicmoments.paper import (
    AdaSSP,
    NoisyGradientDescent,
    OracleLogisticRegression,
    OracleRidge,
    PMTLogisticRegression,
    PMTRidge,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Descent:
    """Tuning of DP-GD: the number of steps T, the longest gradient c, and the step size lr."""

    iterations: int
    clip: float
    step: float


@dataclass(frozen=True)
class Task:
    """What a method is asked to do with a sample."""

    total: float
    alpha: float
    eta: float
    seed: int
    iterations: int
    descent: Descent | None

    @property
    def budget(self) -> GDP:
        """Everything that the method may spend."""
        return GDP(self.total)


@dataclass(frozen=True)
class Method:
    """
    A method and how it is drawn.

    Parameters
    ----------
    label : str
        Its name in tables and legends.
    fit : callable
        Returns coefficients, or one row of coefficients per iteration.
    colour, marker, line : str
        The same in every figure.
    varies : tuple of str
        What the estimate depends on, of "mu" and "alpha"; it is not repeated for the rest.
    band : bool
        Whether its spread is drawn.
    """

    label: str
    fit: Callable[[Sample, Task], Array]
    colour: str
    marker: str
    line: str = "-"
    varies: tuple[str, ...] = ("mu", "alpha")
    band: bool = True


def with_matrix(sample: Sample) -> PublicMoments:
    """Public second moments alone."""
    n = len(sample.X_public)
    return PublicMoments.from_matrix(sample.X_public.T @ sample.X_public / n, n=n)


def with_scale(sample: Sample) -> PublicMoments:
    """Public second moments and the scale of the response, which linear models need."""
    n, scale = len(sample.X_public), float(np.sqrt(np.mean(sample.y_public**2)))
    moment = sample.X_public.T @ sample.X_public / n
    return PublicMoments.from_matrix(moment, n=n, response_scale=scale)


def with_responses(sample: Sample) -> PublicMoments:
    """Public rows with their responses."""
    return PublicMoments.from_rows(sample.X_public, response=sample.y_public)


def _descent(sample: Sample, task: Task) -> Array:
    """DP-GD on features in the units they come in."""
    tuning = task.descent
    model = NoisyGradientDescent(
        task.alpha,
        iterations=tuning.iterations,
        clip=tuning.clip,
        step=tuning.step,
        privacy=task.budget,
        random_state=task.seed,
    )
    return model.fit(sample.X, sample.y).coef_


def _scaled_descent(sample: Sample, task: Task) -> Array:
    """DP-GD on features divided by the largest absolute value of their public column."""
    unit = np.max(np.abs(sample.X_public), axis=0)
    scaled = Sample(sample.X / unit, sample.y, sample.X_public, sample.y_public, sample.target)
    return _descent(scaled, task) / unit


def _pmt_ridge(sample: Sample, task: Task) -> Array:
    """DP-PMTRR; of the public responses it uses the scale only."""
    public = with_scale(sample)
    model = PMTRidge(
        task.alpha, eta=task.eta, privacy=task.budget, public=public, random_state=task.seed
    )
    return model.fit(sample.X, sample.y).coef_


def _oracle_ridge(sample: Sample, task: Task) -> Array:
    """DP-RR with radii from the private rows, as in the remark after Theorem 4.3."""
    model = OracleRidge(task.alpha, eta=task.eta, privacy=task.budget, random_state=task.seed)
    return model.fit(sample.X, sample.y).coef_


def _adassp(sample: Sample, task: Task) -> Array:
    """AdaSSP with the longest public row and the largest public response for bounds."""
    x_bound = float(np.max(np.linalg.norm(sample.X_public, axis=1)))
    y_bound = float(np.max(np.abs(sample.y_public)))
    model = AdaSSP(x_bound, y_bound, privacy=task.budget, random_state=task.seed)
    return model.fit(sample.X, sample.y).coef_


def _our_ridge(public: Callable[[Sample], PublicMoments]) -> Callable[[Sample, Task], Array]:
    """The library's ridge regression with some public knowledge."""

    def fit(sample: Sample, task: Task) -> Array:
        model = Ridge(
            task.alpha,
            fit_intercept=False,
            privacy=task.budget,
            public=public(sample),
            random_state=task.seed,
        )
        return model.fit(sample.X, sample.y).coef_

    return fit


def _pmt_logistic(sample: Sample, task: Task) -> Array:
    """Every iterate of DP-PMTLR."""
    model = PMTLogisticRegression(
        task.alpha,
        eta=task.eta,
        iterations=task.iterations,
        privacy=task.budget,
        public=with_matrix(sample),
        random_state=task.seed,
    )
    return model.fit(sample.X, sample.y).coef_path_


def _oracle_logistic(sample: Sample, task: Task) -> Array:
    """Every iterate of DP-LR, whose radius comes from the private rows."""
    model = OracleLogisticRegression(
        task.alpha,
        eta=task.eta,
        iterations=task.iterations,
        privacy=task.budget,
        random_state=task.seed,
    )
    return model.fit(sample.X, sample.y).coef_path_


def _our_logistic(public: Callable[[Sample], PublicMoments]) -> Callable[[Sample, Task], Array]:
    """The library's logistic regression with some public knowledge."""

    def fit(sample: Sample, task: Task) -> Array:
        model = publicmoments.LogisticRegression(
            task.alpha,
            classes=(0, 1),
            fit_intercept=False,
            privacy=task.budget,
            public=public(sample),
            random_state=task.seed,
        )
        return model.fit(sample.X, sample.y).coef_.ravel()

    return fit


def _plain(linear: bool, public: bool) -> Callable[[Sample, Task], Array]:
    """A fit without privacy, of the private rows or of the public ones."""
    solve = ridge_fit if linear else logistic_fit

    def fit(sample: Sample, task: Task) -> Array:
        rows = (sample.X_public, sample.y_public) if public else (sample.X, sample.y)
        return solve(*rows, task.alpha)

    return fit


BLUE, ORANGE, GREEN, LIME = "#1f77b4", "#ff7f0e", "#2ca02c", "#98b32a"
BROWN, PURPLE, RED, GREY, BLACK = "#8c564b", "#9467bd", "#d62728", "#7f7f7f", "#000000"
FREE = ("alpha",)

METHODS = {
    "non-private": Method(
        "non-private", _plain(True, False), BLACK, "", "--", varies=FREE, band=False
    ),
    "public": Method("public only", _plain(True, True), GREY, "x", ":", varies=FREE, band=False),
    "adassp": Method("AdaSSP (public bounds)", _adassp, BROWN, "v", varies=("mu",), band=False),
    "gd": Method("DP-GD", _descent, GREEN, "^"),
    "gd-scaled": Method("DP-GD (publicly scaled)", _scaled_descent, LIME, "<"),
    "oracle": Method("DP-RR (oracle)", _oracle_ridge, ORANGE, "s"),
    "pmt": Method("DP-PMTRR (paper)", _pmt_ridge, BLUE, "o"),
    "matrix": Method("ours, matrix only", _our_ridge(with_scale), PURPLE, "D"),
    "full": Method("ours, public responses", _our_ridge(with_responses), RED, "*"),
    "non-private logistic": Method(
        "non-private", _plain(False, False), BLACK, "", "--", varies=FREE, band=False
    ),
    "public logistic": Method(
        "public only", _plain(False, True), GREY, "x", ":", varies=FREE, band=False
    ),
    "oracle logistic": Method("DP-LR (oracle)", _oracle_logistic, ORANGE, "s"),
    "pmt logistic": Method("DP-PMTLR (paper)", _pmt_logistic, BLUE, "o"),
    "matrix logistic": Method("ours, matrix only", _our_logistic(with_matrix), PURPLE, "D"),
    "full logistic": Method("ours, public responses", _our_logistic(with_responses), RED, "*"),
}

RIDGE = ("non-private", "public", "adassp", "oracle", "pmt", "matrix", "full")
LOGISTIC = tuple(
    f"{name} logistic" for name in ("non-private", "public", "oracle", "pmt", "matrix", "full")
)
