"""Private ridge regression beside its alternatives.

Errors are against the true coefficients in simulations and against the non-private fit on real
data, in the prediction metric sqrt((b - t)' S (b - t)) and in the plain norm.
"""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import rivals
import settings
from harness import Medians, Metric, Miss, Part, Run, Setting, best, cells, no_miss
from pages.tables import Limit
from pages.tables import Miss as NamedMiss

from publicmoments import GDP, PublicMoments, Ridge
from publicmoments.paper import AdaSSP, OracleRidge, PMTRidge

BUDGETS = (0.1, 0.3, 1.0, 3.0, 10.0, 20.0)
CONDITIONS, PUBLIC_SIZES, SIZES = (1.0, 1e2, 1e4), (20, 200), (2_000, 10_000, 50_000)
REPEATS = 60
ETA = {"simulated": 0.05, "wine": 1e-3, "power plant": 1e-3}
WINE, POWER_PLANT = Setting("wine", 0.0, 245, 4653), Setting("power plant", 0.0, 192, 9376)

ZERO, PLAIN, PUBLIC = "zero vector", "non-private", "public only"
ADASSP, PMT, ORACLE = "AdaSSP (oracle bounds)", "DP-PMTRR (paper)", "DP-RR (oracle)"
COLD, MATRIX, FULL = "cold descent", "ours, matrix only", "ours, public responses"
LABEL_FREE, COLD_WORST = (ADASSP, PMT, ORACLE), 1.1


def all_settings() -> list[Setting]:
    """Every setting of this part."""
    simulated = [
        Setting("simulated", *values) for values in product(CONDITIONS, PUBLIC_SIZES, SIZES)
    ]
    return simulated + [s for s in (WINE, POWER_PLANT) if settings.available(s.data)]


def measure(setting: Setting, seed: int) -> list[Run]:
    """Errors of every method at every budget, on one draw of the data."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, 1])
    if setting.real:
        sample = settings.split_linear(rng, setting.data, setting.n_public)
    else:
        sample = settings.simulate_linear(rng, setting.condition, setting.n, setting.n_public)
    runs = []
    for mu in BUDGETS:
        for method, coef in estimates(sample, ETA[setting.data], mu, seed).items():
            away = coef - sample.target
            prediction = float(np.sqrt(away @ sample.metric @ away))
            errors = (prediction, float(np.linalg.norm(away)))
            runs.append(Run(setting, mu, seed, method, errors))
    return runs


def estimates(
    sample: settings.LinearSample, eta: float, mu: float, seed: int
) -> dict[str, settings.Array]:
    """Coefficients by every method; seeded, for the table must be reproducible."""
    X, y, X_public, y_public = sample.X, sample.y, sample.X_public, sample.y_public
    n_public = len(X_public)
    scale = float(np.sqrt(np.mean(y_public**2)))
    moment = X_public.T @ X_public / n_public
    matrix = PublicMoments.from_matrix(moment, n=n_public, response_scale=scale)
    full = PublicMoments.from_rows(X_public, response=y_public)
    stated = {"privacy": GDP(mu), "random_state": seed}
    # The bounds that suit AdaSSP best; no private method may read them from the rows.
    longest, largest = float(np.linalg.norm(X, axis=1).max()), float(np.abs(y).max())
    norm = None if sample.true_coef is None else float(np.linalg.norm(sample.true_coef))
    models = {
        ADASSP: AdaSSP(longest, largest, **stated),
        PMT: PMTRidge(eta=eta, public=matrix, **stated),
        ORACLE: OracleRidge(eta=eta, coef_norm=norm, **stated),
        MATRIX: Ridge(fit_intercept=False, public=matrix, **stated),
        FULL: Ridge(fit_intercept=False, public=full, **stated),
    }
    return {
        ZERO: np.zeros(X.shape[1]),
        PLAIN: settings.least_squares(X, y),
        PUBLIC: settings.least_squares(X_public, y_public),
        COLD: rivals.cold_descent(np.random.default_rng([seed, 2]), X, y, moment, scale, mu),
        **{name: model.fit(X, y).coef_ for name, model in models.items()},
    }


def misses(table: Medians, metric: str) -> list[Miss]:
    """Cells in which ours exceeds 1.05 times its best rival, or the zero vector."""
    found = []
    for setting, mu in cells(table):
        label_free = best(table, metric, setting, mu, LABEL_FREE)
        limits = {
            MATRIX: min(1.05 * label_free, table[metric, setting, mu, ZERO]),
            FULL: 1.05 * best(table, metric, setting, mu, (*LABEL_FREE, PUBLIC)),
        }
        for method, limit in limits.items():
            error = table[metric, setting, mu, method]
            if not error <= limit:
                found.append(Miss(setting, mu, method, error, limit))
    return found


def verdicts(_: list[Run], table: Medians) -> list[Limit]:
    """Stated limits of this part."""
    result = []
    for metric, setting, matrix_limit, full_limit in (
        ("l2", Setting("simulated", 1e2, 200, 10_000), 0.035, 0.0022),
        ("prediction", WINE, 0.14, 0.032),
        ("prediction", POWER_PLANT, 1.2, 0.040),
    ):
        if (metric, setting, 1.0, MATRIX) not in table:
            continue
        paper, matrix, full = (table[metric, setting, 1.0, m] for m in (PMT, MATRIX, FULL))
        figures = f"paper {paper:.3g}; {matrix:.3g} <= {matrix_limit}; {full:.3g} <= {full_limit}"
        holds = matrix <= matrix_limit and full <= full_limit
        result.append(Limit(f"{setting}, mu 1, {metric}", holds, figures))
    result += [no_miss(misses(table, metric), metric) for metric in PART.metrics]
    ratios = {
        (setting, mu): table["prediction", setting, mu, FULL]
        / table["prediction", setting, mu, PLAIN]
        for setting, mu in cells(table)
        if not setting.real and mu * setting.n >= 1e4
    }
    (worst, mu), ratio = max(ratios.items(), key=lambda item: item[1])
    text = f"largest ratio {ratio:.3f} at {worst}, mu {mu:g}"
    what = "public responses within 1.15 x non-private where mu n >= 1e4"
    result.append(Limit(what, ratio <= 1.15, text))
    colder = {
        (setting, mu): table["prediction", setting, mu, MATRIX]
        / table["prediction", setting, mu, COLD]
        for setting, mu in cells(table)
    }
    above = [
        NamedMiss(f"{setting}, mu {mu:g}", f"{ratio:.2f}", f"{COLD_WORST}")
        for (setting, mu), ratio in colder.items()
        if not ratio <= COLD_WORST
    ]
    what = f"matrix only at most {COLD_WORST} x cold descent, prediction"
    return [*result, Limit(what, not above, "everywhere", above)]


PART = Part(
    name="ridge",
    page="accuracy",
    methods=(ZERO, PLAIN, PUBLIC, ADASSP, PMT, ORACLE, COLD, MATRIX, FULL),
    metrics={"prediction": Metric("prediction metric"), "l2": Metric("l2 metric")},
    settings=all_settings,
    repeats=lambda _: REPEATS,
    measure=measure,
    misses=misses,
    verdicts=verdicts,
)
