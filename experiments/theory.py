"""Theory against measurement: bound and condition of Theorem 4.2 beside DP-PMTRR's errors."""

from __future__ import annotations

import math
from functools import cache

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from experiments.plumbing import Design, Figure, Panel, Simulated, main
from experiments.plumbing.judging import Claim, Measure, Verdict, View, all_below
from experiments.plumbing.methods import METHODS
from experiments.plumbing.plots import STYLE, decorate, plot_series, series
from experiments.plumbing.tables import Summaries
from publicmoments.paper import (
    GuidedSetting,
    OracleSetting,
    explicit_ridge_error_bound,
    is_robust,
    required_rows,
    response_radius,
    ridge_error_bound,
    robustness_condition,
)

POPULATIONS = 100
"""Populations over which the bounds, which depend on them, are averaged by the median."""

RATE = (-1.25, -0.75)
"""Powers of n that count as the rate 1/n of the bound."""


@cache
def norms(data: Simulated) -> dict[str, float]:
    """Medians over populations of what the bounds ask for."""
    found: dict[str, list[float]] = {}
    for repeat in range(POPULATIONS):
        population = data.population(repeat)
        eigenvalues = np.linalg.eigvalsh(population.second_moment)
        sample = data.sample(repeat, 1)
        public = np.linalg.eigvalsh(sample.X_public.T @ sample.X_public / data.n_public)
        for name, value in {
            "moment": eigenvalues[-1],
            "trace": eigenvalues.sum(),
            "least": eigenvalues[0],
            "coef": np.linalg.norm(population.coef),
            "recovery": 1.0 / public[0],
            "response": math.sqrt(np.mean(sample.y_public**2)),
        }.items():
            found.setdefault(name, []).append(float(value))
    return {name: float(np.median(values)) for name, values in found.items()}


def guided(design: Design) -> GuidedSetting:
    """The setting of Theorem 4.2."""
    return GuidedSetting(d=design.data.d, eta=design.eta, n_public=design.data.n_public)


def printed_bound(design: Design, n: int) -> float:
    """Theorem 4.2 as printed, with 1 for its O(.)."""
    size = norms(design.data)
    return ridge_error_bound(
        guided(design),
        n,
        design.mus[0],
        moment_norm=size["moment"],
        coef_norm=size["coef"],
        recovery_norm=size["recovery"],
    )


def explicit_bound(design: Design, n: int) -> float:
    """The proof's own terms with all constants, brought back to raw units; infinite at small n."""
    size, eta = norms(design.data), design.eta
    bound = explicit_ridge_error_bound(
        guided(design), n, design.mus[0], response_radius=response_radius(n, eta)
    )
    return bound * size["response"] * math.sqrt(size["recovery"])


def oracle_condition(design: Design, n: int) -> float:
    """The condition of Theorem 4.3, without public moments."""
    size = norms(design.data)
    setting = OracleSetting(
        d=design.data.d, eta=design.eta, trace=size["trace"], min_eigenvalue=size["least"]
    )
    return robustness_condition(setting, n, design.mus[0])


def falls_like_bound(view: View) -> Verdict:
    """The error falls like 1/n from the number of rows on at which the condition holds."""
    cells = list(view.design.cells())[-3:]
    errors = [view.at("pmt", cell) for cell in cells]
    slope = float(np.polyfit(np.log([cell.n for cell in cells]), np.log(errors), 1)[0])
    evidence = f"n^{slope:.2f} from n {cells[0].n} to {cells[-1].n}"
    return Verdict(int(RATE[0] < slope < RATE[1]), 1, evidence)


def bounded(bound: str) -> Claim:
    """The error is below a bound wherever the condition holds."""
    of = {"printed": printed_bound, "explicit": explicit_bound}[bound]

    def judge(view: View) -> Verdict:
        design, mu = view.design, view.design.mus[0]
        return all_below(
            (f"n {cell.n}", view.at("pmt", cell), of(design, cell.n))
            for cell in design.cells()
            if is_robust(robustness_condition(guided(design), cell.n, mu))
        )

    return Claim(f"where its condition holds, DP-PMTRR is below the {bound} bound", judge)


def needs_condition(view: View) -> Verdict:
    """The error is above the zero vector's nowhere but where the condition fails."""
    design, size = view.design, norms(view.design.data)
    needed = required_rows(guided(design), design.mus[0])
    cells = [cell for cell in design.cells() if cell.n < needed]
    good = sum(view.at("pmt", cell) < size["coef"] for cell in cells)
    evidence = f"below the norm {size['coef']:.3g} of the coefficients at {good} of {len(cells)} "
    return Verdict(good, len(cells), evidence + f"sizes under the {needed:,} rows that it needs")


def draw(figure: Figure, summaries: Summaries, measure: Measure, caption: str) -> Canvas:
    """Errors and bounds on the left, conditions on the right."""
    (panel,) = figure.panels
    design = panel.design
    rows = np.unique(np.geomspace(design.sizes[0], design.sizes[-1], 120).astype(int))
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(8.6, 4.4), layout="constrained")
        left, right = canvas.subplots(1, 2)
        for method in design.methods:
            line = series(figure, panel, method, list(design.cells()), summaries, measure)
            plot_series(left, line)
        for label, bound, style in (
            ("Theorem 4.2 as printed, O(.) = 1", printed_bound, "--"),
            ("its proof with all constants", explicit_bound, "-."),
        ):
            values = np.array([bound(design, int(n)) for n in rows])
            kept = np.isfinite(values)
            left.plot(rows[kept], values[kept], style, color="#17becf", label=label)
        _conditions(right, design, rows)
        for axis, title in ((left, "$\\ell_2$ error"), (right, "condition of stability")):
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.set_title(title)
            axis.set_xlabel("private rows $n_A$")
        decorate(canvas, (left, right), figure.title, caption)
    return canvas


def _conditions(axis: Axes, design: Design, rows: np.ndarray) -> None:
    """Left sides of the conditions, and the 1/2 that they must not exceed."""
    mu = design.mus[0]
    public = [robustness_condition(guided(design), int(n), mu) for n in rows]
    alone = [oracle_condition(design, int(n)) for n in rows]
    axis.plot(rows, public, color=METHODS["pmt"].colour, label="condition with public moments")
    axis.plot(rows, alone, color=METHODS["oracle"].colour, label="the same without them")
    axis.axhline(0.5, color="#000000", linestyle=":", label="largest that the proofs allow")


FIGURE = Figure(
    name="theory",
    title="Theory: DP-PMTRR beside the bound and the condition of Theorem 4.2",
    x="n",
    repeats=100,
    stated="the theorem; the setting is that of figure 1",
    chosen="larger n_A, mu = 3, eta = 0.05, 1 for the O(.) of the bound, 100 repeats",
    draw=draw,
    panels=(
        Panel(
            "simulated",
            Design(
                data=Simulated("linear", d=10, n_public=200),
                methods=("non-private", "public", "pmt"),
                sizes=(1_000, 3_000, 10_000, 30_000, 100_000, 300_000),
                mus=(3.0,),
                alphas=(0.0,),
                eta=0.05,
            ),
            (
                Claim("the error of DP-PMTRR falls like 1/n, as its bound does", falls_like_bound),
                bounded("printed"),
                bounded("explicit"),
                Claim("DP-PMTRR is of use already where the condition fails", needs_condition),
            ),
        ),
    ),
)

if __name__ == "__main__":
    main(FIGURE)
