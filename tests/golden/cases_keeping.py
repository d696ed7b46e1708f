"""Budgets, public moments, ledgers, files, reports, simulated tables and the command line."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from publicmoments import (
    GDP,
    GLM,
    ZCDP,
    ApproxDP,
    BudgetExceeded,
    Ledger,
    LogisticRegression,
    MomentRelease,
    PoissonRegressor,
    PublicMoments,
    Ridge,
    load_model,
    plan,
    release_moments,
)
from publicmoments.cli import main
from publicmoments.datasets import simulate_linear, simulate_logistic, simulate_poisson
from publicmoments.families import Gamma
from publicmoments.paper import PMTSecondMoment
from publicmoments.privacy import compose, gdp_delta, gdp_epsilon, gdp_mu
from tests.golden.made import Rows, counts, gammas, labels, lines, public_kinds, shown
from tests.golden.reading import model_figures, named, page, saved, told
from tests.golden.registry import add, case

SEEDED: dict[str, Any] = {"privacy": GDP(1.0), "random_state": 22}


def _model(name: str) -> tuple[Any, Rows]:
    """A fitted model of each kind."""
    rows = {"ridge": lines, "logistic": labels, "poisson": counts, "gamma": gammas}.get(
        name, partial(lines, q=2) if name == "several" else partial(labels, k=3)
    )()
    model = {
        "ridge": Ridge(alpha="auto"),
        "several": Ridge(),
        "logistic": LogisticRegression(),
        "classes": LogisticRegression(0.1, l1_ratio=0.5, classes=(0, 1, 2)),
        "poisson": PoissonRegressor(),
        "gamma": GLM(Gamma(), fit_intercept=False),
    }[name]
    return model.set_params(public=rows.public(), **SEEDED).fit(rows.X, rows.y), rows


def _kept(name: str) -> dict[str, Any]:
    """Save, load, predict, and write a report."""
    model, rows = _model(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        file = saved(model, path)
        again = load_model(path)
    found = model_figures(again, shown(rows))
    return {"file": file, "report": page(model), "repr": repr(again)} | named("loaded", found)


for _name in ("ridge", "several", "logistic", "classes", "poisson", "gamma"):
    add(f"kept/{_name}", partial(_kept, _name))


@case("kept/report-with-plan")
def report_with_plan() -> dict[str, Any]:
    rows = lines()
    made = plan(700, [GDP(0.3), GDP(3.0)], rows.public(), rehearsals=2)
    model = Ridge(public=rows.public(), **SEEDED).fit(rows.X, rows.y)
    return {"page": page(model, plan=made)}


@case("budgets")
def budgets() -> dict[str, Any]:
    stated = [GDP(0.3), GDP(4.0), ZCDP(0.02), ZCDP(2.0), ApproxDP(0.5, 1e-6), ApproxDP(8.0, 1e-9)]
    found: dict[str, Any] = {str(one): one.to_gdp().mu for one in stated}
    for one in stated:
        found[f"{one} parts"] = [part.to_gdp().mu for part in one.split(1.0, 2.0, 3.0)]
    return found | {
        "epsilon": [GDP(mu).to_approx_dp(delta=1e-6).epsilon for mu in (0.01, 1.0, 20.0)],
        "delta": [GDP(mu).to_approx_dp(epsilon=1.0).delta for mu in (0.1, 1.0, 6.0)],
        "rho": [GDP(mu).to_zcdp().rho for mu in (0.1, 1.0)],
        "zcdp": ZCDP(0.5).to_approx_dp(1e-6).epsilon,
        "composed": [compose(*stated[:2]).mu, compose(*stated[2:4]).rho],
        "gdp_delta": [gdp_delta(mu, e) for mu in (0.01, 1.0, 9.0) for e in (0.0, 1.0, 30.0)],
        "gdp_epsilon": [gdp_epsilon(mu, d) for mu in (0.01, 1.0, 9.0) for d in (1e-12, 1e-3)],
        "gdp_mu": [gdp_mu(e, d) for e in (0.01, 1.0, 9.0) for d in (1e-12, 1e-3)],
    }


def _claim(card: Any) -> dict[str, Any]:
    """What a card claims, which does not depend on the noise that was drawn."""
    points = [number for point in card.epsilon_delta for number in point]
    return {
        "numbers": [card.mu, card.rho, card.extra_tv, *points],
        "guarantee": card.guarantee,
        "neighbours": card.neighbours,
        "notes": " ".join(card.notes),
        "noise_sd": [line.noise_sd for line in card.passes[:1]],
    }


@case("claims")
def claims() -> dict[str, Any]:
    """Fits with noise of the operating system: their claims are the same each time."""
    rows = lines(n=400)
    found: dict[str, Any] = {}
    for privacy in (GDP(1.0), GDP(12.0), ZCDP(0.1), ApproxDP(1.0, 1e-6), ApproxDP(6.0, 1e-9)):
        model = Ridge(privacy=privacy, public=rows.public(), passes=2).fit(rows.X, rows.y)
        release = release_moments(rows.X, privacy=privacy, public=rows.public_rows())
        found |= named(f"{privacy} ridge", _claim(model.card_))
        found |= named(f"{privacy} moments", _claim(release.card))
    return found


def _known(public: PublicMoments | None) -> dict[str, Any]:
    """What public moments hold, their designs, and their file."""
    if public is None:
        return {}
    found: dict[str, Any] = {"repr": repr(public), "fingerprint": public.fingerprint}
    for name in ("second_moment", "mean", "covariance", "rows", "response_rows"):
        found[name] = getattr(public, name)
    for name in ("scale", "cross", "mean", "moment"):
        found[f"response {name}"] = getattr(public.response, name, None)
    for intercept in (True, False):
        design = public.design(fit_intercept=intercept)
        for name in ("whitener", "unwhitener", "coef", "residual_scale"):
            found[f"design {intercept} {name}"] = getattr(design, name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "public.json"
        public.save(path)
        again = PublicMoments.load(path)
        return found | {"file": path.read_bytes(), "loaded": again.fingerprint}


def _public(kind: str) -> dict[str, Any]:
    return _known(public_kinds(lines())[kind])


for _kind in public_kinds(lines(10)):
    if _kind != "none":
        add(f"public/{_kind}", partial(_public, _kind))


@case("public/all")
def public_all() -> dict[str, Any]:
    return _known(lines(d=5, q=2).public(columns=list("abcde")))


def _booked(ledger: Ledger) -> dict[str, Any]:
    """What a ledger says of a data set, without times and persons."""
    entries = ledger.entries("wards")
    return {
        "mu": [entry.mu for entry in entries],
        "extra": [entry.extra_tv for entry in entries],
        "stated": [entry.stated for entry in entries],
        "private": [entry.private for entry in entries],
        "closed": [entry.closed_by for entry in entries],
        "model": [entry.purpose.model for entry in entries],
        "target": [entry.purpose.target for entry in entries],
        "spent": ledger.spent("wards"),
        "remaining": ledger.remaining("wards"),
        "extra_tv": ledger.extra_tv("wards"),
    }


@case("ledger", "sqlalchemy")
def ledger() -> dict[str, Any]:
    rows, seed = lines(), {"random_state": 23}
    with tempfile.TemporaryDirectory() as folder:
        book = Ledger(Path(folder) / "book.db")
        book.cap("wards", GDP(3.0), note="agreed")
        paid: dict[str, Any] = {"ledger": book, "dataset": "wards"} | seed
        Ridge(privacy=GDP(1.0), public=rows.public(), **paid).fit(rows.X, rows.y)
        PoissonRegressor(privacy=ZCDP(0.2), **paid).fit(rows.X, counts().y)
        release_moments(rows.X, privacy=ApproxDP(1.0, 1e-6), public=rows.public_rows(), **paid)
        moment = PMTSecondMoment(privacy=GDP(1.0), public=rows.public_rows(), **paid)
        moment.fit(rows.X)
        try:
            Ridge(privacy=GDP(9.0), **paid).fit(rows.X, rows.y)
        except BudgetExceeded as refusal:
            refused = str(refusal)
        return _booked(book) | {"refused": refused}


@case("refusals")
def refusals() -> dict[str, Any]:
    rows = lines(n=50)
    X, y, public = rows.X, rows.y, rows.public()
    holes = np.where(np.arange(X.size).reshape(X.shape) == 7, np.nan, X)
    wrong = PublicMoments.from_rows(rows.public_X[:, :2])
    return {
        "no budget": told(lambda: Ridge(public=public).fit(X, y)),
        "holes": told(lambda: Ridge(public=public, **SEEDED).fit(holes, y)),
        "columns": told(lambda: Ridge(public=wrong, **SEEDED).fit(X, y)),
        "rows": told(lambda: Ridge(public=public, **SEEDED).fit(X, y[:-1])),
        "alpha": told(lambda: Ridge(-1.0, public=public, **SEEDED).fit(X, y)),
        "passes": told(lambda: Ridge(passes=0, public=public, **SEEDED).fit(X, y)),
        "labels": told(lambda: LogisticRegression(**SEEDED).fit(X, y)),
        "counts": told(lambda: PoissonRegressor(**SEEDED).fit(X, -np.abs(y))),
        "private as public": told(
            lambda: Ridge(public=PublicMoments.from_rows(X, response=y), **SEEDED).fit(X, y)
        ),
        "budget": told(lambda: GDP(-1.0)),
        "matrix": told(lambda: PublicMoments.from_matrix([[1.0, 2.0], [2.0, 1.0]], n=10)),
        "plan": told(lambda: plan(100, GDP(1.0))),
    }


def _command(folder: Path, *arguments: str) -> str:
    """Run a command in silence; return its answer."""
    answer, aside = io.StringIO(), io.StringIO()
    paths = [one.replace("@", f"{folder}{os.sep}") for one in arguments]
    with contextlib.redirect_stdout(answer), contextlib.redirect_stderr(aside):
        code = main(paths)
    return f"{code}: {answer.getvalue()}".replace(str(folder), "")


@case("commands")
def commands() -> dict[str, Any]:
    rows = lines(n=600)
    seeded = ("--mu", "1", "--seed", "3")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, X, y in (("a", rows.X, rows.y), ("b", rows.public_X, rows.public_y)):
            table = np.column_stack([X, y])
            np.savetxt(folder / f"{file}.csv", table, "%.17g", ",", header="u,v,w,y", comments="")
        fit = ("fit", "ridge", "@a.csv", "--target", "y", "--public", "@p.json")
        release = ("release", "@a.csv", "--public", "@q.json", "--output", "@r.pmr")
        _command(folder, "public", "make", "@b.csv", "--target", "y", "--output", "@p.json")
        _command(folder, "public", "make", "@b.csv", "--output", "@q.json")
        _command(folder, *fit, *seeded, "--output", "@m.json")
        _command(folder, *release, *seeded)
        _command(folder, "predict", "@m.json", "@b.csv", "--output", "@out.csv")
        model, moments = load_model(folder / "m.json"), MomentRelease.load(folder / "r.pmr")
        options = ("--public", "@p.json", "--mu", "1", "3", "--json")
        return {
            "public": (folder / "p.json").read_bytes(),
            "predicted": (folder / "out.csv").read_bytes(),
            "plan": _command(folder, "plan", "--rows", "600", *options),
            "moments": moments.noisy_gram,
        } | model_figures(model, shown(rows))


@case("simulated")
def simulated() -> dict[str, Any]:
    X, y, population = simulate_linear(np.random.default_rng(1), 200, d=3, condition=100.0)
    found = {"linear X": X, "linear y": y, "linear coef": population.coef}
    X, y, population = simulate_logistic(np.random.default_rng(2), 200, d=3)
    found |= {"logistic X": X, "logistic y": y, "logistic coef": population.coef}
    X, y, years, population = simulate_poisson(
        np.random.default_rng(3), 200, d=3, exposure=(0.5, 2.0)
    )
    return found | {
        "poisson X": X,
        "poisson y": y,
        "poisson exposure": years,
        "poisson coef": population.coef,
    }
