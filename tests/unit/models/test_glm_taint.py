"""Nothing derived from private rows gets around the door, in generalised linear models as in Ridge.

The released sums are replaced by fixed ones, so that different private tables must lead to the same
fitted model in every bit.
"""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from publicmoments import GDP, GLM, ApproxDP, LogisticRegression, PoissonRegressor, PublicMoments
from publicmoments.families import Gamma, Gaussian
from tests.helpers import tables_of_three_worlds

N, D = 300, 3
RNG = np.random.default_rng(21)
B = RNG.normal(size=(50, D))
LABELLED = PublicMoments.from_rows(B, response=(B @ [1.0, 2.0, 3.0] > 0).astype(int))
ROWS = PublicMoments.from_rows(B, response_scale=1.0)
MATRIX = PublicMoments.from_matrix(np.eye(D), n=50)

MODELS = {
    "logistic": lambda **k: LogisticRegression(public=LABELLED, **k),
    "logistic, matrix": lambda **k: LogisticRegression(0.1, l1_ratio=0.5, public=MATRIX, **k),
    "logistic, nothing": lambda **k: LogisticRegression(anchor=False, **k),
    "classes": lambda **k: LogisticRegression(classes=(0, 1, 2), public=ROWS, **k),
    "poisson": lambda **k: PoissonRegressor(public=ROWS, **k),
    "gamma": lambda **k: GLM(Gamma(), public=ROWS, **k),
    "gaussian": lambda **k: GLM(Gaussian(), fit_intercept=False, public=ROWS, **k),
}
TOLD = {"alpha_", "fit_", "card_", "n_features_in_", "n_iter_"}


TABLES = tables_of_three_worlds(RNG, N)


def everything_told(make, table, **parameters):
    """All that a fit tells: attributes, warnings, texts."""
    model = make(**{"privacy": GDP(1.0), "on_invalid": "ignore", "passes": 3, **parameters})
    X, y = table
    if isinstance(model, GLM) and isinstance(model.family, Gamma):
        y = y + 0.5
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    attributes = set(vars(model)) - set(model.get_params())
    labels = {"classes_"} if isinstance(model, LogisticRegression) else set()
    assert attributes == TOLD | labels
    told = {name: pickle.dumps(getattr(model, name)) for name in attributes}
    told["warnings"] = [str(warning.message) for warning in caught]
    told["texts"] = [repr(model), str(model.card_), repr(model.card_), model.card_.to_json()]
    # No array of the private table hangs on the model.
    assert len(pickle.dumps(model)) < 20_000
    return told


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())
@pytest.mark.parametrize("privacy", [GDP(30.0), ApproxDP(1.0, 1e-6)], ids=repr)
def test_equal_releases_give_equal_models(kept_sums, make, privacy):
    told, first = [], []
    for table in TABLES.values():
        kept_sums.clear()
        told.append((everything_told(make, table, privacy=privacy), len(kept_sums)))
        first.append(kept_sums[0][0])
    assert told[0] == told[1] == told[2]
    # The sums behind the releases did differ.
    assert not np.array_equal(first[0], first[1])
    assert not np.array_equal(first[0], first[2])


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())
def test_different_releases_give_different_models(make):
    ordinary = everything_told(make, TABLES["ordinary"], random_state=0)
    strange = everything_told(make, TABLES["strange"], random_state=0)
    assert ordinary["fit_"] != strange["fit_"]


def test_exposures_are_private_too(kept_sums):
    X, y = TABLES["ordinary"]
    coefs, first = [], []
    for exposure in (np.ones(N), RNG.uniform(0.1, 10.0, size=N)):
        model = PoissonRegressor(privacy=GDP(1.0), public=ROWS)
        coefs.append(model.fit(X, y, exposure=exposure).coef_)
        # The second moment is one of features only; then there is the histogram of counts.
        first.append(kept_sums[1][0])
        kept_sums.clear()
    np.testing.assert_array_equal(*coefs)
    assert not np.array_equal(*first)
