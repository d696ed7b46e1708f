"""Poisson regression, and generalised linear models of known families and of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from publicmoments import GDP, GLM, ZCDP, ApproxDP, PoissonRegressor, PublicMoments
from publicmoments.families import Bernoulli, Family, Gamma, Gaussian, Multinomial, Poisson
from tests.golden.made import Rows, counts, gammas, labels, lines, public_kinds, shown
from tests.golden.reading import model_figures, told
from tests.golden.registry import add, case

Array = NDArray[np.float64]


def counted(
    rows: Rows, public: PublicMoments | None, exposed: bool = False, **options: Any
) -> dict[str, Any]:
    """Fit counts and read."""
    chosen = {"privacy": GDP(1.0), "random_state": 13} | options
    model = PoissonRegressor(public=public, **chosen)
    model.fit(rows.X, rows.y, exposure=rows.extra if exposed else None)
    later = {"exposure": rows.extra[:4]} if exposed else {}
    score = {"score": told(lambda: model.score(rows.X, rows.y))}
    return model_figures(model, shown(rows), **later) | score


POISSON: dict[str, dict[str, Any]] = {
    "plain": {},
    "no-intercept": {"fit_intercept": False},
    "alpha": {"alpha": 0.1},
    "alpha-auto": {"alpha": "auto"},
    "lasso": {"alpha": 0.05, "l1_ratio": 1.0},
    "elastic-net": {"alpha": 0.05, "l1_ratio": 0.5},
    "approx-dp": {"privacy": ApproxDP(1.0, 1e-6)},
    "zcdp": {"privacy": ZCDP(3.0)},
    "small-budget": {"privacy": GDP(0.05)},
    "large-budget": {"privacy": GDP(30.0)},
    "three-passes": {"passes": 3},
    "no-anchor": {"anchor": False},
    "exposure": {"exposed": True},
    "typical-exposure": {"exposed": True, "typical_exposure": 1.7},
}


def _poisson(options: dict[str, Any]) -> dict[str, Any]:
    rows = counts()
    return counted(rows, rows.public(), **options)


def _public(kind: str, exposed: bool) -> dict[str, Any]:
    rows = counts()
    return counted(rows, public_kinds(rows)[kind], exposed)


for _name, _options in POISSON.items():
    add(f"poisson/{_name}", partial(_poisson, _options))
for _kind in ("rows", "matrix", "mean-and-cov", "none", "elsewhere"):
    add(f"poisson/public/{_kind}", partial(_public, _kind, False))
    add(f"poisson/public/{_kind}/exposure", partial(_public, _kind, True))


@case("poisson/public-exposure")
def public_exposure() -> dict[str, Any]:
    rows = counts()
    return counted(rows, rows.public(), True, public_exposure=rows.public_extra)


@case("poisson/ignored-rows")
def ignored() -> dict[str, Any]:
    rows = counts()
    rows.y[:3], rows.X[4, 0], rows.extra[5:7] = [-1.0, 0.5, np.nan], np.inf, [0.0, -2.0]
    return counted(rows, rows.public(), True, on_invalid="ignore")


@dataclass(frozen=True)
class Score(Family):
    """Successes out of ten, with log odds as the linear predictor."""

    def mean(self, predictor: Array) -> Array:
        return np.asarray(10.0 * expit(predictor))

    def curvature(self, predictor: Array) -> Array:
        return np.asarray(10.0 * expit(predictor) * expit(-predictor))

    def loss(self, predictor: Array, response: Array) -> Array:
        return 10.0 * np.logaddexp(0.0, predictor) - response * predictor

    def allows(self, response: Array) -> NDArray[np.bool_]:
        return (response >= 0) & (response <= 10) & (np.floor(response) == response)

    @property
    def range(self) -> str:
        return "whole numbers from 0 to 10"


@dataclass(frozen=True)
class NegativeBinomial(Family):
    """Counts of variance m + m^2 / size, with a link that is not canonical."""

    size: float = 2.0

    def mean(self, predictor: Array) -> Array:
        return np.asarray(np.exp(predictor))

    def curvature(self, predictor: Array) -> Array:
        mean = np.exp(predictor)
        return np.asarray(mean / (1.0 + mean / self.size))

    def loss(self, predictor: Array, response: Array) -> Array:
        logs = np.log(self.size + np.exp(predictor))
        return np.asarray((response + self.size) * logs - response * predictor)

    def allows(self, response: Array) -> NDArray[np.bool_]:
        return Poisson().allows(response)

    @property
    def range(self) -> str:
        return "counts"

    def slope(self, predictor: Array, response: Array) -> Array:
        mean = self.mean(predictor)
        return np.asarray((mean - response) / (1.0 + mean / self.size))


def _scores() -> Rows:
    """Counts out of ten."""
    rows = counts(seed=10)
    return Rows(rows.X, np.minimum(rows.y, 10.0), rows.public_X, np.minimum(rows.public_y, 10.0))


FAMILIES: dict[str, tuple[Family, Any]] = {
    "gaussian": (Gaussian(), lines),
    "bernoulli": (Bernoulli(), labels),
    "poisson": (Poisson(), counts),
    "gamma": (Gamma(), gammas),
    "score": (Score(), _scores),
    "negative-binomial": (NegativeBinomial(), counts),
}

GLMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "no-intercept": {"fit_intercept": False, "privacy": ApproxDP(2.0, 1e-6)},
    "lasso": {"alpha": 0.05, "l1_ratio": 0.7},
    "alpha-auto": {"alpha": "auto", "privacy": ZCDP(0.1)},
    "no-anchor": {"anchor": False, "passes": 3},
    "rows": {},
    "none": {},
}


def _glm(family: str, name: str, options: dict[str, Any]) -> dict[str, Any]:
    known, make = FAMILIES[family]
    rows = make()
    public = {"rows": rows.public_rows, "none": lambda: None}.get(name, rows.public)()
    chosen = {"privacy": GDP(1.0), "random_state": 14} | options
    model = GLM(known, public=public, **chosen).fit(rows.X, rows.y)
    return model_figures(model, shown(rows)) | {"score": model.score(rows.X, rows.y)}


for _family in FAMILIES:
    for _name, _options in GLMS.items():
        add(f"glm/{_family}/{_name}", partial(_glm, _family, _name, _options))


def _offset(family: str, options: dict[str, Any], known: bool) -> dict[str, Any]:
    rows = gammas() if family == "gamma" else counts()
    shift = rows.extra if family == "gamma" else np.log(rows.extra)
    chosen = {"privacy": GDP(1.0), "random_state": 15} | options
    public = rows.public() if known else rows.public_rows()
    model = GLM({"gamma": Gamma(), "poisson": Poisson(), "gaussian": Gaussian()}[family])
    model.set_params(public=public, **chosen).fit(rows.X, rows.y, offset=shift)
    return model_figures(model, shown(rows), offset=shift[:4])


for _family in ("gamma", "poisson", "gaussian"):
    add(f"glm/{_family}/offset", partial(_offset, _family, {}, True))
    add(f"glm/{_family}/offset/rows", partial(_offset, _family, {}, False))
    add(f"glm/{_family}/typical-offset", partial(_offset, _family, {"typical_offset": 0.4}, True))


@case("glm/gamma/public-offset")
def public_offset() -> dict[str, Any]:
    rows = gammas()
    return _offset("gamma", {"public_offset": rows.public_extra}, True)


@case("families")
def families() -> dict[str, Any]:
    t, y = np.linspace(-4.0, 4.0, 6)[:, None], np.arange(1.0, 7.0)[:, None]
    found: dict[str, Any] = {}
    known = [Gaussian(), Gaussian(2), Bernoulli(), Poisson(), Gamma(), Multinomial(3)]
    for family in known:
        at = np.hstack([t, -t[::-1]])[:, : family.n_predictors]
        responses = y % 2 if isinstance(family, Bernoulli | Multinomial) else y
        found |= {f"{family} {name}": getattr(family, name)(at) for name in ("mean", "curvature")}
        found[f"{family} loss"] = family.loss(at, responses)
        found[f"{family} slope"] = family.slope(at, responses)
        found[f"{family} information"] = family.information(at)
        found[f"{family} range"] = family.range
        found[f"{family} allows"] = family.allows(np.array([-1.0, 0.0, 0.5, 1.0, np.nan]))
    return found
