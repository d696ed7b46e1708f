"""Scikit-learn's own checks of an estimator."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_classifier_data_not_an_array,
    check_estimators_dtypes,
    check_fit2d_1feature,
    parametrize_with_checks,
)

from publicmoments import GDP, GLM, LogisticRegression, PoissonRegressor, PublicMoments, Ridge
from publicmoments.families import Bernoulli, Gamma, Gaussian, Poisson
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
CLASSIFIERS = [PMTLogisticRegression, OracleLogisticRegression, LogisticRegression]
ESTIMATORS = [
    Ridge(**SMALL),
    Ridge(alpha=0.1, fit_intercept=False, anchor=False, **SMALL),
    PMTRidge(**SMALL),
    OracleRidge(**SMALL),
    AdaSSP(x_bound=20.0, y_bound=500.0, **SMALL),
    PMTGLM(Gaussian(), response_bound=500.0, coef_bound=100.0, **SMALL),
    NoisyGradientDescent(iterations=50, clip=1e3, **SMALL),
    PMTElasticNet(0.01, **SMALL),
    *(classifier(0.01, **SMALL) for classifier in CLASSIFIERS[:2]),
    LogisticRegression(0.01, passes=2, **SMALL),
    PoissonRegressor(passes=2, **SMALL),
    GLM(Gaussian(), passes=2, **SMALL),
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
"""Checks that classifiers must fail, and why."""

FRACTIONS = "brings responses that are not whole numbers, which counts are"
FRACTIONAL_CHECKS = [
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_regressor_data_not_an_array",
    "check_regressors_no_decision_function",
    "check_regressors_train",
]
"""Checks that regressions of counts must fail; no other regression fails any."""


def expected_failures(estimator):
    if type(estimator) is PoissonRegressor:
        return dict.fromkeys(FRACTIONAL_CHECKS, FRACTIONS)
    return EXPECTED_FAILURES if type(estimator) in CLASSIFIERS else {}


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    assert check(estimator) is None


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


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("classes", [(0, 1, 2), ("a", "b", "c")])
def test_a_check_with_three_classes_passes_when_those_are_stated(classes):
    X, y = make_blobs(n_samples=200, random_state=0, cluster_std=0.1)
    X, labels = StandardScaler().fit_transform(X), np.array(classes)[y]
    model = LogisticRegression(0.01, classes=classes, passes=3, **SMALL).fit(X, labels)
    # What scikit-learn asks of classifiers on these rows.
    assert model.score(X, labels) > 0.83
    assert model.decision_function(X).shape == model.predict_proba(X).shape == (200, 3)
    assert get_tags(model).classifier_tags.multi_class
    assert not get_tags(LogisticRegression()).classifier_tags.multi_class


@pytest.mark.parametrize(
    ("estimator", "positive"),
    [
        (PoissonRegressor(), True),
        (GLM(Poisson()), True),
        (GLM(Gamma()), True),
        (GLM(Bernoulli()), True),
        (GLM(Gaussian()), False),
        (GLM(None), False),
    ],
    ids=repr,
)
def test_responses_that_must_be_positive_are_declared_as_such(estimator, positive):
    assert get_tags(estimator).target_tags.positive_only == positive


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
        (LogisticRegression, ["alpha"]),
        (PoissonRegressor, ["alpha"]),
        (GLM, ["family", "alpha"]),
    ],
)
def test_every_parameter_but_the_first_is_a_keyword(estimator, first):
    parameters = inspect.signature(estimator).parameters
    positional = [p.name for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
    assert positional == first


@pytest.mark.parametrize("estimator", ESTIMATORS[2:], ids=lambda one: type(one).__name__)
def test_tags_of_the_other_estimators(estimator):
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
