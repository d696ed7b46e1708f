"""A fit of a published algorithm: its releases in order, and the card that comes of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from publicmoments.arrays import Array
from publicmoments.data import Table
from publicmoments.models.shell import PrivateEstimator
from publicmoments.paper.scales import published_mu
from publicmoments.privacy.budgets import Budget
from publicmoments.privacy.card import Card, PassSummary
from publicmoments.privacy.laws import triangle_noise_law
from publicmoments.privacy.rounding import text_above
from publicmoments.public import PublicMoments
from publicmoments.rows.recipe import GramRecipe, TotalRecipe
from publicmoments.session.door import PrivateRows, Release, Session
from publicmoments.session.queries import (
    EigenvalueQuery,
    GramLaw,
    GramQuery,
    SumQuery,
    equal_part,
    gram_demand,
    sum_demand,
)


@dataclass(frozen=True)
class Spending:
    """
    A session whose total is shared evenly by the releases, as the paper does.

    An algorithm that makes T updates with a matrix and a vector each has 2 T releases.

    Parameters
    ----------
    session : Session
        Whom to ask.
    releases : int
        How many releases there are.
    gram_law : callable, optional
        Noise law of matrices; the published one by default.
    """

    session: Session
    releases: int
    gram_law: GramLaw = triangle_noise_law

    @property
    def rows(self) -> PrivateRows:
        """The private side."""
        return self.session.rows

    def gram(self, statistic: str, recipe: GramRecipe) -> Array:
        """Release a mean of products."""
        query = GramQuery(statistic, recipe, self.gram_law)
        return self.session.ask(query, equal_part(self.releases)).values

    def total_of(self, statistic: str, recipe: TotalRecipe) -> Array:
        """Release a mean of rows."""
        return self.session.ask(SumQuery(statistic, recipe), equal_part(self.releases)).values

    def smallest_eigenvalue(self, recipe: GramRecipe) -> tuple[float, float]:
        """Release the smallest eigenvalue of a mean of products; return its noise sd too."""
        query = EigenvalueQuery("smallest eigenvalue", recipe)
        released = self.session.ask(query, equal_part(self.releases))
        return float(released.values[0]), released.noise_sd

    def as_published(self) -> str:
        """State the total in the paper's words, which count a budget per kind of statistic."""
        kinds = len({one.statistic for one in self.session.releases})
        mu = published_mu(self.session.total.mu, kinds)
        each = f"each of its {kinds} kinds of statistics" if kinds > 1 else "its one statistic"
        return f"The publication states this budget as mu = {text_above(mu, 6)}, for {each}."

    def card(self, public: PublicMoments | None) -> Card:
        """
        Write the card of the fit.

        The noise of an oracle has the size of a radius that was read from the private rows. Its
        card states the noise in units of the bound, so that it does not tell the radius.
        """
        oracle = self.session.unprotected is not None
        notes = [self.as_published()]
        notes += ["The noise is stated in units of the bound, which is not told."] * oracle
        return Card(
            **self.session.claim(),
            n_rows=self.rows.n_rows,
            n_features=self.rows.n_design,
            n_responses=self.rows.n_responses,
            passes=_summaries(self.session.releases, relative=oracle),
            public_fingerprint=None if public is None or public.assumed else public.fingerprint,
            notes=tuple(notes),
        )


def _summaries(releases: Sequence[Release], *, relative: bool) -> tuple[PassSummary, ...]:
    """One line for each kind of release: the releases of a loop differ in their values only."""
    lines: dict[tuple[str, float], PassSummary] = {}
    for released in releases:
        grid = released.law.noise_sd
        line = PassSummary(
            statistic=released.statistic,
            mu=released.cost.mu,
            rho=released.rho,
            noise_sd=_in_bounds(released) if relative else released.noise_sd,
            noise_sd_grid_units=grid,
            times=1,
        )
        key = released.statistic, line.noise_sd
        lines[key] = replace(line, times=lines[key].times + 1) if key in lines else line
    return tuple(lines.values())


def _in_bounds(released: Release) -> float:
    """Noise sd per row in units of what bounds a row's part of the answer."""
    bound: float = released.query.recipe.l2_bound_squared
    if not isinstance(released.query, GramQuery):
        bound = math.sqrt(bound)
    return released.law.noise_sd / bound / released.n_rows


class PublishedEstimator(PrivateEstimator):
    """
    Base of the published estimators: linear predictors without an intercept.

    The paper has none; append a column of ones to the features, public ones included, to have one.
    """

    coef_: Array
    intercept_: float

    @contextmanager
    def _spending(
        self,
        rows: PrivateRows,
        privacy: Budget,
        *,
        grams: int,
        vectors: int,
        target: str = "",
        **law: Any,
    ) -> Iterator[Spending]:
        """Open the session of a fit that asks for so many matrices and vectors."""
        n, d, cost = rows.n_rows, rows.n_design, equal_part(grams + vectors)
        demands = [gram_demand(n, d, cost, grams, triangle_noise_law)] if grams else []
        demands += [sum_demand(n, d, cost, vectors)] if vectors else []
        with self._session(rows, privacy, demands, target) as session:
            yield Spending(session, grams + vectors, **law)

    def _keep(
        self, features: Table, coef: Array, spending: Spending, public: PublicMoments | None
    ) -> None:
        """Store the fitted attributes, all of them released."""
        self.coef_, self.intercept_ = coef, 0.0
        self._keep_card(features, spending, public)

    def _keep_card(self, features: Table, spending: Spending, public: PublicMoments | None) -> None:
        """Store the names of the features and the card."""
        self._keep_names(features)
        self.card_ = spending.card(public)


class LinearPrediction:
    """Prediction of a linear model without intercept."""

    def predict(self, X: ArrayLike) -> Array:
        """
        Predict responses.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        values: Array = self._feature_values(X)  # type: ignore[attr-defined]
        return np.asarray(values @ self.coef_)  # type: ignore[attr-defined]
