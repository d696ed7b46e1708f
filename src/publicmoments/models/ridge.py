"""Ridge regression."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin

from publicmoments.checks import non_negative, positive_integer
from publicmoments.models.agreement import PublicFit
from publicmoments.models.guarantee import ridge_card, spendable
from publicmoments.models.inference import CoefInference, mean_interval, with_ones
from publicmoments.models.knowledge import initial_knowledge
from publicmoments.models.parameters import check_switches, checked_bound
from publicmoments.models.passes import Measured, pass_laws, run_passes
from publicmoments.models.shell import (
    PrivateEstimator,
    check_public,
    match_responses,
    matched_moments,
    response_name,
)
from publicmoments.models.solve import ridge_coef
from publicmoments.models.spread import ridge_parts
from publicmoments.planner.bounds import BoundsRequest
from publicmoments.privacy.budgets import Budget
from publicmoments.privacy.ledger import LedgerLike
from publicmoments.public import PublicMoments
from publicmoments.release import noise_source
from publicmoments.report.card import Card
from publicmoments.tables import Table, as_responses, as_table
from publicmoments.threads import threads_for
from publicmoments.warnings_ import PublicMomentsWarning

__all__ = ["Ridge"]

PASSES_WITH_FIT, PASSES_WITHOUT_FIT = 2, 4
"""Default passes: a public fit leaves residuals to start with, without one they come by and by."""

PASSES_AFTER_RESTART = 3
"""Passes that are left when the first one shows that the public fit is of no use."""

PARTS = ("noise", "sampling")

MISFIT_Z = 5.0
"""Standard errors from which the public moments are said not to fit."""


class Ridge(CoefInference, MultiOutputMixin, RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    """
    Differentially private ridge regression on unbounded data.

    Estimates the minimiser over (w, b) of

        sum_i (y_i - x_i.w - b)^2 / (2 n)  +  alpha ||w||^2 / 2

    The penalty is on the mean loss: scikit-learn's ``Ridge(alpha=n * alpha)`` minimises the same.
    No bounds on the data are needed. Public moments whiten the rows; radii that depend on public
    numbers bound them; their sum is released with noise.

    Parameters
    ----------
    alpha : float, default=0.0
        Penalty, at least 0.
    fit_intercept : bool, default=True
        Whether to fit an unpenalised intercept.
    privacy : GDP, ApproxDP or ZCDP
        Everything the fit may spend, over all its passes.
    public : PublicMoments, optional
        Public moments of the features and, best, of the response. Without them the fit runs on
        identity moments, as privately, and less accurately.
    random_state : int, numpy RandomState or Generator, optional
        Makes the noise reproducible. Such a fit has no privacy guarantee, and its card says so.
    passes : "auto" or int, default="auto"
        Passes over the rows. Each subtracts the fit so far and has less noise for it, at the same
        total budget. "auto" is 2 with a public fit to start from and 4 without, or 1 where the
        table is large and one will do.
    anchor : bool, default=True
        Whether public moments and the public fit count as evidence about the private population.
        Set False if the populations are known to differ; they then serve as coordinates only.
    x_radius, response_bound, response_weight : float, optional
        Bounds in whitened units and the weight of the response, which are otherwise chosen by
        predicted error.
    on_invalid : {"raise", "ignore"}, default="raise"
        Private rows with cells of no use, such as NaN, text among numbers or labels that are no
        class: refuse, or count each such row as zeros. The latter is absolute: then no cell can
        cause an error, a warning or a message.
    ledger : Ledger, path or URL, optional
        Durable account that the budget is charged to before any noise is drawn.
    dataset : str, optional
        Name of the private data in the ledger; needed with one.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_responses, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_responses,)
        Intercept; 0.0 without one.
    noise_covariance_, sampling_covariance_ : ndarray of shape (m, m) or (n_responses, m, m)
        Covariance of the m coefficients, the intercept last: what privacy costs, and what a finite
        number of private and public rows does.
    residual_scale_ : float or ndarray of shape (n_responses,)
        Root mean square of the response about the fit; an upper estimate where noise is large.
    card_ : Card
        The privacy card.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X had any.

    Notes
    -----
    **Formal guarantee.** The fitted attributes satisfy the stated budget for replacing one row of
    (X, y); the number of rows is public, and so are the public moments, which must not be computed
    from the private rows. The zCDP statement is exact; the Gaussian DP statement carries the extra
    delta on the card. `score` and `predict` are not private in the data passed to them.

    Intervals are for the coefficients that the same penalised problem has in the population. They
    are those of a normal law with the covariance of what is believed after all releases, to which
    the sampling error of the private rows is added; public data that count as evidence make them
    shorter, and wrong where the populations differ. All of it is post-processing.

    Examples
    --------
    >>> import numpy as np
    >>> from publicmoments import GDP, PublicMoments, Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(10.0, 3.0, size=(5_200, 3))
    >>> y = X @ [1.0, -2.0, 0.5] + 4.0 + rng.normal(size=5_200)
    >>> public = PublicMoments.from_rows(X[:200], response=y[:200])
    >>> model = Ridge(privacy=GDP(1.0), public=public).fit(X[200:], y[200:])
    >>> bool(np.abs(model.coef_ - [1.0, -2.0, 0.5]).max() < 0.2)
    True
    >>> model.card_.private
    True
    >>> model.conf_int(0.95).shape
    (4, 2)
    """

    def __init__(
        self,
        alpha: float = 0.0,
        *,
        fit_intercept: bool = True,
        privacy: Budget | None = None,
        public: PublicMoments | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        passes: int | Literal["auto"] = "auto",
        anchor: bool = True,
        x_radius: float | None = None,
        response_bound: float | None = None,
        response_weight: float | None = None,
        on_invalid: Literal["raise", "ignore"] = "raise",
        ledger: LedgerLike = None,
        dataset: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.privacy = privacy
        self.public = public
        self.random_state = random_state
        self.passes = passes
        self.anchor = anchor
        self.x_radius = x_radius
        self.response_bound = response_bound
        self.response_weight = response_weight
        self.on_invalid = on_invalid
        self.ledger = ledger
        self.dataset = dataset

    def fit(self, X: Any, y: Any) -> Ridge:
        """
        Fit the model.

        Parameters
        ----------
        X : array, data frame or source of shape (n_rows, n_features)
            Private features: NumPy, pandas, polars or Arrow; or a table that is read where it lies,
            such as the path of a Parquet file, a Dask or a Spark DataFrame.
        y : array, series or data frame of shape (n_rows,) or (n_rows, n_responses), str or list
            Private responses, or the names of their columns in X. Features are then the columns
            that the public moments name, or all others.

        Returns
        -------
        Ridge
            Itself.
        """
        alpha, privacy, request = self._checked_parameters()
        X, y = self._by_name(X, several=True, y=y)
        target = response_name(y)
        features, responses = as_table(X, "X"), as_responses(y, "y")
        rows = self._private_rows(features, responses, bool(self.fit_intercept))
        with threads_for(rows.n_design):
            public = matched_moments(self.public, features, responses.n_columns)
            match_responses(responses, public)
            source = noise_source(self.random_state)
            design = public.design(fit_intercept=bool(self.fit_intercept))
            knowledge = initial_knowledge(design, rows.n_responses, bool(self.anchor))
            passes = self._number_of_passes(has_fit=knowledge.noise_scale is not None)
            dimension = sum(knowledge.coef.shape)
            bought = spendable(
                privacy, lambda whole: pass_laws(whole, rows.n_rows, dimension, passes)
            )
            with self._account(bought, privacy, source, target) as account:
                measured = run_passes(
                    knowledge,
                    rows,
                    account,
                    passes,
                    restart_passes=PASSES_AFTER_RESTART if self.passes == "auto" else None,
                    request=request,
                    source=source,
                )
            self._keep(measured, alpha, features, responses)
            self._keep_errors(measured, alpha, rows.n_rows, responses.one_dimensional)
            self.card_: Card = ridge_card(
                measured, bought, privacy, public, n_rows=rows.n_rows, n_features=features.n_columns
            )
            self._warn_of_misfit(measured.public_fit, public)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """
        Predict responses.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_responses)
        """
        return np.asarray(self._feature_values(X) @ self.coef_.T + self.intercept_)

    def predict_interval(self, X: ArrayLike, level: float = 0.95) -> NDArray[np.float64]:
        """
        Return intervals for the mean of the response at given features.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.
        level : float, default=0.95
            Coverage, in (0, 1).

        Returns
        -------
        ndarray of shape (n_rows, 2) or (n_rows, n_responses, 2)
            Lower and upper ends.
        """
        values = self._feature_values(X)
        if self.coef_.ndim == 1:
            return self._predictor_interval(values, level)
        noise, sampling = self._parts()
        design = with_ones(values, bool(self.fit_intercept))
        return np.stack(
            [
                mean_interval(design, design @ estimates, covariance, level)
                for estimates, covariance in zip(self._estimates(), noise + sampling, strict=True)
            ],
            axis=1,
        )

    def _checked_parameters(self) -> tuple[float, Budget, BoundsRequest]:
        """Validate what does not depend on data."""
        alpha = non_negative("alpha", self.alpha)
        check_switches(fit_intercept=self.fit_intercept, anchor=self.anchor)
        check_public(self.public)
        request = BoundsRequest(
            x_radius=checked_bound("x_radius", self.x_radius),
            response_bound=checked_bound("response_bound", self.response_bound),
            weight=checked_bound("response_weight", self.response_weight),
        )
        return alpha, self._checked_budget(), request

    def _number_of_passes(self, has_fit: bool) -> int:
        """Passes over the rows, from public facts."""
        if self.passes == "auto":
            return PASSES_WITH_FIT if has_fit else PASSES_WITHOUT_FIT
        return positive_integer("passes", self.passes, 'pass "auto" or a positive integer')

    def _keep(self, measured: Measured, alpha: float, features: Table, responses: Table) -> None:
        """Store the fitted attributes, all of them released."""
        d = features.n_columns
        solution = ridge_coef(measured.knowledge, alpha, bool(self.fit_intercept))
        coef = np.ascontiguousarray(solution[:d].T)
        intercept = solution[d] if self.fit_intercept else np.zeros(len(coef))
        self.coef_: NDArray[np.float64] = coef[0] if responses.one_dimensional else coef
        self.intercept_: Any = float(intercept[0]) if responses.one_dimensional else intercept
        self._keep_names(features)

    def _keep_errors(self, measured: Measured, alpha: float, n_rows: int, one: bool) -> None:
        """Store what is known of the error of the coefficients."""
        parts = ridge_parts(measured, alpha, bool(self.fit_intercept), n_rows)
        noise, sampling = (np.array([getattr(part, name) for part in parts]) for name in PARTS)
        scale = np.sqrt(measured.variances)
        self.noise_covariance_ = noise[0] if one else noise
        self.sampling_covariance_ = sampling[0] if one else sampling
        self.residual_scale_: Any = float(scale[0]) if one else scale

    def _residual_sd(self) -> float | None:
        """Spread of a single response about the fit."""
        return self.residual_scale_ if self.coef_.ndim == 1 else None

    def _warn_of_misfit(self, fit: PublicFit, public: PublicMoments) -> None:
        """Warn when the first release is far from what the public moments predict."""
        signs = []
        if fit.z_score > MISFIT_Z:
            signs.append(f"the second moment is {fit.z_score:.1f} standard errors away")
        if fit.response_z > MISFIT_Z:
            signs.append(f"the fit of the response is {fit.response_z:.1f} of them away")
        if fit.outgrown:
            signs.append("responses are far larger than expected")
        if signs and self.anchor and not public.assumed:
            warnings.warn(
                f"the public moments do not fit the private rows: {', '.join(signs)}. Privacy does "
                "not depend on it, accuracy does; use public data from the same population, or "
                "pass anchor=False",
                PublicMomentsWarning,
                stacklevel=3,
            )
