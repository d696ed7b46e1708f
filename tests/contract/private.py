"""Every private estimator, in every way in which public knowledge changes what it asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from audit.cases import CASES, FITTED, N_FEATURES, PUBLIC, PUBLIC_ROWS, Case, table_for
from publicmoments import (
    GLM,
    LogisticRegression,
    PoissonRegressor,
    PublicMoments,
    Ridge,
    release_moments,
)
from publicmoments.families import Bernoulli, Gaussian
from publicmoments.paper import PMTGLM, PMTLogisticRegression, PMTRidge

MATRIX = PublicMoments.from_matrix(np.eye(N_FEATURES), n=50)
TWO = PublicMoments.from_rows(PUBLIC_ROWS, response=PUBLIC_ROWS)
REALS, LABELS, SIZES = (0.0, -1.0, 1e9, -1e9), (0.0, 1.0), (1e-3, 1.0, 1e9)


class _RidgeOfTwo(Ridge):
    """Ridge for two responses that are made of one."""

    def fit(self, X: Any, y: Any) -> Any:
        """Fit both."""
        return super().fit(X, np.column_stack([y, -3.0 * np.asarray(y)]))


class _Exposed(PoissonRegressor):
    """Poisson regression whose exposures come with the counts."""

    def fit(self, X: Any, y: Any) -> Any:
        """Fit with exposures that follow the counts."""
        return super().fit(X, y, exposure=1.0 + np.minimum(np.abs(y), 1e6))


def _moments(public: PublicMoments) -> Callable[..., Any]:
    return lambda rows, **k: release_moments(rows, public=public, **k)


_VARIANTS = (
    Case("Ridge, matrix", lambda **k: Ridge(0.5, public=MATRIX, **k), "real", REALS),
    Case("Ridge, nothing", lambda **k: Ridge(anchor=False, **k), "real", REALS),
    Case("Ridge, two responses", lambda **k: _RidgeOfTwo(public=TWO, **k), "real", REALS),
    Case("Ridge, chosen penalty", lambda **k: Ridge("auto", public=FITTED, **k), "real", REALS),
    Case("release_moments, matrix", _moments(MATRIX), "none", (0.0,)),
    Case(
        "LogisticRegression, lasso",
        lambda **k: LogisticRegression(0.1, l1_ratio=0.5, public=MATRIX, passes=3, **k),
        "class",
        LABELS,
    ),
    Case(
        "LogisticRegression, nothing",
        lambda **k: LogisticRegression(anchor=False, passes=3, **k),
        "class",
        LABELS,
    ),
    Case(
        "PoissonRegressor, exposed",
        lambda **k: _Exposed(public=PUBLIC, passes=2, **k),
        "count",
        (0.0, 1.0, 1e6),
    ),
    Case(
        "GLM, Bernoulli",
        lambda **k: GLM(Bernoulli(), public=PUBLIC, passes=2, **k),
        "class",
        LABELS,
    ),
    Case("PMTRidge, matrix", lambda **k: PMTRidge(public=MATRIX, **k), "real", REALS),
    Case("PMTRidge, nothing", lambda **k: PMTRidge(0.1, **k), "real", REALS),
    Case(
        "PMTLogisticRegression, matrix",
        lambda **k: PMTLogisticRegression(0.1, iterations=4, public=MATRIX, **k),
        "class",
        LABELS,
    ),
    Case(
        "PMTGLM, Gaussian",
        lambda **k: PMTGLM(Gaussian(), 0.1, iterations=4, public=FITTED, **k),
        "real",
        REALS,
    ),
    Case(
        "PMTGLM, Bernoulli",
        lambda **k: PMTGLM(Bernoulli(), 0.1, iterations=4, public=PUBLIC, **k),
        "class",
        LABELS,
    ),
)

PRIVATE = CASES | {case.name: case for case in _VARIANTS}
"""All of them by name; ``Case.fit`` fits one."""

SECRET = 31337.125
"""Stands in private rows and must not be seen anywhere."""


def secret_table(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Private rows, and responses where there is room for it, that hold the secret."""
    X, y = table_for(case)
    X, y = X.copy(), np.array(y, dtype=float)
    X[17, 1] = SECRET
    if case.kind == "real":
        y[23] = -SECRET
    return X, y


def parameters_of(case: Case) -> set[str]:
    """Names of what a fit takes besides rows and responses."""
    if case.kind == "none":
        return {"privacy", "on_invalid", "random_state"}
    return set(case.make().get_params())
