"""A plan, a private fit and a report in a few seconds, on data made up here.

The private table stands for the stays of 30,000 patients: skewed columns, heavy tails and no honest
bounds. The public one stands for 300 rows that a sister hospital has published.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from publicmoments import ApproxDP, Plan, PublicMoments, Ridge, plan, save_model
from publicmoments.arrays import Array
from publicmoments.cli.outputs import Screen
from publicmoments.paper import PMTRidge
from publicmoments.report.html import write_report

COLUMNS = ("age", "bmi", "systolic", "crp", "previous_stays", "distance_km")
EFFECTS = (21.0, 34.0, 4.5, 9.0, 310.0, 1.2)
LEVEL = 1_500.0
PRIVATE_ROWS, PUBLIC_ROWS = 30_000, 300
EPSILON, DELTA = 1.0, 1e-6


def hospital_stays(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """
    Make up the stays of n patients: features in their usual units, and the cost in euros.

    Examples
    --------
    >>> X, cost = hospital_stays(5, np.random.default_rng(0))
    >>> X.shape, cost.shape
    ((5, 6), (5,))
    """
    age = 20 + 70 * rng.beta(2.5, 1.8, size=n)
    bmi = 18 + rng.gamma(4.0, 2.2, size=n)
    systolic = 95 + 0.45 * age + 0.6 * bmi + 12 * rng.standard_t(6, size=n)
    crp = np.exp(rng.normal(2.0, 1.0, size=n))
    previous_stays = rng.poisson(0.02 * age).astype(np.float64)
    distance_km = np.exp(rng.normal(2.3, 0.9, size=n))
    X = np.column_stack([age, bmi, systolic, crp, previous_stays, distance_km])
    return X, LEVEL + X @ np.array(EFFECTS) + 900 * rng.standard_t(5, size=n)


@dataclass(frozen=True, eq=False)
class Stays:
    """Features and costs."""

    X: Array
    y: Array

    @property
    def with_ones(self) -> Array:
        """Features and, last, a column of ones."""
        return np.column_stack([self.X, np.ones(len(self.X))])


def walk(folder: Path, screen: Screen) -> None:
    """Walk from the plan to the report, whose files are written to a folder."""
    rng = np.random.default_rng(2026)
    private = Stays(*hospital_stays(PRIVATE_ROWS, rng))
    public = Stays(*hospital_stays(PUBLIC_ROWS, rng))
    screen.text(
        f"Private: {PRIVATE_ROWS:,} made-up hospital stays, {len(COLUMNS)} features without "
        f"bounds.\nPublic: {PUBLIC_ROWS} rows of another hospital. Response: cost in euros.\n"
    )
    moments = PublicMoments.from_rows(public.X, response=public.y, columns=COLUMNS)
    planned = _planned(moments, screen)
    model = _fitted(private, moments, screen)
    fits = {
        "non-private": _least_squares(private),
        "public rows only": _least_squares(public),
        "paper's method": _published(private, public),
        "this library": np.append(model.coef_, model.intercept_),
    }
    errors = _compared(fits, private, screen)
    screen.panel("privacy card", str(model.card_))
    files = {name: folder / name for name in ("public.json", "model.json", "report.html")}
    moments.save(files["public.json"])
    save_model(model, files["model.json"])
    write_report(model, files["report.html"], plan=planned)
    screen.text(f"\n4. The report\nwrote {files['report.html']}; open it in a browser")
    screen.answer(
        files=[str(path) for path in files.values()],
        errors=errors,
        coefs={name: fit.tolist() for name, fit in fits.items()},
        card=model.card_.to_dict(),
    )


def _planned(moments: PublicMoments, screen: Screen) -> Plan:
    """Plan for a small budget and for the one to be spent."""
    budgets = [ApproxDP(epsilon, DELTA) for epsilon in (0.1, EPSILON)]
    planned = plan(PRIVATE_ROWS, budgets, moments)
    screen.text(f"1. The plan, before any private row is read\n{planned}\n")
    return planned


def _fitted(private: Stays, moments: PublicMoments, screen: Screen) -> Ridge:
    """Fit and summarise."""
    start = time.perf_counter()
    model = Ridge(privacy=ApproxDP(EPSILON, DELTA), public=moments).fit(private.X, private.y)
    seconds = time.perf_counter() - start
    screen.text(f"2. The private fit, in {seconds:.2f} s\n{model.summary()}\n")
    return model


def _compared(fits: dict[str, Array], private: Stays, screen: Screen) -> dict[str, float]:
    """Show coefficients side by side; return the errors of predictions."""
    plain = fits["non-private"]
    errors = {
        name: float(np.sqrt(np.mean((private.with_ones @ (fit - plain)) ** 2)))
        for name, fit in fits.items()
    }
    truth = zip((*COLUMNS, "intercept"), (*EFFECTS, LEVEL), strict=True)
    rows = [
        [name, f"{effect:,.1f}", *(f"{fit[k]:,.2f}" for fit in fits.values())]
        for k, (name, effect) in enumerate(truth)
    ]
    rows.append(["error of predictions*", "", *(f"{error:,.1f}" for error in errors.values())])
    screen.table(
        f"3. Side by side: euros per unit, private fits with epsilon {EPSILON:g}",
        ["feature", "true effect", *fits],
        rows,
        note="* root mean square difference from the non-private predictions, in euros",
    )
    return errors


def _published(private: Stays, public: Stays) -> Array:
    """Coefficients of the paper's ridge regression, the intercept as a column of ones."""
    moments = PublicMoments.from_rows(public.with_ones, response=public.y)
    model = PMTRidge(privacy=ApproxDP(EPSILON, DELTA), public=moments)
    return np.asarray(model.fit(private.with_ones, private.y).coef_)


def _least_squares(stays: Stays) -> Array:
    """Plain coefficients, the intercept last."""
    return np.asarray(np.linalg.lstsq(stays.with_ones, stays.y, rcond=None)[0])
