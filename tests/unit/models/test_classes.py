"""Stated classes, and predictions of the two of them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags

from publicmoments.models.classes import BinaryPrediction, checked_classes
from publicmoments.models.shell import PrivateEstimator


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        ((0, 1), (0, 1)),
        ([1, 0], (1, 0)),
        (("no", "yes"), ("no", "yes")),
        ((False, True), (False, True)),
        (np.array([2, 5]), (2, 5)),
        (np.array(["a", "b"]), ("a", "b")),
        (pd.Index(["a", "b"]), ("a", "b")),
        (range(3), (0, 1, 2)),
        (("none", 0), ("none", 0)),
    ],
)
def test_labels_keep_their_order_and_become_plain(classes, labels):
    checked = checked_classes(classes)
    assert checked == labels
    assert not any(isinstance(label, np.generic) for label in checked)


@pytest.mark.parametrize("classes", ["ab", b"ab", 2, None, {0, 1}, frozenset((0, 1)), {0: 1, 1: 2}])
def test_what_has_no_order_of_labels(classes):
    words = f"got {type(classes).__name__}; labels are stated by the user, never learned"
    with pytest.raises(TypeError, match=words):
        checked_classes(classes)


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        ((), "at least two different labels"),
        ((1,), "at least two different labels"),
        ((1, 1), "at least two different labels"),
        ((1, 2, 1), "at least two different labels"),
        ((1, 1.0), "at least two different labels"),
        ((0, None), "None or NaN"),
        ((math.nan, 0), "None or NaN"),
        (np.array([0.0, np.nan]), "None or NaN"),
    ],
)
def test_labels_that_cannot_be_told_apart(classes, words):
    with pytest.raises(ValueError, match=words):
        checked_classes(classes)


def test_a_number_of_classes_can_be_asked_for():
    assert checked_classes((0, 1), exactly=2) == (0, 1)
    for classes in [(0,), (0, 1, 2)]:
        with pytest.raises(ValueError, match=f"classes must be 2 labels, got {len(classes)}"):
            checked_classes(classes, exactly=2)


class Fitted(BinaryPrediction, ClassifierMixin, PrivateEstimator):
    """A classifier with given coefficients."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y, classes=("no", "yes"), intercept=0.0):
        self.coef_, self.intercept_ = np.array([1.0, -2.0]), intercept
        self.classes_, self.n_features_in_ = np.array(classes), 2
        return self


ROWS = np.array([[math.log(3.0), 0.0], [0.0, 1.0], [0.0, 0.0], [900.0, 0.0]])


def test_log_odds_and_probabilities_by_hand():
    model = Fitted().fit(None, None)
    np.testing.assert_allclose(model.decision_function(ROWS), [math.log(3.0), -2.0, 0.0, 900.0])
    second = [0.75, 0.11920292202211755, 0.5, 1.0]
    probabilities = model.predict_proba(ROWS)
    np.testing.assert_allclose(probabilities[:, 1], second, rtol=1e-12)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)


def test_the_intercept_counts():
    model = Fitted().fit(None, None, intercept=2.0)
    np.testing.assert_allclose(model.decision_function(ROWS[1:3]), [0.0, 2.0])


@pytest.mark.parametrize("classes", [("no", "yes"), (1, 0), (False, True)])
def test_the_likelier_class_is_predicted_and_the_first_on_a_tie(classes):
    model = Fitted().fit(None, None, classes)
    first, second = classes
    assert model.predict(ROWS).tolist() == [second, first, first, second]
    assert model.score(ROWS, [second, first, first, second]) == 1.0


def test_tags_say_that_there_are_two_classes():
    tags = get_tags(Fitted())
    assert tags.estimator_type == "classifier"
    assert not tags.classifier_tags.multi_class
    assert isinstance(Fitted(), BaseEstimator)
