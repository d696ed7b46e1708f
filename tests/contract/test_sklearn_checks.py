"""Scikit-learn's own checks of an estimator."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from publicmoments import GDP, PublicMoments, Ridge

# The checks compare fits and scores, so the noise is small and reproducible. They bring their own
# tables, of which nothing is public.
ESTIMATORS = [
    Ridge(privacy=GDP(1e4), random_state=0),
    Ridge(alpha=0.1, privacy=GDP(1e4), random_state=0, fit_intercept=False, anchor=False),
]

EXPECTED_FAILURES: dict[str, str] = {}
"""Name of a check and why it must fail; none does."""


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: EXPECTED_FAILURES)
def test_scikit_learn_check(estimator, check):
    check(estimator)


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


def test_every_parameter_but_alpha_is_a_keyword():
    parameters = inspect.signature(Ridge).parameters
    positional = [p.name for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
    assert positional == ["alpha"]


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
