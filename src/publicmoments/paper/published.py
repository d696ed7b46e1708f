"""What the published algorithms share: their parameters, their fit, their releases and the card."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, get_type_hints

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from publicmoments.arrays import Array, RandomState
from publicmoments.checks import fraction, non_negative, positive, positive_integer
from publicmoments.data import Table, as_table
from publicmoments.models.shell import (
    PrivateEstimator,
    check_public,
    match_responses,
    matched_moments,
    one_label,
    one_response,
    response_name,
)
from publicmoments.paper.scales import published_mu
from publicmoments.paper.settings import oracle_radius, truncation_radius
from publicmoments.privacy.budgets import Budget
from publicmoments.privacy.card import Card, PassSummary
from publicmoments.privacy.laws import triangle_noise_law
from publicmoments.privacy.ledger import LedgerLike
from publicmoments.privacy.rounding import text_above
from publicmoments.public import PublicMoments
from publicmoments.rows.recipe import GramRecipe, TotalRecipe
from publicmoments.session.door import PrivateRows, Release, Session, truncated_rows
from publicmoments.session.queries import (
    EigenvalueQuery,
    GramLaw,
    GramQuery,
    SumQuery,
    equal_part,
    gram_demand,
    sum_demand,
)

NonNegative: TypeAlias = Annotated[float, non_negative]
Positive: TypeAlias = Annotated[float, positive]
Probability: TypeAlias = Annotated[float, fraction]
Count: TypeAlias = Annotated[int, positive_integer]
"""Kinds of parameters, and what their names and values are checked by before a row is read."""


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
        line = released.line
        if relative:
            line = replace(line, noise_sd=_in_bounds(released))
        key = released.statistic, line.noise_sd
        lines[key] = replace(line, times=lines[key].times + 1) if key in lines else line
    return tuple(lines.values())


def _in_bounds(released: Release) -> float:
    """Noise sd per row in units of what bounds a row's part of the answer."""
    bound: float = released.query.recipe.l2_bound_squared
    if not isinstance(released.query, GramQuery):
        bound = math.sqrt(bound)
    return released.law.noise_sd / bound / released.n_rows


@dataclass(frozen=True, eq=False)
class Given:
    """
    What a fit is given, read and checked.

    Parameters
    ----------
    rows : PrivateRows
        The private side.
    public : PublicMoments
        Public moments matched with the features; the identity where they play no part.
    privacy : GDP, ApproxDP or ZCDP
        The budget.
    target : str
        Name of the response, for the ledger.
    """

    rows: PrivateRows
    public: PublicMoments
    privacy: Budget
    target: str = ""


@dataclass(eq=False, repr=False, kw_only=True)
class PublishedEstimator(PrivateEstimator):
    """
    Base of the published estimators: linear predictors without an intercept.

    The paper has none; append a column of ones to the features, public ones included, to have one.
    """

    privacy: Budget | None = None
    random_state: RandomState = None
    on_invalid: Literal["raise", "ignore"] = "raise"

    needs_scale: ClassVar[bool] = False
    """Whether the public scale of the response plays a part."""

    def fit(self, X: Any, y: Any) -> Self:
        """
        Fit the model.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Private features.
        y : array or series of shape (n_rows,)
            Private responses; of classifiers labels, each one of ``classes``.

        Returns
        -------
        Self
            Itself.
        """
        chosen, privacy = self._checked(), self._checked_budget()
        features, classes = as_table(X, "X"), getattr(chosen, "classes", None)
        responses = one_label(y, classes) if classes else one_response(y)
        rows = self._private_rows(features, responses, fit_intercept=False)
        public = PublicMoments.identity(rows.n_design)
        if isinstance(chosen, GuidedEstimator):
            public = matched_moments(chosen.public, features, 1)
            if self.needs_scale:
                match_responses(responses, public)
        chosen._solve(Given(rows, public, privacy, response_name(y)))
        chosen.intercept_ = 0.0
        return self._taken_over(chosen, features)

    def _checked(self) -> Self:
        """Check the parameters; return a new estimator with what they stand for, to be fitted."""
        chosen = type(self)(**self.get_params(deep=False))
        for name, kind in get_type_hints(type(self), include_extras=True).items():
            for check in getattr(kind, "__metadata__", ()):
                setattr(chosen, name, check(name, getattr(self, name)))
        return chosen

    @abstractmethod
    def _solve(self, given: Given) -> None:
        """Settle all bounds, ask, and store the fitted attributes: everything here is checked."""

    @contextmanager
    def _spending(
        self, given: Given, matrices: int, vectors: int, gram_law: GramLaw = triangle_noise_law
    ) -> Iterator[Spending]:
        """Open the session of a fit that asks for so many matrices and vectors; write its card."""
        n, d, cost = given.rows.n_rows, given.rows.n_design, equal_part(matrices + vectors)
        demands = [gram_demand(n, d, cost, matrices, triangle_noise_law)] if matrices else []
        demands += [sum_demand(n, d, cost, vectors)] if vectors else []
        with self._session(given.rows, given.privacy, demands, given.target) as session:
            spending = Spending(session, matrices + vectors, gram_law)
            yield spending
        self.card_ = spending.card(given.public)

    def _taken_over(self, chosen: Self, features: Table) -> Self:
        """Take over what `_checked` returned and `_solve` fitted, now that nothing can fail."""
        self._keep_names(features)
        for name, value in vars(chosen).items():
            if name.endswith("_"):
                setattr(self, name, value)
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class ChargedEstimator(PublishedEstimator):
    """Base of those that are private, so that a ledger can be charged for them."""

    ledger: LedgerLike = None
    dataset: str | None = None


