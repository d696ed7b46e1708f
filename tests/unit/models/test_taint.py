"""Nothing derived from private rows gets around the door.

The released sums are replaced by fixed ones, so that two private tables must lead to the same
fitted model in every bit: whatever differs would have come by another way.
"""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from publicmoments import GDP, ApproxDP, PublicMoments, Ridge

N, D = 500, 3
RNG = np.random.default_rng(21)
B = RNG.normal(size=(50, D))
PUBLIC = {
    "rows and responses": PublicMoments.from_rows(B, response=B @ [1.0, 2.0, 3.0] + 1.0),
    "rows": PublicMoments.from_rows(B, response_scale=4.0),
    "matrix": PublicMoments.from_matrix(np.eye(D), n=50),
    "nothing": None,
}


def ordinary_table():
    X = RNG.normal(size=(N, D))
    return X, X @ [1.0, 2.0, 3.0] + RNG.normal(size=N)


def strange_table():
    """Another scale, other coefficients, outliers, a constant column and rows that are ignored."""
    X = 1e3 * RNG.standard_cauchy(size=(N, D)) + 5e4
    y = RNG.standard_cauchy(size=N) * 1e6
    X[:, 1] = 7.0
    X[3], X[4, 0], y[5] = np.nan, np.inf, -np.inf
    return X, y


def empty_table():
    return np.zeros((N, D)), np.zeros(N)


def everything_told(table, public, **parameters):
    """All that a fit tells: attributes, warnings, texts."""
    model = Ridge(**{"privacy": GDP(1.0), "public": public, "on_invalid": "ignore", **parameters})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*table)
    attributes = {name: value for name, value in vars(model).items() if name.endswith("_")}
    told = {name: pickle.dumps(value) for name, value in attributes.items()}
    told["warnings"] = [str(warning.message) for warning in caught]
    told["texts"] = [repr(model), str(model.card_), repr(model.card_), model.card_.to_json()]
    return told


@pytest.mark.parametrize("public", PUBLIC.values(), ids=PUBLIC.keys())
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"fit_intercept": False, "alpha": 0.5},
        {"passes": 1, "anchor": False},
        {"privacy": ApproxDP(1.0, 1e-6), "passes": 3},
    ],
    ids=["default", "penalised", "free", "approximate"],
)
def test_equal_releases_give_equal_models(kept_sums, public, parameters):
    told, sums = [], []
    for table in (ordinary_table(), strange_table(), empty_table()):
        kept_sums.clear()
        told.append(everything_told(table, public, **parameters))
        sums.append([exact for exact, _ in kept_sums])
    assert told[0] == told[1] == told[2]
    assert {"fit_", "card_", "n_features_in_"} <= set(told[0])
    # The sums behind the releases did differ, in every release.
    assert len(sums[0]) == len(sums[1]) == len(sums[2])
    assert not any(np.array_equal(one, other) for one, other in zip(*sums[:2], strict=True))
    assert not np.array_equal(sums[0][0], sums[2][0])


def test_several_responses(kept_sums):
    public = PublicMoments.from_rows(B, response=B[:, :2])
    tables = [(X, np.column_stack([y, -y])) for X, y in (ordinary_table(), strange_table())]
    told = []
    for table in tables:
        kept_sums.clear()
        told.append(everything_told(table, public))
    assert told[0] == told[1]


@pytest.mark.usefixtures("kept_sums")
def test_private_attributes_are_all_looked_at():
    model = Ridge(privacy=GDP(1.0), public=PUBLIC["rows and responses"]).fit(*ordinary_table())
    unknown = set(vars(model)) - set(model.get_params())
    assert unknown == {"alpha_", "fit_", "card_", "n_features_in_", "n_iter_"}
    # No array of the private table hangs on the model.
    assert len(pickle.dumps(model)) < 20_000


def test_different_releases_give_different_models():
    public = PUBLIC["rows and responses"]
    ordinary = everything_told(ordinary_table(), public, random_state=0)
    strange = everything_told(strange_table(), public, random_state=0)
    assert ordinary["fit_"] != strange["fit_"]
