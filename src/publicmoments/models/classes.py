"""Class labels that the user states, and predictions of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from publicmoments.arrays import Array


def checked_classes(classes: object, *, exactly: int | None = None) -> tuple[Any, ...]:
    """Return the stated labels: at least two, all different, in an order that the user chose."""
    unordered = isinstance(classes, str | bytes | Set | Mapping)
    if unordered or not isinstance(classes, Iterable):
        raise TypeError(
            f"classes must be a sequence of labels such as (0, 1), got {type(classes).__name__}; "
            "labels are stated by the user, never learned from private data"
        )
    labels = tuple(label.item() if isinstance(label, np.generic) else label for label in classes)
    if exactly is not None and len(labels) != exactly:
        raise ValueError(f"classes must be {exactly} labels, got {len(labels)}")
    if any(label is None or label != label for label in labels):
        raise ValueError("classes must not hold None or NaN, which stand for missing labels")
    if len(labels) < 2 or len(set(labels)) != len(labels):
        raise ValueError(f"classes must be at least two different labels, got classes={labels!r}")
    return labels


def label_words(classes: Sequence[Any]) -> tuple[str, ...]:
    """Parameters that hold words, if the classes do: in files without types labels are read so."""
    return ("y",) if any(isinstance(label, str) for label in classes) else ()


class BinaryPrediction:
    """Predictions of two classes from one linear predictor."""

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that there are two classes."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.classifier_tags.multi_class = False
        return tags

    def decision_function(self, X: ArrayLike) -> Array:
        """
        Log odds of the second class.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        values: Array = self._feature_values(X)  # type: ignore[attr-defined]
        return np.asarray(values @ self.coef_ + self.intercept_)  # type: ignore[attr-defined]

    def predict_proba(self, X: ArrayLike) -> Array:
        """
        Probabilities of the two classes.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows, 2)
        """
        odds = self.decision_function(X)
        return np.stack([expit(-odds), expit(odds)], axis=1)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """
        Predict the likelier class.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        second = (self.decision_function(X) > 0.0).astype(int)
        classes: NDArray[Any] = self.classes_  # type: ignore[attr-defined]
        return np.asarray(classes[second])
