"""What the published estimators share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from publicmoments.models.shell import PrivateEstimator
from publicmoments.paper.spending import Spending, affordable
from publicmoments.privacy.budgets import Budget
from publicmoments.public import PublicMoments
from publicmoments.release import PrivateRows, noise_source
from publicmoments.tables import Table

__all__ = ["LinearPrediction", "PublishedEstimator"]

Array = NDArray[np.float64]


class PublishedEstimator(PrivateEstimator):
    """
    Base of the published estimators: linear predictors without an intercept.

    The paper has none; append a column of ones to the features, public ones included, to have one.
    """

    unprotected: ClassVar[str | None] = None
    coef_: Array
    intercept_: float

    @contextmanager
    def _spending(
        self, rows: PrivateRows, privacy: Budget, *, grams: int, vectors: int, target: str = ""
    ) -> Iterator[Spending]:
        """Open the account of a fit, paid for by the ledger where there is one."""
        bought = affordable(privacy, rows.n_rows, grams, vectors, rows.n_design)
        source = noise_source(self.random_state, protects=self.unprotected is None)
        with self._account(bought, privacy, source, target) as account:
            yield Spending(rows, bought, account, grams + vectors, source)

    def _keep(
        self, features: Table, coef: Array, spending: Spending, public: PublicMoments | None
    ) -> None:
        """Store the fitted attributes, all of them released."""
        self.coef_, self.intercept_ = coef, 0.0
        self._keep_card(features, spending, public)

    def _keep_card(self, features: Table, spending: Spending, public: PublicMoments | None) -> None:
        """Store the names of the features and the card."""
        self._keep_names(features)
        privacy = self._checked_budget()
        notes = (spending.as_published(),)
        self.card_ = spending.card(privacy, public, notes, self.unprotected)


class LinearPrediction:
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
        values: Array = self._feature_values(X)  # type: ignore[attr-defined]
        return np.asarray(values @ self.coef_)  # type: ignore[attr-defined]
