"""What the generalised linear models share."""

from __future__ import annotations

import math
import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from publicmoments.checks import non_negative, positive_integer, share
from publicmoments.families import Family
from publicmoments.models.glm.passes import Fitted, Start, fit_laws, fit_passes
from publicmoments.models.glm.penalty import without_dust
from publicmoments.models.glm.plan import few_will_do
from publicmoments.models.glm.spread import glm_parts
from publicmoments.models.glm.start import make_start
from publicmoments.models.guarantee import Spendable, claim, spendable
from publicmoments.models.inference import CoefInference
from publicmoments.models.parameters import check_switches, checked_bound
from publicmoments.models.passes import LARGE_TABLE
from publicmoments.models.shell import PrivateEstimator, check_public, matched_moments
from publicmoments.models.spread import ErrorParts
from publicmoments.privacy.budgets import Budget
from publicmoments.public import PublicDesign, PublicMoments
from publicmoments.release import NoisyGram, PrivateRows, noise_source
from publicmoments.report.card import Card, GradientPass
from publicmoments.tables import Table
from publicmoments.threads import single_threaded
from publicmoments.warnings_ import PublicMomentsWarning

__all__ = ["GLMEstimator", "RandomState"]

Array = NDArray[np.float64]
RandomState = int | np.random.Generator | np.random.RandomState | None

PASSES_WITH_FIT, PASSES_WITHOUT_FIT, PASSES_OF_LARGE = 5, 6, 3
"""Default gradients: one more where there is no public fit to start from, and three of a large
table where they will do."""

MISFIT_Z = 5.0
"""Standard errors from which the public data are said not to fit."""


class GLMEstimator(CoefInference, PrivateEstimator):
    """
    Base of the generalised linear models.

    Subclasses read their own responses and call ``_fit``; what they share is here.
    """

    alpha: float
    l1_ratio: float
    fit_intercept: bool
    public: PublicMoments | None
    passes: int | Literal["auto"]
    anchor: bool
    radius: float | None
    coef_: Array
    intercept_: Any

    def _checked_parameters(self) -> Budget:
        """Validate what does not depend on data; return the budget."""
        non_negative("alpha", self.alpha)
        share("l1_ratio", self.l1_ratio)
        check_switches(fit_intercept=self.fit_intercept, anchor=self.anchor)
        check_public(self.public)
        checked_bound("radius", self.radius)
        if self.passes != "auto":
            positive_integer("passes", self.passes, 'pass "auto" or a positive integer')
        return self._checked_budget()

    def _check_typical(self, name: str, none: bool) -> None:
        """Refuse a typical offset without an intercept, which is where it goes."""
        if not (none or self.fit_intercept):
            raise ValueError(f"{name} needs fit_intercept=True; leave it out, or fit an intercept")

    # Its matrices are small: threads of the linear algebra would mostly wait for each other.
    @single_threaded()
    def _fit(
        self,
        family: Family,
        features: Table,
        responses: Table,
        privacy: Budget,
        *,
        target: str = "",
        classes: tuple[Any, ...] | None = None,
        basis: Array | None = None,
    ) -> Array:
        """
        Fit and store all but the coefficients, which are returned, of shape (p, k).

        Covariances are stored for ``coefficients @ basis``, with one column for each class.
        """
        rows = self._private_rows(features, responses, bool(self.fit_intercept))
        public = matched_moments(self.public, features, 1)
        design = public.design(fit_intercept=bool(self.fit_intercept))
        scale = _response_scale(public, family)
        known = _public_responses(design, family, classes, scale)
        alpha, absolute = float(self.alpha), float(self.l1_ratio)
        start = make_start(
            design,
            family,
            alpha * (1.0 - absolute),
            anchor=bool(self.anchor),
            responses=known,
            scale=1.0,
        )
        passes = self._number_of_passes(start, rows.n_rows, privacy.to_gdp().mu)
        p, k = design.n_columns, family.n_predictors
        bought = spendable(privacy, lambda whole: fit_laws(whole, rows.n_rows, p, k, passes))
        source = noise_source(self.random_state)
        with self._account(bought, privacy, source, target) as account:
            fitted = fit_passes(
                start,
                rows,
                np.asarray(design.whitener),
                account,
                passes,
                source,
                scale=scale,
                radius=self.radius,
                l1=alpha * absolute / scale,
                ridge=alpha * (1.0 - absolute),
            )
        self._keep_names(features)
        self.n_iter_ = passes
        self.card_ = _card(fitted, rows, public, privacy, bought, scale)
        self._warn_of_misfit(fitted, public)
        selects = alpha * absolute > 0.0
        self._keep_errors(
            None if selects else glm_parts(start, fitted, rows.n_rows),
            scale * np.asarray(design.whitener),
            np.eye(k) if basis is None else basis,
        )
        if alpha * absolute == 0.0:
            return np.asarray(scale * (design.whitener @ fitted.coef))
        return scale * without_dust(np.asarray(design.whitener), fitted.coef)

    def _keep_errors(self, parts: ErrorParts | None, to_raw: Array, basis: Array) -> None:
        """Store the covariances of the raw coefficients, class by class; None after selection."""
        self.noise_covariance_ = self.sampling_covariance_ = None
        if parts is None:
            return
        # Coefficients are flattened as (column, predictor); they are stored as (class, column).
        matrix = np.einsum("ai,jc->caij", to_raw, basis)
        raw = parts.carried(matrix.reshape(len(to_raw) * basis.shape[1], -1))
        self.noise_covariance_, self.sampling_covariance_ = raw.noise, raw.sampling

    def _split(self, solution: Array) -> tuple[Array, Array]:
        """Coefficients of shape (k, n_features), and intercepts of shape (k,)."""
        if not self.fit_intercept:
            return np.ascontiguousarray(solution.T), np.zeros(solution.shape[1])
        return np.ascontiguousarray(solution[:-1].T), solution[-1].copy()

    def _number_of_passes(self, start: Start, n_rows: int, mu: float) -> int:
        """Gradients to release, from public facts."""
        if self.passes != "auto":
            return int(self.passes)
        if start.public_responses is None:
            return PASSES_WITHOUT_FIT
        belief = start.belief
        if n_rows >= LARGE_TABLE and few_will_do(
            start.stage, belief.mean, belief.covariance, n_rows=n_rows, mu=mu
        ):
            return PASSES_OF_LARGE
        return PASSES_WITH_FIT

    def _warn_of_misfit(self, fitted: Fitted, public: PublicMoments) -> None:
        """Warn when releases are far from what public data predict."""
        signs = []
        if fitted.curvature_z is not None and fitted.curvature_z > MISFIT_Z:
            signs.append(f"the curvature is {fitted.curvature_z:.1f} standard errors away")
        if fitted.response_z is not None and fitted.response_z > MISFIT_Z:
            signs.append(f"the fit of the response is {fitted.response_z:.1f} of them away")
        if signs and self.anchor and not public.assumed:
            warnings.warn(
                f"the public data do not fit the private rows: {', '.join(signs)}. Privacy does "
                "not depend on it, accuracy does; use public data from the same population, or "
                "pass anchor=False",
                PublicMomentsWarning,
                stacklevel=4,
            )


