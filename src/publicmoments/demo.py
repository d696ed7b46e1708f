"""A first private regression in the terminal, on data made up here.

Run it with ``python -m publicmoments.demo``. The private table stands for the stays of 30,000
patients: skewed columns, heavy tails and no honest bounds. The public one stands for 300 rows that
a sister hospital has published.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from publicmoments.models.ridge import Ridge

__all__ = ["hospital_stays", "main"]

Array = NDArray[np.float64]

COLUMNS = ("age", "bmi", "systolic", "crp", "previous_stays", "distance_km")
EFFECTS = (21.0, 34.0, 4.5, 9.0, 310.0, 1.2)
PRIVATE_ROWS, PUBLIC_ROWS = 30_000, 300


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
    return X, 1_500 + X @ np.array(EFFECTS) + 900 * rng.standard_t(5, size=n)


def main() -> None:
    """Fit one model privately and show it beside what privacy is measured against."""
    from rich.console import Console
    from rich.panel import Panel

    from publicmoments import ApproxDP, PublicMoments, Ridge

    console = Console()
    rng = np.random.default_rng(2026)
    X, cost = hospital_stays(PRIVATE_ROWS, rng)
    X_public, cost_public = hospital_stays(PUBLIC_ROWS, rng)
    console.print(
        f"[bold]Private:[/] {PRIVATE_ROWS:,} hospital stays, {len(COLUMNS)} features without "
        f"bounds. [bold]Public:[/] {PUBLIC_ROWS} rows of another hospital. Response: cost in euros."
    )
    public = PublicMoments.from_rows(X_public, response=cost_public, columns=COLUMNS)
    start = time.perf_counter()
    model = Ridge(privacy=ApproxDP(epsilon=1.0, delta=1e-6), public=public).fit(X, cost)
    seconds = time.perf_counter() - start
    console.print(_comparison(model, (X, cost), (X_public, cost_public)))
    console.print(Panel(str(model.card_), title="privacy card (model.card_)", expand=False))
    console.print(f"Fitted in {seconds:.2f} s, with noise from the operating system: run it again.")


def _comparison(model: Ridge, private: tuple[Array, Array], public: tuple[Array, Array]) -> object:
    """Table of coefficients: truth, non-private, public only, private."""
    from rich.table import Table

    fits = [_least_squares(*private), _least_squares(*public)]
    fits.append(np.append(model.coef_, model.intercept_))
    table = Table(title="cost of a stay: euros per unit of each feature", title_justify="left")
    headings = ("feature", "true effect", "non-private", "public rows only", "private, epsilon = 1")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "feature" else "right")
    names, truth = (*COLUMNS, "intercept"), (*EFFECTS, 1_500.0)
    for name, effect, *row in zip(names, truth, *fits, strict=True):
        table.add_row(name, f"{effect:,.1f}", *(f"{value:,.2f}" for value in row))
    errors = [_prediction_error(fit, fits[0], private[0]) for fit in fits]
    table.add_section()
    table.add_row("error of predictions*", "", *(f"{error:,.1f}" for error in errors))
    table.caption = "* root mean square difference from the non-private predictions, in euros"
    return table


def _least_squares(X: Array, y: Array) -> Array:
    """Plain coefficients, the intercept last."""
    return np.asarray(np.linalg.lstsq(_with_ones(X), y, rcond=None)[0])


def _prediction_error(coef: Array, reference: Array, X: Array) -> float:
    """Root mean square difference of two sets of predictions."""
    return float(np.sqrt(np.mean((_with_ones(X) @ (coef - reference)) ** 2)))


def _with_ones(X: Array) -> Array:
    """Append a column of ones."""
    return np.column_stack([X, np.ones(len(X))])


if __name__ == "__main__":
    main()
