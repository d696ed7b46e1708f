"""Private logistic and Poisson regression beside their alternatives.

Errors are against the non-private fit of the same private rows with the same penalty, in the plain
norm and in the prediction metric sqrt((b - t)' S (b - t)), S the second moment of these rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import plain
import settings
from harness import Medians, Metric, Miss, Part, Run, Setting, best, cells, no_miss
from pages.tables import Limit
from settings import Array, GLMSample, Rows

from publicmoments import GDP, LogisticRegression, PoissonRegressor, PublicMoments
from publicmoments.families import Bernoulli, CanonicalFamily, Poisson
from publicmoments.paper import (
    PMTGLM,
    NoisyGradientDescent,
    OracleLogisticRegression,
    PMTLogisticRegression,
)

BUDGETS = (0.3, 1.0, 3.0, 10.0, 20.0)
CONDITIONS, PUBLIC_SIZES, SIZES = (1.0, 1e2), (100, 1_000), (10_000, 50_000)
BANK, BANKNOTE = Setting("bank", 0.0, 4_521, 36_169), Setting("banknote", 0.0, 137, 1_098)
COUNTS = Setting("Poisson", 1e2, 200, 10_000)
REPEATS, BANK_REPEATS = 24, 10

NEWTON_STEPS, GRADIENT_STEPS = 8, 100
RATE_BOUND, COEF_BOUND = 10.0, 0.5
SLACK, PAPER_SHARE, LONGEST = 1.05, 1 / 20, 3.0

ZERO, PLAIN, PUBLIC = "zero vector", "non-private", "public only"
ORACLE, PMT = "DP-LR (oracle)", "DP-PMTLR (paper)"
DESCENT, TUNED = "noisy GD", "noisy GD (oracle)"
MATRIX, ROWS, LABELS = "ours, matrix only", "ours, public rows", "ours, public labels"
LIMITED = ("l2", "prediction")
LABEL_FREE, OURS = (ORACLE, PMT, DESCENT), (MATRIX, ROWS, LABELS)
ALL_RIVALS = (*LABEL_FREE, TUNED)


Knowledge = dict[str, PublicMoments]


@dataclass(frozen=True)
class Descent:
    """
    Settings of noisy gradient descent.

    Parameters
    ----------
    clip, step : float
        Bound on a row's gradient, and step size.
    public_units : bool
        Whether features are in units of their public root mean squares.
    """

    clip: float
    step: float
    public_units: bool = False


@dataclass(frozen=True)
class Problem:
    """
    What is fitted, and how rivals are set.

    Parameters
    ----------
    family : CanonicalFamily
        Of the responses.
    alpha : float
        Penalty of all methods.
    eta : float
        Probability scale of truncation in the paper's methods.
    tuned : Descent
        Noisy gradient descent for this data alone: the settings with the smallest errors
        (geometric mean over budgets and both metrics) in trials with seeds from 1000, which no
        private method could make.
    """

    family: CanonicalFamily
    alpha: float
    eta: float
    tuned: Descent


TUNED_COUNTS = Descent(clip=10.0, step=0.1)
SHARED = {Bernoulli: Descent(clip=3.0, step=3.0, public_units=True), Poisson: TUNED_COUNTS}
"""One setting of noisy gradient descent for all data of a family, found by the same trials."""

PROBLEMS = {
    "simulated": Problem(Bernoulli(), 1e-3, 0.05, Descent(clip=5.0, step=1.0)),
    "Poisson": Problem(Poisson(), 1e-3, 0.05, TUNED_COUNTS),
    "bank": Problem(Bernoulli(), 0.0, 1e-3, Descent(clip=10.0, step=1.0, public_units=True)),
    "banknote": Problem(Bernoulli(), 0.01, 1e-3, Descent(clip=1.0, step=1.5)),
}


def all_settings() -> list[Setting]:
    """Every setting of this part."""
    simulated = [
        Setting("simulated", *values) for values in product(CONDITIONS, PUBLIC_SIZES, SIZES)
    ]
    real = [setting for setting in (BANK, BANKNOTE) if settings.available(setting.data)]
    return [*simulated, COUNTS, *real]


def draw(setting: Setting, seed: int, again: int = 0) -> GLMSample:
    """Draw or split the data; ``again`` numbers other private rows, where they can be drawn."""
    if setting.real:
        return settings.split_logistic(seed, setting.data, setting.n_public)
    simulate = settings.simulate_poisson if setting == COUNTS else settings.simulate_logistic
    return simulate(seed, setting.condition, setting.n, setting.n_public, again)


def measure(setting: Setting, seed: int) -> list[Run]:
    """Errors of every method at every budget, on one draw of the data."""
    warnings.simplefilter("ignore")
    sample, problem = draw(setting, seed), PROBLEMS[setting.data]
    X = sample.private.X
    target = plain.fit(problem.family, sample.private, problem.alpha)
    metric = X.T @ X / len(X)
    without_noise = {
        ZERO: np.zeros(len(target)),
        PLAIN: target,
        PUBLIC: plain.fit(problem.family, sample.public, problem.alpha),
    }
    known, runs = knowledge(sample.public), []
    for mu in BUDGETS:
        private = estimates(sample, problem, known, mu, seed)
        for method, coef in {**without_noise, **private}.items():
            away = coef - target
            errors = (
                float(np.linalg.norm(away)),
                float(np.sqrt(away @ metric @ away)),
                plain.loss(problem.family, sample.held_out, coef),
            )
            runs.append(Run(setting, mu, seed, method, errors))
    return runs


def knowledge(public: Rows) -> Knowledge:
    """What each variant of ours knows of the public rows."""
    B, n_public = public.X, len(public.X)
    return {
        MATRIX: PublicMoments.from_matrix(B.T @ B / n_public, n=n_public),
        ROWS: PublicMoments.from_rows(B),
        LABELS: PublicMoments.from_rows(B, response=public.y),
    }


def estimates(
    sample: GLMSample, problem: Problem, known: Knowledge, mu: float, seed: int
) -> dict[str, Array]:
    """Coefficients by every private method; seeded, for the table must be reproducible."""
    stated = {"alpha": problem.alpha, "privacy": GDP(mu), "random_state": seed}
    fit = counts if isinstance(problem.family, Poisson) else labels
    return {
        DESCENT: descent(sample, problem, SHARED[type(problem.family)], stated),
        TUNED: descent(sample, problem, problem.tuned, stated),
        **fit(sample, problem, known, stated),
    }


def labels(sample: GLMSample, problem: Problem, known: Knowledge, stated: dict) -> dict[str, Array]:
    """Logistic regression."""
    X, y = sample.private.X, sample.private.y
    newton = {"eta": problem.eta, "iterations": NEWTON_STEPS, **stated}
    return {
        ORACLE: OracleLogisticRegression(**newton).fit(X, y).coef_,
        PMT: PMTLogisticRegression(public=known[ROWS], **newton).fit(X, y).coef_,
        **{
            method: ours(sample.private, problem.family, public, **stated)
            for method, public in known.items()
        },
    }


def counts(sample: GLMSample, problem: Problem, known: Knowledge, stated: dict) -> dict[str, Array]:
    """Poisson regression; the paper's method takes no exposure, so it gets rates."""
    rows = sample.private
    bounds = {"response_bound": RATE_BOUND, "coef_bound": COEF_BOUND}
    paper = PMTGLM(
        problem.family,
        eta=problem.eta,
        iterations=NEWTON_STEPS,
        public=known[ROWS],
        **bounds,
        **stated,
    )
    return {
        PMT: paper.fit(rows.X, rows.rates).coef_,
        **{
            method: ours(rows, problem.family, public, **stated) for method, public in known.items()
        },
    }


