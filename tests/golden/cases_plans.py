"""Plans: what a fit is expected to be worth."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np

from publicmoments import GDP, ZCDP, ApproxDP, PublicMoments, plan
from publicmoments.planner import smallest_budget, smallest_n
from tests.golden.made import counts, labels, lines, public_kinds
from tests.golden.registry import add, case

ROWS = {"ridge": lines, "logistic": labels, "poisson": counts}

PLANS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "ridge": ("ridge", "all", {"privacy": [GDP(0.2), GDP(1.0), GDP(5.0)]}),
    "ridge/budgets": ("ridge", "all", {"privacy": [ZCDP(0.5), ApproxDP(1.0, 1e-6)]}),
    "ridge/no-intercept": ("ridge", "all", {"fit_intercept": False, "alpha": 0.1}),
    "ridge/rows": ("ridge", "rows", {"r2": 0.6}),
    "ridge/residual": ("ridge", "rows-and-scale", {"residual_sd": 1.1}),
    "ridge/matrix": ("ridge", "matrix", {"r2": 0.6, "kurtosis": 1.7}),
    "ridge/moments": ("ridge", "mean-and-cov-of-all", {"rehearsals": 3, "random_state": 4}),
    "ridge/none": ("ridge", "none", {"n_features": 3, "r2": 0.5}),
    "logistic": ("logistic", "all", {}),
    "logistic/rows": ("logistic", "rows", {"predictor_sd": 1.2, "response_mean": 0.3}),
    "logistic/matrix": ("logistic", "matrix", {"r2": 0.2, "predictor_sd": 1.2}),
    "poisson": ("poisson", "all", {"exposure": 1.5}),
    "poisson/rows": ("poisson", "rows", {"predictor_sd": 0.6, "response_mean": 2.0}),
    "poisson/none": ("poisson", "none", {"n_features": 2, "predictor_sd": 0.5}),
}


def _public(model: str, kind: str) -> PublicMoments | None:
    rows = ROWS[model](n=10)
    return rows.public() if kind == "all" else public_kinds(rows)[kind]


def _plan(model: str, kind: str, options: dict[str, Any]) -> dict[str, Any]:
    chosen: dict[str, Any] = {"privacy": GDP(1.0), "rehearsals": 2, "n_rows": 700} | options
    made = plan(public=_public(model, kind), model=model, **chosen)
    found: dict[str, Any] = {
        name: [np.nan if one is None else one for one in values]
        for name, values in made.to_dict().items()
    }
    for name in ("non_private", "public_only"):
        part = getattr(made, name)
        if part is not None:
            found[name] = [part.error, part.prediction_error, *part.half_widths]
    stated = json.dumps([str(forecast.privacy) for forecast in made.forecasts])
    told = {"text": str(made), "columns": made.columns, "budgets": stated}
    return found | told


for _name, _of in PLANS.items():
    add(f"plan/{_name}", partial(_plan, *_of))


@case("plan/smallest")
def smallest() -> dict[str, Any]:
    public = _public("ridge", "all")
    options: dict[str, Any] = {"rehearsals": 2}
    return {
        "budget": smallest_budget(0.3, 400, public, **options).mu,
        "rows": smallest_n(0.3, GDP(1.0), public, metric="coef", **options),
    }
