"""From checked parameters and tables to a fitted model: what all estimators share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from publicmoments.arrays import Array, RandomState, read_only
from publicmoments.checks import non_negative, positive_integer, share
from publicmoments.data import Table
from publicmoments.families import Family
from publicmoments.models.estimator import fit
from publicmoments.models.inference import CoefInference, Fit
from publicmoments.models.mismatch import warn_of_mismatch
from publicmoments.models.penalty import without_dust
from publicmoments.models.problem import Fitted, Problem
from publicmoments.models.shell import PrivateEstimator, check_public, check_switches
from publicmoments.privacy.budgets import Budget
from publicmoments.privacy.card import BoundedPass, Card
from publicmoments.privacy.ledger import LedgerLike
from publicmoments.public import PublicDesign, PublicMoments
from publicmoments.session.door import Session
from publicmoments.threads import single_threaded


@dataclass(frozen=True, eq=False)
class Known:
    """Public side of a fit: its units, public responses in the terms of the family, offsets."""

    public: PublicMoments
    scale: float | tuple[float, ...]
    responses: Array | None
    offsets: Array | float = 0.0


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateModel(CoefInference, PrivateEstimator):
    """
    Base of the regression models.

    Subclasses read their own responses and call ``_solve``; what they share is here.
    """

    fit_intercept: bool = True
    privacy: Budget | None = None
    public: PublicMoments | None = None
    random_state: RandomState = None
    passes: int | Literal["auto"] = "auto"
    anchor: bool = True
    on_invalid: Literal["raise", "ignore"] = "raise"
    ledger: LedgerLike = None
    dataset: str | None = None

    def _checked_parameters(self) -> Budget:
        """Validate what does not depend on data; return the budget."""
        share("l1_ratio", getattr(self, "l1_ratio", 0.0))
        if isinstance(self.alpha, str):
            self._check_choice()
        else:
            non_negative("alpha", self.alpha)
        check_switches(fit_intercept=self.fit_intercept, anchor=self.anchor)
        check_public(self.public)
        if self.passes != "auto":
            positive_integer("passes", self.passes, 'pass "auto" or a positive integer')
        return self._checked_budget()

    def _check_choice(self) -> None:
        """Refuse words other than "auto", and a choice of more than the squared penalty."""
        if self.alpha != "auto":
            raise ValueError(f'alpha must be a number or "auto", got alpha={self.alpha!r}')
        if self._l1_ratio > 0.0:
            raise ValueError(
                f'alpha="auto" goes with l1_ratio=0.0, got l1_ratio={self._l1_ratio!r}; state alpha'
            )

    # Its matrices are small: threads of the linear algebra would mostly wait for each other.
    @single_threaded()
    def _solve(
        self,
        family: Family,
        features: Table,
        responses: Table,
        known: Known,
        privacy: Budget,
        *,
        target: str,
        offset: bool = False,
    ) -> Fitted:
        """Spend the budget; store what every model has, and return what was found."""
        rows = self._private_rows(features, responses, bool(self.fit_intercept))
        design = known.public.design(fit_intercept=bool(self.fit_intercept))
        problem = self._problem(family, design, known, offset)
        mu = privacy.to_gdp().mu
        demands = problem.demands(mu, rows.n_rows)
        with self._session(rows, privacy, demands, target) as session:
            found = fit(problem, session, mu)
        self._keep_names(features)
        self.n_iter_ = len(found.steps)
        self.alpha_ = float(self.alpha) if self.alpha != "auto" else found.alpha
        self.card_ = _card(found, session, known)
        if self.anchor and not known.public.assumed:
            warn_of_mismatch(found, design, known.public.columns)
        return found

    def _problem(self, family: Family, design: PublicDesign, known: Known, offset: bool) -> Problem:
        """State what is to be solved."""
        chosen = self.alpha == "auto"
        alpha, absolute = 0.0 if chosen else float(self.alpha), self._l1_ratio
        units = known.scale if isinstance(known.scale, tuple) else (known.scale,)
        return Problem(
            family=family,
            design=design,
            scale=known.scale,
            offset=offset,
            public_responses=known.responses,
            public_offsets=known.offsets,
            l1=alpha * absolute / units[0],
            ridge=None if chosen else alpha * (1.0 - absolute),
            anchor=bool(self.anchor),
            steps=None if self.passes == "auto" else int(self.passes),
        )

    def _record(
        self,
        found: Fitted,
        known: Known,
        *,
        response: str,
        vectors: Sequence[str] = ("y",),
        basis: Array | None = None,
        apart: bool = False,
        level: float = 0.0,
    ) -> Fit:
        """
        Put together what was found, in raw units.

        Parameters
        ----------
        found : Fitted
            In the units of the public data.
        known : Known
            These units.
        response : str
            Name of the response.
        vectors : sequence of str
            Names of the vectors of coefficients.
        basis : ndarray of shape (k, n_vectors), optional
            What the predictors of the family are multiplied by; the identity by default.
        apart : bool
            Whether coefficients are told vector by vector.
        level : float
            What the intercept has too much of.
        """
        solution = self._raw_coef(found, known.scale)
        solution = solution if basis is None else solution @ basis
        d = self.n_features_in_
        intercept = solution[-1] - level if self.fit_intercept else np.zeros(solution.shape[1])
        mixing = np.eye(found.coef.shape[1]) if basis is None else basis
        selected = self.alpha_ * self._l1_ratio > 0.0
        parts = (None,) * 3 if selected else _error_parts(found, known.scale, mixing)
        names = getattr(self, "feature_names_in_", known.public.columns)
        return Fit(
            response=response or "y",
            features=tuple(f"x{k}" for k in range(d)) if names is None else tuple(map(str, names)),
            vectors=tuple(vectors),
            coef=read_only(solution[:d].T),
            intercept=read_only(intercept),
            fit_intercept=bool(self.fit_intercept),
            noise=parts[0],
            sampling=parts[1],
            bias=parts[2],
            alpha=self.alpha_,
            l1_ratio=self._l1_ratio,
            card=self.card_,
            apart=apart,
        )

    def _raw_coef(self, found: Fitted, scale: float | tuple[float, ...]) -> Array:
        """Coefficients in raw units, of shape (p, k)."""
        if self.alpha_ * self._l1_ratio == 0.0:
            return np.asarray(found.coef * np.asarray(scale))
        whitened = found.whitened.reshape(len(found.whitener), -1)
        return np.asarray(without_dust(found.whitener, whitened) * np.asarray(scale))

    @property
    def _l1_ratio(self) -> float:
        """Share of the absolute penalty, where there may be one."""
        return float(getattr(self, "l1_ratio", 0.0))


def _error_parts(
    found: Fitted, scale: float | tuple[float, ...], basis: Array
) -> tuple[Array, Array, Array]:
    """Covariances of the raw coefficients: of noise, sampling and bias."""
    # Coefficients are flattened as (column, predictor); they are told as (class, column).
    scaled = basis * np.asarray(scale)[..., None]
    matrix = np.einsum("ai,jc->caij", found.whitener, scaled)
    matrix = matrix.reshape(len(found.whitener) * basis.shape[1], -1)
    parts = (found.errors.noise, found.errors.sampling, found.errors.bias)
    noise, sampling, bias = (read_only(matrix @ part @ matrix.T) for part in parts)
    return noise, sampling, bias


def _card(found: Fitted, session: Session, known: Known) -> Card:
    """Write the privacy card; everything on it is public or released."""
    units = np.atleast_1d(np.asarray(known.scale))
    bounds = {id(step.released): step.bound for step in found.steps}
    passes = []
    for released in session.releases:
        bound = bounds.get(id(released))
        passes.append(
            BoundedPass(
                **vars(released.line),
                bound=released.query.recipe.l2_bound,
                predicted_error=None if bound is None else float(units[0] * bound.error),
            )
        )
    k = found.coef.shape[1]
    # As expected when bounds were chosen; intervals allow for the most that they may take.
    gains = zip(found.steps, found.posterior.gains, strict=True)
    bias = np.asarray(sum(step.bound.bias * gain for step, gain in gains))
    errors = np.diag(found.errors.noise + bias @ bias.T).reshape(-1, k).sum(axis=0)
    by_response = np.sqrt(errors) * units if len(units) == k else np.sqrt([errors.sum()]) * units
    return Card(
        **session.claim(),
        n_rows=session.rows.n_rows,
        n_features=session.rows.features.n_columns,
        n_responses=len(units),
        passes=tuple(passes),
        public_fingerprint=None if known.public.assumed else known.public.fingerprint,
        public_fit_z=found.look.z_score,
        response_fit_z=found.start_z,
        predicted_error=tuple(float(error) for error in by_response if math.isfinite(error)),
    )