def ours(rows: Rows, family: CanonicalFamily, public: PublicMoments, **stated: Any) -> Array:
    """Coefficients by the library's own estimators."""
    stated = {"fit_intercept": False, "public": public, **stated}
    if isinstance(family, Poisson):
        exposure = np.exp(rows.offset)
        return PoissonRegressor(**stated).fit(rows.X, rows.y, exposure=exposure).coef_
    return LogisticRegression(classes=(0, 1), **stated).fit(rows.X, rows.y).coef_[0]


def descent(sample: GLMSample, problem: Problem, chosen: Descent, stated: dict) -> Array:
    """Noisy gradient descent; it takes no exposure, so it gets rates."""
    units = np.ones(sample.private.X.shape[1])
    if chosen.public_units:
        sizes = np.sqrt(np.mean(sample.public.X**2, axis=0))
        units = np.where(sizes > 0, sizes, 1.0)
    model = NoisyGradientDescent(
        family=problem.family,
        iterations=GRADIENT_STEPS,
        clip=chosen.clip,
        step=chosen.step,
        **stated,
    )
    return model.fit(sample.private.X / units, sample.private.rates).coef_ / units


def misses(table: Medians, metric: str, label_free: tuple[str, ...] = ALL_RIVALS) -> list[Miss]:
    """Cells in which ours exceeds 1.05 times its best rival with no more public knowledge."""
    if metric not in LIMITED:
        return []
    found = []
    for setting, mu in cells(table):
        for method in OURS:
            rivals = (*label_free, PUBLIC) if method == LABELS else label_free
            limit = SLACK * best(table, metric, setting, mu, rivals)
            error = table[metric, setting, mu, method]
            if not error <= limit:
                found.append(Miss(setting, mu, method, error, limit))
    return found