def _response_scale(public: PublicMoments, family: Family) -> float:
    """Unit of the responses: their public size where the family has no unit of its own."""
    if public.response is None:
        if not family.has_unit:
            warnings.warn(
                "the public moments say nothing of the response: assuming a root mean square of 1; "
                "pass response=... or response_scale=... when making them",
                PublicMomentsWarning,
                stacklevel=4,
            )
        return 1.0
    if len(public.response.scale) != 1:
        raise ValueError(
            f"the public moments must have one response, got {len(public.response.scale)}; make "
            "them with the response of this model only"
        )
    return 1.0 if family.has_unit else float(public.response.scale[0])


def _public_responses(
    design: PublicDesign, family: Family, classes: tuple[Any, ...] | None, scale: float
) -> Array | None:
    """Responses of the public rows in the family's terms; None where there are none."""
    if design.rows is None or design.responses is None:
        return None
    responses = np.asarray(design.responses, dtype=np.float64)
    if classes is not None and all(isinstance(label, bool | int | float) for label in classes):
        codes = np.full(responses.shape, np.nan)
        for code, label in enumerate(classes):
            codes[responses == float(label)] = code
        responses = codes
    if not family.allows(responses).all():
        wanted = family.range if classes is None else f"among classes={classes!r}"
        raise ValueError(
            f"responses of the public moments must be {wanted}; labels that are not numbers are "
            "given there by their position among the classes"
        )
    return responses / scale


def _card(
    fitted: Fitted,
    rows: PrivateRows,
    public: PublicMoments,
    privacy: Budget,
    bought: Spendable,
    scale: float,
) -> Card:
    """Write the privacy card; everything on it is public or released."""
    passes = []
    for released, radius in zip(fitted.releases, fitted.radii, strict=True):
        passes.append(
            GradientPass(
                statistic="curvature" if isinstance(released, NoisyGram) else "gradient",
                mu=released.cost.mu,
                rho=released.rho,
                noise_sd=released.noise_sd,
                noise_sd_grid_units=released.law.noise_sd,
                times=1,
                radius=released.recipe.radius,
                predicted_error=None if radius is None else scale * radius.predicted_error,
            )
        )
    error = math.sqrt(max(float(np.trace(fitted.belief.covariance)), 0.0))
    return Card(
        **claim(fitted.releases, bought, privacy, fitted.private),
        n_rows=rows.n_rows,
        n_features=rows.features.n_columns,
        n_responses=1,
        passes=tuple(passes),
        public_fingerprint=None if public.assumed else public.fingerprint,
        public_fit_z=fitted.curvature_z,
        response_fit_z=fitted.response_z,
        predicted_error=(scale * error,),
    )
