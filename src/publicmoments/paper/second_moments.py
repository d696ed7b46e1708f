"""The private second moment and its inverse as published: Theorems 3.2 to 3.4."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from publicmoments.arrays import Array
from publicmoments.data import Table, as_responses, as_table, no_columns, within
from publicmoments.families.factors import Ones, RootWeight
from publicmoments.models.shell import matched_moments
from publicmoments.paper.published import (
    Given,
    GuidedEstimator,
    NonNegative,
    OracleEstimator,
    Positive,
    PublishedEstimator,
)
from publicmoments.paper.settings import GuidedSetting
from publicmoments.paper.theory import (
    inverse_error_bound,
    is_robust,
    noise_norm_bound,
    robustness_condition,
)
from publicmoments.public import PublicMoments
from publicmoments.rows.recipe import Factor, GramRecipe


class Condition(NamedTuple):
    """Condition numbers of the noisy regularised matrix; infinite where it is not positive."""

    before: float
    after: float


@dataclass(frozen=True)
class Robustness:
    """
    What Theorems 3.2 and 3.3 say of a release, from public numbers.

    Parameters
    ----------
    setting : GuidedSetting
        What the functions of `publicmoments.paper.theory` take.
    noise_norm : float
        Bound on the spectral norm of the noise, exceeded with probability eta at most.
    condition : float
        Left side of the robustness condition, which must be at most 1/2.
    transformed_bound, original_bound : float
        Bounds on the spectral error of the inverse, in whitened coordinates and in those of the
        columns; they say something where the condition is met.

    Notes
    -----
    They are what the paper's lemmas support. Its printed bounds lose a factor; pass
    ``as_published=True`` to the functions for those.
    """

    setting: GuidedSetting
    noise_norm: float
    condition: float
    transformed_bound: float
    original_bound: float

    @property
    def met(self) -> bool:
        """Whether the condition is met."""
        return is_robust(self.condition)


@dataclass(eq=False, repr=False)
class _SecondMoment(PublishedEstimator):
    """Parameters and the fit of a noisy second moment."""

    alpha: NonNegative = 0.0
    _: KW_ONLY
    weight_bound: Positive = 1.0

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """
        Release the matrix.

        Parameters
        ----------
        X : array, data frame or source of shape (n_rows, n_features)
            Private rows.
        y : None
            Not used; here for scikit-learn.
        sample_weight : array or series of shape (n_rows,) or str, optional
            Private weights, or the name of their column in X.

        Returns
        -------
        Self
            Itself.
        """
        chosen, privacy = self._checked(), self._checked_budget()
        X, weights = self._by_name(X, sample_weight=sample_weight)
        features = as_table(X, "X")
        allowed = no_columns(features) if weights is None else _checked_weights(weights)
        rows = self._private_rows(features, allowed, fit_intercept=False)
        public = PublicMoments.identity(rows.n_design)
        if isinstance(chosen, GuidedEstimator):
            public = matched_moments(chosen.public, features, 1)
        chosen._solve(Given(rows, public, privacy))
        return self._taken_over(chosen, features)

    def _release(self, given: Given, whitener: Array, radius: float) -> None:
        """Release the matrix; store it and its regularised inverse, in both coordinates."""
        weighted, alpha, back = given.rows.n_responses > 0, self.alpha, np.linalg.inv(whitener)
        factor: Factor = RootWeight(self.weight_bound) if weighted else Ones()
        bound = radius * math.sqrt(self.weight_bound if weighted else 1.0)
        origin = np.zeros((len(whitener), 1))
        recipe = GramRecipe(whitener, origin, factor, radius, bound, given.rows.n_rows)
        with self._spending(given, 1, 0) as spending:
            matrix = spending.gram("second moment", recipe)
        regularised: Array = matrix + alpha * whitener.T @ whitener
        self.transformed_ = matrix
        self.transformed_inverse_ = _symmetric(np.asarray(np.linalg.inv(regularised)))
        self.second_moment_ = _symmetric(np.asarray(back.T @ matrix @ back))
        self.inverse_ = _symmetric(whitener @ self.transformed_inverse_ @ whitener.T)
        before = self.second_moment_ + alpha * np.eye(len(matrix))
        self.condition_ = Condition(_condition(before), _condition(regularised))


def _checked_weights(weights: Any) -> Table:
    """Read one weight per row."""
    table = as_responses(weights, "sample_weight")
    if table.n_columns != 1:
        raise ValueError(
            f"sample_weight must have one weight per row, got {table.n_columns} columns"
        )
    return within(table, lambda w: w >= 0.0, "numbers of at least 0", "sample_weight")


@dataclass(eq=False, repr=False)
class PMTSecondMoment(_SecondMoment, GuidedEstimator):
    """
    The private second moment of rows truncated by public moments, and its inverse.

    Releases, with z the rows whitened by the public second moment S_B and shortened to
    `truncation_radius`,

        M = mean of w z z^T + G

    and recovers S_B^(1/2) M S_B^(1/2), an estimate of the second moment of the columns, and
    S_B^(-1/2) (M + alpha S_B^-1)^-1 S_B^(-1/2), one of the inverse of that plus alpha I.

    Parameters
    ----------
    alpha : float, default=0.0
        Added to the diagonal before inverting, in the units of the columns; lambda in the paper.
    eta : float, default=0.05
        Probability scale of the truncation, in (0, 1).
    weight_bound : float, default=1.0
        The largest weight of a row, a public number; larger ones count for this. Without weights
        it plays no part.
    privacy : GDP, ApproxDP or ZCDP
        Total budget; there is one statistic, so that the published mu is the total.
    public : PublicMoments, optional
        Public second moments of the same columns.
    random_state : int, numpy RandomState or Generator, optional
        Makes the noise reproducible. Such a fit has no privacy guarantee, and its card says so.
    on_invalid : {"raise", "ignore"}, default="raise"
        As in `PMTRidge`. Weights below zero are of no use either.
    ledger : Ledger, path or URL, optional
        Durable account that the budget is charged to before any noise is drawn.
    dataset : str, optional
        Name of the private data in the ledger; needed with one.

    Attributes
    ----------
    transformed_ : ndarray of shape (n_features, n_features)
        M, with the published noise.
    second_moment_ : ndarray of shape (n_features, n_features)
        The same in the coordinates of the columns.
    transformed_inverse_, inverse_ : ndarray of shape (n_features, n_features)
        Inverse of the regularised matrix, in whitened coordinates and in those of the columns.
    condition_ : Condition
        Condition numbers of the regularised matrix: ``before``, in the coordinates of the columns,
        and ``after``, in whitened ones, in which it is inverted.
    robustness_ : Robustness or None
        The condition and the bounds of Theorem 3.3 beside it; None with weights, or where the
        number of public rows is not known.
    radius_, noise_sd_ : float
        The published radius, and the noise sd of the entries of M.
    card_ : Card
        The privacy card.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    **Formal guarantee.** The stated budget, for replacing one row; the number of rows is public.
    The noise is the published one, of sd 2 R^2 w / (mu n) in every entry of the upper triangle, R
    being the radius and w the largest weight, which is more than is needed: see
    `triangle_noise_law`. All else is a function of the release.

    **Recovery.** Where no row is shortened, S_B^(1/2) (M - G + alpha S_B^-1) S_B^(1/2) is the
    second moment of the columns plus alpha I (Theorem 3.3). A noisy matrix need not be positive;
    nothing is done about that here, as in the paper. `publicmoments.release_moments` repairs it,
    with less noise, and gives standard errors: see `MomentRelease.precision`.

    Whitened coordinates differ from the paper's by a rotation, which changes no norm and no
    eigenvalue.

    Examples
    --------
    >>> from publicmoments import GDP, PublicMoments
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50_200, 3)) * [0.01, 1.0, 100.0]
    >>> public = PublicMoments.from_rows(X[:200])
    >>> moment = PMTSecondMoment(privacy=GDP(1.0), public=public).fit(X[200:])
    >>> moment.condition_.before > 1e6, moment.condition_.after < 3.0, moment.robustness_.met
    (True, True, True)
    """

    def _solve(self, given: Given) -> None:
        """Bound rows by the published radius, and set the theorem beside what comes of it."""
        n, d, public = given.rows.n_rows, given.rows.n_design, given.public
        self.radius_ = self._radius(given.rows)
        self._release(given, public.design(fit_intercept=False).whitener, self.radius_)
        self.noise_sd_, self.robustness_ = self.card_.passes[0].noise_sd, None
        setting = GuidedSetting.of(public, self.eta, self.alpha)
        if setting is not None and not given.rows.n_responses:
            least = float(np.linalg.eigvalsh(public.second_moment)[0])
            inverse_norm, mu = 1.0 / least if least > 0.0 else math.inf, self.card_.mu
            bound = inverse_error_bound(setting, n, mu)
            self.robustness_ = Robustness(
                setting=setting,
                noise_norm=noise_norm_bound(self.noise_sd_, d, self.eta),
                condition=robustness_condition(setting, n, mu),
                transformed_bound=bound,
                original_bound=inverse_norm * bound,
            )


@dataclass(eq=False, repr=False)
class OracleSecondMoment(_SecondMoment, OracleEstimator):
    """
    The second moment of rows as they come, with noise, and its inverse; an oracle, not private.

    Theorem 3.4: the radius sqrt(Tr(S) + d log(n/eta)) takes the trace from the private rows
    themselves. There is no way to charge such a fit to a ledger, and its card says that nothing is
    guaranteed.

    Parameters
    ----------
    alpha, eta, weight_bound, privacy, random_state, on_invalid
        As in `PMTSecondMoment`.

    Attributes
    ----------
    second_moment_, inverse_, condition_, card_, n_features_in_, feature_names_in_
        As in `PMTSecondMoment`, of which ``transformed_`` and ``transformed_inverse_`` are copies
        here. Neither they nor anything else of the fit is private; the radius, which holds an
        exact statistic of the rows, is not kept.

    Examples
    --------
    >>> from publicmoments import GDP
    >>> X = np.random.default_rng(0).normal(size=(10_000, 3))
    >>> OracleSecondMoment(privacy=GDP(1.0)).fit(X).card_.private
    False
    """

    def _solve(self, given: Given) -> None:
        """Take the radius from the private rows."""
        self._release(given, np.eye(given.rows.n_design), self._radius(given.rows))


def _condition(matrix: Array) -> float:
    """Largest over smallest eigenvalue; infinite unless all are positive."""
    values = np.linalg.eigvalsh(matrix)
    return float(values[-1] / values[0]) if values[0] > 0.0 else math.inf


def _symmetric(matrix: Array) -> Array:
    """Take off what rounding has made of a symmetric matrix."""
    return np.asarray((matrix + matrix.T) / 2.0)
