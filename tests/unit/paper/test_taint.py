"""Nothing derived from private rows gets around the door: see the same test of the library's Ridge.

The released sums are replaced by fixed ones, so that different private tables must lead to the same
fitted model in every bit.
"""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from publicmoments import GDP, ApproxDP, PublicMoments
from publicmoments.families import Bernoulli, Gaussian, Poisson
from publicmoments.paper import (
    PMTGLM,
    AdaSSP,
    NoisyGradientDescent,
    PMTElasticNet,
    PMTLogisticRegression,
    PMTRidge,
)
from tests.helpers import tables_of_three_worlds

N, D = 300, 3
RNG = np.random.default_rng(21)
B = RNG.normal(size=(50, D))
ROWS = PublicMoments.from_rows(B, response=B @ [1.0, 2.0, 3.0] + 1.0)
MATRIX = PublicMoments.from_matrix(np.eye(D), n=50)

MODELS = {
    "PMTRidge": lambda **k: PMTRidge(0.1, public=ROWS, **k),
    "PMTRidge, matrix": lambda **k: PMTRidge(public=MATRIX, **k),
    "PMTRidge, nothing": lambda **k: PMTRidge(0.1, **k),
    "PMTLogisticRegression": lambda **k: PMTLogisticRegression(0.1, public=ROWS, **k),
    "PMTLogisticRegression, matrix": lambda **k: PMTLogisticRegression(0.1, public=MATRIX, **k),
    "PMTGLM, Gaussian": lambda **k: PMTGLM(Gaussian(), 0.1, public=ROWS, **k),
    "PMTGLM, Bernoulli": lambda **k: PMTGLM(Bernoulli(), 0.1, public=ROWS, **k),
    "PMTGLM, Poisson": lambda **k: PMTGLM(Poisson(), 0.1, public=ROWS, coef_bound=0.1, **k),
    "PMTElasticNet": lambda **k: PMTElasticNet(0.1, public=ROWS, **k),
    "NoisyGradientDescent": lambda **k: NoisyGradientDescent(0.1, iterations=5, **k),
    "AdaSSP": lambda **k: AdaSSP(2.0, 3.0, **k),
}

TOLD = {"coef_", "intercept_", "card_", "n_features_in_"}
"""What every fit tells; in addition what is listed here."""
MORE = {
    "PMTRidge": {"radius_", "response_radius_"},
    "PMTLogisticRegression": {"radius_", "coef_path_", "n_iter_", "classes_"},
    "PMTGLM": {"radius_", "coef_path_", "n_iter_"},
    "PMTElasticNet": {"radius_", "response_radius_", "coef_path_"},
    "NoisyGradientDescent": {"coef_path_"},
    "AdaSSP": {"penalty_"},
}


TABLES = tables_of_three_worlds(RNG, N)


def everything_told(make, table, **parameters):
    """All that a fit tells: attributes, warnings, texts."""
    model = make(**{"privacy": GDP(1.0), "on_invalid": "ignore", **parameters})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*table)
    attributes = set(vars(model)) - set(model.get_params())
    assert attributes == TOLD | MORE[type(model).__name__]
    told = {name: pickle.dumps(getattr(model, name)) for name in attributes}
    told["warnings"] = [str(warning.message) for warning in caught]
    told["texts"] = [repr(model), str(model.card_), repr(model.card_), model.card_.to_json()]
    # No array of the private table hangs on the model.
    assert len(pickle.dumps(model)) < 20_000
    return told


@pytest.mark.parametrize("privacy", [GDP(1.0), ApproxDP(1.0, 1e-6)], ids=repr)
@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())
def test_equal_releases_give_equal_models(kept_sums, make, privacy):
    ordinary = everything_told(make, TABLES["ordinary"], privacy=privacy)
    strange = everything_told(make, TABLES["strange"], privacy=privacy)
    empty = everything_told(make, TABLES["empty"], privacy=privacy)
    assert ordinary == strange == empty
    # The sums behind the releases did differ.
    count = len(kept_sums) // 3
    for other in (count, 2 * count):
        assert not np.array_equal(kept_sums[0][0], kept_sums[other][0])


@pytest.mark.filterwarnings("ignore::publicmoments.PublicMomentsWarning")
@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())
def test_different_releases_give_different_models(make):
    ordinary = everything_told(make, TABLES["ordinary"], random_state=0)
    strange = everything_told(make, TABLES["strange"], random_state=0)
    assert ordinary["coef_"] != strange["coef_"]
