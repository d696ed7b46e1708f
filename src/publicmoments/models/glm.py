"""What the generalised linear models share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_log_loss_score, d2_tweedie_score

from publicmoments.arrays import Array
from publicmoments.data import Table, as_table, beside, filled, within
from publicmoments.families import Bernoulli, Family, Gamma, Gaussian, Poisson, checked_family
from publicmoments.models.fitting import Known, PrivateModel
from publicmoments.models.shell import (
    matched_moments,
    one_response,
    response_name,
    warn_of_no_response,
)
from publicmoments.privacy.budgets import Budget
from publicmoments.public import PublicMoments
from publicmoments.public.arguments import thinned


@dataclass(eq=False, repr=False)
class GLMEstimator(PrivateModel):
    """Base of the generalised linear models, which read their own responses and call ``_fit``."""

    def _check_typical(self, name: str, none: bool) -> None:
        """Refuse a typical offset without an intercept, which is where it goes."""
        if not (none or self.fit_intercept):
            raise ValueError(f"{name} needs fit_intercept=True; leave it out, or fit an intercept")

    def _fit(
        self,
        family: Family,
        features: Table,
        responses: Table,
        privacy: Budget,
        *,
        target: str,
        classes: tuple[Any, ...] | None = None,
        public_offset: Any = None,
        typical: float = 0.0,
        **told: Any,
    ) -> None:
        """
        Fit and keep the record.

        Parameters
        ----------
        family : Family
            Of the responses.
        features, responses : Table
            Private rows; a second column of the responses is an offset.
        privacy : Budget
            Total budget.
        target : str
            Name of the response.
        classes : tuple, optional
            Labels that the codes of the responses stand for.
        public_offset : array-like, optional
            Offsets of the public rows.
        typical : float
            What has been taken off all offsets.
        told
            How coefficients are told; see `PrivateModel._record`.
        """
        public = matched_moments(self.public, features, 1)
        scale = _response_scale(public, family)
        answers = _public_responses(public, family, classes, scale)
        offsets = _public_offsets(public, public_offset, typical, scale)
        known = Known(public, scale, answers, offsets)
        offset = responses.n_columns > 1
        found = self._solve(
            family, features, responses, known, privacy, target=target, offset=offset
        )
        self.fit_ = self._record(found, known, response=target, level=typical, **told)


def _response_scale(public: PublicMoments, family: Family) -> float:
    """Unit of the responses: their public size where the family has no unit of its own."""
    if public.response is None:
        if not family.has_unit:
            warn_of_no_response(stacklevel=6)
        return 1.0
    if len(public.response.scale) != 1:
        raise ValueError(
            f"the public moments must have one response, got {len(public.response.scale)}; make "
            "them with the response of this model only"
        )
    return 1.0 if family.has_unit else float(public.response.scale[0])


def _public_responses(
    public: PublicMoments, family: Family, classes: tuple[Any, ...] | None, scale: float
) -> Array | None:
    """Responses of the public rows in the family's terms; None where there are none."""
    if public.rows is None or public.response_rows is None:
        return None
    responses = np.asarray(public.response_rows, dtype=np.float64)
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


def _public_offsets(
    public: PublicMoments, given: Any, typical: float, scale: float
) -> Array | float:
    """Offsets of the kept public rows about the typical one, in the units of the predictor."""
    if given is None:
        return 0.0
    if public.rows is None:
        raise ValueError(
            "offsets or exposures of public rows go with public rows, got public moments without "
            "any; make them with PublicMoments.from_rows"
        )
    values = np.asarray(given, dtype=np.float64).reshape(-1)
    if len(values) != public.n:
        raise ValueError(
            f"offsets or exposures of public rows must be one for each of the {public.n} rows, "
            f"got {len(values)}"
        )
    if not np.isfinite(values).all():
        raise ValueError("offsets of public rows must be finite, and exposures positive numbers")
    return thinned((values[:, None] - typical) / scale)


TWEEDIE: dict[type[Family], int] = {Gaussian: 0, Poisson: 1, Gamma: 2}
"""Powers of the deviances that scikit-learn scores with."""


@dataclass(eq=False, repr=False)
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
    noise_covariance_, sampling_covariance_, bias_covariance_, n_iter_, alpha_, card_, fit_
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

    family: Family
    alpha: float | Literal["auto"] = 0.0
    _: KW_ONLY
    l1_ratio: float = 0.0
    typical_offset: float = 0.0
    public_offset: ArrayLike | None = None

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
        typical = _finite("typical_offset", self.typical_offset)
        return self._fit_shifted(X, y, offset, OFFSETS, typical, self.public_offset)

    def _fit_shifted(
        self, X: Any, y: Any, given: Any, shift: Shift, typical: float, public_offset: Any
    ) -> Self:
        """Fit responses whose predictors are shifted by what is given, less what is typical."""
        privacy = self._checked_parameters()
        family = checked_family(self.family)
        if family.n_predictors != 1:
            raise ValueError("family must have one predictor; use LogisticRegression for classes")
        usual = typical == shift.neutral
        self._check_typical(f"typical_{shift.name}", usual)
        X, y, given = self._by_name(X, y=y, **{shift.name: given})
        target = response_name(y)
        responses = within(one_response(y), family.allows, family.range, "y")
        level = float(shift.offset(np.asarray(typical)))
        if given is not None or not usual:
            column = shift.column(given, responses)
            offsets = partial(_less, shift.offset, level)
            responses = beside(responses, column, offsets, ("y", shift.name))
        self._fit(
            family,
            as_table(X, "X"),
            responses,
            privacy,
            target=target,
            public_offset=public_offset,
            typical=level,
        )
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
        ends = self.fit_.predictor_interval(self._feature_values(X), level)
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


@dataclass(frozen=True)
class Shift:
    """
    How users state what is added to the linear predictor of a row.

    Parameters
    ----------
    name : str
        What they call it.
    neutral : float
        What leaves predictors as they are.
    offset : callable
        Turns what is stated into offsets.
    allows : callable, optional
        Tells which positive numbers may be stated; by default any number may.
    """

    name: str
    neutral: float
    offset: Callable[[Array], Array]
    allows: Callable[[Array], Any] | None = None

    def column(self, given: Any, responses: Table) -> Table:
        """Return what was given as a column, or what leaves predictors as they are."""
        if given is None:
            return filled(responses, self.neutral)
        column = one_response(given, self.name)
        if self.allows is None:
            return column
        return within(column, self.allows, "positive numbers", self.name)


def _itself(values: Array) -> Array:
    """Return offsets as they are."""
    return values


def _less(offset: Callable[[Array], Array], level: float, values: Array) -> Array:
    """Offsets about a level."""
    return offset(values) - level


OFFSETS = Shift("offset", 0.0, _itself)
"""Offsets as they are."""


def _finite(name: str, value: object) -> float:
    """Return a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}")
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, got {name}={number!r}")
    return number