def verdicts(runs: list[Run], table: Medians) -> list[Limit]:
    """Stated limits of this part."""
    result = [no_miss(misses(table, metric, LABEL_FREE), metric) for metric in LIMITED]
    result += [
        no_miss(misses(table, metric, (TUNED,)), f"{metric}, noisy GD set by an oracle")
        for metric in LIMITED
    ]
    for setting, mu in product((BANK, BANKNOTE), BUDGETS):
        share = {1.0: PAPER_SHARE, 10.0: 1.0, 20.0: 1.0}.get(mu)
        if share is None or ("l2", setting, mu, PMT) not in table:
            continue
        limit = share * table["l2", setting, mu, PMT]
        ours = {method: table["l2", setting, mu, method] for method in OURS}
        what = f"{setting}, mu {mu:g}, l2 at most {share:g} x paper, {limit:.3g}"
        figures = "; ".join(f"{method} {error:.3g}" for method, error in ours.items())
        result.append(Limit(what, max(ours.values()) <= limit, figures))
    norms = {(run.setting, run.seed): run.errors[0] for run in runs if run.method == ZERO}
    ratios = {
        run: np.nan_to_num(run.errors[0] / norms[run.setting, run.seed], nan=np.inf)
        for run in runs
        if run.method in OURS
    }
    worst, ratio = max(ratios.items(), key=lambda item: item[1])
    figures = f"largest ratio {ratio:.3g}: {worst.setting}, mu {worst.mu:g}, {worst.method}"
    what = f"no run of ours has an l2 error above {LONGEST:g} x the non-private norm"
    return [*result, Limit(what, ratio <= LONGEST, f"{figures}, seed {worst.seed}")]


PART = Part(
    name="glm",
    page="accuracy-glm",
    methods=(ZERO, PLAIN, PUBLIC, *ALL_RIVALS, *OURS),
    metrics={
        "l2": Metric("l2 metric"),
        "prediction": Metric("prediction metric"),
        "held-out loss": Metric("held-out loss", digits=4),
    },
    settings=all_settings,
    repeats=lambda setting: BANK_REPEATS if setting == BANK else REPEATS,
    measure=measure,
    misses=misses,
    verdicts=verdicts,
)
