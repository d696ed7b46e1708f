"""Checks of estimator parameters: what may be asked for, whatever the data."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from publicmoments.checks import PublicMomentsWarning, positive
from publicmoments.data import (
    Columns,
    Table,
    as_labels,
    as_responses,
    as_table,
    by_name,
    match_columns,
)
from publicmoments.privacy.budgets import GDP, ZCDP, ApproxDP, Budget
from publicmoments.privacy.card import Card
from publicmoments.privacy.ledger import LedgerLike
from publicmoments.public import PublicMoments
from publicmoments.public.suspicion import refuse_private_as_public, warn_of_identifiers
from publicmoments.session.door import PrivateRows, Session, open_session, private_rows
from publicmoments.session.queries import Demand

MOST_BOUND = 1e6
"""Largest bound, and inverse of the smallest, that a user may ask for."""


def checked_budget(privacy: object) -> Budget:
    """Return a budget of one of the three kinds; there is no default."""
    if not isinstance(privacy, GDP | ApproxDP | ZCDP):
        raise TypeError(
            "privacy must be GDP(mu), ApproxDP(epsilon, delta) or ZCDP(rho), got "
            f"{type(privacy).__name__}; state the total budget of the fit"
        )
    return privacy


def check_switches(**switches: object) -> None:
    """Refuse switches that are not booleans: a string such as "no" would mean yes."""
    for name, value in switches.items():
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"{name} must be True or False, got {type(value).__name__}")


def check_seed(random_state: object) -> None:
    """Refuse what cannot make noise reproducible; None stands for noise that protects."""
    if random_state is None:
        return
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer):
        raise TypeError(
            "random_state must be None, a non-negative integer or a NumPy generator, got "
            f"{type(random_state).__name__}; leave it out for noise that protects"
        )
    if not random_state >= 0:
        raise ValueError(
            f"random_state must be a non-negative integer, got random_state={random_state!r}; "
            "leave it out for noise that protects"
        )


def ignores_invalid(on_invalid: object) -> bool:
    """Whether rows with cells of no use count as zeros; they are refused otherwise."""
    if on_invalid not in ("raise", "ignore"):
        raise ValueError(f'on_invalid must be "raise" or "ignore", got on_invalid={on_invalid!r}')
    return on_invalid == "ignore"


def checked_bound(name: str, value: float | None) -> float | None:
    """Return a bound within what the integer grid can express, or None for a choice to be made."""
    if value is None:
        return None
    number = positive(name, value)
    if not 1 / MOST_BOUND <= number <= MOST_BOUND:
        raise ValueError(
            f"{name} must be between {1 / MOST_BOUND:g} and {MOST_BOUND:g}, got {name}={number!r}; "
            "bounds are in units of public sizes: useful ones are between 1 and 100"
        )
    return number


LONGEST_NAME = 200
"""Characters of names that are worth a place in the ledger."""


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """
    Base of the private estimators.

    Subclasses have the parameters ``privacy``, ``random_state`` and ``on_invalid``, and where they
    are guided by public moments also ``public``.
    """

    privacy: Budget | None
    random_state: int | np.random.Generator | np.random.RandomState | None
    on_invalid: Literal["raise", "ignore"]
    ledger: LedgerLike = None
    dataset: str | None = None
    card_: Card
    _is_clone = False
    unprotected: ClassVar[str | None] = None
    """Why a method is not private whatever its noise, if it is not."""

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that private noise differs from fit to fit."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags

    def __sklearn_clone__(self) -> Any:
        """Copy the parameters, and remember that this is a copy: see `warn_of_clones`."""
        copy = super().__sklearn_clone__()
        copy._is_clone = True
        return copy

    def _checked_budget(self) -> Budget:
        """Validate the parameters that all estimators share; return the budget."""
        check_seed(self.random_state)
        if self._is_clone and self.ledger is None:
            warn_of_clones()
        ignores_invalid(self.on_invalid)
        return checked_budget(self.privacy)

    def _by_name(
        self, X: Any, *, several: bool = False, words: Sequence[str] = (), **given: Any
    ) -> tuple[Any, ...]:
        """Split X into features and the columns that are called by name; see `by_name`."""
        public: PublicMoments | None = getattr(self, "public", None)
        refuse_private_as_public(public, X)
        wanted = None if public is None else public.columns
        return by_name(X, wanted, several=several, words=words, **given)

    def _session(
        self, rows: PrivateRows, privacy: Budget, demands: Sequence[Demand], target: str
    ) -> AbstractContextManager[Session]:
        """Open the session of a fit, paid for by the ledger where there is one."""
        return open_session(
            rows,
            privacy,
            demands,
            random_state=self.random_state,
            ledger=self.ledger,
            dataset=self.dataset,
            model=type(self).__name__,
            target=target,
            unprotected=self.unprotected,
        )

    def _private_rows(self, features: Table, responses: Table, fit_intercept: bool) -> PrivateRows:
        """Hand the tables to the private side of the door."""
        return private_rows(
            features,
            responses,
            fit_intercept=fit_intercept,
            ignore_invalid=ignores_invalid(self.on_invalid),
        )

    def _keep_names(self, features: Table) -> None:
        """Store number and names of the features, as scikit-learn does."""
        self.n_features_in_ = features.n_columns
        if features.columns is not None:
            self.feature_names_in_ = np.array(features.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _feature_values(self, X: Any) -> NDArray[np.float64]:
        """Read features to predict from, which must be those of the fit."""
        check_is_fitted(self)
        table = as_table(X, "X")
        validate_data(self, X, reset=False, skip_check_array=True)
        return table.finite_values()


def response_name(y: Any) -> str:
    """
    Name of a response, or of several, where their container has one; for the ledger.

    Words in a list or an array are never taken for names: they may be private labels.
    """
    if isinstance(y, Columns):
        names: Any = y.names or ()
    elif isinstance(y, list | tuple):
        names = ()
    else:
        names = tuple(getattr(y, "columns", [getattr(y, "name", None)]))
    text = ", ".join(names) if all(isinstance(name, str) for name in names) else ""
    return text if text.isprintable() and len(text) <= LONGEST_NAME else ""


@cache
def warn_of_clones() -> None:
    """Tell, once in a process, what copies that scikit-learn makes of a model cost."""
    warnings.warn(
        "this model is a copy that scikit-learn made, as GridSearchCV and cross_val_score do: each "
        "of their fits spends the whole stated budget on the same rows, k fits cost sqrt(k) times "
        "its mu, and scores on private rows are not private. Pass ledger= and dataset= to have "
        "every fit counted, or choose among models with plan, which costs nothing",
        PublicMomentsWarning,
        stacklevel=4,
    )


def check_public(public: object) -> None:
    """Refuse what is not public moments; None stands for none."""
    if public is not None and not isinstance(public, PublicMoments):
        raise TypeError(
            f"public must be PublicMoments or None, got {type(public).__name__}; "
            "make it with PublicMoments.from_rows, from_matrix, from_mean_cov or load"
        )


def matched_moments(
    public: PublicMoments | None, features: Table, n_responses: int
) -> PublicMoments:
    """Match features with the public moments; assume identity moments, aloud, without any."""
    if public is None:
        warnings.warn(
            "no public moments: assuming features and responses of size 1, unrelated to each "
            "other. The fit is as private, but its error grows with the condition number of "
            "the features and with how far their sizes are from 1; pass "
            "public=PublicMoments.from_rows(...), even of a few dozen public rows",
            PublicMomentsWarning,
            stacklevel=3,
        )
        warn_of_identifiers(None, features.columns, stacklevel=5)
        return PublicMoments.identity(features.n_columns, response_scale=np.ones(n_responses))
    refuse_private_as_public(public, features.source)
    match_columns(features, public.columns, "X")
    d = len(public.second_moment)
    if features.n_columns != d:
        raise ValueError(
            f"X has {features.n_columns} features, but the public moments have {d}; pass the "
            "same columns to both"
        )
    warn_of_identifiers(public, features.columns or public.columns, stacklevel=5)
    return public


def warn_of_no_response(stacklevel: int) -> None:
    """Tell what is assumed of responses of which nothing is public."""
    warnings.warn(
        "the public moments say nothing of the response: assuming a root mean square of 1; "
        "pass response=... or response_scale=... when making them",
        PublicMomentsWarning,
        stacklevel=stacklevel,
    )


def match_responses(responses: Table, public: PublicMoments) -> None:
    """Public responses, where there are any, must be as many as the private ones."""
    if public.response is None:
        warn_of_no_response(stacklevel=4)
    elif len(public.response.scale) != responses.n_columns:
        raise ValueError(
            f"y has {responses.n_columns} columns, but the public moments have "
            f"{len(public.response.scale)} responses; pass the same responses to both"
        )
    elif responses.columns is not None:
        match_columns(responses, public.response.names, "y")


def one_response(y: Any, what: str = "y") -> Table:
    """Read one response per row."""
    responses = as_responses(y, what)
    if responses.n_columns != 1:
        raise ValueError(
            f"{what} must have one response per row, got {responses.n_columns}; "
            "fit one model for each"
        )
    _tell_of_column(responses)
    return responses


def one_label(y: Any, classes: Sequence[Any]) -> Table:
    """Read one label per row, as its position among the classes."""
    labels = as_labels(y, classes, "y")
    _tell_of_column(labels)
    return labels


def _tell_of_column(responses: Table) -> None:
    """Warn, as scikit-learn does, of a table where a vector was expected."""
    if not responses.one_dimensional and responses.columns is None:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; pass y.ravel()",
            DataConversionWarning,
            stacklevel=4,
        )
