"""Every way in which the library releases something, on a table small enough to attack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from publicmoments import (
    GDP,
    GLM,
    LogisticRegression,
    PoissonRegressor,
    PublicMoments,
    Ridge,
    release_moments,
)
from publicmoments.families import Gamma, Gaussian, Poisson
from publicmoments.paper import (
    PMTGLM,
    AdaSSP,
    NoisyGradientDescent,
    PMTElasticNet,
    PMTLogisticRegression,
    PMTRidge,
    PMTSecondMoment,
)

__all__ = ["CASES", "MU", "N_FEATURES", "N_ROWS", "Case", "card_of", "released_by", "table_for"]

MU = 1.0
N_ROWS, N_FEATURES = 30, 2

_RNG = np.random.default_rng(11)
PUBLIC_ROWS = _RNG.normal(size=(60, N_FEATURES))
PUBLIC = PublicMoments.from_rows(PUBLIC_ROWS, response_scale=1.0)
FITTED = PublicMoments.from_rows(PUBLIC_ROWS, response=PUBLIC_ROWS @ [1.0, -1.0])
MOMENTS = PublicMoments.from_mean_cov(
    np.zeros(N_FEATURES + 1),
    np.cov(np.column_stack([PUBLIC_ROWS, PUBLIC_ROWS @ [1.0, -0.5]]).T) + 0.1 * np.eye(3),
    n=60,
    response=N_FEATURES,
)
LABELLED = PublicMoments.from_rows(PUBLIC_ROWS, response=np.arange(60.0) % 2)
COUNTED = PublicMoments.from_rows(PUBLIC_ROWS, response=np.arange(60.0) % 4)
COLUMNS = PublicMoments.from_rows(PUBLIC_ROWS)

REALS = (0.0, 1.0, -1.0, 1e3, -1e3, 1e12, -1e12, 1e300, -1e300)
COUNTS = (0.0, 1.0, 40.0, 1e6, 1e15)


@dataclass(frozen=True)
class Case:
    """
    One estimator, or the release of moments.

    ``make`` takes keyword arguments; ``responses`` are those that an attacker may choose, of
    ``kind`` real, class, count or positive. ``tight`` cases release Gram matrices by the isometric
    law, to which an attacker must come close.
    """

    name: str
    make: Callable[..., Any]
    kind: str
    responses: tuple[float, ...]
    tight: bool = False

    def fit(self, X: Any, y: Any, **parameters: Any) -> Any:
        """Fit to private rows, with the budget of the audit."""
        given = {"privacy": GDP(MU), **parameters}
        if self.kind == "none":
            return self.make(X, **given)
        return self.make(**given).fit(X, y)


def _moments(rows: Any, **given: Any) -> Any:
    return release_moments(rows, public=COLUMNS, **given)


class _Weighted(PMTSecondMoment):
    """The weighted second moment, its weights in the place of responses."""

    def fit(self, X: Any, y: Any) -> Any:
        """Release the matrix."""
        return super().fit(X, sample_weight=y)


CASES = {
    case.name: case
    for case in (
        Case("Ridge", lambda **k: Ridge(public=FITTED, fit_intercept=False, **k), "real", REALS),
        Case("Ridge, public features", lambda **k: Ridge(public=PUBLIC, **k), "real", REALS),
        Case("Ridge, public moments", lambda **k: Ridge(public=MOMENTS, **k), "real", REALS),
        Case("release_moments", _moments, "none", (0.0,), tight=True),
        Case(
            "LogisticRegression",
            lambda **k: LogisticRegression(public=PUBLIC, fit_intercept=False, passes=3, **k),
            "class",
            (0.0, 1.0),
        ),
        Case(
            "LogisticRegression, public labels",
            lambda **k: LogisticRegression(public=LABELLED, passes=3, **k),
            "class",
            (0.0, 1.0),
        ),
        Case(
            "LogisticRegression, 3 classes",
            lambda **k: LogisticRegression(public=PUBLIC, classes=(0, 1, 2), passes=2, **k),
            "class",
            (0.0, 1.0, 2.0),
        ),
        Case(
            "PoissonRegressor",
            lambda **k: PoissonRegressor(public=PUBLIC, fit_intercept=False, passes=3, **k),
            "count",
            COUNTS,
        ),
        Case(
            "PoissonRegressor, public counts",
            lambda **k: PoissonRegressor(public=COUNTED, passes=3, **k),
            "count",
            COUNTS,
        ),
        Case(
            "GLM, Gamma",
            lambda **k: GLM(Gamma(), public=PUBLIC, fit_intercept=False, passes=3, **k),
            "positive",
            (1e-9, 1e-3, 1.0, 1e6, 1e300),
        ),
        Case(
            "GLM, Gaussian",
            lambda **k: GLM(Gaussian(), public=PUBLIC, fit_intercept=False, passes=3, **k),
            "real",
            REALS,
        ),
        Case(
            "PMTSecondMoment",
            lambda rows, **k: PMTSecondMoment(public=COLUMNS, **k).fit(rows),
            "none",
            (0.0,),
        ),
        Case(
            "PMTSecondMoment, weighted",
            lambda **k: _Weighted(weight_bound=2.0, public=COLUMNS, **k),
            "positive",
            (1e-9, 1e-3, 1.0, 1e6, 1e300),
        ),
        Case("PMTRidge", lambda **k: PMTRidge(0.1, public=PUBLIC, **k), "real", REALS),
        Case(
            "PMTLogisticRegression",
            lambda **k: PMTLogisticRegression(0.1, public=PUBLIC, **k),
            "class",
            (0.0, 1.0),
        ),
        # It clips responses and refuses none, so an attacker may choose negative counts.
        Case(
            "PMTGLM, Poisson",
            lambda **k: PMTGLM(Poisson(), 0.1, public=PUBLIC, coef_bound=0.1, **k),
            "count",
            REALS,
        ),
        Case(
            "PMTElasticNet",
            lambda **k: PMTElasticNet(0.1, iterations=4, public=PUBLIC, **k),
            "real",
            REALS,
        ),
        Case(
            "NoisyGradientDescent",
            lambda **k: NoisyGradientDescent(0.1, iterations=4, **k),
            "real",
            REALS,
        ),
        Case("AdaSSP", lambda **k: AdaSSP(2.0, 3.0, **k), "real", REALS),
    )
}


def card_of(fitted: Any) -> Any:
    """The card of a fitted estimator or of a release."""
    return fitted.card if hasattr(fitted, "card") else fitted.card_


def released_by(fitted: Any) -> Any:
    """The numbers that a fit has made public: coefficients, or a matrix."""
    names = ("coef_", "transformed_", "noisy_gram")
    return next(getattr(fitted, name) for name in names if hasattr(fitted, name))


def table_for(case: Case, seed: int = 5, n_rows: int = N_ROWS) -> tuple[Any, Any]:
    """Private rows of an ordinary kind, with responses that the case allows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_FEATURES))
    predictor = X @ [1.0, -1.0]
    noise = rng.normal(size=n_rows)
    responses = {
        "none": lambda: np.zeros(n_rows),
        "real": lambda: predictor + noise,
        "class": lambda: np.digitize(predictor + noise, np.linspace(-0.5, 0.5, _cuts(case))),
        "count": lambda: rng.poisson(np.exp(0.3 * predictor)).astype(float),
        "positive": lambda: rng.exponential(np.exp(0.3 * predictor)) + 1e-6,
    }
    return X, responses[case.kind]()


def _cuts(case: Case) -> int:
    """Cuts between classes."""
    return len(case.responses) - 1
