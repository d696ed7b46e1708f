"""Ridge regression: options, budgets, several responses and every kind of public knowledge."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from publicmoments import GDP, ZCDP, ApproxDP, PublicMoments, Ridge
from tests.golden.made import Rows, lines, public_kinds, shown
from tests.golden.reading import model_figures
from tests.golden.registry import add, case

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "no-intercept": {"fit_intercept": False},
    "alpha": {"alpha": 0.3},
    "alpha-large": {"alpha": 1e4},
    "alpha-auto": {"alpha": "auto"},
    "alpha-auto-no-intercept": {"alpha": "auto", "fit_intercept": False},
    "approx-dp": {"privacy": ApproxDP(1.0, 1e-6)},
    "zcdp": {"privacy": ZCDP(0.5)},
    "small-budget": {"privacy": GDP(0.05)},
    "large-budget": {"privacy": GDP(40.0)},
    "huge-budget": {"privacy": GDP(1e5)},
    "one-pass": {"passes": 1},
    "three-passes": {"passes": 3},
    "many-passes": {"passes": 12},
    "no-anchor": {"anchor": False},
    "ignore": {"on_invalid": "ignore"},
    "other-seed": {"random_state": 99},
}


def fitted(rows: Rows, public: PublicMoments | None, **options: Any) -> dict[str, Any]:
    """Fit and read."""
    chosen = {"privacy": GDP(1.0), "random_state": 11} | options
    model = Ridge(public=public, **chosen).fit(rows.X, rows.y)
    return model_figures(model, shown(rows))


def _with_options(options: dict[str, Any]) -> dict[str, Any]:
    rows = lines()
    return fitted(rows, rows.public(), **options)


def _with_public(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    rows = lines(d=4)
    return fitted(rows, public_kinds(rows)[kind], **options)


for _name, _options in OPTIONS.items():
    add(f"ridge/{_name}", partial(_with_options, _options))

for _kind in public_kinds(lines(10)):
    add(f"ridge/public/{_kind}", partial(_with_public, _kind, {}))
for _kind in ("rows", "matrix", "mean-and-cov-of-all", "none"):
    add(
        f"ridge/public/{_kind}/no-intercept",
        partial(_with_public, _kind, {"fit_intercept": False, "alpha": "auto"}),
    )


def _several(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    rows = lines(d=3, q=2)
    Z = np.column_stack([rows.public_X, rows.public_y])
    public = {
        "rows": rows.public,
        "moments": lambda: PublicMoments.from_mean_cov(
            Z.mean(axis=0), np.cov(Z.T), n=len(Z), response=[3, 4]
        ),
        "none": lambda: None,
    }[kind]()
    return fitted(rows, public, **options)


for _kind in ("rows", "moments", "none"):
    add(f"ridge/several/{_kind}", partial(_several, _kind, {}))
add("ridge/several/no-intercept", partial(_several, "rows", {"fit_intercept": False}))
add("ridge/several/alpha-auto", partial(_several, "rows", {"alpha": "auto"}))


@case("ridge/one-column-of-responses")
def one_column() -> dict[str, Any]:
    rows = lines(q=1)
    return fitted(rows, rows.public())


@case("ridge/one-feature")
def one_feature() -> dict[str, Any]:
    rows = lines(d=1, seed=5)
    return fitted(rows, rows.public())


@case("ridge/more-features-and-rows")
def more_features() -> dict[str, Any]:
    rows = lines(n=3_000, d=6, seed=6)
    return fitted(rows, rows.public())


@case("ridge/few-rows")
def few_rows() -> dict[str, Any]:
    rows = lines(n=40, d=2, seed=7)
    return fitted(rows, rows.public())


@case("ridge/ignored-rows")
def ignored_rows() -> dict[str, Any]:
    rows = lines()
    rows.X[5, 0], rows.X[6, 1], rows.X[7, 2], rows.y[8] = np.nan, np.inf, 1e308, -np.inf
    return fitted(rows, rows.public(), on_invalid="ignore")


@case("ridge/outliers")
def outliers() -> dict[str, Any]:
    rows = lines()
    rows.X[:3] *= 1e12
    rows.y[3:6] = [1e30, -1e200, 1e-320]
    return fitted(rows, rows.public())


@case("ridge/single-precision")
def single_precision() -> dict[str, Any]:
    rows = lines()
    single = Rows(
        rows.X.astype(np.float32), rows.y.astype(np.float32), rows.public_X, rows.public_y
    )
    return fitted(single, rows.public())


@case("ridge/integers")
def integers() -> dict[str, Any]:
    rows = lines()
    whole = Rows(np.rint(rows.X).astype(int), np.rint(rows.y).astype(int), rows.public_X, 0)
    return fitted(whole, rows.public())


@case("ridge/random-states")
def random_states() -> dict[str, Any]:
    rows = lines()
    states = {
        "generator": np.random.default_rng(5),
        "random state": np.random.RandomState(5),
        "seed": 5,
    }
    found = {}
    for name, state in states.items():
        model = Ridge(privacy=GDP(1.0), public=rows.public(), random_state=state)
        found[name] = model.fit(rows.X, rows.y).coef_
        found[f"{name} again"] = model.fit(rows.X, rows.y).coef_
    return found


@case("ridge/alpha-beyond-reason")
def alpha_beyond_reason() -> dict[str, Any]:
    rows = lines()
    return fitted(rows, rows.public(), alpha=1e12)


@case("ridge/responses-of-another-size")
def responses_of_another_size() -> dict[str, Any]:
    rows = lines()
    far = Rows(rows.X, 1e5 * rows.y, rows.public_X, rows.public_y)
    return fitted(far, rows.public())


@case("ridge/responses-of-another-size/none")
def responses_of_another_size_unknown() -> dict[str, Any]:
    rows = lines()
    return fitted(Rows(rows.X, 1e7 * rows.y, rows.public_X, rows.public_y), None)