def _moments_or_none(_: str, public: PublicMoments | None) -> PublicMoments | None:
    """Return public moments, if there are any."""
    check_public(public)
    return public


@dataclass(eq=False, repr=False, kw_only=True)
class GuidedEstimator(ChargedEstimator):
    """Base of those that truncate rows by public moments."""

    public: Annotated[PublicMoments | None, _moments_or_none] = None
    eta: Probability = 0.05

    def _radius(self, rows: PrivateRows) -> float:
        """The published radius; public."""
        return truncation_radius(rows.n_design, rows.n_rows, self.eta)


@dataclass(eq=False, repr=False, kw_only=True)
class OracleEstimator(PublishedEstimator):
    """Base of the oracles, which take their radius from the private rows and protect nothing."""

    eta: Probability = 0.05

    unprotected: ClassVar[str | None] = (
        "Not private: the radius was read from the private rows. "
        "Never publish this model; it serves as a baseline in comparisons only."
    )

    def _radius(self, rows: PrivateRows) -> float:
        """Take the radius from the private rows: not private."""
        trace = usable("X", mean_squares(rows)[0])
        return oracle_radius(trace, rows.n_design, rows.n_rows, self.eta)


class LinearPrediction(RegressorMixin):  # type: ignore[misc]
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
        values: Array = self._feature_values(X)
        return np.asarray(values @ self.coef_)


def mean_squares(rows: PrivateRows) -> tuple[float, float]:
    """
    Return the trace of the second moment of private rows, and the mean square of their responses.

    **Not private.** Nothing that is computed from them is, whatever noise is added later; hence
    every estimator that calls this draws its noise from a source that claims no privacy.
    """
    n = rows.n_rows
    design, responses = rows.settled(0, n, n)
    return float((design**2).sum()) / n, float((responses**2).sum()) / n


def usable(what: str, mean_square: float) -> float:
    """Return a mean square that a radius can be made of; the message shows no private number."""
    if not 0.0 < mean_square < math.inf:
        raise ValueError(
            f"{what} must have a mean square in (0, inf) for an oracle to take its radius from; "
            f"drop what is constantly zero, or rescale {what}"
        )
    return mean_square


def pmt(X: Any, public: PublicMoments, *, eta: float = 0.05) -> Array:
    """
    Whiten rows by public moments and shorten those outside `truncation_radius`, Algorithm 1.

    Parameters
    ----------
    X : array or data frame of shape (n_rows, n_features)
        Private rows.
    public : PublicMoments
        Public second moments of the same columns.
    eta : float
        Probability scale in (0, 1).

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        Whitened rows, of norm at most ``truncation_radius(d, n, eta)``, in the coordinates of
        ``public.design(fit_intercept=False).whitener``, which differ from the paper's by a
        rotation.

    Notes
    -----
    **Not a release.** The rows are bounded but exact: they are as private as what was passed in.
    The estimators truncate in the same way behind the door, and release noisy sums only.

    Examples
    --------
    >>> B = np.random.default_rng(0).normal(5.0, 2.0, size=(100, 3))
    >>> Z = pmt([[1e9, 0.0, 0.0], [5.0, 5.0, 5.0]], PublicMoments.from_rows(B))
    >>> np.linalg.norm(Z, axis=1).round(3)
    array([4.018, 0.987])
    """
    check_public(public)
    table = as_table(X, "X")
    radius = truncation_radius(table.n_columns, table.n_rows, fraction("eta", eta))
    design = matched_moments(public, table, 1).design(fit_intercept=False)
    return truncated_rows(table.finite_values(), np.asarray(design.whitener), radius)
