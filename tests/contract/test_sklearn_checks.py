"""Scikit-learn's own checks of an estimator."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_classifier_data_not_an_array,
    check_estimators_dtypes,
    check_fit2d_1feature,
    parametrize_with_checks,
)

from publicmoments import GDP, PublicMoments, Ridge
from publicmoments.families import Gaussian
from publicmoments.paper import (
    PMTGLM,
    AdaSSP,
    NoisyGradientDescent,
    OracleLogisticRegression,
    OracleRidge,
    PMTElasticNet,
    PMTLogisticRegression,
    PMTRidge,
)

# The checks compare fits and scores, so the noise is small and reproducible. They bring their own
# tables, of which nothing is public.
SMALL = {"privacy": GDP(1e4), "random_state": 0}
CLASSIFIERS = [PMTLogisticRegression, OracleLogisticRegression]
ESTIMATORS = [
    Ridge(**SMALL),
    Ridge(alpha=0.1, fit_intercept=False, anchor=False, **SMALL),
    PMTRidge(**SMALL),
    OracleRidge(**SMALL),
    AdaSSP(x_bound=20.0, y_bound=500.0, **SMALL),
    PMTGLM(Gaussian(), response_bound=500.0, coef_bound=100.0, **SMALL),
    NoisyGradientDescent(iterations=50, clip=1e3, **SMALL),
    PMTElasticNet(0.01, **SMALL),
    *(classifier(0.01, **SMALL) for classifier in CLASSIFIERS),
]

OTHER_LABELS = "brings labels other than (0, 1): classes are stated, never learned from private y"
OWN_WORDS = "refuses such labels as it should, but as unstated ones: the message tells no more"
EXPECTED_FAILURES = {
    "check_estimators_dtypes": OTHER_LABELS,
    "check_classifier_data_not_an_array": OTHER_LABELS,
    "check_classifiers_classes": OTHER_LABELS,
    "check_fit2d_1feature": OTHER_LABELS,
    "check_classifiers_regression_target": OWN_WORDS,
    "check_classifier_not_supporting_multiclass": OWN_WORDS,
}
"""Checks that classifiers must fail, and why; no regression fails any."""


def expected_failures(estimator):
    return EXPECTED_FAILURES if type(estimator) in CLASSIFIERS else {}


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize(
    "check",
    [check_estimators_dtypes, check_fit2d_1feature, check_classifier_data_not_an_array],
)
def test_checks_with_other_labels_pass_when_those_are_stated(check, classifier):
    refusing, stated = (classifier(0.01, classes=c, **SMALL) for c in [(0, 1), (1, 2)])
    with pytest.raises((AssertionError, ValueError), match="not among classes"):
        check(classifier.__name__, refusing)
    assert check(classifier.__name__, stated) is None


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("labels", [("one", "two"), (-1, 1), (False, True), (7, 3)])
def test_stated_labels_are_predicted(classifier, labels):
    rng = np.random.default_rng(0)
    second = np.arange(200) % 2
    X = rng.normal(size=(200, 2)) + np.where(second == 1, 2.0, -2.0)[:, None]
    y = np.array(labels)[second]
    model = classifier(0.01, classes=labels, **SMALL).fit(X, y)
    assert model.classes_.tolist() == list(labels)
    assert model.score(X, y) > 0.95


def test_private_noise_is_declared_as_such():
    assert get_tags(Ridge(privacy=GDP(1.0))).non_deterministic
    assert not get_tags(Ridge(privacy=GDP(1.0), random_state=0)).non_deterministic


def test_the_other_tags():
    tags = get_tags(Ridge(privacy=GDP(1.0)))
    assert tags.estimator_type == "regressor"
    assert tags.requires_fit
    assert tags.target_tags.required
    assert tags.target_tags.multi_output
    assert not tags.input_tags.allow_nan
    assert not tags.input_tags.sparse
    assert not tags.regressor_tags.poor_score


@pytest.mark.parametrize(
    ("estimator", "first"),
    [
        (Ridge, ["alpha"]),
        (PMTRidge, ["alpha"]),
        (OracleRidge, ["alpha"]),
        (AdaSSP, ["x_bound", "y_bound"]),
        (PMTLogisticRegression, ["alpha"]),
        (OracleLogisticRegression, ["alpha"]),
        (PMTGLM, ["family", "alpha"]),
        (NoisyGradientDescent, ["alpha"]),
        (PMTElasticNet, ["alpha"]),
    ],
)
def test_every_parameter_but_the_first_is_a_keyword(estimator, first):
    parameters = inspect.signature(estimator).parameters
    positional = [p.name for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
    assert positional == first


@pytest.mark.parametrize("estimator", ESTIMATORS[2:], ids=lambda one: type(one).__name__)
def test_tags_of_the_published_estimators(estimator):
    tags = get_tags(estimator)
    classifies = type(estimator) in CLASSIFIERS
    assert tags.estimator_type == ("classifier" if classifies else "regressor")
    assert not tags.target_tags.multi_output
    assert not tags.non_deterministic
    assert get_tags(clone(estimator).set_params(random_state=None)).non_deterministic


def test_works_with_public_moments_inside_scikit_learn():
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X @ [1.0, -1.0] + 0.1 * rng.normal(size=400)
    public = PublicMoments.from_rows(X[:100], response=y[:100])
    model = make_pipeline(
        FunctionTransformer(), Ridge(privacy=GDP(50.0), public=public, random_state=0)
    )
    search = GridSearchCV(model, {"ridge__alpha": [0.0, 10.0]}, cv=2).fit(X[100:], y[100:])
    assert search.best_params_ == {"ridge__alpha": 0.0}
