"""Ridge regression."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin

from publicmoments.arrays import Array, read_only
from publicmoments.data import as_responses, as_table
from publicmoments.families import Gaussian
from publicmoments.models.fitting import Known, PrivateModel
from publicmoments.models.shell import match_responses, matched_moments, response_name


@dataclass(eq=False, repr=False)
class Ridge(MultiOutputMixin, RegressorMixin, PrivateModel):  # type: ignore[misc]
    """
    Differentially private ridge regression on unbounded data.

    Estimates the minimiser over (w, b) of

        sum_i (y_i - x_i.w - b)^2 / (2 n)  +  alpha ||w||^2 / 2

    The penalty is on the mean loss: scikit-learn's ``Ridge(alpha=n * alpha)`` minimises the same.
    No bounds on the data are needed. Public moments whiten the rows; radii that depend on public
    numbers bound them; their sum is released with noise.

    Parameters
    ----------
    alpha : float or "auto", default=0.0
        Penalty, at least 0. "auto" chooses the one with the least predicted error, at no cost.
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
        Gradients to release, each at a better fit. "auto" is 6 with a public fit to start from and
        8 without, and more the larger the table and the budget are.
    anchor : bool, default=True
        Whether the public fit counts as evidence about the private population, as far as releases
        agree with it. With False it is not used at all.
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
    noise_covariance_, sampling_covariance_, bias_covariance_ : ndarray of shape (m, m)
        Covariance of the m coefficients, the intercept last: what noise costs, what a finite number
        of private and public rows does, and what bounds on rows may have cut off. Of shape
        (n_responses, m, m) for several responses.
    residual_scale_ : float or ndarray of shape (n_responses,)
        Root mean square of the response about the fit, as counted; rough where noise is large.
    n_iter_ : int
        Gradients released; public.
    alpha_ : float
        The penalty.
    card_ : Card
        The privacy card.
    fit_ : Fit
        All that was found in one record, which the other attributes and `summary` come from.
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

    The rows are looked at once, which whitens them by what was released; then gradients are
    released at better and better fits, each with a bound on what one row does to it and with counts
    of how many rows the bound cuts; all of them together are explained at the end, public data
    included as far as they agree. With a larger budget or more rows the bounds grow, and the fit
    tends to the plain one.

    Intervals are for the coefficients that the same penalised problem has in the population. They
    are those of a normal law with the covariance of noise, sampling, whatever the variances of
    single rows, and bias. All of it is post-processing.

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

    alpha: float | Literal["auto"] = 0.0

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
        privacy = self._checked_parameters()
        X, y = self._by_name(X, several=True, y=y)
        target = response_name(y)
        features, responses = as_table(X, "X"), as_responses(y, "y")
        public = matched_moments(self.public, features, responses.n_columns)
        match_responses(responses, public)
        family = Gaussian(responses.n_columns)
        scale = np.ones(responses.n_columns)
        if public.response is not None:
            scale = np.asarray(public.response.scale)
        rows = public.response_rows
        known = Known(public, tuple(scale.tolist()), None if rows is None else rows / scale)
        found = self._solve(family, features, responses, known, privacy, target=target)
        one, names = responses.one_dimensional, responses.columns
        several = names or tuple(f"y{k}" for k in range(responses.n_columns))
        vectors = ("y",) if one else several
        record = self._record(found, known, response=target, vectors=vectors, apart=not one)
        sizes = read_only(np.sqrt(found.spread) * scale)
        parts = (record.noise, record.sampling, record.bias)
        noise, sampling, bias = (part if one else _blocks(part, len(scale)) for part in parts)
        self.fit_ = replace(record, noise=noise, sampling=sampling, bias=bias, residual_scale=sizes)
        return self

    @property
    def residual_scale_(self) -> Any:
        """Spread of the response about the fit, or of each of several."""
        sizes = self._fitted().residual_scale
        assert sizes is not None, "linear fits have one"
        return sizes if self.fit_.apart else float(sizes[0])

    def predict(self, X: ArrayLike) -> Array:
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

    def predict_interval(self, X: ArrayLike, level: float = 0.95) -> Array:
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
        ends = [self.fit_.predictor_interval(values, level, k) for k in range(len(self.fit_.coef))]
        return np.stack(ends, axis=1) if self.fit_.apart else ends[0]


def _blocks(covariance: Array | None, count: int) -> Array | None:
    """Covariance of the coefficients of each response by itself."""
    if covariance is None:
        return None
    m = len(covariance) // count
    return read_only([covariance[k * m : (k + 1) * m, k * m : (k + 1) * m] for k in range(count)])
