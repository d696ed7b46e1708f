"""Ours beside simple rivals on fourteen real tables, half of which settled constants.

The tables are numbers in CSV files with a column ``target``, in the folder ``wild`` of the one that
``PUBLICMOMENTS_DATA`` names. Errors are root mean square differences of linear predictors, over the
private rows, from the non-private fit of these rows, at equal total budget.
"""

from __future__ import annotations

import os
import warnings
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import rivals
from harness import Medians, Metric, Miss, Part, Run, Setting, best, cells
from pages.tables import Limit
from settings import Array, Rows

from publicmoments import GDP, LogisticRegression, PoissonRegressor, PublicMoments, Ridge
from publicmoments.families import Bernoulli, CanonicalFamily, Gaussian, Poisson

BUDGETS, LIMITING = (0.3, 1.0, 3.0, 10.0), 1_000.0
PUBLIC_ROWS, LEAST_SHARE = 400, 8
"""Public rows, or one in so many where there are fewer."""

REPEATS = 5
METRIC = "prediction"
PUBLIC, MATRIX, RESPONSES = "public only", "ours, matrix only", "ours, public responses"
WARM75, WARM_MAX, COLD = "warm descent, 75 %", "warm descent, largest", "cold descent"
RIVALS = (PUBLIC, WARM75, WARM_MAX)
MATCHED = {MATRIX: "matched, matrix only", RESPONSES: "matched, public responses"}
"""Ours with public rows drawn from the whole table, beside rows of a subgroup."""

FAMILIES: dict[str, CanonicalFamily] = {
    **dict.fromkeys(("diamonds", "hours", "medexp", "computers", "food", "males"), Gaussian()),
    **dict.fromkeys(("mortgage", "insured", "benefits"), Bernoulli()),
    **dict.fromkeys(("germanvisits", "oldvisits", "pharmacy", "stay", "medpar"), Poisson()),
}
"""Tables by the family of their responses."""

SHIFTS = {
    "insured: kidslt6 > 0": ("insured", "kidslt6", lambda column: column > 0),
    "insured: experience < 15": ("insured", "experience", lambda column: column < 15),
    "mortgage: dir < 0.3": ("mortgage", "dir", lambda column: column < 0.3),
    "germanvisits: age < 38": ("germanvisits", "age", lambda column: column < 38),
    "pharmacy: age < 30": ("pharmacy", "age", lambda column: column < 30),
    "diamonds: carat < 0.6": ("diamonds", "carat", lambda column: column < 0.6),
    "computers: ram < 9": ("computers", "ram", lambda column: column < 9),
    "benefits: age < 32": ("benefits", "age", lambda column: column < 32),
    "oldvisits: numchron < 1": ("oldvisits", "numchron", lambda column: column < 1),
    "hours: experience < 15": ("hours", "experience", lambda column: column < 15),
}
"""Public rows from a subgroup: the table, a column, and who is in it."""

BEST, WORST, COLD_WORST, MORE, LIMIT = 0.75, 1.15, 1.1, 1.05, 0.01
SHIFT_WORST, SHIFT_MATCHED = 1.1, 1.5
"""Limits that the pages state, whether they are met or not."""


def folder() -> Path:
    """Where the tables are; a folder that need not exist."""
    return Path(os.environ.get("PUBLICMOMENTS_DATA", "")) / "wild"


@cache
def table(name: str) -> tuple[tuple[str, ...], Array, Array]:
    """Names of the features, features and responses of a table."""
    path = folder() / f"{name}.csv"
    with path.open() as file:
        names = file.readline().strip().replace('"', "").split(",")
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    kept = [k for k, column in enumerate(names) if column not in ("target", "unit")]
    return tuple(names[k] for k in kept), values[:, kept], values[:, names.index("target")]


def available() -> list[str]:
    """Tables that are there."""
    return [name for name in FAMILIES if (folder() / f"{name}.csv").is_file()]


