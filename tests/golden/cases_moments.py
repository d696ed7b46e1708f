"""Released moments, and everything that is read off them."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from publicmoments import (
    GDP,
    ZCDP,
    ApproxDP,
    MomentRelease,
    PublicMoments,
    combine,
    release_moments,
)
from tests.golden.made import lines
from tests.golden.reading import (
    card_figures,
    named,
    page,
    release_figures,
    told,
    undated,
)
from tests.golden.registry import add, case

NAMES = ["age", "dose", "days", "cost"]
Array = NDArray[np.float64]


def tables(n: int = 1_500, seed: int = 21) -> tuple[Array, Array]:
    """A private and a public table whose last column depends on the others."""
    rows = lines(n=n, d=3, seed=seed)
    private = np.column_stack([rows.X, rows.y])
    return private, np.column_stack([rows.public_X, rows.public_y])


def _public(kind: str) -> PublicMoments:
    B = tables()[1]
    if kind == "mean-and-cov":
        return PublicMoments.from_mean_cov(B.mean(axis=0), np.cov(B.T), len(B), columns=NAMES)
    if kind == "matrix":
        return PublicMoments.from_matrix(B.T @ B / len(B), len(B), columns=NAMES)
    if kind == "identity":
        return PublicMoments.identity(NAMES)
    if kind == "elsewhere":
        return PublicMoments.from_rows(2.0 * B[:, ::-1] - 3.0, columns=NAMES)
    return PublicMoments.from_rows(B[: {"few-rows": 8}.get(kind, len(B))], columns=NAMES)


def released(kind: str = "rows", rows: Any = None, **options: Any) -> MomentRelease:
    """Release a table."""
    chosen: dict[str, Any] = {"privacy": GDP(1.0), "random_state": 16} | options
    table = tables()[0] if rows is None else rows
    return release_moments(table, public=_public(kind), **chosen)


def fit_figures(fit: Any) -> dict[str, Any]:
    """What a regression read off a release tells."""
    names = ("response", "features", "coef", "intercept", "alpha", "l1_ratio")
    found = {name: getattr(fit, name) for name in names}
    found |= {
        name: getattr(fit, name)
        for name in ("noise_covariance", "sampling_covariance")
        if getattr(fit, name) is not None
    }
    X = np.linspace(-1.0, 2.0, 3 * len(fit.features)).reshape(3, -1)
    return found | {
        "residual_variance": fit.residual_variance,
        "prediction_error": fit.prediction_error,
        "std_err": told(lambda: fit.std_err),
        "conf_int": told(lambda: fit.conf_int(0.9)),
        "summary": told(lambda: str(fit.summary())),
        "predict": told(lambda: fit.predict(X)),
        "predict_interval": told(lambda: fit.predict_interval(X)),
    }


def _read(release: MomentRelease) -> dict[str, Any]:
    """The release and a regression of its last column."""
    return release_figures(release) | named("ridge", fit_figures(release.ridge(3)))


def _kind(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    return _read(released(kind, **options))


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "approx-dp": {"privacy": ApproxDP(1.0, 1e-6)},
    "zcdp": {"privacy": ZCDP(0.3)},
    "small-budget": {"privacy": GDP(0.03)},
    "large-budget": {"privacy": GDP(50.0)},
    "radius": {"radius": 3.0},
    "no-anchor": {"anchor": False},
}
for _name, _options in OPTIONS.items():
    add(f"moments/{_name}", partial(_kind, "rows", _options))
for _public_kind in ("few-rows", "mean-and-cov", "matrix", "identity", "elsewhere"):
    add(f"moments/public/{_public_kind}", partial(_kind, _public_kind, {}))


@case("moments/ignored-rows")
def ignored() -> dict[str, Any]:
    table = tables()[0]
    table[3, 0], table[4, 1], table[5, 2] = np.nan, np.inf, 1e300
    return _read(released(rows=table, on_invalid="ignore"))


@case("moments/columns")
def columns() -> dict[str, Any]:
    B = PublicMoments.from_rows(tables()[1])
    chosen: dict[str, Any] = {"privacy": GDP(1.0), "public": B, "random_state": 17}
    unnamed = release_moments(tables()[0], **chosen)
    with_names = release_moments(tables()[0], columns=list("abcd"), **chosen)
    return named("unnamed", _read(unnamed)) | named("named", fit_figures(with_names.ridge("d")))


@case("moments/regressions")
def regressions() -> dict[str, Any]:
    release = released()
    fits = {
        "ridge": release.ridge("cost"),
        "ridge alpha": release.ridge("cost", 0.2),
        "ridge no intercept": release.ridge("cost", 0.1, fit_intercept=False),
        "ridge subset": release.ridge("age", features=["cost", "days"]),
        "ridge one": release.ridge(1, features=[3]),
        "lasso": release.lasso("cost", 0.1),
        "lasso no intercept": release.lasso("cost", 0.1, fit_intercept=False),
        "elastic net": release.elastic_net("cost", 0.2, 0.3),
        "elastic net subset": release.elastic_net("days", 0.2, features=["age", "dose"]),
    }
    found: dict[str, Any] = {}
    for name, fit in fits.items():
        found |= named(name, fit_figures(fit))
    return found


@case("moments/paths")
def paths() -> dict[str, Any]:
    release, alphas = released(), [0.0, 0.01, 0.1, 1.0, 10.0]
    path = release.path("cost", alphas)
    plain = release.path("cost", alphas, features=["age", "dose"], fit_intercept=False)
    return {
        "alphas": path.alphas,
        "coefs": path.coefs,
        "intercepts": path.intercepts,
        "subset coefs": plain.coefs,
        "chosen": release.choose_alpha("cost", alphas),
        "chosen of a subset": release.choose_alpha("cost", alphas, ["age"], False),
        "chosen at a small budget": released(privacy=GDP(0.05)).choose_alpha("cost", alphas),
        "prediction error": [release.prediction_error("cost", alpha) for alpha in alphas],
        "prediction error of a fit": release.prediction_error(release.lasso("cost", 0.1)),
    }


@case("moments/components")
def components() -> dict[str, Any]:
    release, X = released(), tables()[0][:3]
    found: dict[str, Any] = {}
    choices: dict[str, dict[str, Any]] = {
        "all": {},
        "two": {"n_components": 2},
        "scaled": {"scale": True},
        "subset": {"features": ["cost", "age"]},
    }
    for name, chosen in choices.items():
        axes = release.principal_components(**chosen)
        fields = ("features", "components", "explained_variance", "explained_variance_ratio")
        found |= {f"{name} {field}": getattr(axes, field) for field in (*fields, "mean", "size")}
        found[f"{name} transform"] = axes.transform(X[:, [3, 0]] if name == "subset" else X)
    return found


@case("moments/precision")
def precision() -> dict[str, Any]:
    release = released()
    found: dict[str, Any] = {}
    choices: dict[str, dict[str, Any]] = {
        "plain": {},
        "alpha": {"alpha": 0.5},
        "subset": {"features": ["cost", "age", "days"]},
        "not centred": {"center": False},
    }
    for name, chosen in choices.items():
        inverse = release.precision(**chosen)
        for field in ("matrix", "noise_error", "sampling_error", "std_error"):
            found[f"{name} {field}"] = getattr(inverse, field)
            partial_field = getattr(inverse.partial_correlations, field)
            found[f"{name} partial correlations {field}"] = partial_field
    return found


@case("moments/pseudo-rows")
def pseudo_rows() -> dict[str, Any]:
    release = released()
    found: dict[str, Any] = {}
    for name, arguments in {
        "plain": ("cost",),
        "subset": ("age", ["dose", "days"]),
        "not centred": ("cost", None, False),
    }.items():
        X, y = release.pseudo_rows(*arguments)  # type: ignore[arg-type]
        found |= {f"{name} X": X, f"{name} y": y}
    return found


@case("moments/bootstrap")
def bootstrap() -> dict[str, Any]:
    release = released()
    ridge = release.bootstrap("cost", 0.1, n=25, seed=1)
    lasso = release.bootstrap("cost", 0.1, 1.0, ["age", "dose"], False, n=25, seed=2)
    return {
        f"{name} {field}": getattr(boot, field)
        for name, boot in (("ridge", ridge), ("lasso", lasso))
        for field in ("names", "estimate", "draws", "std_err")
    } | {"ridge conf_int": ridge.conf_int(0.9), "lasso conf_int": lasso.conf_int()}


@case("moments/combined")
def combined() -> dict[str, Any]:
    sites = [
        released(rows=tables(n, seed)[0], radius=4.0, privacy=privacy, random_state=seed)
        for n, seed, privacy in ((900, 31, GDP(1.0)), (500, 32, ZCDP(0.1)), (300, 33, GDP(0.3)))
    ]
    whole = combine(sites)
    return _read(whole) | {"report": page(whole), "alone": release_figures(sites[1])["noisy_gram"]}


@case("moments/saved")
def saved_release() -> dict[str, Any]:
    release = undated(released())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.pmr"
        release.save(path)
        again = MomentRelease.load(path)
        found = {"file": path.read_bytes(), "repr": repr(again)}
    return found | card_figures(again.card) | named("ridge", fit_figures(again.ridge("cost")))


@case("moments/report")
def report() -> dict[str, Any]:
    return {"page": page(released())}
