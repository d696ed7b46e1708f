"""The private second moment and its inverse as published: Theorems 3.2 to 3.4."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from publicmoments.arrays import Array, RandomState
from publicmoments.checks import fraction, non_negative, positive
from publicmoments.data import Table, as_responses, as_table, no_columns, within
from publicmoments.families.factors import Ones, RootWeight
from publicmoments.models.shell import check_public, matched_moments
from publicmoments.paper.oracle import ORACLE, mean_squares, usable
from publicmoments.paper.published import PublishedEstimator
from publicmoments.paper.radii import oracle_radius, truncation_radius
from publicmoments.paper.settings import GuidedSetting
from publicmoments.paper.theory import (
    inverse_error_bound,
    is_robust,
    noise_norm_bound,
    robustness_condition,
)
from publicmoments.privacy.budgets import Budget
from publicmoments.privacy.ledger import LedgerLike
from publicmoments.public import PublicMoments
from publicmoments.rows.recipe import Factor, GramRecipe
from publicmoments.session.door import PrivateRows


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


class _SecondMoment(PublishedEstimator):
    """
    A noisy second moment of rows in some coordinates, and its inverse.

    Subclasses have the parameters alpha, eta, weight_bound, privacy, random_state and on_invalid.
    """

    alpha: float
    eta: float
    weight_bound: float
    radius_: float
    noise_sd_: float
    transformed_: Array
    transformed_inverse_: Array
    second_moment_: Array
    inverse_: Array
    condition_: Condition

    def _read(self, X: Any, sample_weight: Any) -> tuple[Table, Table, float]:
        """Features, weights where there are any, and the largest weight."""
        bound = positive("weight_bound", self.weight_bound)
        X, weights = self._by_name(X, sample_weight=sample_weight)
        features = as_table(X, "X")
        if weights is None:
            return features, no_columns(features), 1.0
        table = as_responses(weights, "sample_weight")
        if table.n_columns != 1:
            raise ValueError(
                f"sample_weight must have one weight per row, got {table.n_columns} columns"
            )
        allowed = within(table, lambda w: w >= 0.0, "numbers of at least 0", "sample_weight")
        return features, allowed, bound

    def _release(
        self,
        rows: PrivateRows,
        privacy: Budget,
        features: Table,
        public: PublicMoments | None,
        whitener: Array,
        radius: float,
        most: float,
    ) -> None:
        """Release the matrix and store what follows from it."""
        n, origin = rows.n_rows, np.zeros((len(whitener), 1))
        factor: Factor = RootWeight(most) if rows.n_responses else Ones()
        bound = radius * math.sqrt(most)
        recipe = GramRecipe(whitener, origin, factor, radius, bound, n)
        with self._spending(rows, privacy, grams=1, vectors=0) as spending:
            matrix = spending.gram("second moment", recipe)
        self._keep_card(features, spending, public)
        self._keep_matrices(matrix, whitener)

    def _keep_matrices(self, matrix: Array, whitener: Array) -> None:
        """Store the matrix and its regularised inverse, in both coordinates."""
        alpha, back = float(self.alpha), np.asarray(np.linalg.inv(whitener))
        regularised: Array = matrix + alpha * whitener.T @ whitener
        self.transformed_ = matrix
        self.transformed_inverse_ = _symmetric(np.asarray(np.linalg.inv(regularised)))
        self.second_moment_ = _symmetric(back.T @ matrix @ back)
        self.inverse_ = _symmetric(whitener @ self.transformed_inverse_ @ whitener.T)
        before = self.second_moment_ + alpha * np.eye(len(matrix))
        self.condition_ = Condition(_condition(before), _condition(regularised))


class PMTSecondMoment(_SecondMoment):
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

    def __init__(
        self,
        alpha: float = 0.0,
        *,
        eta: float = 0.05,
        weight_bound: float = 1.0,
        privacy: Budget | None = None,
        public: PublicMoments | None = None,
        random_state: RandomState = None,
        on_invalid: Literal["raise", "ignore"] = "raise",
        ledger: LedgerLike = None,
        dataset: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.eta = eta
        self.weight_bound = weight_bound
        self.privacy = privacy
        self.public = public
        self.random_state = random_state
        self.on_invalid = on_invalid
        self.ledger = ledger
        self.dataset = dataset

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
        PMTSecondMoment
            Itself.
        """
        alpha, eta = non_negative("alpha", self.alpha), fraction("eta", self.eta)
        check_public(self.public)
        privacy = self._checked_budget()
        features, weights, most = self._read(X, sample_weight)
        rows = self._private_rows(features, weights, fit_intercept=False)
        public = matched_moments(self.public, features, 1)
        n, d = rows.n_rows, rows.n_design
        radius = truncation_radius(d, n, eta)
        design = public.design(fit_intercept=False)
        self._release(rows, privacy, features, public, design.whitener, radius, most)
        self.radius_, self.noise_sd_ = radius, self.card_.passes[0].noise_sd
        self.robustness_ = None
        if public.n is not None and not rows.n_responses:
            self.robustness_ = _robustness(public, d, n, alpha, eta, self.card_.mu, self.noise_sd_)
        return self


class OracleSecondMoment(_SecondMoment):
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

    unprotected: ClassVar[str | None] = ORACLE

    def __init__(
        self,
        alpha: float = 0.0,
        *,
        eta: float = 0.05,
        weight_bound: float = 1.0,
        privacy: Budget | None = None,
        random_state: RandomState = None,
        on_invalid: Literal["raise", "ignore"] = "raise",
    ) -> None:
        self.alpha = alpha
        self.eta = eta
        self.weight_bound = weight_bound
        self.privacy = privacy
        self.random_state = random_state
        self.on_invalid = on_invalid

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Release the matrix; see `PMTSecondMoment.fit`."""
        non_negative("alpha", self.alpha)
        eta = fraction("eta", self.eta)
        privacy = self._checked_budget()
        features, weights, most = self._read(X, sample_weight)
        rows = self._private_rows(features, weights, fit_intercept=False)
        trace, _ = mean_squares(rows)
        n, d = rows.n_rows, rows.n_design
        radius = oracle_radius(usable("X", trace), d, n, eta)
        self._release(rows, privacy, features, None, np.eye(d), radius, most)
        return self


def _robustness(
    public: PublicMoments, d: int, n: int, alpha: float, eta: float, mu: float, noise_sd: float
) -> Robustness:
    """The condition and the bounds of Theorem 3.3."""
    assert public.n is not None, "the theorem counts public rows"
    values = np.linalg.eigvalsh(public.second_moment)
    setting = GuidedSetting(
        d=d, eta=eta, penalty=alpha, n_public=public.n, public_norm=float(values[-1])
    )
    inverse_norm = 1.0 / float(values[0]) if values[0] > 0.0 else math.inf
    bound = inverse_error_bound(setting, n, mu)
    return Robustness(
        setting=setting,
        noise_norm=noise_norm_bound(noise_sd, d, eta),
        condition=robustness_condition(setting, n, mu),
        transformed_bound=bound,
        original_bound=inverse_norm * bound,
    )


def _condition(matrix: Array) -> float:
    """Largest over smallest eigenvalue; infinite unless all are positive."""
    values = np.linalg.eigvalsh(matrix)
    return float(values[-1] / values[0]) if values[0] > 0.0 else math.inf


def _symmetric(matrix: Array) -> Array:
    """Take off what rounding has made of a symmetric matrix."""
    return np.asarray((matrix + matrix.T) / 2.0)