def matched_settings() -> list[Setting]:
    """Public rows at random."""
    found = []
    for name in available():
        n = len(table(name)[2])
        n_public = min(PUBLIC_ROWS, n // LEAST_SHARE)
        found.append(Setting(name, 0.0, n_public, n - n_public))
    return found


def shifted_settings() -> list[Setting]:
    """Public rows from a subgroup."""
    found = []
    for label, (name, column, chosen) in SHIFTS.items():
        if name in available():
            names, X, _ = table(name)
            size = int(chosen(X[:, names.index(column)]).sum())
            n_public = min(PUBLIC_ROWS, size // 2)
            found.append(Setting(label, 0.0, n_public, len(X) - n_public))
    return found


def split(setting: Setting, seed: int) -> tuple[CanonicalFamily, Rows, Rows]:
    """The family, private and public rows, without columns in which no public row varies."""
    rng, name = np.random.default_rng(seed), setting.data
    if name in SHIFTS:
        name, column, chosen = SHIFTS[setting.data]
        names, X, y = table(name)
        pool = np.flatnonzero(chosen(X[:, names.index(column)]))
        public = rng.choice(pool, setting.n_public, replace=False)
    else:
        _, X, y = table(name)
        public = rng.permutation(len(X))[: setting.n_public]
    private = np.setdiff1d(np.arange(len(X)), public)
    varies = X[public].std(axis=0) > 1e-9
    X = X[:, varies]
    return FAMILIES[name], Rows(X[private], y[private]), Rows(X[public], y[public])


def fitted(family: CanonicalFamily, rows: Rows, public: PublicMoments, mu: float, seed: int) -> Any:
    """The library's own estimator with its defaults, fitted."""
    shared = {"privacy": GDP(mu), "public": public, "random_state": seed}
    if isinstance(family, Gaussian):
        return Ridge(**shared).fit(rows.X, rows.y)
    if isinstance(family, Bernoulli):
        return LogisticRegression(classes=(0, 1), **shared).fit(rows.X, rows.y.astype(int))
    return PoissonRegressor(**shared).fit(rows.X, rows.y)


def ours(family: CanonicalFamily, rows: Rows, public: PublicMoments, mu: float, seed: int) -> Array:
    """Coefficients of the library's own fit, intercept last."""
    model = fitted(family, rows, public, mu, seed)
    return np.append(np.ravel(model.coef_), np.ravel(model.intercept_)[0])


def public_kinds(family: CanonicalFamily, public: Rows) -> dict[str, PublicMoments]:
    """Public rows with responses, and their matrix with the size of the response alone."""
    n, size = len(public.X), {}
    if isinstance(family, Gaussian):
        size = {"response_scale": float(np.sqrt(np.mean(public.y**2)))}
    matrix, mean = public.X.T @ public.X / n, public.X.mean(axis=0)
    return {
        MATRIX: PublicMoments.from_matrix(matrix, n=n, mean=mean, **size),
        RESPONSES: PublicMoments.from_rows(public.X, response=public.y),
    }


def measure(setting: Setting, seed: int) -> list[Run]:
    """Errors of every method at every budget, on one split."""
    warnings.simplefilter("ignore")
    family, private, public = split(setting, seed)
    target = rivals.non_private(family, private.X, private.y)
    start = rivals.public_only(family, public.X, public.y)
    B, scale = rivals.with_ones(public.X), float(np.sqrt(np.mean(public.y**2)))
    n, runs, known = len(public.X), [], public_kinds(family, public)
    for mu in (*BUDGETS, LIMITING):
        rng = np.random.default_rng([seed, 1])
        found = {
            PUBLIC: start,
            WARM75: rivals.warm_descent(rng, family, private, public, mu, start, 0.75),
            WARM_MAX: rivals.warm_descent(rng, family, private, public, mu, start, 1.0),
        } | {kind: ours(family, private, moments, mu, seed) for kind, moments in known.items()}
        if isinstance(family, Gaussian):
            rows = rivals.with_ones(private.X)
            found[COLD] = rivals.cold_descent(rng, rows, private.y, B.T @ B / n, scale, mu)
        for method, coef in found.items():
            runs.append(Run(setting, mu, seed, method, (distance(private, coef, target),)))
    return runs


def distance(private: Rows, coef: Array, target: Array) -> float:
    """Root mean square difference of linear predictors over the private rows."""
    away = rivals.with_ones(private.X) @ (coef - target)
    error = float(np.sqrt(np.mean(away**2)))
    return error if error < 1e300 else np.inf


def measure_shift(setting: Setting, seed: int) -> list[Run]:
    """The same with public rows of a subgroup, and ours with public rows of the whole table."""
    runs = measure(setting, seed)
    whole = next(one for one in matched_settings() if one.data == SHIFTS[setting.data][0])
    family, private, public = split(whole, seed)
    target = rivals.non_private(family, private.X, private.y)
    for kind, known in public_kinds(family, public).items():
        for mu in BUDGETS:
            error = distance(private, ours(family, private, known, mu, seed), target)
            runs.append(Run(setting, mu, seed, MATCHED[kind], (error,)))
    return runs


def misses(known: Medians, metric: str) -> list[Miss]:
    """Cells in which ours, with public responses, is above its best rival."""
    found = []
    for setting, mu in cells(known):
        limit = WORST * best(known, metric, setting, mu, RIVALS)
        error = known[metric, setting, mu, RESPONSES]
        if mu < LIMITING and not error <= limit:
            found.append(Miss(setting, mu, RESPONSES, error, limit))
    return found


def over(known: Medians, first: str, others: tuple[str, ...]) -> dict[tuple[Setting, float], float]:
    """Error of a method over the best of others, at ordinary budgets, where it has others."""
    ratios = {}
    for setting, mu in cells(known):
        present = [name for name in others if (METRIC, setting, mu, name) in known]
        if present and mu < LIMITING:
            ratios[setting, mu] = known[METRIC, setting, mu, first] / best(
                known, METRIC, setting, mu, present
            )
    return ratios


def _worst(what: str, ratios: dict[tuple[Setting, float], float], limit: float) -> Limit:
    """A limit on the largest of some ratios."""
    (setting, mu), ratio = max(ratios.items(), key=lambda item: item[1])
    above = sum(value > limit for value in ratios.values())
    figures = f"worst {ratio:.2f} ({setting}, mu {mu:g}), {above} of {len(ratios)} cells above"
    return Limit(f"{what}, at most {limit:g}", ratio <= limit, figures)


def verdicts(runs: list[Run], known: Medians) -> list[Limit]:
    """Stated limits with public rows at random."""
    ratios = over(known, RESPONSES, RIVALS)
    mean = float(np.exp(np.mean(np.log(list(ratios.values())))))
    what = f"public responses over the best rival, geometric mean, at most {BEST:g}"
    found = [Limit(what, mean <= BEST, f"{mean:.3f}")]
    found.append(_worst("public responses over the best rival", ratios, WORST))
    found.append(_worst("matrix alone over cold descent", over(known, MATRIX, (COLD,)), COLD_WORST))
    what = "public responses over matrix alone"
    found.append(_worst(what, over(known, RESPONSES, (MATRIX,)), MORE))
    for method in (MATRIX, RESPONSES):
        more = {
            (setting, right): known[METRIC, setting, right, method]
            / known[METRIC, setting, left, method]
            for setting in {setting for setting, _ in cells(known)}
            for left, right in pairwise(BUDGETS)
        }
        found.append(_worst(f"{method}: error with the next budget over that before", more, MORE))
        limit = {
            (setting, mu): known[METRIC, setting, mu, method] / known[METRIC, setting, mu, PUBLIC]
            for setting, mu in cells(known)
            if mu == LIMITING
        }
        found.append(_worst(f"{method}: error at mu {LIMITING:g} over public only", limit, LIMIT))
    return found


def shift_verdicts(runs: list[Run], known: Medians) -> list[Limit]:
    """Stated limits with public rows from a subgroup."""
    found = []
    for method, matched in MATCHED.items():
        found.append(
            _worst(f"{method} over the best rival", over(known, method, RIVALS), SHIFT_WORST)
        )
        enough = {
            (setting, mu): ratio
            for (setting, mu), ratio in over(known, method, (matched,)).items()
            if mu >= 1.0
        }
        what = f"{method} over the same with matched public rows, from mu 1 on"
        found.append(_worst(what, enough, SHIFT_MATCHED))
    return found


def _part(name: str, settings: Any, judges: Any, **others: Any) -> Part:
    """What both parts share."""
    return Part(
        name=name,
        page=f"accuracy-{name}",
        metrics={METRIC: Metric("prediction metric")},
        settings=settings,
        repeats=lambda setting: REPEATS,
        misses=misses,
        verdicts=judges,
        **({"methods": (*RIVALS, COLD, MATRIX, RESPONSES), "measure": measure} | others),
    )


PART = _part("wild", matched_settings, verdicts)
SHIFT = _part(
    "shift",
    shifted_settings,
    shift_verdicts,
    methods=(*RIVALS, COLD, MATRIX, RESPONSES, *MATCHED.values()),
    measure=measure_shift,
)
