"""Logistic regression."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin

from publicmoments.arrays import Array, read_only
from publicmoments.data import as_table
from publicmoments.families import Bernoulli, Family, Multinomial
from publicmoments.models.classes import checked_classes, label_words
from publicmoments.models.glm import GLMEstimator
from publicmoments.models.inference import around, half_width, with_ones
from publicmoments.models.penalty import settled_classes
from publicmoments.models.shell import one_label, response_name


@dataclass(eq=False, repr=False)
class LogisticRegression(ClassifierMixin, GLMEstimator):  # type: ignore[misc]
    """
    Differentially private logistic regression, guided by public moments.

    Minimises, up to noise,

        mean(-log p(y | x)) + alpha l1_ratio ||W||_1 + alpha (1 - l1_ratio)/2 ||W||^2

    with p the logistic function of x.w + b for two classes and the softmax of K such predictors for
    more; intercepts are not penalised.

    Parameters
    ----------
    alpha : float or "auto", default=0.0
        Penalty; scikit-learn's C is 1 / (alpha n). "auto" chooses the one with the least predicted
        error, at no cost; it needs ``l1_ratio=0.0``.
    l1_ratio : float, default=0.0
        Share of the absolute penalty, in [0, 1].
    classes : sequence, default=(0, 1)
        The labels, which are public: never learned from private data. Any other label in y is an
        error.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    privacy : GDP, ApproxDP or ZCDP
        Total budget of the fit.
    public : PublicMoments, optional
        Public moments of the features: from rows, best with their labels as the response, or from a
        published matrix. Without any, features of size 1 are assumed.
    random_state : int, numpy RandomState or Generator, optional
        Makes the noise reproducible. Such a fit has no privacy guarantee, and its card says so.
    passes : "auto" or int, default="auto"
        Gradients to release, each at a better fit. "auto" is 6 with public labels to start from and
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
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    noise_covariance_, sampling_covariance_, bias_covariance_ : ndarray of shape (m, m)
        Covariance of the m coefficients, the intercept last: what noise costs, what a finite number
        of private and public rows does, and what bounds on rows may have cut off. Of several
        classes, in blocks. None with an absolute penalty, which selects columns by the data.
    classes_ : ndarray of shape (n_classes,)
        The stated classes.
    n_iter_ : int
        Gradients released; public.
    alpha_ : float
        The penalty.
    card_ : Card
        The privacy card.
    fit_ : Fit
        All that was found in one record, which the other attributes and `summary` come from.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    **Formal guarantee.** The fitted attributes satisfy the stated budget for replacing one row of
    (X, y); the number of rows is public, and so are the public moments, which must not be computed
    from the private rows. The zCDP statement is exact; the Gaussian DP statement carries the extra
    delta on the card.

    Long rows have less weight in the loss, none is cut: their linear predictor is that of the whole
    row, so that the weighted equations hold for the same coefficients. Curvature comes from public
    rows, or from rows made up from public moments, corrected by what gradients show. The number of
    releases never depends on private data.

    Intervals are for the coefficients that the same penalised problem has in the population. They
    are those of a normal law with the covariance of noise, sampling and bias.

    Examples
    --------
    >>> import numpy as np
    >>> from publicmoments import GDP, LogisticRegression, PublicMoments
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(10_200, 3))
    >>> y = (X @ [1.0, -2.0, 0.5] + rng.logistic(size=10_200) > 0.0).astype(int)
    >>> public = PublicMoments.from_rows(X[:200], response=y[:200])
    >>> model = LogisticRegression(privacy=GDP(1.0), public=public).fit(X[200:], y[200:])
    >>> bool(np.abs(model.coef_ - [1.0, -2.0, 0.5]).max() < 0.3)
    True
    """

    alpha: float | Literal["auto"] = 0.0
    _: KW_ONLY
    l1_ratio: float = 0.0
    classes: Any = (0, 1)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn whether more than two classes were stated."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = isinstance(self.classes, Sized) and len(self.classes) > 2
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """
        Fit the model.

        Parameters
        ----------
        X : array, data frame or source of shape (n_rows, n_features)
            Private features: NumPy, pandas, polars or Arrow; or a table that is read where it lies,
            such as the path of a Parquet file, a Dask or a Spark DataFrame.
        y : array or series of shape (n_rows,), or str
            Private labels, each one of ``classes``, or the name of their column in X; see `Ridge`.

        Returns
        -------
        LogisticRegression
            Itself.
        """
        privacy = self._checked_parameters()
        classes = checked_classes(self.classes)
        X, y = self._by_name(X, words=label_words(classes), y=y)
        target = response_name(y)
        features, labels = as_table(X, "X"), one_label(y, classes)
        several = len(classes) > 2
        family: Family = Multinomial(len(classes)) if several else Bernoulli()
        basis = family.basis if isinstance(family, Multinomial) else None
        self._fit(
            family,
            features,
            labels,
            privacy,
            target=target,
            classes=classes,
            basis=basis,
            vectors=[str(label) for label in classes] if several else ["y"],
            apart=several,
        )
        absolute, squared = self.alpha_ * self.l1_ratio, self.alpha_ * (1.0 - self.l1_ratio)
        if several and absolute > 0.0:
            settled = settled_classes(self.fit_.coef.T, absolute, squared).T
            self.fit_ = replace(self.fit_, coef=read_only(settled))
        self.classes_ = np.array(classes)
        return self

    @property
    def coef_(self) -> Array:
        """Coefficients: one row, or one for each of several classes."""
        return self._fitted().coef

    @property
    def intercept_(self) -> Array:
        """Intercepts: one, or one for each of several classes."""
        return self._fitted().intercept

    def decision_function(self, X: ArrayLike) -> Array:
        """
        Log odds of the second class, or log odds of every class.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
        """
        odds = self._feature_values(X) @ self.coef_.T + self.intercept_
        return np.asarray(odds[:, 0] if odds.shape[1] == 1 else odds)

    def predict_proba(self, X: ArrayLike) -> Array:
        """
        Probabilities of the classes.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        odds = self.decision_function(X)
        if odds.ndim == 1:
            return np.stack([expit(-odds), expit(odds)], axis=1)
        return np.asarray(softmax(odds, axis=1))

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of `predict_proba`."""
        return np.asarray(np.log(self.predict_proba(X)))

    def predict_interval(self, X: ArrayLike, level: float = 0.95) -> Array:
        """
        Return intervals for the probabilities of the classes.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.
        level : float, default=0.95
            Coverage, in (0, 1), of each interval.

        Returns
        -------
        ndarray of shape (n_rows, 2) or (n_rows, n_classes, 2)
            Lower and upper ends for the second of two classes, or for every one of several.

        Notes
        -----
        The log odds of a class against all others have a normal interval, whose ends are turned
        into probabilities: exact for two classes up to the normal law of the coefficients, and by
        the delta method for several, where log odds are a curved function of these.
        """
        values = self._feature_values(X)
        if not self.fit_.apart:
            return np.asarray(expit(self.fit_.predictor_interval(values, level)))
        covariance = self.fit_.covariance
        chances, n_classes = self.predict_proba(X), len(self.coef_)
        others = np.maximum(1.0 - chances, np.finfo(np.float64).tiny)
        design = with_ones(values, bool(self.fit_intercept))
        blocks = covariance.reshape((n_classes, design.shape[1]) * 2)
        between = np.einsum("na,jalb,nb->njl", design, blocks, design, optimize=True)
        # Odds of class c by the predictor j: 1 for its own, minus its share of the others for any.
        slopes = -chances[:, None, :] / others[:, :, None]
        slopes[:, np.arange(n_classes), np.arange(n_classes)] = 1.0
        variances = np.einsum("ncj,njl,ncl->nc", slopes, between, slopes, optimize=True)
        centre = np.log(np.maximum(chances, np.finfo(np.float64).tiny)) - np.log(others)
        reach = half_width(level) * np.sqrt(np.maximum(variances, 0.0))
        return np.asarray(expit(around(centre, reach)))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """
        Predict the likeliest class.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        likeliest = np.argmax(self.predict_proba(X), axis=1)
        return np.asarray(self.classes_[likeliest])
