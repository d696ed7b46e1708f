"""The published algorithms, and the paper's theory as functions."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from publicmoments import GDP, ZCDP, ApproxDP, PublicMoments, paper
from publicmoments.families import Bernoulli, Gaussian, Poisson
from tests.golden.made import Rows, counts, labels, lines, public_kinds, shown
from tests.golden.reading import model_figures
from tests.golden.registry import add, case

RIDGE: dict[str, dict[str, Any]] = {
    "plain": {},
    "alpha": {"alpha": 0.2, "eta": 0.1},
    "approx-dp": {"privacy": ApproxDP(5.0, 1e-6)},
    "zcdp": {"privacy": ZCDP(5.0)},
    "ignored-rows": {"on_invalid": "ignore"},
}


def _chosen(options: dict[str, Any]) -> dict[str, Any]:
    """A budget and a seed, unless stated."""
    return {"privacy": GDP(5.0), "random_state": 18} | options


def _read(model: Any, rows: Rows) -> dict[str, Any]:
    """Fit and read."""
    return model_figures(model.fit(rows.X, rows.y), shown(rows))


def _pmt_ridge(kind: str | None, options: dict[str, Any]) -> dict[str, Any]:
    rows = lines()
    public = rows.public() if kind is None else public_kinds(rows)[kind]
    if "on_invalid" in options:
        rows.X[3, 0], rows.y[4] = np.nan, np.inf
    return _read(paper.PMTRidge(public=public, **_chosen(options)), rows)


for _name, _options in RIDGE.items():
    add(f"paper/ridge/{_name}", partial(_pmt_ridge, None, _options))
for _kind in ("rows", "matrix", "mean-and-cov-of-all", "identity", "elsewhere"):
    add(f"paper/ridge/public/{_kind}", partial(_pmt_ridge, _kind, {}))


def _linear(make: Any, options: dict[str, Any], public: bool) -> dict[str, Any]:
    rows = lines()
    known = {"public": rows.public()} if public else {}
    return _read(make(**known, **_chosen(options)), rows)


LINEAR: dict[str, tuple[Any, dict[str, Any], bool]] = {
    "oracle-ridge": (paper.OracleRidge, {}, False),
    "oracle-ridge/alpha": (paper.OracleRidge, {"alpha": 0.1, "eta": 0.01, "coef_norm": 2.0}, False),
    "ada-ssp": (paper.AdaSSP, {}, False),
    "ada-ssp/bounds": (paper.AdaSSP, {"x_bound": 8.0, "y_bound": 6.0, "failure": 0.1}, False),
    "descent": (paper.NoisyGradientDescent, {"iterations": 40}, False),
    "descent/alpha": (
        paper.NoisyGradientDescent,
        {"iterations": 15, "alpha": 0.5, "clip": 3.0, "step": 0.02},
        False,
    ),
    "elastic-net": (paper.PMTElasticNet, {}, True),
    "elastic-net/lasso": (
        paper.PMTElasticNet,
        {"alpha": 0.05, "l1_ratio": 1.0, "iterations": 8, "step": 0.3},
        True,
    ),
    "elastic-net/ridge": (paper.PMTElasticNet, {"alpha": 0.1, "l1_ratio": 0.0}, True),
}
for _name, _of in LINEAR.items():
    add(f"paper/{_name}", partial(_linear, *_of))


def _logistic(make: Any, options: dict[str, Any], public: bool) -> dict[str, Any]:
    rows = labels(words="classes" in options)
    known = {"public": rows.public_rows()} if public else {}
    return _read(make(**known, **_chosen(options)), rows)


WORDS = {"classes": ("low", "mid"), "alpha": 0.1}
LOGISTIC: dict[str, tuple[Any, dict[str, Any], bool]] = {
    "logistic": (paper.PMTLogisticRegression, {"alpha": 0.01}, True),
    "logistic/words": (paper.PMTLogisticRegression, WORDS | {"iterations": 2}, True),
    "oracle-logistic": (paper.OracleLogisticRegression, {"alpha": 0.05}, False),
    "oracle-logistic/words": (paper.OracleLogisticRegression, WORDS, False),
}
for _name, _of in LOGISTIC.items():
    add(f"paper/{_name}", partial(_logistic, *_of))


def _glm(family: str, options: dict[str, Any]) -> dict[str, Any]:
    known, rows = {
        "gaussian": (Gaussian(), lines()),
        "bernoulli": (Bernoulli(), labels()),
        "poisson": (Poisson(), counts()),
    }[family]
    public = rows.public() if family == "gaussian" else rows.public_rows()
    return _read(paper.PMTGLM(known, public=public, **_chosen(options)), rows)


for _family in ("gaussian", "bernoulli", "poisson"):
    _bounds = {"alpha": 0.1, "response_bound": 3.0, "coef_bound": 0.2}
    add(f"paper/glm/{_family}", partial(_glm, _family, _bounds))
    add(f"paper/glm/{_family}/three", partial(_glm, _family, _bounds | {"iterations": 3}))


@case("paper/descent/logistic")
def descent_logistic() -> dict[str, Any]:
    rows = labels()
    model = paper.NoisyGradientDescent(family=Bernoulli(), iterations=20, **_chosen({}))
    return _read(model, rows)


def _second_moment(make: Any, public: bool, options: dict[str, Any]) -> dict[str, Any]:
    rows = lines()
    known = {"public": rows.public_rows()} if public else {}
    weights = np.abs(np.sin(np.arange(len(rows.X)))) if "weight_bound" in options else None
    model = make(**known, **_chosen(options)).fit(rows.X, sample_weight=weights)
    robust = getattr(model, "robustness_", None)
    fields = ("noise_norm", "condition", "transformed_bound", "original_bound", "met")
    told = {} if robust is None else {f"robustness {f}": getattr(robust, f) for f in fields}
    return model_figures(model, shown(rows)) | told


for _name, _make, _known in (
    ("second-moment", paper.PMTSecondMoment, True),
    ("oracle-second-moment", paper.OracleSecondMoment, False),
):
    for _kind, _options in {
        "plain": {},
        "alpha": {"alpha": 0.3, "eta": 0.2},
        "weights": {"weight_bound": 0.8, "privacy": ZCDP(2.0)},
    }.items():
        add(f"paper/{_name}/{_kind}", partial(_second_moment, _make, _known, _options))


@case("paper/truncation")
def truncation() -> dict[str, Any]:
    rows = lines()
    rows.X[:2] *= 1e6
    return {
        "rows": paper.pmt(rows.X, rows.public_rows()),
        "first": paper.pmt(rows.X, rows.public_rows())[:4],
        "eta": paper.pmt(rows.X, PublicMoments.identity(3), eta=0.5)[:4],
    }


@case("paper/radii")
def radii() -> dict[str, Any]:
    grid = [(3, 1_000, 0.05), (20, 10**6, 0.01)]
    return {
        "truncation": [paper.truncation_radius(*at) for at in grid],
        "response": [paper.response_radius(n, eta) for _, n, eta in grid],
        "oracle": [paper.oracle_radius(4.0, *at) for at in grid],
        "oracle response": [paper.oracle_response_radius(2.5, n, eta) for _, n, eta in grid],
        "moment bounds": [paper.moment_bounds(n, d, eta) for d, n, eta in grid],
        "iterations": [paper.iterations(n, c) for n in (100, 10**4, 10**9) for c in (1.0, 2.5)],
        "gaussian constant": paper.GAUSSIAN_CONSTANT,
        "reach": paper.predictor_reach(3.0, 1.5),
        "curvature": paper.logistic_curvature(4.5),
        "lipschitz": paper.hessian_lipschitz(3.0),
        "start": paper.start_gradient_bound(0.2, 1.5, 2.0),
    }


@case("paper/noise")
def noise() -> dict[str, Any]:
    bounds = {"mean_bound": 2.0, "curvature_bound": 1.5, "response_bound": 3.0}
    return {
        "ridge": paper.ridge_noise(4.0, 2.0, 1_000, 0.7),
        "logistic": paper.logistic_noise(4.0, 1_000, 0.7, 4),
        "glm": paper.glm_noise(4.0, 1_000, 0.7, 4, **bounds),
        "second moment": paper.second_moment_noise_sd(4.0, 1_000, 0.7),
        "gradient": paper.gradient_noise_sd(1.5, 1_000, 0.7, 30),
        "total": [paper.total_mu(0.7, 2, iterations=3, updates=4), paper.total_mu(0.7)],
        "published": [paper.published_mu(0.7), paper.published_mu(0.7, 1)],
        "norm": [paper.noise_norm_bound(0.3, 7, 0.05, as_published=p) for p in (False, True)],
    }


SETTINGS: dict[str, Any] = {
    "guided": paper.GuidedSetting(d=6, eta=0.05, n_public=400),
    "guided penalty": paper.GuidedSetting(
        d=6, eta=0.05, n_public=400, penalty=0.3, public_norm=5.0, constant=1.2
    ),
    "oracle": paper.OracleSetting(d=6, eta=0.05, trace=8.0, min_eigenvalue=0.2),
    "oracle penalty": paper.OracleSetting(
        d=6, eta=0.05, trace=8.0, min_eigenvalue=0.2, penalty=0.3
    ),
}


def _theory(setting: Any) -> dict[str, Any]:
    n, mu = 50_000, 1.3
    ways = (False, True)
    condition = [paper.robustness_condition(setting, n, mu, as_published=p) for p in ways]
    floor = paper.newton_noise_floor(setting, n, mu, 4, curvature=0.1)
    return {
        "radius": setting.radius(n),
        "sampled moment": setting.sampled_moment(n),
        "floor": paper.eigenvalue_floor(setting, n, 0.5),
        "condition": condition,
        "robust": [paper.is_robust(one) for one in condition],
        "required": [paper.required_rows(setting, mu, as_published=p) for p in ways],
        "inverse": [paper.inverse_error_bound(setting, n, mu, as_published=p) for p in ways],
        "simplified": paper.simplified_inverse_error(setting, n, mu, inverse_norm=3.0),
        "ridge": paper.ridge_error_bound(setting, n, mu, moment_norm=2.0, coef_norm=1.5),
        "ridge explicit": paper.explicit_ridge_error_bound(setting, n, mu, response_radius=4.0),
        "newton condition": paper.newton_condition(setting, n, mu, 4, curvature=0.1),
        "newton error": paper.newton_error_bound(setting, n, mu, 4, curvature=0.1),
        "newton floor": floor,
        "convergent": [paper.is_convergent(0.1), paper.is_convergent(2.0)],
        "iterations": [paper.iterations_to_floor(one) for one in (0.2, 1e-3, 1e-9)],
    }


for _name, _setting in SETTINGS.items():
    add(f"paper/theory/{_name}", partial(_theory, _setting))
