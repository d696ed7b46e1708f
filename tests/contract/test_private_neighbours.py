"""
What one row can change is what the noise is for, in every release of every private estimator.

Released sums are replaced by fixed ones, so that fits to neighbouring tables go the same way and
their exact sums can be compared release by release.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest

from audit.cases import MU, N_FEATURES, PUBLIC, Case, card_of, table_for
from audit.door import Kept, answered, fixed_releases
from publicmoments import GDP
from publicmoments.privacy.laws import NoiseLaw
from tests.contract.private import PRIVATE

FAR = 1e6 * np.linalg.inv(PUBLIC.design(fit_intercept=False).whitener)
NEAR = np.full(N_FEATURES, 0.2)
ROWS = [
    np.zeros(N_FEATURES),
    FAR[0],
    -FAR[0],
    FAR[1],
    FAR[0] + FAR[1],
    np.array([1e300, -1e308]),
    NEAR,
    np.array([np.nan, 1.0]),
]


class Neighbour(NamedTuple):
    """What the fit to one of several neighbouring tables was going to release."""

    kept: list[Kept]
    passes: tuple[Any, ...]

    @property
    def spread(self) -> list[tuple[str, float]]:
        """What each release was, and what it cost."""
        return [(line.statistic, line.mu) for line in self.passes for _ in range(line.times)]


def neighbour(case: Case, row: np.ndarray, response: float, mu: float, **fixed: Any) -> Neighbour:
    """Fit to a table that has this row."""
    X, y = table_for(case, n_rows=40)
    X, y = X.copy(), np.array(y, dtype=float)
    X[7], y[7] = row, response
    made = answered(**fixed) if fixed else fixed_releases()
    with made as kept, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = case.fit(X, y, privacy=GDP(mu), on_invalid="ignore")
    return Neighbour(list(kept), card_of(fitted).passes)


def loss(one: Kept, other: Kept) -> float:
    """Return the mu of telling two sums apart."""
    change = (one.exact - other.exact).astype(float)
    if not isinstance(one.law, NoiseLaw):
        return float(np.linalg.norm(change)) / one.law.noise_sd
    above = np.triu_indices(len(change), k=1)
    return math.hypot(
        np.linalg.norm(np.diag(change)) / one.law.diagonal_sd,
        np.linalg.norm(change[above]) / one.law.offdiagonal_sd,
    )


@pytest.mark.parametrize("mu", [MU, 2e5], ids=["coarse", "fine"])
@pytest.mark.parametrize("name", PRIVATE)
def test_no_row_can_change_more_than_is_paid_for(name, mu):
    case = PRIVATE[name]
    responses = case.responses[:: max(1, len(case.responses) // 3)]
    tables = [neighbour(case, row, response, mu) for row in ROWS for response in responses]
    first, largest = tables[0], 0.0
    for index, one in enumerate(tables):
        # What is released, with which noise and bound, does not depend on the row.
        assert [kept.law for kept in one.kept] == [kept.law for kept in first.kept]
        assert one.passes == first.passes
        for other in tables[:index]:
            losses = [loss(*pair) for pair in zip(one.kept, other.kept, strict=True)]
            assert math.hypot(*losses) <= mu * (1 + 1e-9)
            largest = max(largest, *losses)
            assert all(found <= mu * (1 + 1e-9) for found in losses)
    # Not by accident: some rows come to a good part of what was paid for.
    assert largest >= 0.2 * mu / math.sqrt(len(first.kept))


@pytest.mark.parametrize("name", PRIVATE)
def test_each_release_is_within_its_own_share(name):
    """In the order of the card, where each release has a line of its own."""
    case = PRIVATE[name]
    ends = case.responses[0], case.responses[-1]
    tables = [neighbour(case, row, response, MU) for row in ROWS[1:5] for response in ends]
    paid = tables[0].spread
    assert len(paid) == len(tables[0].kept)
    shares = [mu for _, mu in paid]
    if any(line.times > 1 for line in tables[0].passes):
        # Lines put releases of a loop together, all of one cost.
        shares = [max(shares)] * len(shares)
        assert min(mu for _, mu in paid) == pytest.approx(max(shares), rel=1e-9)
    for index, one in enumerate(tables):
        for other in tables[:index]:
            losses = [loss(*pair) for pair in zip(one.kept, other.kept, strict=True)]
            assert all(a <= b * (1 + 1e-9) for a, b in zip(losses, shares, strict=True))


def even(size: int) -> np.ndarray:
    """A matrix that says that all columns are alike."""
    return 2.0**37 * np.eye(size)


def level(size: int, _: int) -> np.ndarray:
    """A vector that says that all classes are as common."""
    return np.full(size, 2.0**24)


WORST = [
    # Slopes of +-1/2 where the bound is 1: of the first gradient.
    ("LogisticRegression", "gradient", [(FAR[0], 0.0), (FAR[0], 1.0)], 0.5),
    # Slopes of (-2/3, 1/3, 1/3) on opposite rows, where the bound is sqrt(2).
    (
        "LogisticRegression, 3 classes",
        "gradient",
        [(FAR[0], 0.0), (-FAR[0], 0.0)],
        1.0 / math.sqrt(3.0),
    ),
    # Clipped on both sides: all of it.
    ("Ridge, public features", "gradient", [(FAR[0], 1e9), (FAR[0], -1e9)], 1.0),
    ("Ridge, two responses", "gradient", [(FAR[0], 1e9), (FAR[0], -1e9)], 1.0),
    ("Ridge", "gradient", [(FAR[0], 1e9), (FAR[0], -1e9)], 1.0),
    ("PoissonRegressor", "gradient", [(FAR[0], 1e6), (-FAR[0], 1e6)], 1.0),
    ("GLM, Gamma", "gradient", [(FAR[0], 1e6), (-FAR[0], 1e6)], 1.0),
    # Rows at right angles, in the look at the features.
    ("Ridge", "second moment", [(FAR[0], 0.0), (FAR[1], 0.0)], 1.0),
    ("LogisticRegression", "second moment", [(FAR[0], 0.0), (FAR[1], 0.0)], 1.0),
    ("GLM, Gamma", "second moment", [(FAR[0], 1.0), (FAR[1], 1.0)], 1.0),
    # sqrt(2) R^2 of 2 R^2: the published bound on a matrix is not tight.
    ("PMTRidge", 0, [(FAR[0], 1e9), (FAR[1], 1e9)], 1.0 / math.sqrt(2.0)),
    ("PMTRidge", 1, [(FAR[0], 1e9), (-FAR[0], 1e9)], 1.0),
    # Slopes of 1/2 where the bound is 1, at the start; a curvature of 1/4, the largest.
    ("PMTLogisticRegression", 0, [(FAR[0], 1.0), (FAR[1], 1.0)], 1.0 / math.sqrt(2.0)),
    ("PMTLogisticRegression", 1, [(FAR[0], 1.0), (-FAR[0], 1.0)], 0.5),
    ("PMTElasticNet", 0, [(FAR[0], 1e9), (-FAR[0], 1e9)], 1.0),
    ("NoisyGradientDescent", 0, [(FAR[0], 1e9), (-FAR[0], 1e9)], 1.0),
    # The smallest eigenvalue hardly moves with one row of forty.
    ("AdaSSP", 1, [(FAR[0], 1e9), (1e6 * np.array([-FAR[0, 1], FAR[0, 0]]), 1e9)], 1.0),
    ("AdaSSP", 2, [(FAR[0], 1e9), (-FAR[0], 1e9)], 1.0),
]
"""Estimator, its release by name or by place, two rows with responses, and how much they reach."""


@pytest.mark.parametrize(("name", "statistic", "rows", "share"), WORST)
def test_the_worst_rows_reach_what_a_release_allows_for(name, statistic, rows, share):
    case = PRIVATE[name]
    fits = [neighbour(case, *row, MU, matrix=even, vector=level) for row in rows]
    spread, place = fits[0].spread, statistic
    if isinstance(statistic, str):
        place = [what for what, _ in spread].index(statistic)
    reached = loss(*(one.kept[place] for one in fits)) / spread[place][1]
    assert reached == pytest.approx(share, rel=1e-3)
