"""Regression models for counts, sizes and whatever has a family."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_log_loss_score, d2_tweedie_score

from publicmoments.arrays import Array, RandomState
from publicmoments.checks import positive
from publicmoments.data import as_table, beside, filled, within
from publicmoments.families import Bernoulli, Family, Gamma, Gaussian, Poisson, checked_family
from publicmoments.models.glm import GLMEstimator
from publicmoments.models.shell import one_response, response_name
from publicmoments.privacy.budgets import Budget
from publicmoments.privacy.ledger import LedgerLike
from publicmoments.public import PublicMoments

TWEEDIE: dict[type[Family], int] = {Gaussian: 0, Poisson: 1, Gamma: 2}
"""Powers of the deviances that scikit-learn scores with."""


class GLM(RegressorMixin, GLMEstimator):  # type: ignore[misc]
    """
    Differentially private generalised linear model, guided by public moments.

    Minimises, up to noise,

        mean(loss(x.w + b + offset, y)) + alpha l1_ratio ||w||_1 + alpha (1 - l1_ratio)/2 ||w||^2

    with the loss of the family. The intercept b is not penalised.

    Parameters
    ----------
    family : Family
        One of `publicmoments.families` with a single predictor: ``Gaussian()``, ``Bernoulli()``,
        ``Poisson()``, ``Gamma()``, or one of your own, derived from `Family`.
    alpha : float or "auto", default=0.0
        Penalty; "auto" as in `LogisticRegression`.
    l1_ratio : float, default=0.0
        Share of the absolute penalty, in [0, 1].
    typical_offset : float, default=0.0
        A public guess at the offset of a row, which is also what public rows have unless they have
        ``public_offset``. A wrong one costs little accuracy, and no privacy: the level of the
        responses is learned. It needs an intercept.
    public_offset : array-like of shape (n_public,), optional
        Offsets of the public rows.
    fit_intercept, privacy, public, random_state, passes, anchor, on_invalid
        As in `LogisticRegression`.
    ledger, dataset
        As in `LogisticRegression`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    noise_covariance_, sampling_covariance_, bias_covariance_, n_iter_, alpha_, card_
        As in `LogisticRegression`.
    n_features_in_, feature_names_in_
        As in `LogisticRegression`.

    Notes
    -----
    **Formal guarantee.** As for `LogisticRegression`. What one row does to a gradient, its slope
    times its length, is bounded; the bound grows with the budget and the number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from publicmoments import GDP, GLM, PublicMoments
    >>> from publicmoments.families import Gamma
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(10_200, 2))
    >>> y = np.exp(X @ [0.5, -0.3]) * rng.gamma(2.0, 0.5, size=10_200)
    >>> public = PublicMoments.from_rows(X[:200], response=y[:200])
    >>> model = GLM(Gamma(), privacy=GDP(1.0), public=public).fit(X[200:], y[200:])
    >>> bool(np.abs(model.coef_ - [0.5, -0.3]).max() < 0.1)
    True
    """

    def __init__(
        self,
        family: Family,
        alpha: float | Literal["auto"] = 0.0,
        *,
        l1_ratio: float = 0.0,
        fit_intercept: bool = True,
        typical_offset: float = 0.0,
        public_offset: ArrayLike | None = None,
        privacy: Budget | None = None,
        public: PublicMoments | None = None,
        random_state: RandomState = None,
        passes: int | Literal["auto"] = "auto",
        anchor: bool = True,
        on_invalid: Literal["raise", "ignore"] = "raise",
        ledger: LedgerLike = None,
        dataset: str | None = None,
    ) -> None:
        self.family = family
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.typical_offset = typical_offset
        self.public_offset = public_offset
        self.privacy = privacy
        self.public = public
        self.random_state = random_state
        self.passes = passes
        self.anchor = anchor
        self.on_invalid = on_invalid
        self.ledger = ledger
        self.dataset = dataset

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn whether responses must be positive."""
        tags = super().__sklearn_tags__()
        known = isinstance(self.family, Family)
        tags.target_tags.positive_only = known and not self.family.allows(np.array([-1.0]))[0]
        return tags

    def fit(self, X: Any, y: Any, offset: Any = None) -> Self:
        """
        Fit the model.

        Parameters
        ----------
        X : array, data frame or source of shape (n_rows, n_features)
            Private features: NumPy, pandas, polars or Arrow; or a table that is read where it lies,
            such as the path of a Parquet file, a Dask or a Spark DataFrame.
        y : array or series of shape (n_rows,), or str
            Private responses, in the range of the family, or the name of their column in X; see
            `Ridge`.
        offset : array or series of shape (n_rows,), or str, optional
            Added to the linear predictor; private.

        Returns
        -------
        GLM
            Itself.
        """
        privacy = self._checked_parameters()
        family = checked_family(self.family)
        if family.n_predictors != 1:
            raise ValueError("family must have one predictor; use LogisticRegression for classes")
        typical = _finite("typical_offset", self.typical_offset)
        self._check_typical("typical_offset", typical == 0.0)
        X, y, offset = self._by_name(X, y=y, offset=offset)
        target = response_name(y)
        responses = within(one_response(y), family.allows, family.range, "y")
        if offset is not None or typical != 0.0:
            given = offset is not None
            shift = one_response(offset, "offset") if given else filled(responses, 0.0)
            responses = beside(responses, shift, lambda values: values - typical, ("y", "offset"))
        solution = self._fit(
            family,
            as_table(X, "X"),
            responses,
            privacy,
            target=target,
            public_offset=self.public_offset,
            typical=typical,
        )
        coef, intercept = self._split(solution)
        self.coef_, self.intercept_ = coef[0], float(intercept[0]) - typical
        return self

    def predict(self, X: ArrayLike, offset: ArrayLike | None = None) -> Array:
        """
        Predict mean responses.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.
        offset : array of shape (n_rows,), optional
            Added to the linear predictor.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        predictor = self._feature_values(X) @ self.coef_ + self.intercept_
        if offset is not None:
            predictor = predictor + np.asarray(offset, dtype=np.float64)
        return np.asarray(self.family.mean(predictor[:, None])[:, 0])

    def predict_interval(
        self, X: ArrayLike, level: float = 0.95, offset: ArrayLike | None = None
    ) -> Array:
        """
        Return intervals for mean responses.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.
        level : float, default=0.95
            Coverage, in (0, 1).
        offset : array of shape (n_rows,), optional
            Added to the linear predictor.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Lower and upper ends: those of the linear predictor, turned into mean responses.
        """
        ends = self._predictor_interval(self._feature_values(X), level)
        if offset is not None:
            ends = ends + np.asarray(offset, dtype=np.float64)[:, None]
        # A family may have means that fall with the predictor.
        means = [self.family.mean(end[:, None])[:, 0] for end in ends.T]
        return np.sort(np.stack(means, axis=1), axis=1)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """
        Share of the deviance that is explained, D squared; not private in the data passed to it.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.
        y : array of shape (n_rows,)
            Responses.
        sample_weight : array of shape (n_rows,), optional
            Weights.

        Returns
        -------
        float
        """
        predicted = self.predict(X)
        if isinstance(self.family, Bernoulli):
            both = np.stack([1.0 - predicted, predicted], axis=1)
            return float(d2_log_loss_score(y, both, sample_weight=sample_weight, labels=[0, 1]))
        power = TWEEDIE.get(type(self.family))
        if power is None:
            return float(super().score(X, y, sample_weight))
        return float(d2_tweedie_score(y, predicted, sample_weight=sample_weight, power=power))


class PoissonRegressor(RegressorMixin, GLMEstimator):  # type: ignore[misc]
    """
    Differentially private Poisson regression with a logarithmic link.

    Minimises, up to noise,

        mean(e exp(x.w + b) - y (x.w + b)) + alpha l1_ratio ||w||_1 + alpha (1 - l1_ratio)/2 ||w||^2

    with e the exposure of a row, one unless given.

    Parameters
    ----------
    alpha : float or "auto", default=0.0
        Penalty. Unlike scikit-learn's, it does not depend on the sum of the exposures. "auto" as in
        `LogisticRegression`.
    l1_ratio : float, default=0.0
        Share of the absolute penalty, in [0, 1].
    typical_exposure : float, default=1.0
        A public guess at the exposure of a row, which is also what public rows have unless they
        have ``public_exposure``. A wrong one costs little accuracy, and no privacy: the level of
        the counts is learned. It needs an intercept.
    public_exposure : array-like of shape (n_public,), optional
        Exposures of the public rows, positive.
    fit_intercept, privacy, public, random_state, passes, anchor, on_invalid
        As in `LogisticRegression`.
    ledger, dataset
        As in `LogisticRegression`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept: logarithm of the rate per unit of exposure where all features are zero.
    noise_covariance_, sampling_covariance_, bias_covariance_, n_iter_, alpha_, card_
        As in `LogisticRegression`.
    n_features_in_, feature_names_in_
        As in `LogisticRegression`.

    Notes
    -----
    **Formal guarantee.** As for `LogisticRegression`; the exposure is part of the row.

    Examples
    --------
    >>> import numpy as np
    >>> from publicmoments import GDP, PoissonRegressor, PublicMoments
    >>> rng = np.random.default_rng(0)
    >>> X, years = rng.normal(size=(10_200, 2)), rng.uniform(0.5, 2.0, size=10_200)
    >>> y = rng.poisson(years * np.exp(X @ [0.5, -0.3] + 0.2))
    >>> public = PublicMoments.from_rows(X[:200])
    >>> model = PoissonRegressor(privacy=GDP(1.0), public=public)
    >>> model = model.fit(X[200:], y[200:], exposure=years[200:])
    >>> bool(np.abs(model.coef_ - [0.5, -0.3]).max() < 0.1)
    True
    """

    def __init__(
        self,
        alpha: float | Literal["auto"] = 0.0,
        *,
        l1_ratio: float = 0.0,
        fit_intercept: bool = True,
        typical_exposure: float = 1.0,
        public_exposure: ArrayLike | None = None,
        privacy: Budget | None = None,
        public: PublicMoments | None = None,
        random_state: RandomState = None,
        passes: int | Literal["auto"] = "auto",
        anchor: bool = True,
        on_invalid: Literal["raise", "ignore"] = "raise",
        ledger: LedgerLike = None,
        dataset: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.typical_exposure = typical_exposure
        self.public_exposure = public_exposure
        self.privacy = privacy
        self.public = public
        self.random_state = random_state
        self.passes = passes
        self.anchor = anchor
        self.on_invalid = on_invalid
        self.ledger = ledger
        self.dataset = dataset

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that counts are not negative."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def fit(self, X: Any, y: Any, exposure: Any = None) -> Self:
        """
        Fit the model.

        Parameters
        ----------
        X : array, data frame or source of shape (n_rows, n_features)
            Private features: NumPy, pandas, polars or Arrow; or a table that is read where it lies,
            such as the path of a Parquet file, a Dask or a Spark DataFrame.
        y : array or series of shape (n_rows,), or str
            Private counts, or the name of their column in X; see `Ridge`.
        exposure : array or series of shape (n_rows,), or str, optional
            How long or how much each row was observed; positive, private.

        Returns
        -------
        PoissonRegressor
            Itself.
        """
        privacy = self._checked_parameters()
        typical = positive("typical_exposure", self.typical_exposure)
        self._check_typical("typical_exposure", typical == 1.0)
        family = Poisson()
        X, y, exposure = self._by_name(X, y=y, exposure=exposure)
        target = response_name(y)
        responses = within(one_response(y), family.allows, family.range, "y")
        if exposure is not None or typical != 1.0:
            given = exposure is not None
            lasted = within(
                one_response(exposure, "exposure") if given else filled(responses, 1.0),
                lambda values: np.isfinite(values) & (values > 0.0),
                "positive numbers",
                "exposure",
            )
            shift = float(np.log(typical))
            responses = beside(
                responses, lasted, lambda values: np.log(values) - shift, ("y", "exposure")
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            offsets = (
                None
                if self.public_exposure is None
                else np.log(np.asarray(self.public_exposure, dtype=np.float64))
            )
        solution = self._fit(
            family,
            as_table(X, "X"),
            responses,
            privacy,
            target=target,
            public_offset=offsets,
            typical=float(np.log(typical)),
        )
        coef, intercept = self._split(solution)
        self.coef_, self.intercept_ = coef[0], float(intercept[0]) - float(np.log(typical))
        return self

    def predict(self, X: ArrayLike, exposure: ArrayLike | None = None) -> Array:
        """
        Predict mean counts.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.
        exposure : array of shape (n_rows,), optional
            One unless given.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        rate = np.exp(self._feature_values(X) @ self.coef_ + self.intercept_)
        return np.asarray(rate if exposure is None else rate * np.asarray(exposure))

    def predict_interval(
        self, X: ArrayLike, level: float = 0.95, exposure: ArrayLike | None = None
    ) -> Array:
        """
        Return intervals for mean responses.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.
        level : float, default=0.95
            Coverage, in (0, 1).
        exposure : array of shape (n_rows,), optional
            One unless given.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Lower and upper ends: those of the linear predictor, turned into mean responses.
        """
        rates = np.exp(self._predictor_interval(self._feature_values(X), level))
        return np.asarray(rates if exposure is None else rates * np.asarray(exposure)[:, None])

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """
        Share of the Poisson deviance that is explained; not private in the data passed to it.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.
        y : array of shape (n_rows,)
            Counts.
        sample_weight : array of shape (n_rows,), optional
            Weights.

        Returns
        -------
        float
        """
        predicted = self.predict(X)
        return float(d2_tweedie_score(y, predicted, sample_weight=sample_weight, power=1))


def _finite(name: str, value: object) -> float:
    """Return a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}")
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, got {name}={number!r}")
    return number
