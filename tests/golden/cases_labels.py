"""Logistic regression of two and of more classes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from publicmoments import GDP, ZCDP, ApproxDP, LogisticRegression, PublicMoments
from tests.golden.made import Rows, labels, public_kinds, shown
from tests.golden.reading import model_figures
from tests.golden.registry import add, case

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "no-intercept": {"fit_intercept": False},
    "alpha": {"alpha": 0.05},
    "alpha-auto": {"alpha": "auto"},
    "lasso": {"alpha": 0.02, "l1_ratio": 1.0},
    "elastic-net": {"alpha": 0.05, "l1_ratio": 0.4},
    "approx-dp": {"privacy": ApproxDP(2.0, 1e-5)},
    "zcdp": {"privacy": ZCDP(0.2)},
    "small-budget": {"privacy": GDP(0.05)},
    "large-budget": {"privacy": GDP(30.0)},
    "two-passes": {"passes": 2},
    "no-anchor": {"anchor": False},
}


def fitted(rows: Rows, public: PublicMoments | None, **options: Any) -> dict[str, Any]:
    """Fit and read."""
    chosen = {"privacy": GDP(1.0), "random_state": 12} | options
    model = LogisticRegression(public=public, **chosen).fit(rows.X, rows.y)
    log_odds = {"predict_log_proba": model.predict_log_proba(shown(rows))}
    return model_figures(model, shown(rows)) | log_odds


def _two(options: dict[str, Any]) -> dict[str, Any]:
    rows = labels()
    return fitted(rows, rows.public(), **options)


def _public(kind: str) -> dict[str, Any]:
    rows = labels()
    return fitted(rows, public_kinds(rows)[kind])


for _name, _options in OPTIONS.items():
    add(f"logistic/{_name}", partial(_two, _options))
for _kind in ("rows", "few-rows", "matrix", "mean-and-cov", "identity", "none", "elsewhere"):
    add(f"logistic/public/{_kind}", partial(_public, _kind))


@case("logistic/words")
def words() -> dict[str, Any]:
    rows = labels(words=True)
    public = PublicMoments.from_rows(rows.public_X, response=(rows.public_y == "mid").astype(int))
    known = fitted(rows, public, classes=("low", "mid"))
    return known


@case("logistic/words/rows")
def words_rows() -> dict[str, Any]:
    rows = labels(words=True)
    return fitted(rows, rows.public_rows(), classes=("mid", "low"), alpha=0.1)


@case("logistic/booleans")
def booleans() -> dict[str, Any]:
    rows = labels()
    told = Rows(rows.X, rows.y == 1, rows.public_X, rows.public_y)
    return fitted(told, rows.public_rows(), classes=(False, True))


@case("logistic/rare")
def rare() -> dict[str, Any]:
    rows = labels(n=1_500, seed=8)
    few = Rows(rows.X, rows.y * (np.arange(len(rows.y)) % 12 == 0), rows.public_X, rows.public_y)
    return fitted(few, rows.public())


@case("logistic/ignored-rows")
def ignored() -> dict[str, Any]:
    rows = labels()
    y = rows.y.astype(float)
    y[3], y[4], rows.X[5, 0], rows.X[6, 1] = np.nan, 7.0, np.inf, np.nan
    told = Rows(rows.X, y, rows.public_X, rows.public_y)
    return fitted(told, rows.public(), on_invalid="ignore")


def _several(k: int, known: bool, options: dict[str, Any]) -> dict[str, Any]:
    rows = labels(k=k, seed=9)
    public = rows.public() if known else rows.public_rows()
    return fitted(rows, public, classes=tuple(range(k)), **options)


SEVERAL: dict[str, tuple[int, bool, dict[str, Any]]] = {
    "three": (3, True, {}),
    "three/rows": (3, False, {}),
    "three/alpha-auto": (3, True, {"alpha": "auto"}),
    "three/lasso": (3, True, {"alpha": 0.02, "l1_ratio": 1.0}),
    "three/no-anchor": (3, True, {"anchor": False, "privacy": GDP(5.0)}),
    "four/no-intercept": (4, True, {"fit_intercept": False, "privacy": ApproxDP(3.0, 1e-6)}),
}
for _name, _of in SEVERAL.items():
    add(f"logistic/{_name}", partial(_several, *_of))


@case("logistic/three/words-without-public")
def three_words() -> dict[str, Any]:
    rows = labels(k=3, words=True, seed=9)
    return fitted(rows, None, classes=("high", "low", "mid"))
